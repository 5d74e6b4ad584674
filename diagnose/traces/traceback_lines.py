"""The lines of a traceback but for the one that names the exception: header, frame, chain sentence, end of a message.

Nothing here remembers the line before. Words and forms that are no grammar stand in `tracebacks.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record

_PATH_CHARS = 1000  # Linux refuses paths beyond 4096; tracebacks never come near


WORDS = tables(Path(__file__).with_name("tracebacks.yaml"))


def one_of(alternatives: Iterable[str]) -> str:
    """Yield the pattern of any of these."""
    return f"(?:{'|'.join(alternatives)})"


@record
class Frame:
    """One frame: where the code stands, and its source line where the traceback shows it."""

    file: str
    line: int
    function: str
    code: str = ""

    @property
    def told(self) -> tuple[str, str]:
        """What a rule may ask for: `file in function`, and the same with `: code` behind it."""
        where = f"{self.file} in {self.function}"
        return where, f"{where}: {self.code}"

    def with_code(self, code: str, line: int | None = None) -> Frame:
        """Yield the same with its source line; `replace` would take four times as long."""
        return Frame(self.file, self.line if line is None else line, self.function, code)


def told_frames(frames: Sequence[Frame]) -> Iterator[str]:
    """Yield what a rule may ask for of frames in printed order; of the last also that the exception was raised at it."""
    for frame in frames:
        yield from frame.told
    if frames:
        yield from (f"raised at {words}" for words in frames[-1].told)


(
    GROUP_MARGIN, GROUP_MEMBER, CARETS, _CELL, _IPYTHON_FILE, _IPYTHON_OLD, ARROW, GRAPH_FRAME,
) = (lazy(pattern) for pattern in WORDS["forms"].values())  # fmt: skip
_LIBRARY = lazy(one_of(WORDS["libraries"]))


def is_library(file: str) -> bool:
    """Say whether a frame's file is a library's or the interpreter's rather than the user's own."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None


@record
class Header:
    """The line a traceback begins with; `indent` is the column its exception line will stand in."""

    form: str
    indent: int
    rank: int | None = None  # whose exception it is, where another rank prints it
    lead: str = ""  # a label no table knows, which the other lines carry too: `[trainer0|0]:Traceback (most …`


_HEADER_WORDS = "Traceback (most recent call last)"
_HEADER = lazy(one_of(f"(?P<{form}>{line})" for form, line in WORDS["headers"].items()) + r"\s*$")
_LABEL = lazy(r"^[^%<\n]{1,120}[\]:|>)] ?$")  # what ends like a label, and is no progress bar


def read_header(text: str) -> Header | None:
    """Read the line a traceback begins with; None for any other line."""
    if _HEADER_WORDS not in text or (found := _HEADER.match(text, indent := indent_of(text))) is None:
        return None
    form = next(form for form in WORDS["headers"] if found[form] is not None)
    if not found["lead"]:
        return Header(form, indent, int(found["rank"]) if found["rank"] else None)
    lead = text[: found.end("lead")]
    return Header(form, 0, lead=lead if _LABEL.match(lead) else "")


def indent_of(text: str) -> int:
    """Count the leading blanks."""
    return len(text) - len(text.lstrip())


# `  File "train.py", line 36, in step`; a SyntaxError's has no `in`. faulthandler's has no comma and is not ours.
_FRAME = lazy(rf'^\s*File "([^"\n]{{1,{_PATH_CHARS}}})", line (\d{{1,9}})(?:, in (.{{1,400}}))?\s*$')


def read_frame(text: str) -> Frame | None:
    """Read a `File "…", line N, in f` line."""
    found = _FRAME.match(text) if 'File "' in text else None
    return Frame(found[1], int(found[2]), (found[3] or "").strip()) if found else None


CHAINS: dict[str, Literal["cause", "context"]] = WORDS["chains"]
_INTRODUCTION = lazy(r"^\s*" + one_of(f"(?P<{form}>{line})" for form, line in WORDS["introductions"].items()) + r"\s*$")
_CALLEE = lazy(WORDS["callee"])


def read_introduction(text: str) -> tuple[str, int | None]:
    """Read `Exception in thread …:`, `[Rank 3]:` and their like as form and rank of a traceback; empty for other lines."""
    found = _INTRODUCTION.match(text)
    return (found.lastgroup or "", int(found["of"]) if found["of"] else None) if found else ("", None)


def introduces_inner(text: str, message: str) -> bool:
    """Say whether what a child or a callee raised follows, by a line below a message and that message so far."""
    is_of_child = "-- Process " in text and read_introduction(text)[0] == "spawn"
    return is_of_child or _CALLEE.match(message) is not None


FOREIGN = lazy(rf"^{one_of(WORDS['foreign'])}|\d(?:it/s|s/it)\b")  # a log's or a launcher's face: goes on with no message
RESUMES = lazy("^" + one_of(WORDS["resuming"]))  # goes on with a message after a blank line, too
GRAPH_ERROR = "Graph execution error:"  # of TensorFlow; where the graph was made stands before what went wrong


def read_ipython_frame(text: str) -> Frame | None:
    """Read the head of an IPython frame; older forms give the line only at the arrow (line 0 here)."""
    if found := _CELL.match(text) or _IPYTHON_FILE.match(text):
        return Frame(found[1], int(found[2]), (found[3] or "").partition("(")[0].strip())
    old = _IPYTHON_OLD.match(text)
    return Frame(old[1], 0, old[2].partition("(")[0].strip()) if old else None
