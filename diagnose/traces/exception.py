"""One exception of a traceback: the line that names it, and what is kept of it while the traceback is read.

Python prints a class of the script that runs without its module, `GradientTooLarge: …`, so nothing in the name need say
that it is an exception; the source line of the last frame says it, `raise GradientTooLarge(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .traceback_lines import GRAPH_ERROR, GRAPH_FRAME, WORDS, Frame, one_of

_NAME, _GLUED, _DOTTED, _OWN = map(lazy, WORDS["names"].values())
_SURE = lazy(one_of(WORDS["sure_names"]) + "$")


@record
class ExceptionLine:
    """`torch.OutOfMemoryError: CUDA out of memory.` taken apart; `is_sure` when the name can be nothing else."""

    name: str
    message: str
    is_sure: bool
    is_bare: bool = False  # without the colon, which Python prints before every message, also one that begins a line below


def read_exception(text: str) -> ExceptionLine | None:
    """Read the line that names the exception; None when the text cannot be one."""
    return None if not text or text[0] in " \t[({'\"0123456789-=#" else _read_exception(text)


@lru_cache(256)
def _read_exception(text: str) -> ExceptionLine | None:
    """The same, remembered: most ranks end by the same words, and each line is read more than once."""
    glued = _GLUED.match(text) if text.find("Error", text.find("Error") + 1) > 0 else None
    text = f"{glued[1]}: {text[glued.end() :]}" if glued else text
    found = _NAME.match(text.rstrip("\r\n\t "))
    if found is None:
        return None
    name, message = found[1], found[2] or ""
    if message.endswith("`") and message.count("`") % 2:
        message = message.rstrip("`")  # Markdown's, which stood before the first line of what is quoted
    bare = name.partition("(")[0]
    last = bare.rpartition(".")[2]
    is_bare = found.end(1) == found.end()
    if _SURE.search(bare) and bare not in WORDS["words"]:
        return ExceptionLine(name, message, True, is_bare)
    has_case = last[0].isupper() and any(c.islower() for c in last)
    if ("." in bare and not text.endswith(".")) or (has_case and ":" in text):
        return ExceptionLine(name, message, False, is_bare)
    return None


def is_own_name(exception: str, frames: Sequence[Frame]) -> bool:
    """Say whether the name below these frames is one of an exception, however it is called."""
    return bool(frames) and (_DOTTED.match(exception) is not None or _is_raised(exception, frames[-1].code))


def read_raised(text: str, frames: Sequence[Frame]) -> ExceptionLine | None:
    """Read the line that names the exception; without a message any word is one that the last frame raises by it."""
    found = read_exception(text)
    if found is None and frames and _is_raised(text.rstrip(), frames[-1].code):
        return ExceptionLine(text.rstrip(), "", True, True)
    return found


def _is_raised(name: str, code: str) -> bool:
    if name in WORDS["asked_for"] or not code.startswith("raise ") or _OWN.match(name) is None:
        return False
    raised = code.removeprefix("raise ").partition(" from ")[0].partition("(")[0].strip()
    return raised.rpartition(".")[2] == name


Relation = Literal["last", "cause", "context", "inner", "member"]

MESSAGE_CHARS = 8192  # what patterns are verified on; longer messages are cut
_MESSAGE_LINES = 400  # a c10 stack has 20 to 60 frames; beyond this it is no message any more
_CODE_CHARS = 400


@dataclass(slots=True)
class Segment:
    """One exception while it is being read; `relation` says how it stands to the one printed after it."""

    relation: Relation = "last"
    depth: int = 0
    frames: list[Frame] = field(default_factory=list)
    exception: str = ""
    is_sure: bool = False
    is_bare: bool = False
    message: str = ""
    exception_line: int = 0
    last_text: str = ""
    message_lines: int = 0

    @property
    def is_ray(self) -> bool:
        """Whether what a remote task raised follows: `…RayTaskError(KeyError): ray::Trainer.step() (pid=…)`."""
        # Ray 0.7 wrote `RayTaskError: ray_worker (pid=39340, host=n7)`
        is_old = self.exception.endswith(WORDS["remote"]) and "(pid=" in self.last_text
        return is_old or "ray::" in self.last_text or self.last_text.lstrip().startswith(WORDS["lost_input"])

    def name(self, number: int, found: ExceptionLine) -> None:
        """Keep the exception's name and the first line of its message."""
        self.exception, self.is_sure, self.exception_line = found.name, found.is_sure, number
        self.is_bare = found.is_bare
        self.message, self.last_text = found.message[:MESSAGE_CHARS], found.message

    def keep_code(self, code: str, line: int | None = None) -> None:
        """Put a source line to the last frame."""
        self.frames[-1] = self.frames[-1].with_code(code.strip()[:_CODE_CHARS], line)

    def add_text(self, text: str, blanks: int) -> bool:
        """Add a line to the message; False when it is too long already."""
        self.message_lines += 1
        self.last_text = text
        if self.message_lines > _MESSAGE_LINES:
            return False
        is_left_out = text.startswith("frame #") or (
            self.message.startswith(GRAPH_ERROR) and GRAPH_FRAME.match(text) is not None
        )
        if not is_left_out and len(self.message) < MESSAGE_CHARS:
            self.message = (self.message + "\n" * (1 + min(blanks, 2)) + text)[:MESSAGE_CHARS]
        return True
