"""The name of an exception and the frames above it in, whether a class that the program made itself was raised there.

Python prints a class of the script that runs without its module, `GradientTooLarge: …`, so nothing in the name need say
that it is an exception; the source line of the last frame says it, `raise GradientTooLarge(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from .traceback_lines import ExceptionLine, Frame, read_exception

_DOTTED = lazy(r"(?:(?:[A-Za-z_]\w{0,60}|<locals>)\.){1,14}[A-Z]\w{1,80}$")
_BARE = lazy(r"[A-Z]\w{1,80}$")
_COMPILED = (".pyx", ".pxi", ".pxd")  # files that Cython compiles; their source is seldom installed
_ENDED = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit"})  # an end that somebody asked for


def is_own_name(exception: str, frames: Sequence[Frame]) -> bool:
    """Say whether the name below these frames is one of an exception, however it is called."""
    return bool(frames) and (_DOTTED.match(exception) is not None or _is_raised(exception, frames[-1].code))


def read_raised(text: str, frames: Sequence[Frame]) -> ExceptionLine | None:
    """Read the line that names the exception; without a message any word is one that the last frame raises by it."""
    found = read_exception(text)
    if found is None and frames and _is_raised(text.rstrip(), frames[-1].code):
        return ExceptionLine(text.rstrip(), "", True, True)
    return found


def is_named(found: ExceptionLine | None, frames: Sequence[Frame]) -> bool:
    """Say whether a line names what was raised: by a name that is nothing else, or below a frame without a source line.

    `  File "pkg/metrics.pyx", line 5, in pkg.metrics.update`, and right below `pkg.metrics.BadShape: expected two axes`.
    """
    if found is None or found.is_sure:
        return found is not None
    is_compiled = bool(frames) and not frames[-1].code and frames[-1].file.endswith(_COMPILED)
    return is_compiled and not found.is_bare and _DOTTED.match(found.name) is not None


def _is_raised(name: str, code: str) -> bool:
    if name in _ENDED or not code.startswith("raise ") or _BARE.match(name) is None:
        return False
    raised = code.removeprefix("raise ").partition(" from ")[0].partition("(")[0].strip()
    return raised.rpartition(".")[2] == name
