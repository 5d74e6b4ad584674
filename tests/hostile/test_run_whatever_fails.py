"""`diagnose run` runs the job, and passes on how it ended, whatever else fails around it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = f"{sys.executable} -m diagnose run"


def shell(script: str, folder: Path, **more: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", "TMPDIR": str(folder), **more}
    environment = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_working_folder_that_was_removed_costs_nothing(tmp_path: Path) -> None:
    done = shell(f'mkdir gone; cd gone; rmdir "$PWD"; {RUN} -- bash -c "echo ran; exit 0"', tmp_path)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "Traceback" not in done.stderr


def test_the_exit_code_of_a_job_in_a_removed_folder_is_passed_on(tmp_path: Path) -> None:
    done = shell(f'mkdir gone; cd gone; rmdir "$PWD"; {RUN} --budget 2 -o r.md -- bash -c "exit 7"', tmp_path)
    assert done.returncode == 7
    assert "Traceback" not in done.stderr


def test_a_report_is_made_from_a_removed_folder(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("[rank1]: ValueError: bad\n")
    done = shell(f'mkdir gone; cd gone; rmdir "$PWD"; {sys.executable} -m diagnose {tmp_path}/train.log', tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("missing", ["HOME", "PATH"])
def test_a_missing_variable_costs_nothing(tmp_path: Path, missing: str) -> None:
    done = shell(f"unset {missing}; {RUN} -- /bin/echo ran", tmp_path)
    assert (done.returncode, done.stdout) == (0, "ran\n")


def test_a_full_disk_costs_the_copy_and_not_the_job(tmp_path: Path) -> None:
    done = shell(f"ulimit -f 8; {RUN} -- bash -c 'head -c 100000 /dev/zero | tr \"\\0\" x'", tmp_path)
    assert (done.returncode, len(done.stdout)) == (0, 100_000)


def test_no_place_for_the_copy_costs_the_copy_and_not_the_job(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = shell(f"{RUN} --keep file/folder -- bash -c 'echo ran; exit 3'", tmp_path)
    assert (done.returncode, done.stdout) == (3, "ran\n")
    assert "running the job without" in done.stderr


@pytest.mark.parametrize("text", ["rules = 3", "\x00", "[" * 5000])
def test_a_broken_configuration_costs_the_configuration_and_not_the_job(tmp_path: Path, text: str) -> None:
    (tmp_path / "diagnose.toml").write_text(text)
    done = shell(f"{RUN} -- echo ran", tmp_path)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert (done.stderr.count("\n"), "Traceback" in done.stderr) == (1, False)


def test_the_jobs_environment_is_the_callers(tmp_path: Path) -> None:
    script = f"env | grep -v ^_= | sort > before; {RUN} -- env | grep -v ^_= | sort | diff before -"
    done = shell(script, tmp_path)
    assert done.stdout == ""
