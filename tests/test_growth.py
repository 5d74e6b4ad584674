"""What a console of many ranks costs grows as its ranks do: lines of Python that run are counted, not seconds."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import regex

from diagnose.engine import diagnose
from diagnose.scan import voices
from diagnose.sources.source import Text

FEW, TIMES = 80, 3
MOST = 1.1  # times as much for each rank among many as among few; a loop over all for each of them comes to 2 and more


def woven(heads: list[str], *block: str) -> Iterator[str]:
    """A block that each speaker prints, the lines of all of them in turn."""
    for line in block:
        yield from (head + line.replace("{n}", str(n)) for n, head in enumerate(heads))


def tracebacks_of_ranks(count: int) -> Iterator[str]:
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB."
    heads = [f"[rank{n}]: " for n in range(count)]
    yield from woven(heads, "Traceback (most recent call last):", '  File "/app/train.py", line 10, in step', oom)


def each_in_a_line_of_its_own(count: int) -> Iterator[str]:
    for n in range(4 * count):
        head = f"[rank{n // 4}]: "
        yield from (head + "Traceback (most recent call last):", f'{head}  File "/app/shards.py", line {n}, in load')
        yield f"{head}ValueError: shard {n} is empty"


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


def groups_of_two(count: int) -> Iterator[str]:
    """Tensor-parallel groups that all time out: as many groups as ranks allow, each asked for what ended its ranks."""
    for n in range(count):
        yield (
            f"[rank{n}]:[E1120 17:34:53.381000 1 ProcessGroupNCCL.cpp:616] [Rank {n % 2}] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=9, NumelOut=9, Timeout(ms)=600000) ran for 600001 milliseconds "
            "before timing out."
        )
        yield (
            f"[rank{n}]:[E1120 17:34:53.391000 1 ProcessGroupNCCL.cpp:2168] [PG ID {n // 2} PG GUID {n // 2}(tp{n // 2}) Rank {n % 2}]"
            "  failure detected by watchdog at work sequence id: 7 PG status: last enqueued work: 7, last completed work: 6"
        )


def one_group(count: int) -> Iterator[str]:
    """All ranks but one time out in the same collective of the job's own group."""
    for n in range(1, count):
        yield (
            f"[rank{n}]:[E1120 17:34:53.381000 1 ProcessGroupNCCL.cpp:629] [Rank {n}] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=9, NumelOut=9, Timeout(ms)=600000) ran for 600001 milliseconds "
            "before timing out."
        )


def agents_of_hosts(count: int) -> Iterator[str]:
    """The one process of each host raises, and its agent, which knows no rank of the whole job, gives up."""
    hosts = [f"n{n}: " for n in range(count)]
    yield from woven(hosts, "[default0]:Exception in thread Thread-3 (_pin_memory_loop):")
    raised = ('[default0]:  File "/app/train.py", line 10, in load', "[default0]:ValueError: shard {n} is empty")
    yield from woven(hosts, "[default0]:Traceback (most recent call last):", *raised)
    yield from woven(hosts, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ")


@pytest.fixture(autouse=True, scope="module")
def caches_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is compiled once stays compiled from one count to the next.

    Another process may thin out the user's cache folder, and rules be read anew; `regex` forgets patterns when it holds
    500, those of earlier tests among them, and would compile in the midst of a count.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for _ in range(2):  # the first writes the catalogue, the second reads it: neither is what a rank costs
            diagnose(Text("step 1 loss 2.0\n", name="console.log"))
        yield


def lines_run(*texts: Text, module: str = ".py") -> int:
    """How many lines of Python it takes, of one module or all; a loop counts each round, one in a single line too."""
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == "line" and frame.f_code.co_filename.endswith(module)
        return note

    before = sys.gettrace()
    voices._SPANS.clear()  # other tests may have filled it to just below where it is emptied
    gc.collect()
    gc.disable()  # else the finalizers of what other tests left behind would be counted
    sys.settrace(note)
    try:
        diagnose(*texts)
    finally:
        sys.settrace(before)
        gc.enable()
    return count


CONSOLES = [tracebacks_of_ranks, each_in_a_line_of_its_own, workers_of_ray, tasks_of_slurm, groups_of_two, one_group, agents_of_hosts]  # fmt: skip


@pytest.mark.parametrize("printed", CONSOLES)
def test_each_rank_of_a_large_console_costs_what_one_of_a_small_one_does(printed: Callable[[int], Iterator[str]]) -> None:
    few, many = (Text("\n".join(printed(n)) + "\n", name="console.log") for n in (FEW, FEW * TIMES))
    regex.purge()
    diagnose(few)  # compiles what it needs
    assert lines_run(many) < lines_run(few) * TIMES * MOST
