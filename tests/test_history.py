"""`diagnose --remember`, `diagnose history` and `diagnose diff` on runs of `fixtures/`."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diagnose import Report
from diagnose.advice.statement import Fact
from diagnose.cli import main
from diagnose.history.difference import differences

FIXTURES = Path(__file__).parent.parent / "fixtures"
OOM, HEALTHY, EXCEPTION = (FIXTURES / n / "logs" for n in ("cuda-oom-one-rank", "healthy-console", "two-nodes-one-exception"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("DIAGNOSE_HISTORY", raising=False)
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state" / "diagnose"


def call(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the command line; yield what it printed."""
    with pytest.raises(SystemExit):
        main(list(words))
    return capsys.readouterr().out


def copy(logs: Path, job: str) -> str:
    """The same failure in another job."""
    shutil.copytree(logs, job)
    return job


def test_a_report_names_the_jobs_that_failed_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = (copy(OOM, f"job-{number}") for number in (4690, 4702, 4711))

    assert "Same failure" not in call(capsys, "--remember", first)
    assert "Same failure as job 4690, both on" in " ".join(call(capsys, "--remember", second).split())
    assert "Same failure as job 4690 and job 4702, all on" in " ".join(call(capsys, "--remember", third).split()).replace(
        "job 4702 and job 4690", "job 4690 and job 4702"
    )


def test_nothing_is_remembered_that_nobody_asked_for(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    call(capsys, str(OOM))
    assert not state.exists()


@pytest.mark.parametrize("is_named", [True, False])
def test_only_settings_that_the_user_named_can_remember(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, state: Path, is_named: bool
) -> None:
    Path("diagnose.toml").write_text("remember = true\n")
    if is_named:
        monkeypatch.setenv("DIAGNOSE_CONFIG", "diagnose.toml")
    call(capsys, str(OOM))
    assert is_named == state.exists()


def test_a_hook_remembers_by_the_schedulers_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ours.toml").write_text("remember = true\n[hook]\nbudget = 300\n")
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(Path("ours.toml").absolute()))
    for job in ("4690", "4711"):
        monkeypatch.setenv("SLURM_JOB_ID", job)
        words = ["hook", "--exit-code", "1", "-o", f"{job}.md", str(OOM)]
        command = [sys.executable, "-c", "from diagnose.cli import main; main()", *words]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(FIXTURES.parent)})
    assert "Same failure as job 4690, both on" in Path("4711.md").read_text().replace("\\", "")


def test_another_failure_is_not_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "--remember", str(OOM))
    assert "Same failure" not in call(capsys, "--remember", str(EXCEPTION))


def test_a_report_made_twice_is_one_failure(capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "--remember", copy(OOM, "job-4690"))
    assert "Same failure" not in call(capsys, "--remember", "job-4690")
    assert 1 == len(json.loads(call(capsys, "history", "--json")))


def test_the_history_holds_ids_and_no_text_of_a_log(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    call(capsys, "--remember", str(EXCEPTION))

    file = state / "history.sqlite3"
    held = "\n".join(map(str, sqlite3.connect(file).execute("select * from failure").fetchall()))
    assert "process.exception" in held
    assert "shards.py in parse_record" in held
    assert "0.1f3x" not in held
    assert 0 == stat.S_IMODE(state.stat().st_mode) & 0o077


def test_history_lists_and_forgets(capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "--remember", copy(OOM, "job-4690"))
    assert "job 4690  memory.cuda-oom" in call(capsys, "history")
    assert "none of 1 failures remembered is of network" in call(capsys, "history", "network")
    assert "forgot 1" in call(capsys, "history", "--forget", "4690")
    assert "nothing remembered" in call(capsys, "history")


def test_a_broken_history_costs_a_line_and_not_the_report(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    state.mkdir(parents=True)
    (state / "history.sqlite3").write_text("no database " * 100)

    with pytest.raises(SystemExit) as left:
        main(["--remember", str(OOM)])
    said = capsys.readouterr()
    assert 1 == left.value.code
    assert "out of memory" in said.out
    assert "history cannot be used" in said.err


def test_a_paste_is_remembered_by_when_it_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (OOM / "h100-r6-n03.log").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    call(capsys, "--remember", "-")
    assert "job pasted-2026-09-16T15:45:" in call(capsys, "history")


def test_a_healthy_run_is_not_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "--remember", str(HEALTHY))
    assert "nothing remembered" in call(capsys, "history")


def test_diff_shows_what_the_failed_run_has(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "diff", str(HEALTHY), str(OOM))
    assert "outcome" in said and "healthy" in said and "failed" in said
    assert "memory.cuda-oom" in said


def test_what_differs_in_form_or_in_any_two_runs_is_no_difference() -> None:
    good = {"bf16": Fact("True", "a"), "lr": Fact("1e-3", "a"), "stack": Fact("cuda", "a"), "log_dir": Fact("/tmp/1", "a")}
    bad = {"bf16": Fact("true", "b"), "lr": Fact("0.001", "b"), "log_dir": Fact("/tmp/2", "b"), "zero_stage": Fact("3", "b")}
    empty = Report("healthy", "")
    found = differences(replace(empty, facts=good), replace(empty, facts=bad))
    assert ["zero_stage"] == [difference.name for difference in found]


def test_written_reports_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, str(HEALTHY), "-q", "-o", "good.json")
    call(capsys, str(OOM), "-q", "-o", "bad.json")
    found = {row["name"]: row for row in json.loads(call(capsys, "diff", "good.json", "bad.json", "--json"))}
    assert ("healthy", "failed") == (found["outcome"]["good"], found["outcome"]["bad"])


def run_of(folder: str, losses: list[float], torch: str, world: int) -> str:
    """A run's console in a folder."""
    lines = [f"[rank0]: PyTorch version: {torch}"]
    lines += [f"[rank{rank}]: step {n} loss {loss}" for n, loss in enumerate(losses, 1) for rank in range(world)]
    Path(folder).mkdir()
    Path(folder, "console.log").write_text("\n".join(lines) + "\n")
    return folder


def test_the_first_step_whose_loss_differs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    good = run_of("good", [4.0, 3.5, 3.2, 3.0], "2.6.0", 4)
    bad = run_of("bad", [4.0, 3.5, 9.7], "2.7.1", 2)

    found = {row["name"]: row for row in json.loads(call(capsys, "diff", good, bad, "--json"))}

    assert ("loss 3.2", "loss 9.7") == (found["step 3"]["good"], found["step 3"]["bad"])
    assert ("4", "3") == (found["last step"]["good"], found["last step"]["bad"])
    assert ("0-3", "0-1") == (found["ranks"]["good"], found["ranks"]["bad"])
    assert ("2.6.0", "2.7.1") == (found["torch_version"]["good"], found["torch_version"]["bad"])
