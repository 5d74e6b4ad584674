"""`diagnose watch`: live runs are simulated, and the test's own clock says how time passes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.report.translation import ENGLISH
from diagnose.watch.growth import GrowingFiles
from diagnose.watch.watcher import Said, Watcher

from .command_line import tell

PACKAGE = str(Path(__file__).parent.parent)
TRACEBACK = """\
[rank2]: Traceback (most recent call last):
[rank2]:   File "/job/train.py", line 40, in <module>
[rank2]:     loss.backward()
[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 79.15 GiB \
of which 1.20 GiB is free.
"""


class Run:
    """A job of four ranks whose logs grow, and one that watches it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now, self.step = folder, 1000.0, 0
        self.watcher = Watcher(GrowingFiles([str(folder)], load_rules()), ENGLISH, clock=lambda: self.now, cpu=lambda: 0.0)

    def write(self, rank: int, text: str, file: str = "") -> None:
        """Append to a rank's log."""
        with open(self.folder / (file or f"rank{rank}.log"), "a") as log:
            log.write(text)

    def train(self, *ranks: int, steps: int = 1, seconds: float = 5.0) -> list[Said]:
        """Let ranks print steps, and look after each."""
        said = []
        for _ in range(steps):
            self.step += 1
            self.now += seconds
            for rank in ranks:
                self.write(rank, f"[rank{rank}]: step {self.step} loss {4 - self.step / 100:.3f}\n")
            said += self.watcher.look()
        return said

    def wait(self, seconds: float) -> list[Said]:
        """Let time pass without a line."""
        self.now += seconds
        return self.watcher.look()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path)
    yield run
    run.watcher.files.close()


def kinds(said: list[Said]) -> list[str]:
    return [row.kind for row in said if row.kind != "file"]


def test_a_run_that_goes_well_says_nothing(run: Run) -> None:
    assert [] == kinds(run.train(0, 1, 2, 3, steps=8))


def test_the_straggler_is_named_before_the_timeout(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=6)
    said = run.train(0, 1, 2, steps=1)  # rank 3 does not join; the others wait in the next collective
    said += run.wait(20) + run.wait(20)

    stopped = [row for row in said if row.kind == "stopped"]
    assert (3,) == stopped[0].ranks  # the farthest behind first
    assert "rank 3 printed no step for 45 s, since step 6; the farthest reached step 7" == stopped[0].text
    assert [(0, 1, 2)] == [row.ranks for row in stopped[1:]]


def test_a_rank_that_falls_behind_is_named_once(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=4)
    said = run.train(0, 1, 3, steps=5)
    behind = [row for row in said if row.kind == "behind"]
    assert ["rank 2 is behind at step 4; the farthest reached step 7"] == [row.text for row in behind]


def test_a_rank_that_goes_on_is_told(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=3)
    run.wait(60)
    assert ["ranks 0-3 go on"] == [row.text for row in run.train(0, 1, 2, 3) if row.kind == "resumed"]


def test_a_pause_as_long_as_earlier_ones_is_none(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=2)
    run.train(0, 1, 2, 3, seconds=25.0)  # an evaluation
    assert [] == kinds(run.wait(60))


def test_a_new_error_is_told_once_with_rank_and_place(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=2)
    run.write(2, TRACEBACK)
    said = run.wait(1)

    errors = [row for row in said if row.kind == "error"]
    assert ["memory.cuda-oom"] == [row.cause for row in errors]
    assert (2,) == errors[0].ranks
    assert "rank2.log:" in errors[0].place
    assert [] == kinds(run.wait(1))
    assert "failed" == run.watcher.report().outcome


def test_a_traceback_that_is_written_in_two_goes_is_one_error(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=2)
    run.write(2, TRACEBACK[:150])
    said = run.wait(1)
    run.write(2, TRACEBACK[150:])
    said += run.wait(1)

    assert ["memory.cuda-oom"] == [row.cause for row in said if row.kind == "error"]


def test_secrets_in_errors_are_not_shown(run: Run) -> None:
    token = "hf_" + "aBcDeFgHiJ" * 3 + "kLmN"
    run.train(0, steps=2)
    run.write(0, f"[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: bad token {token}\n")
    said = run.wait(1)

    assert ["error"] == kinds(said)
    assert token not in said[0].text


def test_a_file_that_appears_later_is_followed(run: Run) -> None:
    run.train(0, 1, 2, steps=2)
    said = run.train(0, 1, 2, 3)
    assert ["rank3.log"] == [os.path.basename(row.place) for row in said if row.kind == "file"]


def test_a_rotated_log_loses_no_line(run: Run) -> None:
    run.train(0, 1, steps=3)
    run.write(0, "[rank0]: step 4 loss 3.900\n")
    os.rename(run.folder / "rank0.log", run.folder / "rank0.log.1")
    run.step = 4
    run.train(0, 1, steps=2)

    inputs = {os.path.basename(row.file): row.lines for row in run.watcher.report().inputs}
    assert {"rank0.log": 2, "rank0.log.1": 4, "rank1.log": 5} == inputs


def test_a_truncated_log_is_read_anew(run: Run) -> None:
    run.train(0, 1, steps=3)
    (run.folder / "rank0.log").write_text("")
    run.train(0, 1, steps=2)
    inputs = {os.path.basename(row.file): row.lines for row in run.watcher.report().inputs}
    assert {"rank0.log": 2, "rank0.log.1": 3, "rank1.log": 5} == inputs


def test_a_removed_log_keeps_its_lines(run: Run) -> None:
    run.train(0, 1, steps=2)
    (run.folder / "rank0.log").unlink()
    run.train(1, steps=2)
    assert {0, 1} == {row.rank for row in run.watcher.report().ranks}


def test_a_line_without_an_end_waits_for_it(run: Run) -> None:
    run.write(0, "[rank0]: step 1 lo")
    assert [] == run.wait(1)
    run.write(0, "ss 4.0\n")
    assert ["file"] == [row.kind for row in run.wait(1)]


def test_what_is_read_piece_by_piece_gives_the_report_of_the_whole(run: Run) -> None:
    from diagnose import diagnose

    run.train(0, 1, 2, 3, steps=5)
    run.write(2, TRACEBACK)
    run.wait(1)
    run.write(0, "[rank0]: RuntimeError: NCCL communicator was aborted on rank 0.\n")
    run.wait(1)

    live, whole = run.watcher.report(), diagnose(str(run.folder))
    assert whole.diagnosis == live.diagnosis
    assert whole.ranks == live.ranks


def test_the_watch_is_over_when_the_job_ended_and_nothing_comes(run: Run) -> None:
    run.train(0, 1, 2, 3, steps=2)
    run.wait(600)
    assert not run.watcher.is_over()
    run.write(2, TRACEBACK)
    run.wait(1)
    assert not run.watcher.is_over()
    run.wait(61)
    assert run.watcher.is_over()


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start `diagnose watch` as a user does."""
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "diagnose", "watch", "--every", "0.1", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as watch:
        yield watch


def test_ctrl_c_leaves_a_report_and_the_exit_code_of_a_finished_job(tmp_path: Path) -> None:
    (tmp_path / "rank2.log").write_text(TRACEBACK)
    with started(str(tmp_path / "rank2.log"), "-o", str(tmp_path / "report.json")) as watch:
        assert watch.stdout is not None and watch.stderr is not None
        first = [watch.stdout.readline(), watch.stdout.readline()]
        watch.send_signal(signal.SIGINT)
        rest, said = watch.stdout.read(), watch.stderr.read()

    assert "out of memory" in first[1]
    assert "FAILED" in rest
    assert "memory.cuda-oom" == json.loads((tmp_path / "report.json").read_text())["diagnosis"]["cause"]
    assert "Traceback" not in said
    assert 1 == watch.returncode


def test_json_lines_end_with_the_verdict_when_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "rank2.log").write_text(TRACEBACK)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as job, started(
        str(tmp_path), "--format", "json", "--pid", str(job.pid)
    ) as watch:
        assert watch.stdout is not None and job.stdin is not None
        first = json.loads(watch.stdout.readline())
        job.stdin.close()
        job.wait()
        rows = [json.loads(line) for line in watch.stdout]

    assert "file" == first["kind"]
    assert ["error", "ended"] == [row["kind"] for row in rows]
    assert ("memory.cuda-oom", "failed", [2]) == (rows[-1]["cause"], rows[-1]["outcome"], rows[-1]["ranks"])


def test_without_a_path_it_says_what_to_name() -> None:
    done = tell("watch")
    assert (2, "diagnose: watch: name the logs, folders or patterns to follow\n") == (done.code, done.err)


def test_nothing_to_follow_is_wrong_usage(tmp_path: Path) -> None:
    with started(str(tmp_path), "--for", "0.3s") as watch:
        out, said = watch.communicate(timeout=120)
    assert (2, "") == (watch.returncode, out)
    assert "no line was read" in said


def test_an_error_amid_much_chatter_is_found_at_its_line(run: Run) -> None:
    chatter = "".join(f"[rank2]: step {n} loss 1.0\nprefetched batch {n} in 3 ms\n" for n in range(1, 3000))
    run.write(2, chatter)
    run.watcher.look()
    run.write(2, chatter + TRACEBACK + "waiting for the others\n" * 5000)
    said = [row for row in run.wait(1) if row.kind == "error"]

    assert ["memory.cuda-oom"] == [row.cause for row in said]
    number = int(said[0].place.rpartition(":")[2])
    assert "OutOfMemoryError" in (run.folder / "rank2.log").read_text().splitlines()[number - 1]
    assert {row.file: row.lines for row in run.watcher.report().inputs} == {str(run.folder / "rank2.log"): 2 * 5998 + 4 + 5000}
