"""Archives that are damaged, have no end, or hold very many members: what is in them is read, and the rest costs little."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from diagnose.sources import archives
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import find_sources

from ..command_line import OOM, tell

# --- archives that would be read without end: each ends, and the failure beside it is still named -----------------

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


# --- damage at an archive's end: what was decoded before it is kept, and the damage is told -----------------------


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


# --- archives of very many members: their cost grows with their number, and their number is bounded ---------------

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
