"""Flight-recorder dumps, read without executing anything, and compared across ranks."""
