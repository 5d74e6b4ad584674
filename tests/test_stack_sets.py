"""Every fault of a generated set of stacks is named with its rank, whatever tool took the stacks and however they lie."""

from __future__ import annotations

import pytest

from benchmarks.stack_sets import FAULTS, FORMS, LAYOUTS, StackJob, stack_files

from .told import alive, cause, culprits, told, watchdog

CAUSES = {
    "outlier": "storage.slow-save",
    "desync": "collective.desync",
    "halves": "collective.desync",
    "together": "collective.timeout",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named_with_its_rank(tmp_path, fault, form, layout):
    job = StackJob(fault=fault, form=form, layout=layout)
    report = told(tmp_path, dict(stack_files(job)))
    named = [] if (form, layout) == ("py-spy --json", "one file") else job.culprits  # nothing there names a rank
    assert (CAUSES[fault], named) == (cause(report), culprits(report))
    assert "certain" != report.diagnosis.certainty


def test_a_hang_that_ended_in_an_error_has_failed(tmp_path):
    job = StackJob(ranks=4)
    logs = {f"rank{rank}.log": watchdog(rank) for rank in range(4) if rank != job.guilty}
    assert "failed" == told(tmp_path, {**dict(stack_files(job)), **logs}).outcome


def test_a_hang_that_the_caller_knows_to_have_failed_has_failed(tmp_path):
    assert "failed" == told(tmp_path, dict(stack_files(StackJob())), exit_code=1).outcome


def watched(rank: int, line: str) -> str:
    """A dump that faulthandler's timer made of a rank that stands in this line."""
    return f'Timeout (0:05:00)!\nThread 0x00007f11{rank:04x} (most recent call first):\n  File "/app/{line}\n\n'


WAITS = 'torch/distributed/distributed_c10d.py", line 2501 in all_reduce\n  File "/app/train.py", line 88 in <module>'
READS = 'dataset.py", line 44 in __getitem__\n  File "/app/train.py", line 80 in <module>'


def test_timer_s_dump_of_a_job_that_went_on_is_no_hang(tmp_path):
    logs = {f"rank{r}.log": alive(r) + watched(r, READS if r == 2 else WAITS) + alive(r, 121, "10:25:00") for r in range(4)}
    assert "unfinished" == cause(told(tmp_path, logs))


@pytest.mark.parametrize(("line", "words"), [(104, "(as in the last stack)"), (110, "(it moved since the last stack)")])
def test_rank_that_was_seen_twice_is_slow_or_stuck(tmp_path, line, words):
    job = StackJob(ranks=8)
    later = {f"z/{name}": text.replace("train.py:104", f"train.py:{line}") for name, text in stack_files(job)}
    report = told(tmp_path, {**dict(stack_files(job)), **later})
    assert job.culprits == culprits(report)
    assert words in report.diagnosis.summary


def test_process_that_no_log_places_is_named_by_its_pid(tmp_path):
    job = StackJob(ranks=4, form="py-spy --json", layout="one file")
    summary = told(tmp_path, dict(stack_files(job))).diagnosis.summary
    assert f"3 processes wait in a collective; pid {70_000 + job.guilty} is in save_checkpoint" in summary


def test_local_rank_of_a_command_line_is_a_rank_where_the_host_is_known(tmp_path):
    stacks = dict(stack_files(StackJob(ranks=4)))
    logs, dumps = "", {"pyspy-gpu-07.txt": "", "pyspy-gpu-08.txt": ""}
    for rank in range(4):
        host, local = ("gpu-07", "gpu-08")[rank // 2], rank % 2
        logs += f"[{host}:{local}]: [rank{rank}]: step 120 loss 2.1\n"
        lines = stacks[f"stack_rank{rank}.txt"].partition("Process ")[2].splitlines()[1:]
        head = f"Process {900 + local}: python -u train.py --local_rank={local}"
        dumps[f"pyspy-{host}.txt"] += "\n".join([head, *lines]) + "\n\n"

    assert [StackJob(ranks=4).guilty] == culprits(told(tmp_path, {"console.log": logs, **dumps}))


def test_all_that_were_seen_wait_but_one_was_not_seen(tmp_path):
    stacks = dict(stack_files(StackJob(ranks=4, fault="together")))
    del stacks["stack_rank3.txt"]
    report = told(tmp_path, {**stacks, **{f"rank{r}.log": alive(r) for r in range(4)}})
    assert ("possible", []) == (report.diagnosis.certainty, culprits(report))
    assert "none of rank 3 was given" in report.diagnosis.summary


def test_stages_of_a_pipeline_in_sends_are_no_desync(tmp_path):
    stacks = {name: text.replace("broadcast", "send") for name, text in stack_files(StackJob(fault="halves"))}
    assert "unfinished" == cause(told(tmp_path, stacks))


def test_one_rank_in_a_receive_while_all_others_are_in_a_collective_is_a_desync(tmp_path):
    job = StackJob(fault="desync")
    stacks = {name: text.replace("broadcast", "recv") for name, text in stack_files(job)}
    assert job.culprits == culprits(told(tmp_path, stacks))


@pytest.mark.parametrize("tool", ["eu-stack", "pystack"])
def test_other_debuggers_stacks_of_many_ranks_in_one_file(tmp_path, tool):
    def dump(rank: int) -> str:
        function = "torch::save_checkpoint" if rank == 33 else "ncclAllReduce"
        if tool == "pystack":
            return f'Traceback for thread {900 + rank} (python) [] (most recent call last):\n    (C) File "a.c", line 3, in {function} (/lib/x.so)\n'
        return f"PID {900 + rank} - process\nTID {900 + rank}:\n#0  0x00007f6b3d00 {function} - /lib/x.so\n#1  0x00007f6b3d10 main - /bin/python\n"

    report = told(tmp_path, {"stacks.txt": "".join(f"=== rank {rank} ===\n{dump(rank)}" for rank in range(64))})

    assert ("storage.slow-save", [33]) == (cause(report), culprits(report))
