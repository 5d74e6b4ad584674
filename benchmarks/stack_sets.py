"""Makes the stack dumps of a hung job of N ranks with one injected fault, as the tools that take them print them.

Ranks stand in an all-reduce, but for the fault: one that saves (`outlier`), one in another collective (`desync`), every
second one in another collective (`halves`), or none at all (`together`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

FAULTS = ("outlier", "desync", "halves", "together")
FORMS = ("py-spy", "py-spy --json", "faulthandler", "gdb")
LAYOUTS = ("file per rank", "one file")
FIRST_PID = 70_000

Frame = tuple[str, str, int]  # function, file, line; innermost first
_C10D = "torch/distributed/distributed_c10d.py"
_MAIN: tuple[Frame, ...] = (("train", "train.py", 131), ("<module>", "train.py", 160))
PLACES: dict[str, tuple[Frame, ...]] = {
    "all_reduce": (("all_reduce", _C10D, 2501), ("reduce_gradients", "train.py", 88), *_MAIN),
    "broadcast": (("broadcast", _C10D, 2421), ("sync_flag", "train.py", 99), *_MAIN),
    "save": (("write", "torch/serialization.py", 532), ("save_checkpoint", "train.py", 104), *_MAIN),
}
NATIVE = {"all_reduce": "ncclAllReduce", "broadcast": "ncclBroadcast", "save": "torch::serialize::save_checkpoint"}
_IDLE: tuple[Frame, ...] = (("select", "selectors.py", 415), ("_pin_memory_loop", "pin_memory.py", 51))


@dataclass(frozen=True)
class StackJob:
    """What to generate."""

    ranks: int = 16
    fault: str = "outlier"
    form: str = "py-spy"
    layout: str = "file per rank"
    seed: int = 0

    @property
    def guilty(self) -> int:
        """The rank that stands elsewhere."""
        return random.Random(f"{self.seed}-{self.fault}").randrange(self.ranks)

    @property
    def culprits(self) -> list[int]:
        """Whom a diagnosis has to name."""
        return [self.guilty] if self.fault in ("outlier", "desync") else []

    def place(self, rank: int) -> str:
        """Where a rank stands."""
        if self.fault == "halves":
            return ("all_reduce", "broadcast")[rank % 2]
        if self.fault == "together" or rank != self.guilty:
            return "all_reduce"
        return {"outlier": "save", "desync": "broadcast"}[self.fault]


def stack_files(job: StackJob) -> Iterator[tuple[str, str]]:
    """Yields names and texts."""
    texts = [_dump(job.form, FIRST_PID + rank, job.place(rank)) for rank in range(job.ranks)]
    if job.layout == "one file" and job.form == "py-spy --json":
        yield "stacks.json", "".join(texts)
    elif job.layout == "one file":
        yield "stacks.txt", "".join(f"=== rank {n} (pid {FIRST_PID + n}) ===\n{text}" for n, text in enumerate(texts))
    else:
        suffix = "json" if job.form == "py-spy --json" else "txt"
        yield from ((f"stack_rank{rank}.{suffix}", text) for rank, text in enumerate(texts))


def _dump(form: str, pid: int, place: str) -> str:
    makers = {"py-spy": _pyspy, "py-spy --json": _json, "faulthandler": _faulthandler}
    return makers[form](pid, PLACES[place]) if form in makers else _gdb(pid, NATIVE[place])


def _pyspy(pid: int, frames: tuple[Frame, ...]) -> str:
    def shown(of_thread: tuple[Frame, ...]) -> str:
        return "".join(f"    {function} ({file}:{line})\n" for function, file, line in of_thread)

    return (
        f"Process {pid}: /opt/venv/bin/python -u train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
        f'Thread {pid} (idle): "MainThread"\n{shown(frames)}'
        f'Thread 0x7F{pid:X} (idle): "Thread-1 (_pin_memory_loop)"\n{shown(_IDLE)}'
    )


def _json(pid: int, frames: tuple[Frame, ...]) -> str:
    def thread(name: str, number: int, of_thread: tuple[Frame, ...]) -> dict[str, object]:
        rows = [
            {"name": function, "filename": f"/opt/{file}", "module": None, "short_filename": file, "line": line}
            for function, file, line in of_thread
        ]
        return {"pid": pid, "thread_id": number, "thread_name": name, "active": False, "owns_gil": False, "frames": rows}

    threads = [thread("MainThread", 140, frames), thread("Thread-1 (_pin_memory_loop)", 141, _IDLE)]
    return json.dumps(threads, indent=2) + "\n"


def _faulthandler(pid: int, frames: tuple[Frame, ...]) -> str:
    def shown(of_thread: tuple[Frame, ...]) -> str:
        return "".join(f'  File "/opt/{file}", line {line} in {function}\n' for function, file, line in of_thread)

    return (
        f"Timeout (0:30:00)!\nThread 0x00007f{pid:08x} (most recent call first):\n{shown(_IDLE)}\n"
        f"Thread 0x00007e{pid:08x} (most recent call first):\n{shown(frames)}\n"
    )


def _gdb(pid: int, function: str) -> str:
    return (
        f"Attaching to process {pid}\n[New LWP {pid + 100_000}]\n"
        f'Thread 2 (Thread 0x7f11 (LWP {pid + 100_000}) "pt_nccl_watchdg"):\n'
        "#0  0x00007f1184a9 in __futex_abstimed_wait_common () from /lib/libc.so.6\n"
        "#1  0x00007f1184aa in std::condition_variable::wait () from /lib/libstdc++.so.6\n"
        f'Thread 1 (Thread 0x7f10 (LWP {pid}) "python"):\n'
        f"#0  0x00007f1184a9 in {function} () from /opt/venv/lib/libtorch.so\n"
        "#1  0x0000555000aa in _PyEval_EvalFrameDefault ()\n#2  0x0000555000ab in main ()\n"
        f"[Inferior 1 (process {pid}) detached]\n"
    )
