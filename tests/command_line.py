"""Runs the command line inside the test's process: words in, exit code and both outputs out."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from diagnose.cli import main

FIXTURES = Path(__file__).parent.parent / "fixtures"
OOM = FIXTURES / "cuda-oom-one-rank" / "logs" / "h100-r6-n03.log"
HEALTHY = FIXTURES / "healthy-console" / "logs"


@dataclass(frozen=True)
class Answer:
    """What a call left."""

    code: int
    out: str
    err: str


def tell(*words: object, stdin: bytes | None = None) -> Answer:
    """Run `diagnose WORDS`; `stdin` is what is piped in, None a terminal where nobody types."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin or b""))
    given.isatty = lambda: stdin is None  # type: ignore[method-assign]
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", given):
        try:
            main([str(word) for word in words])
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    return Answer(code, out.getvalue(), err.getvalue())
