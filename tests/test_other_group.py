"""Ranks in several process groups: who took another turn, and what a lost peer of which nothing is known does not unsay."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, culprits, told

STUCK = (
    "[rank{rank}]:[E1120 10:30:00.104231877 ProcessGroupNCCL.cpp:616] [Rank {number}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
    "[rank{rank}]:[E1120 10:30:00.104331877 ProcessGroupNCCL.cpp:1785] [PG ID {pg} PG GUID {pg}({name}) Rank {number}] Exception (either "
    "an error or timeout) detected by watchdog at work: {seq}, last enqueued NCCL work: {seq}, last completed NCCL work: {before}.\n"
)


def stuck(rank: int, number: int, pg: int, name: str, seq: int, op: str = "ALLTOALL_BASE") -> str:
    """A rank that waits in a group."""
    return alive(rank) + STUCK.format(rank=rank, number=number, pg=pg, name=name, seq=seq, op=op, before=seq - 1)


def test_of_two_whole_groups_neither_is_out_of_turn(tmp_path: Path) -> None:
    logs = {f"rank{r}.log": stuck(r, r // 2, 3, "mesh_dp", 40) for r in (0, 2, 4, 6)}
    logs.update({f"rank{r}.log": stuck(r, r // 2, 4, "mesh_dp", 41) for r in (1, 3, 5, 7)})

    assert [] == culprits(told(tmp_path, logs))


def test_a_rank_that_says_why_it_stops_early_has_left(tmp_path: Path) -> None:
    left = "2026-11-20 10:19:10,000 | INFO | rank 4 | Early stopping: val_loss did not improve for 5 evaluations, stopping at step 120\n"
    logs = {f"rank{r}.log": stuck(r, r, 0, "default_pg", 40) for r in range(8) if r != 4}
    report = told(tmp_path, {**logs, "rank4.log": alive(4) + left + "2026-11-20 10:19:11,000 | INFO | rank 4 | done\n"})

    assert ("process.early-exit", [4]) == (cause(report), culprits(report))


def test_a_stack_that_stands_at_a_lock_is_what_the_others_wait_for(tmp_path: Path) -> None:
    head = "Timeout (0:05:00)!\nThread 0x00007f1dd291eb80 (most recent call first):\n"
    torch = (
        '  File "/opt/conda/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2806 in all_reduce\n'
    )
    lock = '  File "/opt/conda/lib/python3.11/site-packages/filelock/_api.py", line 344 in acquire\n'
    own = '  File "/app/train.py", line 140 in main\n'
    report = told(tmp_path, {f"rank{r}.log": alive(r) + head + (lock if r == 5 else torch) + own for r in range(8)})

    assert ("software.stale-lock", "likely") == (cause(report), report.diagnosis.certainty)
