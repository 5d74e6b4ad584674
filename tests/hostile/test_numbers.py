"""A number that a log states is never a length, and one in a file's name a rank only within what is known of the job."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from diagnose import JobContext, Report, Text, diagnose
from diagnose.job import copies

# --- A number that a log states is never a length: worlds, groups and lists of ranks beyond any job cost nothing ---

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


# --- A number in a file's name is a rank only within what is known of the job -------------------------------------

LAST = 40


def dump(op: str, ranks: Sequence[int]) -> str:
    """What a recorder of a job without sends holds: nothing in it says whose it is."""
    call = {"pg_id": 0, "process_group": ["0", "default_pg"], "input_sizes": [[4]], "output_sizes": [[4]], "p2p_seq_id": 0}
    entries = [
        {
            **call,
            "record_id": n,
            "collective_seq_id": n + 1,
            "profiling_name": f"nccl:{op if n == LAST - 1 else 'all_reduce'}",
            "time_created_ns": 1_760_000_000 * 10**9 + n * 10**6,
            "state": "scheduled" if n == LAST - 1 else "completed",
        }
        for n in range(LAST)
    ]
    groups = {"0": {"name": "0", "desc": "default_pg", "ranks": str([*ranks])}}
    return json.dumps({"version": "2.4", "pg_config": groups, "entries": entries})


def report(folder: Path, names: Sequence[str], ranks: Sequence[int], job: JobContext | None = None) -> Report:
    """The report on dumps of these names, of which the second went astray."""
    for number, name in enumerate(names):
        (folder / name).write_text(dump("broadcast" if number == 1 else "all_reduce", ranks))
    return diagnose(folder, job=job)


def culprits(found: Report) -> list[int | None]:
    return [c.rank for c in found.diagnosis.culprits] if found.diagnosis else []


@pytest.mark.parametrize("ranks", [range(3), ()], ids=["the groups tell", "nothing tells"])
@pytest.mark.parametrize("name", ["f{n}.log", "dump{n}.json", "2026-{n}"])
def test_numbers_in_names_outside_the_groups_are_no_ranks(tmp_path: Path, name: str, ranks: Sequence[int]) -> None:
    found = report(tmp_path, [name.format(n=n) for n in (10, 11, 12)], ranks)
    assert not {10, 11, 12}.intersection(culprits(found))
    assert not {10, 11, 12}.intersection(row.rank for row in found.collectives)


def test_a_rank_in_a_name_outside_the_groups_is_none(tmp_path: Path) -> None:
    assert culprits(report(tmp_path, [f"nccl_trace_rank_{n}" for n in (10, 11, 12)], range(3))) == []


def test_a_rank_in_a_name_outside_the_world_that_is_given_is_none(tmp_path: Path) -> None:
    names = [f"nccl_trace_rank_{n}" for n in (10, 11, 12)]
    assert culprits(report(tmp_path, names, (), JobContext(world_size=3))) == []


def test_a_dump_of_nobody_is_named_in_the_gaps(tmp_path: Path) -> None:
    assert any("f11.log" in gap.text for gap in report(tmp_path, ["f10.log", "f11.log", "f12.log"], range(3)).gaps)


@pytest.mark.parametrize("name", ["f{n}.log", "nccl_trace_rank_{n}"])
@pytest.mark.parametrize("ranks", [range(3), ()], ids=["the groups tell", "nothing tells"])
def test_a_rank_in_a_name_within_the_job_still_counts(tmp_path: Path, name: str, ranks: Sequence[int]) -> None:
    assert culprits(report(tmp_path, [name.format(n=n) for n in range(3)], ranks)) == [1]


def test_some_of_the_ranks_of_a_job_keep_the_numbers_of_their_names(tmp_path: Path) -> None:
    assert culprits(report(tmp_path, ["fr_12", "fr_13", "fr_14"], range(16))) == [13]


@pytest.mark.parametrize("name", ["rank_{n}.log", "rank_{n}/stderr.log", "job-77777_{n}.out"])
def test_a_log_whose_name_counts_beyond_the_world_that_is_given_is_of_no_rank(name: str) -> None:
    failed = 'Traceback (most recent call last):\n  File "t.py", line 1, in f\nValueError: bad row\n'
    logs = [Text(failed if n == 11 else "step 1 loss 2.1\n", name.format(n=n)) for n in (10, 11, 12)]
    assert culprits(diagnose(*logs, job=JobContext(world_size=3))) in ([], [None])


def test_of_messages_without_a_rank_that_say_the_same_only_so_many_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    repeats = copies._repeats
    monkeypatch.setattr(copies, "_repeats", lambda *pair: compared.append(pair) or repeats(*pair))
    monkeypatch.setattr(copies, "MOST_ASKED", 3)
    lost = "(WorkerDict pid={n}) ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
    diagnose(Text("".join(lost.format(n=n) for n in range(200)), "driver.log"))
    assert 0 < len(compared) <= 3 * 200
