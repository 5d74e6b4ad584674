"""Who reads log lines out of a text that holds them in another form.

In: blocks of whole lines. Out: the lines that were printed, as many, so that line numbers stay those of the file.
"""

from __future__ import annotations


class Reader:
    """Gives the lines that were printed, block after block."""

    def feed(self, data: bytes) -> bytes:
        """Gives the lines of `data`."""
        raise NotImplementedError

    def finish(self) -> bytes:
        """Gives what was held back: nothing, where each block is read by itself."""
        return b""
