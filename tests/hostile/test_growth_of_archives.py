"""Archives of very many members: their cost grows with their number, and their number is bounded."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import zstandard

from diagnose.sources.deadline import MAX_MEMBERS
from diagnose.sources.source import find_sources

from ..command_line import tell

LINE = b"step 1 loss 2.0\n"


def zip_of_many(count: int = 100_000) -> bytes:
    """A zip of so many members of one line."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for number in range(count):
            archive.writestr(f"r{number}.log", LINE)
    return data.getvalue()


def test_only_so_many_members_of_a_zip_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zip_of_many())

    *members, last = find_sources([str(tmp_path / "a.zip")])

    assert MAX_MEMBERS == len(members)
    assert f"only its first {MAX_MEMBERS:,} members were read" == last.skipped


def test_every_line_of_a_gzip_of_many_members_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(LINE) * 300_000 + gzip.compress(b"[rank1]: ValueError: last\n"))

    said = json.loads(tell(tmp_path / "a.log.gz", "--format", "json").out)

    assert [1] == [c["rank"] for c in said["diagnosis"]["culprits"]]


def test_frames_of_zstd_that_hold_next_to_nothing_are_read_through(tmp_path: Path) -> None:
    empty = zstandard.ZstdCompressor().compress(b"")
    (tmp_path / "a.log.zst").write_bytes(empty * 500_000 + zstandard.ZstdCompressor().compress(b"[rank1]: ValueError: x\n"))

    said = json.loads(tell(tmp_path / "a.log.zst", "--format", "json").out)

    assert [1] == [c["rank"] for c in said["diagnosis"]["culprits"]]
