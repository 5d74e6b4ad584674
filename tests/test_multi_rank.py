"""Jobs of many processes: whom the lines of one launcher, or of several, point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import cause, culprits, told, watchdog

BOX = """E1120 {at}.100000 811 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: {local} (pid: {pid}) of binary: /usr/bin/python3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:{blank}
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-20_{at}
  host      : {host}
  rank      : {rank} (local_rank: {local})
  exitcode  : 1 (pid: {pid})
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


@pytest.mark.parametrize("files", [("a.log", "b.log"), ("console.log", "console.log")], ids=["apart", "one-console"])
def test_of_two_launchers_boxes_the_earlier_death_is_the_one_to_look_at(files: tuple[str, str], tmp_path: Path) -> None:
    late = BOX.format(at="10:30:59", host="gpu-01", rank=2, local=2, pid=830, blank=" ")
    early = BOX.format(at="10:30:11", host="gpu-02", rank=5, local=1, pid=930, blank=" ")
    logs: dict[str, str] = {}
    for name, box in zip(files, (late, early), strict=True):
        logs[name] = logs.get(name, "") + box

    report = told(tmp_path, logs)

    assert ("process.exit-code", [5]) == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert "possible" == report.diagnosis.certainty


def test_of_two_deaths_in_one_moment_neither_is_the_first(tmp_path: Path) -> None:
    boxes = [BOX.format(at=f"10:30:1{n}", host=f"gpu-0{n}", rank=n, local=0, pid=830 + n, blank=" ") for n in (1, 3)]

    assert [] == culprits(told(tmp_path, {"a.log": boxes[0], "b.log": boxes[1]}))


@pytest.mark.parametrize("between", ["", "\n"], ids=["filtered", "with-blank-lines"])
def test_the_first_ranks_are_not_silent_where_only_words_of_the_others_were_kept(between: str, tmp_path: Path) -> None:
    report = told(tmp_path, {"paste.log": between.join(watchdog(r) for r in (1, 2, 3))})

    assert ("collective.timeout", []) == (cause(report), culprits(report))


ENDS = "W1120 10:30:40.000000 811 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 830 closing signal SIGTERM\n"


def test_rank_0_is_silent_in_a_console_that_holds_more(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": "".join(watchdog(r) for r in (1, 2, 3)) + ENDS})

    assert ("collective.straggler", [0]) == (cause(report), culprits(report))


GLOO = """[rank{r}]: Traceback (most recent call last):
[rank{r}]:   File "/jobs/train.py", line {line}, in main
[rank{r}]:     {call}
[rank{r}]:   File "/v/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 83, in wrapper
[rank{r}]:     return func(*args, **kwargs)
[rank{r}]:   File "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in {op}
[rank{r}]:     work.wait()
[rank{r}]: RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/{error}
"""
WAITED = "unbound_buffer.cc:78] Timed out waiting 15000ms for recv operation to complete"
CLOSED = "pair.cc:553] Connection closed by peer [127.0.0.1]:32641. This is typically caused by a remote worker crashing."


def _gloo(rank: int, line: int, op: str, error: str) -> str:
    return GLOO.format(r=rank, line=line, call=f"dist.{op}(x)", op=op, error=error)


def test_ranks_that_wait_in_other_calls_of_the_program_left_the_common_order(tmp_path: Path) -> None:
    """A real run's: all-reduces of other sizes matched, and nobody says so."""
    logs = {f"rank_{r}.log": _gloo(r, 132, "all_reduce", CLOSED) for r in (0, 1)}
    report = told(tmp_path, {**logs, "rank_2.log": _gloo(2, 134, "all_reduce", WAITED)})

    assert ("collective.desync", []) == (cause(report), culprits(report))


@pytest.mark.parametrize(("line", "op"), [(134, "all_reduce"), (132, "broadcast")], ids=["the-same-call", "one-sided"])
def test_ranks_that_wait_in_one_call_or_behind_one_that_some_finish_early_are_in_order(
    line: int, op: str, tmp_path: Path
) -> None:
    logs = {f"rank_{r}.log": _gloo(r, line, op, CLOSED) for r in (0, 1)}
    report = told(tmp_path, {**logs, "rank_2.log": _gloo(2, 134, "all_reduce", WAITED)})

    assert "collective.desync" != cause(report)


JAX = """F0603 11:02:00.314417 90311 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details. absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
/job:jax_worker/replica:0/task:3
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.
"""
BARRIER = """jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0.
# of tasks that reached the barrier: 1/2.
The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names:
/job:jax_worker/replica:0/task:1
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [(JAX, ("network.connection-reset", [3])), (BARRIER, ("rendezvous.timeout", [1]))],
    ids=["heartbeat", "barrier"],
)
def test_a_process_that_jax_lost_or_never_met_is_no_straggler(log: str, expected: tuple[str, list[int]], tmp_path: Path) -> None:
    report = told(tmp_path, {"worker.log": log})

    assert expected == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert "torchrun" not in " ".join(f"{s.text} {s.command}" for s in report.diagnosis.remedy)
