"""Runs beside runs: what failed like this before, and what a failed run has that a good one of the same job lacks."""
