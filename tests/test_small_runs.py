"""What small runs of plain PyTorch taught: programs with a logger, a watchdog and a handler of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, culprits, told

GLOO = "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/"
TIMED_OUT = GLOO + "unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete"
STEP = "2026-11-23T01:42:25.{:03d}Z vesper[{}/3] INFO  progress step={} loss=0.2047\n"


def _raised(rank: int, message: str, source: str = "loss.backward()") -> str:
    """An uncaught exception as PyTorch's hook prints it."""
    head = 'Traceback (most recent call last):\n  File "/home/ml/train.py", line 54, in main\n'
    return "".join(f"[rank{rank}]: {line}\n" for line in f"{head}    {source}\n{message}".split("\n"))


def _steps(rank: int, last: int) -> str:
    return "".join(STEP.format(100 + step, rank, step) for step in range(5, last + 1, 5))


def test_the_exception_that_another_was_raised_from_is_shown(tmp_path: Path) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/home/ml/feed.py", line 29, in parse\n    rec["y"]\nKeyError: \'y\'\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/home/ml/train.py", line 50, in main\n    b = feed.next()\n'
        "feed.FeedError: feeder thread failed\n"
    )
    report = told(tmp_path, {"rank_0.log": "".join(f"[rank0]: {line}\n" for line in log.splitlines())})

    assert any("KeyError: 'y'" in e.text for e in report.diagnosis.evidence)


def test_an_error_that_was_logged_as_a_warning_is_shown_of_the_rank_that_the_others_wait_for(tmp_path: Path) -> None:
    warned = "2026-11-23T01:42:25.504Z vesper[2/3] WARN  feeder stopped: FeedError: block 17: expected 8 features, got 3\n"
    log = "".join(_steps(r, 10) for r in range(3)) + warned + STEP.format(900, 2, 15)
    report = told(tmp_path, {"console.txt": log + _raised(0, TIMED_OUT) + _raised(1, TIMED_OUT)})
    assert report.diagnosis is not None and [2] == culprits(report)
    assert "expected 8 features" in report.diagnosis.evidence[0].text


DUMP = """{head}
Current thread 0x00007f{n}da96b6c0 (most recent call first):
  File "/home/ml/train.py", line 17 in run
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

Thread 0x00007f{n}027e8b80 (most recent call first):
{frames}
  File "/home/ml/train.py", line 68 in <module>
"""
BACKWARD = '  File "/opt/lib/python3.11/site-packages/torch/autograd/graph.py", line 979 in _engine_run_backward'
QUEUE = '  File "/usr/lib/python3.11/queue.py", line 171 in get\n  File "/home/ml/feed.py", line 33 in next'


def _dumps() -> str:
    frames = (BACKWARD, QUEUE, BACKWARD)
    heads = (f"2026-11-23T01:44:34.74{r}Z vesper[{r}/3] ERROR no heartbeat for 6.3s (last: batch 25)" for r in range(3))
    return "".join(DUMP.format(head=head, n=30 + n, frames=frames[n]) for n, head in enumerate(heads))


def test_the_rank_whose_stack_stands_elsewhere_is_late_though_all_watchdogs_end_their_ranks(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.txt": "".join(_steps(r, 25) for r in range(3)) + _dumps()})
    assert ("collective.straggler", [1]) == (cause(report), culprits(report))


@pytest.mark.xfail(strict=True, reason="two of three ranks that left alike are blamed")
def test_ranks_that_leave_alike_before_any_step_are_not_set_apart_by_leaving_first(tmp_path: Path) -> None:
    entries = "".join(
        f"[{n}]:\n  time      : 2026-11-23_01:45:16\n  host      : localhost\n  rank      : {r} (local_rank: {r})\n"
        f"  exitcode  : {code} (pid: 1609{r})\n  error_file: <N/A>\n  traceback : {why}\n"
        for n, r, code, why in ((1, 1, 1, "To enable traceback see: …"), (2, 2, -15, "Signal 15 (SIGTERM) received by PID 16092"))
    )
    log = (
        "trainer: config conf.json lacks required key 'out'\n" * 3
        + "W1123 01:45:16.463000 16077 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 16092 closing signal "
        "SIGTERM\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n"
        "------------------------------------------------------------\nFailures:\n" + entries + "-" * 60 + "\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-23_01:45:16\n  host      : localhost\n"
        "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 16090)\n  error_file: <N/A>\n  traceback : To enable …\n" + "=" * 60
    )
    report = told(tmp_path, {"console.txt": log})

    assert [] == culprits(report)


def test_what_a_rank_said_last_is_shown_where_a_barrier_names_it_as_absent(tmp_path: Path) -> None:
    failed = (
        "[rank0]:[E1123 02:56:47.722933479 ProcessGroupGloo.cpp:67] [Rank 0]: Rank 2 failed to pass monitoredBarrier in 6000 ms\n"
        "[rank0]:[E1123 02:56:47.722990000 ProcessGroupGloo.cpp:67] [Rank 0]: Ranks 2 failed to pass monitoredBarrier in 6000 ms\n"
    )
    logs = {f"log_rank{r}.log": _steps(r, 10) + (failed if r == 0 else "") for r in range(3)}
    logs["log_rank2.log"] += "tidal: licence for station 7 expired\n"
    report = told(tmp_path, logs)

    assert report.diagnosis is not None and [2] == culprits(report)
    assert any("licence" in e.text for e in report.diagnosis.evidence)


def test_a_rank_that_raised_above_the_barrier_that_names_it_is_absent_since_it_raised(tmp_path: Path) -> None:
    """In a console; with TORCH_DISTRIBUTED_DEBUG=DETAIL a barrier goes before each collective, and ends with its peer."""
    named = "Rank 1 failed to pass monitoredBarrier in 8000 ms"
    logs = "".join(_steps(r, 10) for r in range(3)) + _raised(1, "RecursionError: maximum recursion depth exceeded")
    logs += f"[rank0]:[E1123 01:42:28.094793635 ProcessGroupGloo.cpp:3027] [Rank 0]: {named}\n"
    logs += f"[rank0]:[E1123 01:42:28.094836569 ProcessGroupGloo.cpp:145] [Rank 0]: {named.replace('Rank', 'Ranks')}\n"
    report = told(tmp_path, {"console.log": logs})

    assert ("process.exception", [1]) == (cause(report), culprits(report))
