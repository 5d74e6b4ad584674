"""Who has not come, where the others only say that they wait: Horovod's lists, the first barrier, a broadcast from rank 0."""

from __future__ import annotations

from pathlib import Path

from tests.told import culprits, told

TIMED_OUT = (
    "[E ProcessGroupNCCL.cpp:828] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=987156, "
    "OpType={op}, Timeout(ms)=1800000) ran for 180074{rank} milliseconds before timing out.\n"
)
EVALUATES = "10/26 11:27:48 - mmengine - INFO - Evaluating bbox...\nRunning per image evaluation...\n"


def timed_out(*ranks: int, op: str = "BROADCAST") -> str:
    """What the watchdogs of these ranks say."""
    return "".join(TIMED_OUT.format(rank=rank, op=op) for rank in ranks)


def test_an_evaluation_above_does_not_blame_rank_zero_where_it_waited_too(tmp_path: Path) -> None:
    """Rank 0 reports the time-out itself: it came."""
    assert [0] != culprits(told(tmp_path, {"console.log": EVALUATES + timed_out(6, 4, 0, 3)}))
