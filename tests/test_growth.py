"""What a console of many ranks costs grows as its ranks do: lines of Python that run are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from diagnose.engine import diagnose
from diagnose.sources import Text

FEW, TIMES = 150, 4
MOST = 1.1  # times as much for each rank among many as among few; a loop over all for each of them comes to 2 and more


def woven(heads: list[str], *block: str) -> Iterator[str]:
    """A block that each speaker prints, the lines of all of them in turn."""
    for line in block:
        yield from (head + line.replace("{n}", str(n)) for n, head in enumerate(heads))


def tracebacks_of_ranks(count: int) -> Iterator[str]:
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB."
    heads = [f"[rank{n}]: " for n in range(count)]
    yield from woven(heads, "Traceback (most recent call last):", '  File "/app/train.py", line 10, in step', oom)


def workers_of_ray(count: int) -> Iterator[str]:
    heads = [f"(WorkerDict pid={1000 + n}, ip=10.0.{n // 200}.{n % 200}) " for n in range(count)]
    yield from woven(heads, "2026-11-22 10:00:07,123 INFO step {n}: loss 1.2")
    yield from woven(
        heads, "Traceback (most recent call last):", '  File "/app/train.py", line 10, in step', "ValueError: bad {n}"
    )


def tasks_of_slurm(count: int) -> Iterator[str]:
    for n in range(count):
        yield f"slurmstepd: error: *** STEP 77.0 ON n{n} CANCELLED AT 2026-11-22T10:00:{n % 60:02d} DUE TO TASK FAILURE ***"
        yield f"srun: error: n{n}: task {n}: Exited with exit code {1 + n % 3}"
        yield f"srun: error: n{n}: task {n}: Killed"


def lines_run(text: str) -> int:
    """How many lines of Python it takes; a loop counts each of its rounds, one in a single line too."""
    count = 0

    def note(_: FrameType, event: str, __: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        diagnose(Text(text, name="console.log"))
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("printed", [tracebacks_of_ranks, workers_of_ray, tasks_of_slurm])
def test_each_rank_of_a_large_console_costs_what_one_of_a_small_one_does(printed: Callable[[int], Iterator[str]]) -> None:
    few, many = ("\n".join(printed(n)) + "\n" for n in (FEW, FEW * TIMES))
    lines_run(few)  # compiles what it needs
    assert lines_run(many) < lines_run(few) * TIMES * MOST
