"""Exceptions that nobody's program printed where they stand: shown in a Python session, quoted in code, or told again.

    >>> fut.wait()                                  a doctest, a tutorial, a pasted session: the prompt stands above
    Traceback (most recent call last):
    ...                                             and whoever quoted it left the frames out
    ValueError: foo

A session's outermost frame is no file (`<stdin>`, `<python-input-0>`), which tells a prompt from what programs print
before they die (`>>> done with dataset index builder.`, Megatron). Set in as a docstring's text is, it needs no prompt.
Whoever pastes a log leaves frames out too: behind a launcher's or logger's prefix, or with frames of files, it was printed;
and so was an exception without a head (`...`, `RuntimeError: CUDA out of memory`, `...`): a session shows the head.

NCCL's last error is told again by c10, which puts its head before the first line only:

    [rank3]:[E… ProcessGroupNCCL.cpp:542] [Rank 3] … NCCL error: remote process exited or there was a network error, …
    ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
    Last error:
    socketProgress: Connection closed by remote peer gpu-07<41512>
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.prefix import Line, speaker_key
from .traceback import Traceback
from .traceback_lines import ELIDED, WORDS
from .warned import last_piece

PROMPTS = (">>>", "...")  # the second one goes on with a statement
UNHEARD_FORMS = ("ignored", "logging")  # printed by the interpreter or the logger itself: the program went on
LAST_ERROR = "Last error:"
MOST_LINES = 4  # from c10's head to what NCCL said


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
    is_set_in = texts.get(tb.line, "").startswith("    ")
    if any(texts.get(n, "").strip() in ELIDED for n in (tb.line + 1, tb.exception_line - 1)) and (
        is_set_in or not (tb.form == "bare" or _is_of_files(tb) or is_log)
    ):
        return True
    above, below = texts.get(tb.line - 1, "").lstrip(), texts.get(tb.end_line + 1, "").lstrip()
    is_shown = (is_set_in and tb.frames) or above.startswith(PROMPTS) or below.startswith(">>> ")
    is_of_session = all(frame.file.startswith(tuple(WORDS["sessions"])) for frame in tb.frames[:1])
    return bool(is_shown) and tb.form != "bare" and is_of_session


def _is_of_files(tb: Traceback) -> bool:
    return any(not frame.file.startswith("<") for frame in tb.frames)


def looks_quoted(line: Line) -> bool:
    """Whether an exception's name stands in quoted code rather than being printed as an error."""
    return line.message[:4].isspace() and line.message.strip()[:6] in ("raise ", "except")


def quoting(lines: Sequence[Line], index: int) -> Line:
    """Yield the head above a line that c10 quotes; any other line as it is."""
    line, above = lines[index], lines[max(0, index - MOST_LINES) : index]
    if speaker_key(line.prefix) or not above or above[-1].message.strip() != LAST_ERROR:
        return line
    return next((x for x in reversed(above) if speaker_key(x.prefix)), line)


def is_told_again(raised: Traceback | None, line: int | None) -> bool:
    """Whether the line stands in what was raised below `Last error:`: NCCL had printed it before, as a warning."""
    return raised is not None and f"{LAST_ERROR}\n" in raised.message and (line or 0) > raised.exception_line
