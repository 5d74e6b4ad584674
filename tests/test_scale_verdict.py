"""One console of thousands of ranks: the one that said nothing is named, and nobody's last step is another's."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from diagnose.engine import diagnose
from diagnose.report.report import Report
from diagnose.sources.source import Text

RAN_MS = 600_012

# torch 1.13, 2.0: the rank in the text is the only one the line names
OLD = (
    "[E ProcessGroupNCCL.cpp:821] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
    "OpType=ALLREDUCE, Timeout(ms)=600000) ran for {ran} milliseconds before timing out."
)
# torch 2.1 and 2.2 tell sizes and still no rank in front
MIDDLE = (
    "[E ProcessGroupNCCL.cpp:474] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
    "OpType=_ALLGATHER_BASE, NumelIn=26310656, NumelOut={gathered}, Timeout(ms)=600000) ran for {ran} milliseconds "
    "before timing out."
)
# torch 2.3 and later put the rank and a clock in front
NEW = (
    "[rank{rank}]:[E1120 {clock}.{fraction:09d} ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=33554432, NumelOut=33554432, "
    "Timeout(ms)=600000) ran for {ran} milliseconds before timing out."
)
WORDINGS = {"1.13": OLD, "2.1": MIDDLE, "2.6": NEW}


def told_by(lines: list[str]) -> Report:
    return diagnose(Text("\n".join(lines) + "\n", name="console.log"))


def timeouts(wording: str, world: int, absent: int, rng: Random, seq: int = 9571) -> list[str]:
    """The lines of all ranks but one, within a second, in no order."""
    found = []
    for rank in range(world):
        late = timedelta(milliseconds=rng.randrange(900))
        clock = datetime(2026, 11, 20, 17, 3, 28) + late
        line = wording.format(
            rank=rank,
            seq=seq,
            ran=RAN_MS + rng.randrange(400),
            clock=f"{clock:%H:%M:%S}",
            fraction=rng.randrange(10**9),
            gathered=26310656 * world,
        )
        found.append((late, rank, line))
    return [line for _, rank, line in sorted(found) if rank != absent]


@pytest.mark.parametrize(("version", "world"), [("1.13", 513), ("2.1", 513), ("2.6", 4097)])
def test_one_rank_of_thousands_that_did_not_time_out_is_named(version: str, world: int) -> None:
    absent = world // 3
    report = told_by(timeouts(WORDINGS[version], world, absent, Random(version)))
    assert (report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits]) == ("collective.straggler", [absent])


@settings(
    max_examples=8, derandomize=True, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(st.sampled_from(sorted(WORDINGS)), st.integers(8, 96), st.data())
def test_the_absent_rank_is_named_whatever_the_world(version: str, world: int, data: st.DataObject) -> None:
    absent = data.draw(st.integers(0, world - 2), label="absent")
    report = told_by(timeouts(WORDINGS[version], world, absent, Random(world)))
    assert [c.rank for c in report.diagnosis.culprits] == [absent]


def interleaved(world: int, rng: Random) -> tuple[list[str], dict[int, int]]:
    """A console of many ranks' steps with one error in the middle that its rank went on after; the last steps."""
    start = datetime(2026, 11, 20, 9)
    lines = [
        f"[rank{r}]: 2026-11-20 09:00:00,{r:03d} INFO rank {r} | init done: world_size={world}" for r in range(world)
    ]
    last = {rank: 40 + rng.randrange(3) for rank in range(world)}
    for step in range(1, 43):
        for rank in rng.sample(range(world), world):
            if step <= last[rank]:
                now = start + timedelta(seconds=10 * step)
                lines.append(
                    f"[rank{rank}]: {now:%Y-%m-%d %H:%M:%S},{rng.randrange(1000):03d} INFO step {step}/5000 loss {rng.random():.4f} lr 3.0e-04"
                )
        if step == 20:
            lines += [
                "[rank77]: Traceback (most recent call last):",
                '[rank77]:   File "/app/train.py", line 88, in upload',
                "[rank77]:     client.put(path)",
                "[rank77]: ConnectionResetError: [Errno 104] Connection reset by peer",
                "[rank77]: 2026-11-20 09:03:21,500 WARNING upload of metrics failed, will be tried again",
            ]
    return lines, last


def test_each_of_256_interleaved_ranks_has_its_own_last_step_and_outlives_an_error_in_the_middle() -> None:
    lines, last = interleaved(256, Random(256))
    report = told_by(lines)
    assert {r.rank: r.last_step for r in report.ranks} == last
    assert report.outcome in ("recovered", "unfinished")
