"""The lines of a traceback but for the one that names the exception: header, frame, chain sentence, end of a message.

In comes the text of a message, out comes what it is; nothing here remembers the line before. Words and forms that are no
grammar stand in `tracebacks.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ..lines.lazy_pattern import lazy
from ..lines.prefix_rows import tables
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


_LIBRARY = lazy(one_of(WORDS["libraries"]))


def is_library(file: str) -> bool:
    """Say whether a frame's file is a library's or the interpreter's rather than the user's own."""
    return _LIBRARY.search(file) is not None


HeaderForm = Literal["plain", "group", "rich", "ipython", "original", "elastic-box"]


@record
class Header:
    """The line a traceback begins with; `indent` is the column its exception line will stand in."""

    form: HeaderForm
    indent: int
    rank: int | None = None  # whose exception it is, where another rank prints it
    lead: str = ""  # a label no table knows, which the other lines carry too: `[trainer0|0]:Traceback (most …`


_HEADER_WORDS = "Traceback (most recent call last)"
_BOX = lazy(r"^(\s*)(?:[\u256d\u250c+][\u2500\-]{1,400}) ?Traceback \(most recent call last\) ?[\u2500\-]{1,400}")
# `KeyError                                  Traceback (most recent call last)` below 75 dashes.
_IPYTHON = lazy(r"^[A-Za-z_][\w.]{0,120}\s{2,200}Traceback \(most recent call last\)\s*$")
# `  traceback : Traceback (most recent call last):` in torchelastic's failure summary.
_ELASTIC = lazy(r"^(\s*)traceback\s{0,8}: Traceback \(most recent call last\):\s*$")
# `Traceback (most recent call last): (RANK 0)` in torch.distributed.checkpoint's CheckpointException.
_RANKED = lazy(r"Traceback \(most recent call last\): \(RANK (\d{1,7})\)\s*$")
# What ends like a label, and is no progress bar.
_LABEL = lazy(r"^[^%<\n]{1,120}[\]:|>)] ?$")


def read_header(text: str) -> Header | None:
    """Read the line a traceback begins with; None for any other line."""
    return _read_known_header(text) if _HEADER_WORDS in text else None


def _read_known_header(text: str) -> Header | None:
    indent = indent_of(text)
    if _IPYTHON.match(text):
        return Header("ipython", 0)
    if _BOX.match(text) or _ELASTIC.match(text):
        return Header("elastic-box" if "traceback" in text else "rich", indent)
    if (ranked := _RANKED.search(text)) is not None:
        return Header("original", indent, int(ranked[1]))
    if not text.rstrip().endswith(_HEADER_WORDS + ":"):
        return None
    begin = text[indent:]
    if begin.startswith("Original Traceback"):
        return Header("original", indent)
    if "Exception Group Traceback" in text:
        return Header("group", indent)
    if begin.startswith("Traceback"):
        return Header("plain", indent)
    # A progress bar may stand in front: `100%|####| 4/4 [00:40<00:00]Traceback (most recent call last):`
    lead = text[: text.rindex(_HEADER_WORDS)]
    return Header("plain", 0, lead=lead if _LABEL.match(lead) else "")


def indent_of(text: str) -> int:
    """Count the leading blanks."""
    return len(text) - len(text.lstrip())


# `  File "train.py", line 36, in step`; a SyntaxError's has no `in`. faulthandler's has no comma and is not ours.
_FRAME = lazy(rf'^\s*File "([^"\n]{{1,{_PATH_CHARS}}})", line (\d{{1,9}})(?:, in (.{{1,400}}))?\s*$')
_CARETS = lazy(r"^[\s~^]+$")


def read_frame(text: str) -> Frame | None:
    """Read a `File "…", line N, in f` line."""
    return _known_frame(text) if 'File "' in text else None


@lru_cache(512)
def _known_frame(text: str) -> Frame | None:
    """The same, remembered: thousands of ranks stand in the same frames."""
    found = _FRAME.match(text)
    return Frame(found[1], int(found[2]), (found[3] or "").strip()) if found else None


def is_caret_line(text: str) -> bool:
    """Say whether the line only underlines the one above (`    ~~~~^^^^^`)."""
    return _CARETS.match(text) is not None


ELIDED = frozenset(WORDS["elided"])
_CHAINS: dict[str, Literal["cause", "context"]] = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}


def read_chain(text: str) -> Literal["cause", "context"] | None:
    """Read the sentence between two chained tracebacks."""
    return _CHAINS.get(text.strip())


_INTRODUCTION = lazy(r"^\s*" + one_of(f"(?P<{form}>{line})" for form, line in WORDS["introductions"].items()) + r"\s*$")
_CALLEE = lazy(WORDS["callee"])


def read_introduction(text: str) -> str:
    """Read `Exception in thread …:`, `Process …:` and their like as the traceback's form; empty for other lines."""
    found = _INTRODUCTION.match(text)
    return (found.lastgroup or "") if found else ""


def introduces_inner(text: str, message: str) -> bool:
    """Say whether what a child or a callee raised follows, by a line below a message and that message so far."""
    is_of_child = "-- Process " in text and read_introduction(text) == "spawn"
    return is_of_child or _CALLEE.match(message) is not None


_FOREIGN = lazy(rf"^{one_of(WORDS['foreign'])}|\d(?:it/s|s/it)\b")
_RESUMES = lazy("^" + one_of(WORDS["resuming"]))
GRAPH_ERROR = "Graph execution error:"  # of TensorFlow; where the graph was made stands before what went wrong
_GRAPH_FRAME = lazy(r"^ {4}(?:File \"| {2}\S)")


def is_foreign(text: str) -> bool:
    """Say whether a line cannot continue a message, because it has a log's or a launcher's face."""
    return _FOREIGN.search(text) is not None


def resumes_message(text: str) -> bool:
    """Say whether a line after a blank one still belongs to the message above."""
    return _RESUMES.match(text) is not None


def is_graph_frame(text: str) -> bool:
    """Say whether a line below `Graph execution error:` tells where an operation was made."""
    return _GRAPH_FRAME.match(text) is not None
