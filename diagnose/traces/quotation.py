"""On which lines exceptions stand, and which of them nobody's program raised there: they are quoted, or told again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence

from ..lines.prefix import Line, speaker_key
from .logged_exceptions import quoted_in
from .traceback import Traceback
from .traceback_lines import ELIDED, GRAPH_ERROR, WORDS

MAX_MESSAGE_LINES = 14  # of an exception, on which its traceback is looked up
MAX_FRAME_LINES = 2000  # of one traceback; in a longer one other output stands
PROMPTS = (">>>", "...")  # the second one goes on with a statement
UNHEARD_FORMS = ("ignored", "logging")  # printed by the interpreter or the logger itself: the program went on
LAST_ERROR = "Last error:"
MOST_LINES = 4  # from c10's head to what NCCL said
Told = Sequence[tuple[str, str, int]]


def exceptions(tb: Traceback) -> Iterator[tuple[str, str, int]]:
    """Yield exception, message and line of all that the traceback holds, what is quoted in a message included."""
    own = (tb.exception, tb.message, tb.exception_line)
    for exception, message, number in (own, *((x.exception, x.message, x.exception_line) for x in tb.links)):
        yield exception, message, number
        for each in quoted_in(exception, message):
            yield *each, number


def exception_text(exception: str, message: str) -> str:
    """Yield an exception as it is printed."""
    return f"{exception}: {message}" if message else exception


def exception_lines(told: Iterable[tuple[Traceback, Told]]) -> dict[int, list[Traceback]]:
    """Yield the lines on which the exceptions of each traceback stand, further lines of a message included.

    `told`: each with what `exceptions` says of it.
    """
    found: dict[int, list[Traceback]] = {}
    for tb, all_of_it in told:
        for at in _message_lines(tb, all_of_it):
            found.setdefault(at, []).append(tb)
    return found


def _message_lines(tb: Traceback, told: Told) -> set[int]:
    """Yield the lines on which what it raised is told, each once: a chain and a quotation may share them."""
    spans = ((number, _further_lines(tb, message, number)) for _, message, number in told)
    return {at for number, more in spans for at in range(number, number + more + 1)}


def _further_lines(tb: Traceback, message: str, number: int) -> int:
    """Yield how many lines below its first one a message is looked up on."""
    if message.startswith(GRAPH_ERROR):
        return max(0, min(tb.end_line - number, MAX_FRAME_LINES))
    return min(message.count("\n"), MAX_MESSAGE_LINES)


def inside_lines(
    tracebacks: Sequence[Traceback], of_exceptions: Container[int], lines: Sequence[Line], keys: Sequence[str]
) -> set[int]:
    """Yield the lines of frames: source code, in which nothing is an exception that was raised.

    `of_exceptions`: the lines of `exception_lines`. `keys`: who speaks on each line; what others say between the frames
    of one, as woven ranks do, is theirs.
    """
    if not tracebacks:
        return set()
    numbers: dict[str, list[int]] = {}
    for line, who in zip(lines, keys, strict=True):
        numbers.setdefault(who, []).append(line.number)
    inside: set[int] = set()
    for tb in (tb for tb in tracebacks if tb.end_line - tb.line < MAX_FRAME_LINES):
        for own in (numbers.get(who, []) for who in {tb.speaker, ""}):
            inside.update(own[bisect_left(own, tb.line) : bisect_left(own, tb.exception_line)])
    return {n for n in inside if n not in of_exceptions}


def quoted_tracebacks(tracebacks: Sequence[Traceback], lines: Sequence[Line]) -> frozenset[int]:
    """Yield the first lines of those tracebacks that are quoted; `lines` are the kept ones of their source.

        >>> fut.wait()                                  a doctest, a tutorial, a pasted session: the prompt stands above
        Traceback (most recent call last):
        ...                                             and whoever quoted it left the frames out
        ValueError: foo

    A session's outermost frame is no file (`<stdin>`, `<python-input-0>`), which tells a prompt from what programs print
    before they die (`>>> done with dataset index builder.`, Megatron). Set in as a docstring's text is, it needs no prompt.
    Whoever pastes a log leaves frames out too: behind a launcher's or logger's prefix, or with frames of files, it was
    printed; and so was an exception without a head, for a session shows the head.
    """
    if not tracebacks:
        return frozenset()
    asked = {n for tb in tracebacks for n in (tb.line - 1, tb.line, tb.line + 1, tb.exception_line - 1, tb.end_line + 1)}
    asked.add(lines[0].number)
    texts = {line.number: line.message.rstrip() for line in lines if line.number in asked}
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
    """Yield the head above a line that c10 quotes; any other line as it is.

    [rank3]:[E… ProcessGroupNCCL.cpp:542] [Rank 3] … NCCL error: remote process exited or there was a network error, …
    ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
    Last error:
    socketProgress: Connection closed by remote peer gpu-07<41512>
    """
    line, above = lines[index], lines[max(0, index - MOST_LINES) : index]
    if speaker_key(line.prefix) or not above or above[-1].message.strip() != LAST_ERROR:
        return line
    return next((x for x in reversed(above) if speaker_key(x.prefix)), line)


def is_told_again(raised: Traceback | None, line: int | None) -> bool:
    """Whether the line stands in what was raised below `Last error:`: NCCL had printed it before, as a warning."""
    return raised is not None and f"{LAST_ERROR}\n" in raised.message and (line or 0) > raised.exception_line
