"""Which lines of the user's own code a traceback leads through: there one looks first, and no log line says it alone."""

from __future__ import annotations

from collections.abc import Sequence

from ..traces.stack_forms import StackDump
from ..traces.traceback import Link, Traceback
from ..traces.traceback_lines import Frame, is_library
from .report import CodePlace

MOST_FRAMES = 3  # the innermost say where it broke and who called; further out it is the training loop
MAX_CODE = 200
BELOW = 4  # lines between what crashed and the dump of its stacks


def own_code(traceback: Traceback | None, line: int | None) -> tuple[CodePlace, ...]:
    """Yield the innermost frames that are no library's, innermost first; empty where all are.

    Of the exception that stands on `line`; where only libraries raised that, of the one next to it in the chain.
    """
    if traceback is None or line is None:
        return ()
    raised: tuple[Traceback | Link, ...] = (traceback, *traceback.links)
    chain = sorted(raised, key=lambda one: abs(one.exception_line - line))
    return next(filter(None, (_own(one.frames) for one in chain)), ())


def own_code_of_crash(dumps: Sequence[StackDump], line: int | None) -> tuple[CodePlace, ...]:
    """Yield the same of the thread that crashed, which faulthandler prints below the line that says so."""
    dump = next((d for d in dumps if not d.is_live and line is not None and 0 <= d.line - line <= BELOW), None)
    thread = next((t for t in dump.threads if t.state == "current"), None) if dump is not None else None
    return _own([Frame(f.file, f.line or 0, f.function, "") for f in thread.frames]) if thread is not None else ()


def _own(frames: Sequence[Frame]) -> tuple[CodePlace, ...]:
    own: list[Frame] = []
    for frame in reversed(frames):
        is_entry = frame.function == "<module>" and any(frame.file == f.file for f in own)  # `main()`, below its def
        if is_library(frame.file) or is_entry:
            continue
        if own and (own[-1].file, own[-1].line) == (frame.file, frame.line):
            own.pop()  # `<listcomp>` stands at the line of the function around it
        elif len(own) == MOST_FRAMES:
            break
        own.append(frame)
    return tuple(CodePlace(f.file, f.line, f.function, f.code[:MAX_CODE]) for f in own)
