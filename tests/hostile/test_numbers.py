"""A number that a log states is never a length: worlds, groups and lists of ranks beyond any job cost nothing."""

from __future__ import annotations

import tracemalloc

import pytest

from diagnose import Text, diagnose
from diagnose.catalogue.matcher import read_ranks
from diagnose.lines.rank_ranges import rank_ranges

HUGE = 100_000_000
MOST_BYTES = 100 << 20
GATHER = (
    "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, "
    "OpType={op}, NumelIn={small}, NumelOut={large}, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
)
OTHER = (
    "[rank{n}]:[E ProcessGroupNCCL.cpp:616] [Rank {n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
)
LOGS = {
    "a gather": GATHER.format(op="_ALLGATHER_BASE", small=1, large=HUGE),
    "a scatter": GATHER.format(op="_REDUCE_SCATTER_BASE", small=HUGE, large=1),
    "a world": f"world_size: {HUGE}\n" + OTHER.format(n=0) + OTHER.format(n=1),
    "a rank": OTHER.format(n=0) + OTHER.format(n=1) + OTHER.format(n=HUGE),
    "a group": "".join(OTHER.format(n=n).replace(f"[Rank {n}]", f"[Rank {HUGE + n}]") for n in range(3)),
    "a launcher": f"+ torchrun --nnodes=9 --node_rank=8 --nproc_per_node={HUGE} train.py\nCUDA_VISIBLE_DEVICES=0,1\n"
    "RuntimeError: CUDA error: invalid device ordinal\n",
    "a batch": f"AssertionError: Train batch size: {HUGE}{HUGE} has to be greater than 0: micro {HUGE} ranks {HUGE}\n",
    "a list": "ready ranks: " + ", ".join(f"{n}-{n + 65_535}" for n in range(0, 10**8, 100_000)) + "\n",
}


def peak_bytes(log: str) -> int:
    """What a diagnosis takes at its height, in Python's own memory."""
    diagnose(Text("step 1 loss 2.1\n", "warm.log"))
    tracemalloc.start()
    diagnose(Text(log, "train.log"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("kind", LOGS)
def test_a_number_out_of_all_proportion_costs_no_memory(kind: str) -> None:
    assert peak_bytes(LOGS[kind]) < MOST_BYTES


def test_a_line_that_lists_ranks_without_end_is_cut() -> None:
    assert len(read_ranks(", ".join(f"{n}-{n + 65_535}" for n in range(0, 10**8, 100_000)))) <= 2 << 16


def test_a_range_is_written_without_being_counted() -> None:
    assert "7-999999999999" == rank_ranges(range(7, 10**12))
