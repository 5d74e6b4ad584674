"""Which cause, who, and how sure."""
