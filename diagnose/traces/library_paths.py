"""Which files are a library's or the interpreter's, so that a report can point at the user's own line."""

from __future__ import annotations

import re

_LIBRARY = re.compile(
    r"site-packages/|dist-packages/|/lib(?:64)?/python[23]|^<(?:frozen|string|attrs|eval_with)|^python3|"
    r"(?:^|/)torch/(?:nn|distributed|utils|optim|autograd|cuda|_dynamo|_inductor|multiprocessing|jit|fx|ao|func)/|"
    r"(?:^|/)torch/_?[a-z]{1,40}\.py$|(?:^|/)bin/[\w.-]{1,60}$"
)


def is_library(file: str) -> bool:
    """Say whether a frame's file is a library's or the interpreter's rather than the user's own."""
    return _LIBRARY.search(file) is not None
