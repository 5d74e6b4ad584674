"""Which files are a library's or the interpreter's, so that a report can point at the user's own line."""

from __future__ import annotations

import re

# `python/ray/_raylet.pyx`, `pyarrow/error.pxi`: what Cython compiled keeps the path from the root of its own sources.
_LIBRARY = re.compile(
    r"site-packages/|dist-packages/|/lib(?:64)?/python[23]|^[^/\s]\S*\.p(?:yx|xi)$|^<(?:frozen|string|attrs|eval_with)|^python3|"
    r"(?:^|/)torch/(?:nn|distributed|utils|optim|autograd|cuda|_dynamo|_inductor|multiprocessing|jit|fx|ao|func)/|"
    r"(?:^|/)torch/_?[a-z]{1,40}\.py$|(?:^|/)bin/[\w.-]{1,60}$"
)


def is_library(file: str) -> bool:
    """Say whether a frame's file is a library's or the interpreter's rather than the user's own."""
    return _LIBRARY.search(file) is not None
