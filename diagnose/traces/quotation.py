"""Exceptions in other words: logged by their message alone, quoted in the message of another one, or told again.

    2026-11-20 17:03:28 - ERROR - Training failed: CUDA error: an illegal memory access was encountered
    CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too Many Requests
    2026-11-20 17:03:28 - ERROR - worker 3 is gone: OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB')

`print(f"... failed: {e}")` is all that is left of many an exception. In: such a line. Out: the texts that Python would
have printed for it, in which a rule about exceptions is looked for. A compiler, a validator or an engine prints what was
raised first behind words of its own (`quoted_in`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_key
from ..lines.prefix_rows import filled, piece
from .exception import read_exception
from .traceback import Traceback, innermost
from .traceback_lines import GRAPH_ERROR, WORDS, one_of

RAISED = piece("RAISED")

_LEAD, _NAMED = lazy(WORDS["lead"]), lazy(filled(WORDS["named"]))
# `repr(error)`, as `{e!r}` prints it: `OSError(28, 'No space left on device')`.
_REPR = lazy(
    rf"(?<![\w.=\"'])(?P<name>{RAISED}|gaierror)\((?:(?P<errno>-?\d{{1,4}}), )?"
    r"(?:'(?P<single>[^\n]{1,800}?)(?:'[,)]|$)|\"(?P<double>[^\n]{1,800}?)(?:\"[,)]|$))"
)
_FAILED, TARGET, _ADVISES, _WENT_ON = (lazy(WORDS[name]) for name in ("failed", "target", "advises", "went_on"))
HEAD_CHARS = 200  # of a message, in which the class of what was raised stands
_CALM, _GRAVE = ("I", "W", "D"), ("E", "F")  # severities of a line that reports no failure, and of one that does


def told_texts(line: Line, above: Line | None = None) -> Iterator[str]:
    """Yield what Python would have printed for the exception of which the line gives the message."""
    message = line.message.strip().strip("`")
    if line.prefix.severity in _CALM or line.message[:2].isspace() or _WENT_ON.search(message):
        return
    yield from _as_printed(message)
    is_raised = above is not None and TARGET.match(above.message) is not None
    yield from reprs_in(message, is_failure=is_raised or line.prefix.severity in _GRAVE)


def wrapped_texts(tb: Traceback, number: int) -> Iterator[str]:
    """Yield the same of an exception raised anew as another, with its message: `raise Exception(f"failed: {e}")`."""
    inner = innermost(tb)
    if inner.exception_line == number and inner.message:
        yield from _as_printed(inner.message)
        yield from reprs_in(inner.message, is_failure=True)


def reprs_in(message: str, *, is_failure: bool) -> Iterator[str]:
    """Yield what Python would have printed for the exceptions that a message gives as `{e!r}`."""
    for found in _REPR.finditer(message):
        head = message[: found.start()]
        if not head.endswith("raise ") and (is_failure or _FAILED.search(head)):
            text = (found["single"] or found["double"]).replace("\\n", "\n")
            number = f"[Errno {found['errno']}] " if found["errno"] else ""
            yield f"{found['name']}: {number}{text}"


def _as_printed(message: str) -> Iterator[str]:
    lead = _LEAD.match(message)
    for told in (message, message[lead.end() :]) if lead else (message,):
        yield from (f"{name}: {told}" for name in WORDS["told_as"])
    named = _NAMED.match(message)
    if named and not _ADVISES.search(named[0]):
        yield message[named.end() :].rstrip("`")
    if lead:
        yield message[lead.end() :]  # its name may stand there too


_DEPTH = 3  # `BackendCompilerFailed: backend='inductor' raised:` of `InductorError: OutOfMemoryError: …`
_LABEL = lazy(rf"^{one_of(WORDS['labels'])}\s{{1,8}}")
_SAID = lazy("^" + one_of(WORDS["said"]))
# `1 validation error for ModelConfig`, then `  Value error, …` of pydantic 2: a check of the model itself raised.
_VALIDATOR = lazy(
    r"^\d{1,4} validation errors? for [^\n]{1,200}\n(?:[^\s\n][^\n]{0,160}\n)?\s{2,4}"
    f"({'|'.join(WORDS['validators'])}), "
)
_GRAPH, _LOADER = lazy(WORDS["graph"]), lazy(WORDS["loader"])


def quoted_in(exception: str, message: str) -> Iterator[tuple[str, str]]:
    """Yield what the message quotes, the outer one first, as exception and message."""
    for _ in range(_DEPTH):
        inner = _inner(exception, message)
        if inner is None:
            return
        exception, message = inner
        yield inner


def _inner(exception: str, message: str) -> tuple[str, str] | None:
    if target := TARGET.match(message):
        kind, _, text = next(reprs_in(message[target.end() :].strip(), is_failure=True), "").partition(": ")
        return (kind, text) if kind else None
    said, validator, graph = _SAID.match(message), _VALIDATOR.match(message), _GRAPH.match(message)
    if graph and graph.end() and graph.end() < len(message):
        return exception, message[graph.end() :]
    if validator:
        return WORDS["validators"][validator[1]], message[validator.end() :]
    if said:
        return WORDS["said_as"], message[said.end() :]
    label = _LABEL.match(message)
    rest = message[label.end() :] if label else message
    first, _, more = rest.partition("\n")
    named = read_exception(first)
    if named is not None and named.is_sure and named.message and named.name != exception:
        return named.name, f"{named.message}\n{more}" if more else named.message
    if label is None:
        return None
    by_default = WORDS["loaded_as"] if _LOADER.match(rest) else ""
    kind = next((kind for words, kind in WORDS["imports"].items() if rest.startswith(words)), by_default)
    return (kind, rest) if kind else None


MAX_MESSAGE_LINES = 14  # of an exception, on which its traceback is looked up
MAX_FRAME_LINES = 2000  # of one traceback; in a longer one other output stands
SESSIONS = tuple(WORDS["sessions"])
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
    """Yield the lines on which the exceptions of each traceback stand, further lines of a message included."""
    found: dict[int, list[Traceback]] = {}
    for tb, all_of_it in told:
        at: set[int] = set()  # a chain may share them
        for _, message, first in all_of_it:
            is_graph = message.startswith(GRAPH_ERROR)
            more = min(tb.end_line - first, MAX_FRAME_LINES) if is_graph else min(message.count("\n"), MAX_MESSAGE_LINES)
            at.update(range(first, first + max(0, more) + 1))
        for number in at:
            found.setdefault(number, []).append(tb)
    return found


def inside_lines(
    tracebacks: Sequence[Traceback], of_exceptions: Container[int], lines: Sequence[Line], keys: Sequence[str]
) -> set[int]:
    """Yield the lines of frames: source code, in which nothing is an exception that was raised.

    `keys`: who speaks on each line; what others say between the frames of one, as woven ranks do, is theirs.
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
    """Yield the first lines of those tracebacks that are quoted, as in a doctest or a pasted session, below its prompt.

    A session's frames are of no file (`<stdin>`, `<python-input-0>`), which tells a prompt from what programs print before
    they die (`>>> done with dataset index builder.`, Megatron). Set in as a docstring's text is, it needs no prompt.
    """
    shown = [tb for tb in tracebacks if tb.form != "bare" and all(frame.file.startswith(SESSIONS) for frame in tb.frames)]
    heads = {number for tb in shown for number in (tb.line - 1, tb.line)}
    texts = {line.number: line.message for line in lines if line.number in heads} if shown else {}
    below = (tb for tb in shown if texts.get(tb.line - 1, "").lstrip().startswith(PROMPTS))
    set_in = (tb for tb in shown if texts.get(tb.line, "").startswith("    "))
    return frozenset(tb.line for tb in (*below, *set_in))


def is_heard(tb: Traceback, quoted: frozenset[int]) -> bool:
    """Whether the traceback tells of something that went wrong in the program; `quoted`: first lines of those that are."""
    return tb.form not in UNHEARD_FORMS and tb.line not in quoted


def quoting(lines: Sequence[Line], index: int) -> Line:
    """Yield the head above a line that c10 quotes below `Last error:`, `[rank3]:[E… …]`; any other line as it is."""
    line, above = lines[index], lines[max(0, index - MOST_LINES) : index]
    if speaker_key(line.prefix) or not above or above[-1].message.strip() != LAST_ERROR:
        return line
    return next((x for x in reversed(above) if speaker_key(x.prefix)), line)


def is_told_again(raised: Traceback | None, line: int | None, text: str) -> bool:
    """Whether it stands in what was raised below `Last error:` (NCCL had printed it), or a remote task raised it."""
    if f"{WORDS['remote']}(" in text[:HEAD_CHARS]:
        return True
    return raised is not None and f"{LAST_ERROR}\n" in raised.message and (line or 0) > raised.exception_line
