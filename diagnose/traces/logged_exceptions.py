"""A line on which a program logs the message of an exception that it caught, and leaves out the exception's name.

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
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..lines.prefix_rows import piece
from .traceback import Traceback, innermost

RAISED = piece("RAISED")

TYPES = (  # under which the rules know most messages
    "RuntimeError", "OSError", "ValueError", "AssertionError", "torch.OutOfMemoryError", "FileNotFoundError",
    "ConnectionRefusedError", "ConnectionResetError", "TimeoutError", "ImportError", "AttributeError", "TypeError",
)  # fmt: skip
_LEAD = lazy(r"(?i)[^\n:]{0,80}?\b(?:error|exception|fail(?:ed|ure|s)|crashed|abort(?:ed|ing))\b[^\n:]{0,60}: {1,2}(?=\S)")
# What a hook for uncaught exceptions puts before the name, and how a user quotes an error within a sentence.
_NAMED = lazy(
    rf"(?:[^\n:]{{0,80}}?\b(?i:uncaught|unhandled)\b(?: exception)?:? {{1,2}}|"
    rf"[^\n`]{{0,200}}?\b(?i:get(?:ting|s)?|got|error|exception|fail(?:ed|s|ing)?|raise[sd]?|die[sd]|crash(?:ed|es)|throws?)\b"
    rf"[^\n`]{{0,40}}?:? ?`{{1,3}})(?={RAISED}: )"
)
# A traceback pasted with its line ends lost: `… File "protocol.py", line 499, in chunk assert len( AssertionError: only …`
_FRAME, _RAISED = lazy(r'File "[^"\n]{1,400}", line \d{1,9}, in [^"\n]'), lazy(rf"(?<= ){RAISED}: ")
# `repr(error)`, as `{e!r}` prints it: `OSError(28, 'No space left on device')`; it names a failure only behind such words.
_REPR = lazy(
    rf"(?<![\w.=\"'])(?P<name>{RAISED}|gaierror)\((?:(?P<errno>-?\d{{1,4}}), )?"
    r"(?:'(?P<single>[^\n]{1,2000}?)(?:'[,)]|$)|\"(?P<double>[^\n]{1,2000}?)(?:\"[,)]|$))"
)
_FAILED = lazy(r"(?i)\b(?:error|exception|fail(?:ed|ure|s)?|crashe[ds]|aborted|raised|died|dead)\b[^\n]{0,80}$")
# Above the `repr` of what raised, in Hydra's short report (without HYDRA_FULL_ERROR) and in its own exception.
TARGET = lazy(r"Error in (?:call to target '[^'\n]{1,300}'|creating partial\([^\n]{1,300}\) object):")
_ADVISES = lazy(r"(?i)\b(?:if|when|will|would|may|might|could|can|avoid|fix(?:e[sd])?|instead)\b")
_WENT_ON = lazy(r"(?i)\b(?:retry|retries|retrying|skip\w{0,4}|ignor\w{0,5}|fall(?:ing)? ?back|warn\w{0,4}|caught)\b")
_CALM, _GRAVE = ("I", "W", "D"), ("E", "F")  # severities of a line that reports no failure, and of one that does
# A paragraph broken at the margin, such as one of Open MPI's help texts: a line in its middle is no message of its own.
_BROKEN_OFF, _GOES_ON, MARGIN = lazy(r"(?:[^\s=:]{1,60} {1,2}){6,40}[\w',/()-]{1,40}$"), lazy(r"[a-z/(]"), 50


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
        yield from (f"{name}: {told}" for name in TYPES)
    named = _NAMED.match(message)
    if named and not _ADVISES.search(named[0]):
        yield message[named.end() :].rstrip("`")
    if lead:
        yield message[lead.end() :]  # its name may stand there too
