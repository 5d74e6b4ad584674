"""Which attempt an error belongs to, and which of them the job outlived."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.report.report import Report
from tests.told import alive, cause, culprits, told, watchdog

STEP = "2026-11-20 {at},000 | INFO | rank 0 | epoch 0 step {step}/20000 loss 1.2345 lr 3.00e-04 1.00 it/s\n"
IO_ERROR = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/job/train.py", line 40, in <module>\n'
    "[rank1]:     main()\n"
    "[rank1]: OSError: [Errno 5] Input/output error: '/data/part-2568.jsonl'\n"
)
API = "W1120 {at}.000000 4000 torch/distributed/elastic/multiprocessing/api.py:897] Sending process {pid} closing signal SIGTERM\n"
FAILED = (
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: {code}) local_rank: 1 (pid: {pid}) of binary: "
    "/usr/bin/python\n"
)
CANCELLED = "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-11-20T{at}{why} ***\n"


def test_error_before_a_launcher_ended_its_workers_and_the_job_went_on_is_history(tmp_path: Path) -> None:
    """The launcher says nothing of a restart: that training goes on minutes after it ended all workers tells."""
    later = "".join(STEP.format(at=f"10:{m:02}:00", step=m * 10) for m in (12, 20, 28, 36))
    text = STEP.format(at="10:01:00", step=90) + IO_ERROR + API.format(at="10:01:30", pid=4101) + later
    text += CANCELLED.format(at="10:40:00", why="")

    report = told(tmp_path, {"console.log": text}, world_size=2)

    assert "process.terminated" == cause(report)


def test_codes_of_tasks_below_a_requeue_belong_to_the_attempt_that_it_ended(tmp_path: Path) -> None:
    """Slurm says so of the job and of its step, which is one restart, and srun then reports what the signal made of the tasks."""
    both = CANCELLED.format(at="10:02:00", why=" DUE TO JOB REQUEUE")
    slurm = both + both.replace("JOB 77", "STEP 77.0") + "srun: error: n1: tasks 0-1: Exited with exit code 1\n"

    report = told(tmp_path, {"slurm-77.out": STEP.format(at="10:01:00", step=9) + slurm}, world_size=2)

    assert "process.preempted" == cause(report)
    assert 2 >= len(report.attempts)


@pytest.mark.parametrize(("path", "attempt"), [("/data/part-2568.jsonl", 0), ("/data/part-9.jsonl", 1)], ids=["same", "another"])
def test_what_failed_alike_before_a_restart_is_shown_where_it_began(tmp_path: Path, path: str, attempt: int) -> None:
    folder = "n1/elastic/run_abcd1234/attempt_"
    files = {
        f"{folder}0/1/stderr.log": STEP.format(at="10:01:00", step=30) + IO_ERROR,
        f"{folder}1/1/stderr.log": STEP.format(at="10:31:00", step=30) + IO_ERROR.replace("/data/part-2568.jsonl", path),
    }
    report = told(tmp_path, files, world_size=2)

    assert ("storage.io-error", [1]) == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert f"attempt_{attempt}" in report.diagnosis.evidence[0].file


def test_a_death_that_a_logger_prints_twice_is_one(tmp_path: Path) -> None:
    """Two handlers of one logger: no process dies twice, so that nothing was started anew between the two lines."""
    raised = "Traceback (most recent call last):\n" + IO_ERROR.partition("\n")[2].replace("[rank1]: ", "")
    failed = FAILED.format(code=1, pid=4101)
    report = told(tmp_path, {"console.log": raised + failed + failed})

    assert "storage.io-error" == cause(report)


def test_launchers_of_other_nodes_that_end_later_start_nothing_anew(tmp_path):
    """DeepSpeed's launchers print into one console without a host; the second node notices by its time-out, minutes later."""
    killed = "[2026-11-20 {},001] [INFO] [launch.py:319:sigkill_handler] Killing subprocess {}\n"
    left = "[2026-11-20 {},310] [ERROR] [launch.py:325:sigkill_handler] ['python', '--local_rank=1'] exits with return code = {}\n"
    raised = "[rank1]: Traceback (most recent call last):\n[rank1]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
    first = killed.format("10:20:01", 501) + killed.format("10:20:01", 502) + left.format("10:20:03", 1)
    second = killed.format("10:30:04", 901) + killed.format("10:30:04", 902) + left.format("10:30:06", -6)
    console = "".join(alive(r) for r in range(4)) + raised + first + watchdog(2) + watchdog(3) + second

    assert "gpu.ecc" == cause(told(tmp_path, {"console.log": console}))


def test_what_a_rank_raises_in_its_second_life_is_not_of_its_first(tmp_path: Path) -> None:
    def life(rank: int, at: str) -> str:
        return f"[titan] 2026-11-05 {at} - root - INFO - Starting job: moe, rank {rank}/2, CUDA capacity: H100 with 79.10GiB memory\n"

    def raised(rank: int, what: str) -> str:
        frames = f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/j/train.py", line 9, in <module>\n'
        return f"{frames}[rank{rank}]:     main()\n[rank{rank}]: {what}\n"

    console = (
        "srun: error: n1: task 1: Exited with exit code 1\n"
        "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-11-05T23:13:46 DUE TO JOB REQUEUE ***\n"
        "srun: error: n1: task 0: Exited with exit code 1\nsrun: error: n1: task 1: Exited with exit code 1\n"
    )
    lost = "ConnectionResetError: [Errno 104] Connection reset by peer"
    files = {
        "job-4711-0.out": life(0, "23:10:49,026") + life(0, "23:14:48,629") + raised(0, "ValueError: a bad sample"),
        "job-4711-1.out": life(1, "23:10:50,914") + raised(1, lost) + life(1, "23:14:46,774") + raised(1, lost),
        "slurm-4711.out": console,
    }
    report = told(tmp_path, files)
    assert (cause(report), culprits(report)) == ("process.exception", [0])


def test_an_undated_error_beside_a_run_that_is_done_is_less_sure(tmp_path: Path) -> None:
    oom = "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    alone = told(tmp_path / "a", {"rank_1.log": oom, "rank_0.log": "Epoch 0:  20%|##  | 220/800 [00:40<01:11]\n"})
    done = "`Trainer.fit` stopped: `max_epochs=1` reached.\n"
    beside = told(tmp_path / "b", {"rank_1.log": oom, "rank_0.log": done})
    assert [r.diagnosis.certainty for r in (alone, beside) if r.diagnosis] == ["likely", "possible"]


def _raises(rank: int, exception: str) -> str:
    return f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/job/train.py", line 40, in <module>\n[rank{rank}]: {exception}\n'


def _shown(report: Report) -> list[str]:
    return [e.text for attempt in report.attempts for e in attempt.evidence]


FOUND_DEAD = (
    "E1120 {at}000 19221 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: {rank} "
    "(pid: 1923{rank}) of binary: /venv/bin/python\n"
)
LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.1]:40108"
REFUSED = "SO_ERROR: Connection refused, remote=[10.77.0.1]:36760$0"
GAVE_UP = (
    "[/pytorch/third_party/gloo/gloo/transport/tcp/debug_logger.cc:9] ERROR failed to connect, willRetry=0, retry=4, retryLimit=3, "
    f"rank=0, size=2, local=[10.77.0.1]:3803, remote=[10.77.0.1]:36760$0, error={REFUSED}\n"
)


def test_attempt_of_the_verdict_is_shown_with_what_proves_it(tmp_path: Path) -> None:
    """The loss that another rank met because of it was printed first; the last attempt fails for a reason of its own."""
    own = "ConnectionResetError: [Errno 104] Connection reset by peer while reading s3://corpus/shard-00007"
    mesh = f"Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out connecting: {REFUSED}"
    files = {
        "agent.log": FOUND_DEAD.format(at="17:38:45.214", rank=1) + FOUND_DEAD.format(at="17:38:52.620", rank=0),
        **{f"run_a/attempt_0/{r}/stdout.log": STEP.format(at="17:38:44", step=5).replace("rank 0", f"rank {r}") for r in range(2)},
        "run_a/attempt_0/0/stderr.log": _raises(0, LOST),
        "run_a/attempt_0/1/stderr.log": _raises(1, own),
        **{f"run_a/attempt_1/{rank}/stderr.log": GAVE_UP + _raises(rank, f"RuntimeError: {mesh}") for rank in range(2)},
    }

    first, second = _shown(told(tmp_path, files, world_size=2))

    assert own in first
    assert f"RuntimeError: {mesh}" in second, "the exception in which the rank ended says it in one line"
