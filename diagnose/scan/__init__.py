"""The map step: which rule hits where in each source, what stands around the hits, and signs of life."""
