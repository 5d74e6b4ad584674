"""What a case archive may hold: no secret in a name, and no name that leads out of the folder it is unpacked into."""

from __future__ import annotations

import io
import os
import tarfile

from .command_line import OOM, tell

TOKEN = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"
ERROR = b"[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB.\n"


def _names(archive):
    with tarfile.open(archive) as packed:
        return sorted(packed.getnames())


def test_a_secret_in_a_folders_name_goes_and_names_stay_apart(tmp_path):
    for other in (TOKEN, TOKEN[:-1] + "6"):
        (tmp_path / "logs" / other).mkdir(parents=True)
        (tmp_path / "logs" / other / "rank0.log").write_bytes(ERROR)
    tell("case", tmp_path / "logs", "-o", tmp_path / "case.tar.gz")
    shown = [f"case/logs/<github-token-{n}>/rank0.log" for n in (1, 2)]
    assert [*shown, "case/truth.yaml"] == _names(tmp_path / "case.tar.gz")


def test_relative_paths_may_stand_beside_absolute_ones(tmp_path, monkeypatch):
    (tmp_path / "a.log").write_bytes(ERROR)
    monkeypatch.chdir(tmp_path)
    tell("case", "a.log", OOM, "-o", tmp_path / "case.tar.gz")
    assert {"case/logs/a.log", f"case/logs{OOM}"} < set(_names(tmp_path / "case.tar.gz"))


def test_no_name_leads_out_of_the_folder(tmp_path):
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        for name in ("../../x.log", "....//....//y.log", "/z.log"):
            member = tarfile.TarInfo(name)
            member.size = len(ERROR)
            archive.addfile(member, io.BytesIO(ERROR))
    tell("case", tmp_path / "in.tar", "-o", tmp_path / "case.tar.gz")
    for name in _names(tmp_path / "case.tar.gz"):
        assert ".." not in name.split("/")
        assert os.path.normpath(name).startswith("case/")
