"""Tracebacks and stack dumps, put apart by rank."""
