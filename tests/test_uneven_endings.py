"""Who had finished, who had more to do, and what a rank complained of before: small runs of a program with its own logger."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.lines.prefix import split_prefix
from tests.told import cause, culprits, told, watchdog

GLOO = "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/"
CLOSED = GLOO + "pair.cc:553] Connection closed by peer [127.0.0.1]:43245. This is typically caused by a remote worker crashing."
HEAD = "2026-11-23 04:53:{:02d},100 | heron.{} | r{}/3 | {} | "


def _said(rank: int, second: int, text: str, level: str = "INFO", name: str = "engine") -> str:
    return HEAD.format(second, name, rank, level) + text + "\n"


def _steps(rank: int, last: int, first: int = 5) -> str:
    return "".join(_said(rank, step, f"step={step} loss=1.2721 lr=1.0e-03") for step in range(first, last + 1, 5))


def _raised(rank: int, message: str, source: str = "loss.backward()") -> str:
    text = f'Traceback (most recent call last):\n  File "/home/ml/heron/engine.py", line 54, in run\n    {source}\n{message}'
    return "".join(f"[rank{rank}]: {line}\n" for line in text.split("\n"))


def _shown(report: object) -> list[str]:
    return [e.text for e in report.diagnosis.evidence]  # type: ignore[attr-defined]


def test_columns_between_bars_are_a_header_and_the_rank_is_one_of_them() -> None:
    line = "2026-11-23 04:53:11,183 | heron.engine | r2/3 | INFO | done, 30 steps"
    prefix = split_prefix(line)

    assert (2, "I", "done, 30 steps") == (prefix.rank, prefix.severity, line[prefix.end :])


def test_a_failed_read_that_a_retry_mended_in_a_run_that_was_done_is_no_failure(tmp_path: Path) -> None:
    failed = _said(0, 8, "read failed ([Errno 116] Stale file handle: 'part-5.bin'), try 1 of 3 in 0.2s", "WARNING", "io")
    failed += 'Traceback (most recent call last):\n  File "/home/ml/heron/io.py", line 10, in inner\n    return fn(*a)\n'
    failed += "OSError: [Errno 116] Stale file handle: 'part-5.bin'\n"
    ends = "".join(_steps(r, 10) + _said(r, 11, "done, 10 steps") for r in range(3))

    assert "recovered" == cause(told(tmp_path, {"console.log": failed + ends}))


def test_the_rank_with_work_to_do_when_all_others_are_done_is_at_fault(tmp_path: Path) -> None:
    done = {f"rank_{r}.log": _steps(r, 40) + _said(r, 41, "done, 40 steps") for r in (0, 2)}
    report = told(tmp_path, {**done, "rank_1.log": _steps(1, 30) + _raised(1, CLOSED)})

    assert ("data.uneven-inputs", [1]) == (cause(report), culprits(report))


@pytest.mark.xfail(strict=True, reason="a rank that was told to stop and then finished is not why the others lost it")
def test_a_rank_that_was_told_to_stop_and_says_that_it_is_done_was_ended_by_the_signal(tmp_path: Path) -> None:
    stopped = _said(1, 11, "got signal SIGTERM, will stop after this step", "WARNING") + _said(1, 12, "done, 11 steps")
    logs = {f"rank_{r}.log": _steps(r, 10) + _raised(r, CLOSED) for r in (0, 2)}

    assert "process.terminated" == cause(told(tmp_path, {**logs, "rank_1.log": _steps(1, 10) + stopped}))


def _watchdog(rank: int) -> str:
    return _said(rank, 22, "watchdog: no step for 7s, exiting", "CRITICAL")


def test_who_was_at_something_else_when_the_program_s_watchdog_ended_all_ranks_was_late(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": _steps(r, 10) + _watchdog(r) for r in (0, 1)}
    report = told(tmp_path, {**logs, "rank_2.log": _steps(2, 10) + _said(2, 15, "waiting for data (2s)") + _watchdog(2)})

    assert ("collective.straggler", [2]) == (cause(report), culprits(report))


def test_what_a_loader_s_worker_raised_is_named_through_mp_spawn(tmp_path: Path) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/home/ml/bramble.py", line 41, in <module>\n    mp.spawn(train)\n'
        '  File "/opt/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 211, in join\n'
        "    raise ProcessRaisedException(msg, error_index, failed_process.pid)\n"
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
        'Traceback (most recent call last):\n  File "/home/ml/bramble.py", line 23, in train\n    for i, b in enumerate(dl):\n'
        "AssertionError: Caught AssertionError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
        '  File "/home/ml/bramble.py", line 10, in __getitem__\n    assert len(e) == len(w)\n'
        "AssertionError: graph 40 has 17 edges and 18 edge weights\n\n"
    )
    report = told(tmp_path, {"out.txt": log})

    assert ([1], True) == (culprits(report), "17 edges" in _shown(report)[0])


def test_a_log_that_ends_with_a_farewell_is_of_a_rank_that_left(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": _steps(r, 10) + _raised(r, CLOSED) for r in (0, 2)}
    left = _steps(1, 10) + _said(1, 11, "max wall time reached on this rank, leaving")
    report = told(tmp_path, {**logs, "rank_1.log": left})

    assert ("process.early-exit", [1]) == (cause(report), culprits(report))


def test_the_signal_by_which_mp_spawn_ends_the_others_did_not_end_the_job(tmp_path: Path) -> None:
    log = (
        "W1123 05:12:37.304000 10231 torch/multiprocessing/spawn.py:165] Terminating process 10273 via signal SIGTERM\n"
        "W1123 05:12:37.306000 10231 torch/multiprocessing/spawn.py:165] Terminating process 10276 via signal SIGTERM\n"
        "[rank: 0] Received SIGTERM: 15\n[rank: 2] Received SIGTERM: 15\nTraceback (most recent call last):\n"
        '  File "/opt/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 192, in join\n'
        "    raise ProcessExitedException(\n"
        "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL\n"
    )
    report = told(tmp_path, {"console.log": log})

    assert ("process.sigkill", [1]) == (cause(report), culprits(report))


def _within(rank: int, call: str, line: int, message: str) -> str:
    frames = f'  File "/home/ml/run.py", line {line}, in step\n    {call}()\n'
    frames += f'  File "/opt/lib/python3.11/site-packages/torch/distributed/c10d.py", line 9, in {call}\n    work.wait()\n'
    text = f"Traceback (most recent call last):\n{frames}{message}"
    return "".join(f"[rank{rank}]: {each}\n" for each in text.split("\n"))


def test_a_rank_that_was_in_another_collective_than_the_one_that_timed_out_is_not_the_late_one(tmp_path: Path) -> None:
    timed_out = GLOO + "unbound_buffer.cc:78] Timed out waiting 10000ms for recv operation to complete"
    logs = {"rank_0.log": _steps(0, 10) + _within(0, "all_reduce", 32, timed_out)}
    report = told(tmp_path, {**logs, "rank_1.log": _steps(1, 10) + _within(1, "all_gather", 44, CLOSED)})

    assert ("collective.desync", []) == (cause(report), culprits(report))


def test_an_alarm_of_the_program_that_goes_off_in_a_collective_is_of_who_waited(tmp_path: Path) -> None:
    frames = (
        '  File "/home/ml/run.py", line 70, in step\n    dist.all_reduce(g)\n'
        '  File "/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 9, in all_reduce\n    work.wait()\n'
        '  File "/home/ml/run.py", line 20, in on_alarm\n    raise StepTimeout("step exceeded 6s")\n'
    )
    text = f"Traceback (most recent call last):\n{frames}__main__.StepTimeout: step exceeded 6s"
    logs = {f"rank_{r}.log": _steps(r, 10) + "".join(f"[rank{r}]: {x}\n" for x in text.split("\n")) for r in (0, 2)}
    report = told(tmp_path, {**logs, "rank_1.log": _steps(1, 10)})

    assert ("collective.straggler", [1]) == (cause(report), culprits(report))


def test_a_rank_that_dies_by_a_broken_pipe_is_the_one_that_left_first(tmp_path: Path) -> None:
    agent = (
        "W1123 05:47:06.900000 6118 torch/distributed/run.py:874] *****************************************\n"
        "E1123 05:47:19.161000 6118 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -13) local_rank: 1 "
        "(pid: 6139) of binary: /usr/bin/python3\n"
    )
    logs = {f"el/none_x/attempt_0/{r}/stderr.log": _steps(r, 10) + _raised(r, CLOSED) for r in (0, 2)}
    report = told(tmp_path, {**logs, "el/none_x/attempt_0/1/stderr.log": _steps(1, 10), "console.log": agent})

    assert ("process.exit-code", [1]) == (cause(report), culprits(report))
    assert not any("*****" in text for text in _shown(report))


LOOK_UP = (
    "[W1123 05:{:02d}:{:02d}.008154035 socket.cpp:764] [c10d] The IPv6 network addresses of (trn-head, 21869) cannot be retrieved "
    "(gai error: -3 - Temporary failure in name resolution).\n"
)


def test_a_name_that_all_ranks_look_up_at_once_may_resolve(tmp_path: Path) -> None:
    agent = "".join(LOOK_UP.format(36, second) for second in (58, 58, 59, 59))

    assert "unfinished" == cause(told(tmp_path, {"agent.log": agent}))


def test_what_ended_a_thread_of_a_run_that_says_so_behind_a_bare_level_is_no_failure(tmp_path: Path) -> None:
    thread = 'Exception in thread Thread-1 (run):\nTraceback (most recent call last):\n  File "/home/ml/tern.py", line 68, in run\n'
    console = "INFO it 8 loss 0.99\n" + thread + "ValueError: telemetry socket closed\nINFO it 16 loss 0.79\nSUCCESS training finished\n"

    assert "recovered" == cause(told(tmp_path, {"console.log": console}))


def _timed_out(ranks: tuple[int, ...]) -> str:
    return "".join(watchdog(rank, at="05:03:45") for rank in ranks).replace("E1120 ", "E1123 ")


def test_a_rank_that_says_it_reached_its_own_number_of_steps_left_the_others(tmp_path: Path) -> None:
    left = _steps(1, 30) + _said(1, 31, "reached max_steps, leaving")
    report = told(tmp_path, {"console.log": _steps(0, 35) + _steps(2, 35) + left + _timed_out((0, 2))})

    assert ("process.early-exit", [1]) == (cause(report), culprits(report))


def test_the_rank_that_saves_last_when_all_have_reached_the_end_has_not_left(tmp_path: Path) -> None:
    for said in ("Training finished", "reached max_steps=40"):
        end = _said(0, 41, said) + _said(0, 42, "saving final checkpoint to /data/ckpt/final")
        steps = "".join(_steps(r, 40) for r in range(3))
        report = told(tmp_path, {"console.log": steps + end + _timed_out((1, 2))})

        assert ("storage.slow-save", [0]) == (cause(report), culprits(report))
