"""Wording: languages, phrases, numbers and rank ranges, and text made safe to print."""
