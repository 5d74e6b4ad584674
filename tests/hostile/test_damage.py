"""Damage at an archive's end: what was decoded before it is kept, and the damage is told."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from ..command_line import OOM, tell

LOG = OOM.read_bytes()


def gzip_with_a_wrong_checksum() -> bytes:
    """A gzip stream of which one bit of the checksum is flipped."""
    data = bytearray(gzip.compress(LOG))
    data[-8] ^= 1
    return bytes(data)


def zip_with_a_wrong_checksum() -> bytes:
    """A zip of one member, of which one bit of the checksum is flipped in its header and in the directory."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("job.log", LOG)
    data = bytearray(whole.getvalue())
    for place in (14, data.find(b"PK\1\2") + 16):
        data[place] ^= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("file", "make"), [("job.log.gz", gzip_with_a_wrong_checksum), ("job.zip", zip_with_a_wrong_checksum)]
)
def test_a_flipped_bit_of_a_checksum_loses_no_line(tmp_path: Path, file: str, make) -> None:
    (tmp_path / file).write_bytes(make())

    said = json.loads(tell(tmp_path / file, "--format", "json").out)

    assert "memory.cuda-oom" == said["diagnosis"]["cause"]
    assert [g for g in said["gaps"] if "wrong checksum" in g["text"]]
