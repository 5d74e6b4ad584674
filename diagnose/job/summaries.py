"""The rules of torchrun's summary."""

HEAD = "process.exit-code/child-failed-error"
ENTRY = "process.exit-code/torchelastic-summary-entry"
ENTRIES = (ENTRY, "process.exit-code/torchelastic-summary-rest")  # whole, and one of which the head was not copied
