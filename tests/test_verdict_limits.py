"""Where evidence ends: what may not be called certain, whom nothing sets apart, and what a run outlived."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.report.report import Report

from .told import cause, culprits


def verdict(text: str) -> Report:
    return diagnose(Text(text, name="console.log"))


def exception(rank: int, text: str) -> str:
    lines = ("Traceback (most recent call last):", '  File "/job/train.py", line 14, in <module>', "    main()", text)
    return "".join(f"[rank{rank}]: {line}\n" for line in lines)


CLOSED = "RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:39310."


GLOO = (
    "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
    "  what():  [enforce fail at /gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 292 vs 4. "
    "Received data size doesn't match expected size. Is there a distributed collective mismatch in your code?\n"
)
AGENT = "1122 13:34:14.{ms:03d}000 {agent} torch/distributed/elastic/multiprocessing/api.py:"


def sent(pid: int, ms: int = 815, agent: int = 4392) -> str:
    return f"W{AGENT.format(ms=ms, agent=agent)}1028] Sending process {pid} closing signal SIGTERM\n"


def failed(local: int, pid: int, code: int, ms: int = 901, agent: int = 4392) -> str:
    head = AGENT.format(ms=ms, agent=agent)
    return f"E{head}1002] failed (exitcode: {code}) local_rank: {local} (pid: {pid}) of binary: /usr/bin/python\n"


def entry(number: int, rank: int, code: int, pid: int) -> str:
    name = {-6: "SIGABRT", -11: "SIGSEGV", -15: "SIGTERM"}.get(code)
    why = f"Signal {-code} ({name}) received by PID {pid}" if name else "To enable traceback see: https://pytorch.org"
    return (
        f"[{number}]:\n  time      : 2026-11-22_13:34:14\n  host      : localhost\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {pid})  ({name})\n  error_file: <N/A>\n  traceback : {why}\n"
    )


def box(root: str, *others: str) -> str:
    rule = "-" * 54 + "\n"
    title = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 54 + "\ntrain.py FAILED\n"
    return title + rule + "Failures:\n" + "".join(others) + rule + "Root Cause (first observed failure):\n" + root + "=" * 54


def steps(ranks: int, first: int = 0, last: int = 5) -> str:
    lines = [
        f"2026-11-22 13:3{step // 60 % 10}:{step % 60:02d},100 INFO train: rank {rank} step {step}/900 loss 0.5\n"
        for step in range(first, last)
        for rank in range(ranks)
    ]
    return "".join(lines)


def test_who_finds_that_a_message_has_another_size_is_not_at_fault_by_that() -> None:
    report = verdict(steps(2) + GLOO + sent(4401) + failed(1, 4402, -6) + box(entry(0, 1, -6, 4402), entry(1, 0, -15, 4401)))
    assert (cause(report), culprits(report), report.diagnosis.certainty) == ("collective.shape-mismatch", [], "likely")


def test_nobody_is_at_fault_for_a_crash_of_all_though_the_launcher_ended_the_others() -> None:
    summary = box(entry(0, 2, -11, 4403), entry(1, 0, -11, 4401), entry(2, 1, -11, 4402))
    report = verdict(steps(3) + sent(4401) + sent(4402) + failed(2, 4403, -11) + summary)
    assert (cause(report), culprits(report)) == ("process.segfault", [])


def test_processes_of_several_attempts_are_not_counted_together() -> None:
    report = verdict(
        sent(11, 100) + sent(13, 101) + failed(1, 12, -9, 102) + sent(20, 200) + failed(0, 21, 1, 202)
        + sent(31, 300) + sent(32, 301) + failed(0, 30, 1, 302)
        + box(entry(0, 0, 1, 30), entry(1, 1, -15, 31), entry(2, 2, -15, 32))
    )  # fmt: skip

    assert [row.rank for row in report.ranks] == [0, 1, 2]


FIRST = steps(4) + exception(3, "ValueError: bad shard") + sent(11) + failed(3, 14, 1)
FIRST += box(entry(0, 3, 1, 14), entry(1, 0, -15, 11), entry(2, 1, -15, 12), entry(3, 2, -15, 13)) + "\n"
LATER = steps(2, 300, 305)


def test_of_runs_appended_to_one_file_the_last_one_is_told() -> None:
    second = LATER + exception(1, "KeyError: 'input_ids'") + sent(31, agent=99) + failed(1, 32, 1, agent=99)
    report = verdict(FIRST + second + box(entry(0, 1, 1, 32), entry(1, 0, -15, 31)))
    assert (cause(report), culprits(report)) == ("process.exception", [1])


@pytest.mark.xfail(strict=True, reason="a later run in one file does not make the earlier failure history")
def test_a_run_that_failed_before_is_history_where_a_later_one_goes_on() -> None:
    assert verdict(FIRST + LATER + steps(2, 305, 320)).diagnosis is None


def test_nobody_is_at_fault_where_all_ended_alike_and_one_is_heard() -> None:
    missing = "FileNotFoundError: [Errno 2] No such file or directory: '/data/tokenizer.json'"
    summary = box(entry(0, 0, 1, 11), entry(1, 1, 1, 12), entry(2, 2, 1, 13))
    report = verdict(exception(2, missing) + failed(0, 11, 1) + summary)
    assert [] == culprits(report)


ISSUE = (
    "### Describe the bug\n\nBefore this I saw\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    "but with a smaller batch that is gone. Now it fails with:\n\n```\nstep 10 loss 2.1\n{raised}```\n\nThanks for any help!\n"
)


@pytest.mark.parametrize("name", ["issue.txt", "issue.log", "<stdin>"])
def test_only_what_stands_inside_the_fences_of_a_saved_issue_was_printed(name: str) -> None:
    report = diagnose(Text(ISSUE.format(raised=exception(3, "KeyError: 'input_ids'")), name=name))
    assert (cause(report), culprits(report)) == ("process.exception", [3])


def test_an_error_that_no_rule_knows_is_pointed_at_where_a_log_ends_in_it() -> None:
    report = verdict(steps(1) + "2026-11-22 13:40:00,100 ERROR pool: frobnicator gave up on 7\n")
    assert ("unfinished", True) == (report.outcome, "frobnicator gave up on 7 (console.log:6)" in report.summary)
