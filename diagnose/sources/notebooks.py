"""What the cells of a notebook printed, from the JSON that the notebook is.

In: the lines of an `.ipynb` file, as Jupyter writes it: one JSON string a line. Out: as many lines; those of outputs
(`"text"`, `"traceback"`) hold what was printed, all others, with the code in them, are empty.
"""

from __future__ import annotations

import json

from ..lines.lazy_pattern import lazy
from .form_reader import Reader

_OPENS = lazy(rb'\s{0,32}"(text|text/plain|traceback)":\s{0,4}\[\s{0,8}$')
_STRING = lazy(rb'\s{0,32}("(?:[^"\\]|\\.){0,1000000}"),?\s{0,8}$')


class NotebookMask(Reader):
    """Keeps what was printed, block after block."""

    def __init__(self) -> None:
        self._is_output = False

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines."""
        return b"\n".join([self._keep(line) for line in data.split(b"\n")])

    def _keep(self, line: bytes) -> bytes:
        if not self._is_output:
            self._is_output = _OPENS.match(line) is not None
            return b""
        found = _STRING.match(line)
        if found is None:
            self._is_output = False
            return b""
        try:
            text = str(json.loads(found[1]))
        except ValueError:
            return b""
        return text.rstrip("\r\n").replace("\r\n", "\n").replace("\n", "\r").encode("utf-8", "replace")
