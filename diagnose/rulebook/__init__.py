"""Looking at the catalogue itself: its checks, its pages, what its patterns promise."""
