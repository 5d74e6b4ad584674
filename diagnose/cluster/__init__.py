"""The map step on a Ray cluster."""
