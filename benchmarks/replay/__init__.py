"""Judges all labelled cases again in one process, from scans that were read once: what a change does to verdicts, in seconds."""
