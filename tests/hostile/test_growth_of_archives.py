"""Archives of very many members: their cost grows with their number, and their number is bounded."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
import zstandard

from diagnose.sources import archives
from diagnose.sources.source import find_sources

from ..command_line import tell

LINE = b"step 1 loss 2.0\n"
MANY = 30_000  # what costs the square of that would not end


def test_only_so_many_members_of_a_zip_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(5000):
            archive.writestr(f"r{number}.log", LINE)

    *members, last = find_sources([str(tmp_path / "a.zip")])

    assert len(members) == 1000
    assert last.skipped == "only its first 1,000 members were read"


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_every_line_of_a_stream_of_many_members_is_read(tmp_path: Path, form: str) -> None:
    """Frames of zstd hold nothing, so that none of them gives a line."""
    pack = gzip.compress if form == "gz" else zstandard.ZstdCompressor().compress
    last = pack(b"[rank1]: ValueError: last\n")
    (tmp_path / f"a.log.{form}").write_bytes(pack(LINE if form == "gz" else b"") * MANY + last)

    said = json.loads(tell(tmp_path / f"a.log.{form}", "--format", "json").out)

    assert [1] == [c["rank"] for c in said["diagnosis"]["culprits"]]
