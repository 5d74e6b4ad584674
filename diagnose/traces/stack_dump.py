"""What a dump of stacks says of one process: its threads, and why and where it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..lines.record import record
from .stack_forms import StackFrame

_OUTERMOST = ("<module>", "main", "__libc_start_main", "_start")


@record
class StackThread:
    """One thread; `state` is the tool's word (`idle`, `active+gil`, `current`), frames are outermost first."""

    name: str
    thread_id: str
    state: str
    is_main: bool
    frames: tuple[StackFrame, ...]


@record
class StackDump:
    """One process at one moment; `rank` is a hint from the prefix or a heading, None when only the pid tells."""

    form: str
    pid: int | None
    rank: int | None
    local_rank: int | None
    cmdline: str
    threads: tuple[StackThread, ...]
    line: int
    end_line: int
    reason: str
    speaker: str

    @property
    def is_live(self) -> bool:
        """Tell whether the process lived on: a crash has a reason, and so has a time-out that faulthandler watched."""
        return not self.reason or self.reason.startswith("Timeout (")


def with_main(threads: Sequence[StackThread]) -> tuple[StackThread, ...]:
    """Mark the main thread where the tool does not name it: its outermost frame is the module's own code."""
    if any(t.is_main for t in threads):
        return tuple(threads)
    marked = list(threads)
    for i in reversed(range(len(marked))):
        if any(f.function in _OUTERMOST for f in marked[i].frames[:3]):
            marked[i] = replace(marked[i], is_main=True)
            break
    return tuple(marked)
