"""Tracebacks and stack dumps: their grammar, and what many ranks' stacks say together."""
