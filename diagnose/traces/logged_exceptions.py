"""Exceptions in other words: logged by their message alone, or quoted in the message of another one.

    2026-11-20 17:03:28 - ERROR - Training failed: CUDA error: an illegal memory access was encountered
    Error saving checkpoint: [Errno 28] No space left on device: '/ckpt/step_100'
    DataLoader worker (pid 20991) is killed by signal: Bus error.
    [2024-04-18 15:55:06] CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too Many Requests
    2026-11-20 17:03:28 - ERROR - worker 3 is gone: OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB')
    2026-11-20 17:03:28 - ERROR - worker 3 failed: OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB')
    Error in call to target 'src.models.Net':
    OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB')

`print(f"... failed: {e}")` is all that is left of many an exception. In: such a line. Out: the texts that Python would
have printed for it, in which a rule about exceptions is looked for. What the program went on after is no such line.
A compiler, a validator or an engine prints what was raised first behind words of its own (`quoted_in`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..lines.prefix_rows import filled, piece
from .exception import read_exception
from .traceback import Traceback, innermost
from .traceback_lines import WORDS, one_of

RAISED = piece("RAISED")

_LEAD, _NAMED = lazy(WORDS["lead"]), lazy(filled(WORDS["named"]))
# A traceback pasted with its line ends lost: `… File "protocol.py", line 499, in chunk assert len( AssertionError: only …`
_FRAME, _RAISED = lazy(r'File "[^"\n]{1,400}", line \d{1,9}, in [^"\n]'), lazy(rf"(?<= ){RAISED}: ")
# `repr(error)`, as `{e!r}` prints it: `OSError(28, 'No space left on device')`.
_REPR = lazy(
    rf"(?<![\w.=\"'])(?P<name>{RAISED}|gaierror)\((?:(?P<errno>-?\d{{1,4}}), )?"
    r"(?:'(?P<single>[^\n]{1,2000}?)(?:'[,)]|$)|\"(?P<double>[^\n]{1,2000}?)(?:\"[,)]|$))"
)
_FAILED, TARGET, _ADVISES, _WENT_ON = (lazy(WORDS[name]) for name in ("failed", "target", "advises", "went_on"))
_CALM, _GRAVE = ("I", "W", "D"), ("E", "F")  # severities of a line that reports no failure, and of one that does
_BROKEN_OFF, _GOES_ON, MARGIN = lazy(WORDS["broken_off"]), lazy(r"[a-z/(]"), 50


def told_texts(line: Line, above: Line | None = None) -> Iterator[str]:
    """Yield what Python would have printed for the exception of which the line gives the message."""
    message = line.message.strip().strip("`")
    if line.prefix.severity in _CALM or line.message[:2].isspace() or _WENT_ON.search(message):
        return
    if above is not None and _GOES_ON.match(message) and _is_broken_off(above.message.rstrip()):
        return
    yield from _as_printed(message)
    if frame := _FRAME.search(message):
        yield from (message[found.start() :] for found in _RAISED.finditer(message, frame.end()))
    is_raised = above is not None and TARGET.match(above.message) is not None
    yield from reprs_in(message, is_failure=is_raised or line.prefix.severity in _GRAVE)


def _is_broken_off(message: str) -> bool:
    return len(message) >= MARGIN and _BROKEN_OFF.match(message) is not None


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
        return "RuntimeError", message[said.end() :]
    label = _LABEL.match(message)
    rest = message[label.end() :] if label else message
    first, _, more = rest.partition("\n")
    named = read_exception(first)
    if named is not None and named.is_sure and named.message and named.name != exception:
        return named.name, f"{named.message}\n{more}" if more else named.message
    if label is None:
        return None
    by_default = "ImportError" if _LOADER.match(rest) else ""
    kind = next((kind for words, kind in WORDS["imports"].items() if rest.startswith(words)), by_default)
    return (kind, rest) if kind else None
