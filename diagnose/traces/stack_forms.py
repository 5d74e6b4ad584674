"""What stacks of processes are made of, and how py-spy, faulthandler, gdb, pstack, eu-stack, pystack and c10d print them.

One line is read at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record

FORMS = Path(__file__).with_name("stacks.yaml")
_OUTERMOST = ("<module>", "main", "__libc_start_main", "_start")


@record
class StackFrame:
    """One frame of a live (or dying) process; `file` is a library where a native frame tells no source."""

    function: str
    file: str = ""
    line: int | None = None


@record
class StackThread:
    """One thread; `state` is the tool's word (`idle`, `active+gil`, `current`), frames are outermost first."""

    form: str
    thread_id: str = ""
    name: str = ""
    state: str = ""
    is_main: bool = False
    pid: int | None = None
    frames: tuple[StackFrame, ...] = ()


@record
class StackDump:
    """One process at one moment; `rank` is a hint from the prefix or a heading; `reason`: why a crash made it."""

    form: str
    pid: int | None = None
    cmdline: str = ""
    reason: str = ""
    threads: tuple[StackThread, ...] = ()
    rank: int | None = None
    local_rank: int | None = None
    line: int = 0
    end_line: int = 0
    speaker: str = ""

    @property
    def is_live(self) -> bool:
        """Tell whether the process lived on: a crash has a reason, and so has a time-out that faulthandler watched."""
        return not self.reason or self.reason.startswith("Timeout (")


Head = TypeVar("Head", StackDump, StackThread)
_READ: dict[str, Any] = {"pid": int, "is_main": bool}


@lru_cache
def _rows(table: str) -> tuple[tuple[str, dict[str, str], Any], ...]:
    """Yield what the lines of a table begin with, what the form says of itself, and its pattern."""
    rows = tables(FORMS)[table]
    return tuple((r["begins"], {k: r[k] for k in ("form", "state") if k in r}, lazy(r["pattern"])) for r in rows)


def _read_head(text: str, table: str, head: type[Head]) -> Head | None:
    for begins, told, pattern in _rows(table):
        if text.startswith(begins) and (found := pattern.match(text)):
            fields: dict[str, Any] = {**told, **{k: v for k, v in found.groupdict().items() if v is not None}}
            return head(**{k: _READ.get(k, str)(v) for k, v in fields.items()})
    return None


def read_process(text: str) -> StackDump | None:
    """Read the line that begins a dump."""
    return _read_head(text, "processes", StackDump)


def read_thread(text: str) -> StackThread | None:
    """Read the line a thread begins with."""
    head = _read_head(text, "threads", StackThread)
    if head is not None and head.name == "MainThread" and head.form == "py-spy":
        # A main thread's id is the process's, which names the pid where the head is cut off.
        return replace(head, is_main=True, pid=int(head.thread_id) if head.thread_id.isdecimal() else None)
    return head


def with_main(threads: Sequence[StackThread]) -> tuple[StackThread, ...]:
    """Mark the main thread where the tool does not name it: its outermost frame is the module's own code."""
    marked = list(threads)
    if not any(t.is_main for t in marked):
        of_module = (i for i in reversed(range(len(marked))) if any(f.function in _OUTERMOST for f in marked[i].frames[:3]))
        for i in [*of_module][:1]:
            marked[i] = replace(marked[i], is_main=True)
    return tuple(marked)


_FRAMES = tables(FORMS)["frames"]
_PYSPY_FRAME, _FAULT_FRAME, _PYSTACK_FRAME, _NATIVE_FRAME, AT, _FROM = (
    lazy(_FRAMES[name]) for name in ("py-spy", "faulthandler", "pystack", "native", "at", "from")
)


def read_pyspy_frame(text: str) -> StackFrame | None:
    """Read a frame of py-spy's text form."""
    found = _PYSPY_FRAME.match(text) if text.startswith("   ") else None
    return StackFrame(found[1], found[2], int(found[3]) if found[3] else None) if found else None


def read_python_frame(text: str) -> StackFrame | None:
    """Read a frame of faulthandler, pystack or gdb's py-bt."""
    if 'File "' not in text:
        return None
    found = _FAULT_FRAME.match(text) or _PYSTACK_FRAME.match(text)
    return StackFrame(found[3].strip(), found[1], int(found[2]) if found[2].isdecimal() else None) if found else None


def read_native_frame(text: str) -> tuple[int, StackFrame] | None:
    """Read a frame of gdb, pstack, eu-stack or cuda-gdb with its number, which starts at 0 for the innermost."""
    found = _NATIVE_FRAME.match(text) if text.startswith("#") else None
    at = AT.search(found[3]) if found else None
    if found is None or not (found[2] or "(" in found[3] or at):
        return None
    rest, file, line = found[3], "", None
    if at:
        file, line, rest = at[1], int(at[2]), rest[: at.start()]
    elif library := _FROM.search(rest):
        file, rest = library[1], rest[: library.start()]
    # without gdb's ` (comm=0x55, stream=0x0)`, but with parentheses that belong to the name
    name = rest if rest.startswith("(") else rest.partition(" (")[0]
    return int(found[1]), StackFrame(name.strip()[:1000] or "??", file, line)
