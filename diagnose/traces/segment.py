"""One exception of a traceback while it is being read: its frames, its name, its message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from .traceback_lines import GRAPH_ERROR, ExceptionLine, Frame, is_graph_frame

Relation = Literal["last", "cause", "context", "inner", "member"]

MESSAGE_CHARS = 8192  # what patterns are verified on; longer messages are cut
_MESSAGE_LINES = 400  # a c10 stack has 20 to 60 frames; beyond this it is no message any more
_CODE_CHARS = 400
_RAY_INPUT = "At least one of the input arguments for this task could not be computed"
_CALLEE, _CALLEE_CHARS = "On WorkerInfo(", 200  # within which it stands, as `introduces_inner` reads it
# Without these a line below a message is no header, frame or chain, and neither quotes nor introduces anything.
_MORE = ("Traceback (most", 'File "', '"""', "exception", "-- Process ", "ray::", "(pid=", "for this task could", _CALLEE)
# Their message is one line whatever they say, so the next line of a plain console is somebody else's.
_ONE_LINE = frozenset(
    (
        "BrokenPipeError",
        "ConnectionRefusedError",
        "ConnectionResetError",
        "EOFError",
        "FileExistsError",
        "FileNotFoundError",
        "GeneratorExit",
        "IndexError",
        "KeyError",
        "KeyboardInterrupt",
        "ModuleNotFoundError",
        "NameError",
        "PermissionError",
        "RecursionError",
        "StopIteration",
        "SystemExit",
        "UnboundLocalError",
        "ZeroDivisionError",
    )
)


@dataclass(slots=True)
class Segment:
    """One exception of the traceback; `relation` says how it stands to the one printed after it."""

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
    is_plain: bool = False  # its last line is known to hold none of `_MORE`

    @property
    def is_ray(self) -> bool:
        """Claims that what a remote task raised follows: `…RayTaskError(KeyError): ray::Trainer.step() (pid=…)`.

        Ray 0.7 wrote `RayTaskError: ray_worker (pid=39340, host=n7)`.
        """
        is_old = self.exception.endswith("RayTaskError") and "(pid=" in self.last_text
        return is_old or "ray::" in self.last_text or self.last_text.lstrip().startswith(_RAY_INPUT)

    @property
    def is_one_line(self) -> bool:
        """Claims that the exception's message cannot go on in the next line."""
        return self.is_bare or (self.exception.rpartition(".")[2] in _ONE_LINE and "Caught " not in self.message[:8])

    def can_only_go_on(self, text: str) -> bool:
        """Claims that a line with words, below the message's last one, is part of it, or else of no traceback."""
        if not (self.message_lines and self.exception) or _CALLEE in self.message[:_CALLEE_CHARS]:
            return False
        is_plain = self.is_plain or not any(map(self.last_text.__contains__, _MORE))
        return is_plain and not any(map(text.__contains__, _MORE))

    def name(self, number: int, found: ExceptionLine) -> None:
        """Keep the exception's name and the first line of its message."""
        self.exception, self.is_sure, self.exception_line = found.name, found.is_sure, number
        self.is_bare = found.is_bare
        self.message, self.last_text = found.message[:MESSAGE_CHARS], found.message

    def forget_name(self) -> None:
        """Undo `name`, the line having been somebody else's."""
        self.exception = self.message = self.last_text = ""
        self.exception_line = 0

    def keep_code(self, code: str, line: int | None = None) -> None:
        """Put a source line to the last frame."""
        last = self.frames[-1]  # `replace` would take four times as long, and most lines are of frames
        self.frames[-1] = Frame(last.file, last.line if line is None else line, last.function, code.strip()[:_CODE_CHARS])

    def room(self) -> int:
        """Yield how many more lines its message may have."""
        return max(0, _MESSAGE_LINES - self.message_lines)

    def add_texts(self, texts: Sequence[str]) -> None:
        """Add plain lines, of which there may be as many, to the message; the same as one by one."""
        more = "\n".join(("", *texts))
        is_short = len(self.message) + len(more) < MESSAGE_CHARS and "frame #" not in more
        if is_short and not self.message.startswith(GRAPH_ERROR):
            self.message += more
            self.message_lines += len(texts)
            self.last_text, self.is_plain = texts[-1], True
        else:
            for text in texts:
                self.add_text(text, 0, is_plain=True)

    def add_text(self, text: str, blanks: int, *, is_plain: bool) -> bool:
        """Add a line to the message; False when it is too long already."""
        self.message_lines += 1
        self.last_text, self.is_plain = text, is_plain
        if self.message_lines > _MESSAGE_LINES:
            return False
        if text.startswith("frame #") or len(self.message) >= MESSAGE_CHARS:
            return True
        if self.message.startswith(GRAPH_ERROR) and is_graph_frame(text):
            return True
        self.message = (self.message + "\n" * (1 + min(blanks, 2)) + text)[:MESSAGE_CHARS]
        return True
