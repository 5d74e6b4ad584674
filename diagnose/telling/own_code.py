"""Which lines of the user's own code a traceback leads through: there one looks first, and no log line says it alone."""

from __future__ import annotations

from ..report import CodePlace
from ..tracebacks import Traceback
from ..traces.library_paths import is_library
from ..traces.traceback_lines import Frame

MOST_FRAMES = 3  # the innermost say where it broke and who called; further out it is the training loop
MAX_CODE = 200


def own_code(traceback: Traceback | None) -> tuple[CodePlace, ...]:
    """Yield the innermost frames that are no library's, innermost first; empty where all are."""
    frames: list[Frame] = []
    for frame in reversed(traceback.frames if traceback else ()):
        is_entry = frame.function == "<module>" and any(frame.file == f.file for f in frames)  # `main()`, below its def
        if is_library(frame.file) or is_entry:
            continue
        if frames and (frames[-1].file, frames[-1].line) == (frame.file, frame.line):
            frames.pop()  # `<listcomp>` stands at the line of the function around it
        elif len(frames) == MOST_FRAMES:
            break
        frames.append(frame)
    return tuple(CodePlace(f.file, f.line, f.function, f.code[:MAX_CODE]) for f in frames)
