"""What a report says of a verdict: which bug, who was only ended, who waited, when, and why the rest follows."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.report.report import Report
from diagnose.views.rendering import render

from .command_line import FIXTURES
from .told import alive, told, watchdog


def test_the_host_that_torchrun_calls_localhost_is_no_second_host() -> None:
    """All ranks of the only host fail alike: neither they nor it are to blame."""
    report = on("same-exception-everywhere")
    assert report.diagnosis is not None
    assert ((), 1) == (report.diagnosis.culprits, report.facts["hosts"].value)


def on(fixture: str, lang: str = "en") -> Report:
    return diagnose(FIXTURES / fixture / "logs", lang=lang)


def states(report: Report) -> dict[int, str]:
    return {row.rank: row.state for row in report.ranks}


def test_a_known_bug_is_named_with_the_version_that_has_it():
    assert (
        on("incidents-5-trl-hang").diagnosis.title == "known bug in trl 0.15.0: SFT gathers logits of different lengths"
    )


def test_a_rank_that_stands_in_the_collective_waits():
    assert states(on("hang-one-rank-elsewhere")) == {0: "waiting", 1: "waiting", 2: "culprit", 3: "waiting"}


def test_moments_without_a_year_are_counted_from_the_first(tmp_path):
    ended = "W1120 10:32:30.104231 60110 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 60121 closing signal SIGTERM\n"
    report = told(tmp_path, {"job.log": watchdog(0, at="10:30:00") + ended})
    assert [(None, 0), (None, 150)] == [(t.time, int(t.after_s)) for t in report.timeline]
    assert "+0:02:30" in render(report, "terminal")


def test_a_consequence_says_why_it_follows():
    why = {link.to: link.why for link in on("two-nodes-one-exception").chain}
    assert "their peer had already exited" == why["network.connection-reset"]


def test_the_root_follows_from_nothing_where_more_ranks_tell_of_it(tmp_path):
    died = "[rank{}]: terminate called after throwing an instance of 'c10::DistBackendError'\n"
    text = "".join(say(r) for ranks in ((0, 1), (2, 3)) for say in (watchdog, died.format) for r in ranks)
    explained = {s.cause: s.explained_by for s in told(tmp_path, {"job.log": text}).symptoms}
    assert explained == {"process.abort": "collective.timeout"}


def test_all_alike_needs_the_whole_world():
    """Eight of sixteen ranks lost their peers: the reason may be among the eight that left no log."""
    assert "failed alike" not in render(on("incidents-2-reset-in-setup"), "terminal")
    assert "none: all 7 ranks failed alike" in render(on("incidents-1-batch-size"), "terminal")


def test_a_save_that_is_too_slow_is_measured_where_it_writes():
    commands = " ".join(step.command or "" for step in on("incidents-4-slow-save").diagnosis.remedy)
    assert "of=/nfs/ckpt/sft/speed-test" in commands and "du -s /nfs/ckpt/sft/checkpoint-100" in commands


def test_a_rank_without_a_complaint_is_not_called_silent_to_readers(tmp_path):
    log = alive(0) + alive(1) + "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: bad\n"
    page = render(told(tmp_path, {"job.log": log}), "terminal")
    assert "no error" in page and "silent" not in page


def test_a_bug_of_a_library_is_no_ranks_fault():
    assert "none: the installed software is wrong" in render(on("incidents-5-trl-hang"), "terminal")


def test_that_a_preempted_job_was_told_to_stop_is_no_louder_error(tmp_path):
    preempted = "slurmstepd: error: *** JOB 608 ON n7 CANCELLED AT 2026-11-20T10:06:00 DUE TO PREEMPTION ***\n"
    assert told(tmp_path, {"job.log": alive(0) + preempted}).chain == ()


def test_a_line_that_looks_like_an_error_is_shown_though_no_rule_knows_it(tmp_path):
    report = told(tmp_path, {"mpiexec.log": "Validating network\nxentk: unhandled device fault 0x7d in stage 3\n---------\n"})

    assert "unhandled device fault 0x7d" in report.summary
    assert [2] == [row.line for row in report.last_lines][:1]
    assert not any("py-spy" in (step.command or "") for step in report.collect), "nothing shows a Python program"


def test_a_survived_error_makes_no_rank_failed():
    assert "failed" not in states(on("../cases/warning-gloo-hostname-then-steps")).values()


def test_the_root_stands_above_what_it_brought_about():
    causes = [entry.cause for entry in on("host-oom-with-dmesg").timeline]

    assert "memory.host-oom" == causes[0]
