"""Archives that would be read without end: each ends, and the failure beside it is still named."""

from __future__ import annotations

import gzip
import json
import struct
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from diagnose.sources.bounds import Deadline
from diagnose.sources.source import find_sources

from ..command_line import OOM, tell

LOG = OOM.read_bytes()
ZEROS = b"0\n" * 10_000_000


def tar_header(name: str, size: int, kind: bytes, spans: bytes = b"", real_bytes: int = 0) -> bytes:
    """A tar header with a size in base 256, and of a sparse member where its bytes lie."""
    head = bytearray(tarfile.TarInfo(name).tobuf(tarfile.GNU_FORMAT))
    head[124:136] = b"\x80" + size.to_bytes(11, "big")
    head[156:157] = kind
    if kind == b"S":
        head[386 : 386 + len(spans)] = spans
        head[483:495] = b"\x80" + real_bytes.to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def giant_member() -> bytes:
    """A tar of one header that announces 2^62 bytes."""
    return gzip.compress(tar_header("a.log", 2**62, b"0"))


def sparse_member() -> bytes:
    """A tar of one member with two lines and, around them, 2^50 zeros."""
    text = b"[rank1]: ValueError: within\n"
    spans = b"%011o\0%011o\0" % (512 << 20, len(text))
    return tar_header("a.log", len(text), b"S", spans, 2**50) + text.ljust(10240 - 512, b"\0")


def zip_without_directory() -> bytes:
    """One local header whose deflate stream ends before the member does."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(LOG) + packer.flush() + bytes(500)
    header = (b"PK\3\4", 20, 0, 8, 0, 0, zlib.crc32(LOG), len(body), len(LOG), 5, 0)
    return struct.pack("<4s5H3L2H", *header) + b"a.log" + body


def overlapping_members(count: int = 8000) -> bytes:
    """A zip whose directory lists the same 20 MB so often."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(ZEROS) + packer.flush()
    sizes = (zlib.crc32(ZEROS), len(body), len(ZEROS), 1)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, *sizes, 0) + b"a"
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, *sizes, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entry) * count, len(local) + len(body), 0)
    return local + body + entry * count + end


ENDLESS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "giant member": ("a.tar.gz", giant_member, "it ends within a member"),
    "zip without a directory": ("a.zip", zip_without_directory, "damaged, cut short"),
    "overlapping members": ("a.zip", overlapping_members, "expands more than 200 times"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_end_is_cut_and_the_rest_is_diagnosed(tmp_path: Path, name: str) -> None:
    file, make, reason = ENDLESS[name]
    (tmp_path / file).write_bytes(make())
    (tmp_path / "job.log").write_bytes(LOG)

    said = json.loads(tell(tmp_path, "--format", "json").out)

    assert "memory.cuda-oom" == said["diagnosis"]["cause"]
    assert [g for g in said["gaps"] if reason in g["text"]]


def test_holes_of_a_sparse_member_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(sparse_member())

    said = json.loads(tell(tmp_path / "a.tar", "--format", "json").out)

    assert [1] == [c["rank"] for c in said["diagnosis"]["culprits"]]


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("a.log.gz", gzip.compress(LOG * 50)),
        ("a.log.zst", zstandard.ZstdCompressor().compress(b"") * 20_000),
        ("a.zip", overlapping_members(50)),
        ("a.tar.gz", gzip.compress(tar_header("a.log", len(LOG), b"0") + LOG.ljust(1 << 20, b"\0"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_deadline_is_asked_while_an_archive_is_read(tmp_path: Path, file: str, data: bytes) -> None:
    (tmp_path / file).write_bytes(data)

    found = list(find_sources([str(tmp_path / file)], Deadline(at=0.0)))

    assert ["the budget of time was used up"] == [s.skipped[-30:] for s in found if s.skipped]
