"""Who had finished, who had more to do, and what a rank complained of before: small runs of a program with its own logger."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import JobContext, Text, diagnose
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


def test_the_rank_with_work_to_do_when_all_others_are_done_is_at_fault(tmp_path: Path) -> None:
    done = {f"rank_{r}.log": _steps(r, 40) + _said(r, 41, "done, 40 steps") for r in (0, 2)}
    report = told(tmp_path, {**done, "rank_1.log": _steps(1, 30) + _raised(1, CLOSED)})
    assert ("data.uneven-inputs", [1]) == (cause(report), culprits(report))


@pytest.mark.xfail(strict=True, reason="a rank that was told to stop and then finished is not why the others lost it")
def test_a_rank_that_was_told_to_stop_and_says_that_it_is_done_was_ended_by_the_signal(tmp_path: Path) -> None:
    stopped = _said(1, 11, "got signal SIGTERM, will stop after this step", "WARNING") + _said(1, 12, "done, 11 steps")
    logs = {f"rank_{r}.log": _steps(r, 10) + _raised(r, CLOSED) for r in (0, 2)}
    assert "process.terminated" == cause(told(tmp_path, {**logs, "rank_1.log": _steps(1, 10) + stopped}))


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


def _timed_out(ranks: tuple[int, ...]) -> str:
    return "".join(watchdog(rank, at="05:03:45") for rank in ranks).replace("E1120 ", "E1123 ")


def test_the_rank_that_saves_last_when_all_have_reached_the_end_has_not_left(tmp_path: Path) -> None:
    for said in ("Training finished", "reached max_steps=40"):
        end = _said(0, 41, said) + _said(0, 42, "saving final checkpoint to /data/ckpt/final")
        steps = "".join(_steps(r, 40) for r in range(3))
        report = told(tmp_path, {"console.log": steps + end + _timed_out((1, 2))})
        assert ("storage.slow-save", [0]) == (cause(report), culprits(report))


@pytest.mark.parametrize(("code", "cause"), [(137, "process.sigkill"), (-11, "process.segfault"), (143, "process.terminated"), (1, "unknown")])
def test_of_a_job_without_a_failure_in_its_logs_the_signal_that_the_caller_saw_is_told(code: int, cause: str) -> None:
    report = diagnose(Text("step 1 loss 2.1\nstep 2 loss 2.0\n", "train.log"), job=JobContext(exit_code=code))
    assert (report.outcome, report.diagnosis.cause, report.diagnosis.certainty) == ("failed", cause, "possible")
