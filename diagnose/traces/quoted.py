"""Tracebacks that nobody's program printed: shown in a Python session, or cut short by whoever wrote them down.

    >>> fut.wait()                                  a doctest, a tutorial, a pasted session: the prompt stands above
    Traceback (most recent call last):
    ...                                             and whoever quoted it left the frames out
    ValueError: foo

A session's outermost frame is no file (`<stdin>`, `<python-input-0>`), which tells a prompt from what programs print
before they die (`>>> done with dataset index builder.`, Megatron). Set in as a docstring's text is, it needs no prompt.
Whoever pastes a log leaves frames out too: behind a launcher's or logger's prefix, or with frames of files, it was printed;
and so was an exception without a head (`...`, `RuntimeError: CUDA out of memory`, `...`): a session shows the head.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.prefix import Line
from .numbered import last_piece
from .traceback import Traceback
from .traceback_lines import ELIDED

PROMPTS = (">>>", "...")  # the second one goes on with a statement
# The outermost frame of a session; `<string>` (`python -c`, as pip builds) and `<frozen runpy>` (`-m`) are programs.
SESSIONS = ("<stdin>", "<python-input", "<ipython-input", "<console>", "<input>", "<doctest", "<pyshell")
UNHEARD_FORMS = ("ignored", "logging")  # printed by the interpreter or the logger itself: the program went on


def quoted_tracebacks(tracebacks: Sequence[Traceback], lines: Sequence[Line]) -> frozenset[int]:
    """Yield the first lines of those tracebacks that are quoted; `lines` are the kept ones of their source."""
    if not tracebacks:
        return frozenset()
    asked = {n for tb in tracebacks for n in (tb.line - 1, tb.line, tb.line + 1, tb.exception_line - 1, tb.end_line + 1)}
    asked.add(lines[0].number)
    texts = {n: line.message.rstrip() for n in asked if (line := last_piece(lines, n)) is not None}
    is_log = any(line.prefix.end for line in lines)
    is_session = texts[lines[0].number].startswith(">>> ")  # all of it: what went wrong in it is the news
    shown = (tb for tb in tracebacks if not (is_session and _is_of_files(tb)))
    return frozenset(tb.line for tb in shown if _is_quoted(tb, texts, is_log))


def is_heard(tb: Traceback, quoted: frozenset[int]) -> bool:
    """Whether the traceback tells of something that went wrong in the program; `quoted`: first lines of those that are."""
    return tb.form not in UNHEARD_FORMS and tb.line not in quoted


def is_above_one(lines: Sequence[Line], parts: Sequence[int], at: int) -> bool:
    """Whether this part of a line stands above a traceback that a string on the same line held, so that it is not of it."""
    return any(lines[n].message.startswith("Traceback (most recent call last)") for n in parts if n > at)


def _is_quoted(tb: Traceback, texts: dict[int, str], is_log: bool) -> bool:
    if any(texts.get(n, "").strip() in ELIDED for n in (tb.line + 1, tb.exception_line - 1)):
        is_set_in = texts.get(tb.line, "").startswith("    ")
        if is_set_in or not (tb.form == "bare" or _is_of_files(tb) or is_log):
            return True
    above, below = texts.get(tb.line - 1, "").lstrip(), texts.get(tb.end_line + 1, "").lstrip()
    is_set_in = bool(tb.frames) and texts.get(tb.line, "").startswith("    ")
    is_shown = is_set_in or above.startswith(PROMPTS) or below.startswith(">>> ")
    return is_shown and tb.form != "bare" and all(frame.file.startswith(SESSIONS) for frame in tb.frames[:1])


def _is_of_files(tb: Traceback) -> bool:
    return any(not frame.file.startswith("<") for frame in tb.frames)


def looks_quoted(line: Line) -> bool:
    """Whether an exception's name stands in quoted code rather than being printed as an error."""
    return line.message[:4].isspace() and bool(line.message.strip()[:6] in ("raise ", "except"))
