"""The map step: which rules hit where in each source, and what stands around the hits."""
