"""A folder that many users share: what a stranger laid there is not followed, and what we leave shows no secret."""

from __future__ import annotations

import gzip
import json
import os
import stat
import time
from pathlib import Path

import pytest

from diagnose.hooks import reporter
from diagnose.hooks.gather import SharedFolder
from diagnose.hooks.kept import open_new
from diagnose.hooks.reporter import write_scan
from diagnose.hooks.request import Config, HookRequest
from diagnose.report.redaction import without_secrets
from diagnose.report.written_files import claim_file, make_private_folder, open_named, write_whole
from diagnose.scan.scan import scan_from_json

SECRET = "hunter2xyz"
KEY = ("-----BEGIN OPENSSH PRIVATE KEY-----", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW")
LOG = (
    f"INFO connecting with password={SECRET} to the store\n"
    "Traceback (most recent call last):\n"
    f'  File "train.py", line 3, in main\n    login(password="{SECRET}")\n'
    f"RuntimeError: CUDA error: out of memory, db password {SECRET}\n" + "\n".join(KEY) + "\n"
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def as_root_only(path: Path, uid: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can lay what belongs to another user")
    os.chown(path, uid, uid, follow_symlinks=False)


def leave_scan(tmp_path: Path) -> Path:
    log = tmp_path / "rank0.log"
    log.write_text(LOG, encoding="utf-8")
    place = SharedFolder(tmp_path / "shared", "job")
    place.make()
    scan = place.scan_of("node1")
    request = HookRequest("x", time.monotonic() + 20, inputs=(str(log),), node="node1")
    write_scan(request, scan, 20)
    return scan


def test_a_scan_is_for_its_owner_only(tmp_path: Path) -> None:
    scan = leave_scan(tmp_path)
    assert [mode(scan), mode(scan.parent), mode(scan.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_scan_holds_no_secret_and_can_be_read(tmp_path: Path) -> None:
    data = gzip.decompress(leave_scan(tmp_path).read_bytes())
    assert (SECRET.encode() in data, KEY[1].encode() in data) == (False, False)
    assert list(scan_from_json(data, "x").sources) == [f"node1/{tmp_path}/rank0.log".replace("//", "/")]


def test_addresses_stay_the_same_in_the_scans_of_all_nodes() -> None:
    plain = {"lines": [[1, "connect to 52.14.7.9"], [2, "token=hf_" + "a1" * 17]]}
    assert without_secrets(plain) == {"lines": [[1, "connect to 52.14.7.9"], [2, "token=<hugging-face-token-1>"]]}


@pytest.mark.parametrize("private", [True, False])
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path, private: bool) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "job.report.md").symlink_to("precious")
    write_whole(tmp_path / "job.report.md", "report", private=private)
    assert [(tmp_path / name).read_text() for name in ("precious", "job.report.md")] == ["mine", "report"]


def test_a_linked_job_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "job").symlink_to("elsewhere")
    with pytest.raises(OSError):
        SharedFolder(tmp_path, "job").make()


def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir(0o777)
    as_root_only(folder, 4711)

    with pytest.raises(PermissionError, match="another user"):
        SharedFolder(tmp_path, "job").make()
    with pytest.raises(PermissionError, match="another user"):
        write_whole(folder / "x", "text", private=True)
    assert list(folder.iterdir()) == []


def test_a_folder_that_others_may_write_to_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    os.chmod(tmp_path / "job", 0o777)
    make_private_folder(tmp_path / "job")
    assert mode(tmp_path / "job") == 0o700


def test_a_scan_laid_there_as_a_link_is_not_read(tmp_path: Path) -> None:
    place = SharedFolder(tmp_path, "job")
    place.make()
    (tmp_path / "other").touch()
    place.scan_of("node1").symlink_to(tmp_path / "other")
    assert place.present() == []


def test_a_report_for_all_is_for_its_owner_only_and_no_secret_is_said(tmp_path: Path, capfd) -> None:
    log = tmp_path / "rank0.log"
    log.write_text(LOG, encoding="utf-8")
    shared = tmp_path / "shared"
    request = HookRequest(
        "exit code 1", time.monotonic() + 250, Config(shared=str(shared)), inputs=(str(log),), node="n1", nodes=1, label="job",
    )  # fmt: skip
    reporter.report(request)

    written = [shared / "job.report.md", shared / "job.report.json", shared / "job.lock"]
    assert [mode(path) for path in written] == [0o600] * 3
    assert json.loads(written[1].read_text())["schema_version"]
    said = capfd.readouterr().err
    assert "  proof  " in said
    assert SECRET not in written[0].read_text() + written[1].read_text() + said


def test_whoever_took_the_name_in_the_temporary_folder_silences_nobody(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reporter.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"diagnose-{os.getuid()}").symlink_to("elsewhere")
    assert [reporter._is_first("k"), reporter._is_first("k")] == [True, True]


def test_a_claim_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("nowhere")
    assert (claim_file(tmp_path / "lock"), (tmp_path / "nowhere").exists()) == (False, False)


def test_the_copy_of_the_jobs_output_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "output.part").symlink_to("precious")
    os.close(open_new(str(tmp_path / "output.part")))
    assert ((tmp_path / "precious").read_text(), (tmp_path / "output.part").is_symlink()) == ("mine", False)


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "report")
    assert os.read(reading, 100) == b"report"
    os.close(reading)


def test_what_the_user_names_is_no_link_that_a_stranger_laid(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o1777)
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "report.md").symlink_to("precious")

    with pytest.raises(OSError):
        open(tmp_path / "report.md", "w", opener=open_named)  # noqa: SIM115
    assert (tmp_path / "precious").read_text() == "mine"
