"""Blocks: whole lines, bounded memory, ranges that share no line, and damage that is told."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.sources import blocks
from diagnose.sources.blocks import Block, cut_blocks, read_blocks, read_range
from diagnose.sources.source import Source, find_sources

LINE = b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def source_of(tmp_path: Path, data: bytes, name: str = "x.log") -> Source:
    (tmp_path / name).write_bytes(data)
    (source,) = find_sources([tmp_path / name])
    return source


def joined(found: list[Block]) -> bytes:
    return b"".join(block.data[block.overlap :] for block in found)


def test_blocks_end_at_line_ends_and_lose_nothing(tmp_path):
    data = b"".join(b"line %d\n" % n for n in range(5000)) + b"no end"
    found = list(read_blocks(source_of(tmp_path, data), block_bytes=1000))
    assert all(block.data.endswith(b"\n") for block in found[:-1])
    assert (joined(found), len(found) > 10) == (data, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("bom", ["\ufeff", ""])
def test_utf16_is_decoded(tmp_path, encoding, bom):
    text = "Traceback (most recent call last):\r\n  错误 CUDA error\r\n"
    data = ((bom if encoding != "utf-16" else "") + text).encode(encoding)
    assert text.encode() == joined(list(read_blocks(source_of(tmp_path, data))))


def test_literal_over_the_cut_of_a_long_line_is_in_one_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(blocks, "OVERLAP_BYTES", 100)
    data = b"x" * 995 + b"CUDA error" + b"y" * 3000 + b"\n" + LINE
    found = list(read_blocks(source_of(tmp_path, data)))
    assert any(b"CUDA error" in block.data for block in found)
    assert joined(found) == data
    assert [block.continues for block in found] == [False, *[block.cut for block in found[:-1]]]


def test_pieces_of_a_long_line_do_not_depend_on_the_reads(monkeypatch):
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(blocks, "OVERLAP_BYTES", 100)
    data = b"ab\n" * 7 + b"z" * 2500 + b"\nend\n"
    cuts = set()
    for size in (13, 400, 1000):
        found = cut_blocks(io.BytesIO(data), block_bytes=size)
        cuts.add(tuple(block.offset for block in found if block.continues))
    assert len(cuts) == 1


def test_a_line_that_grows_while_its_file_is_read_is_not_cut_in_two(tmp_path, monkeypatch):
    (tmp_path / "x.log").write_bytes(b"step 1\nstep")
    with open(tmp_path / "x.log", "rb", buffering=0) as file:
        found = cut_blocks(file)
        first = next(found)
        (tmp_path / "x.log").write_bytes(b"step 1\nstep 2\n")
        assert [first.data, *(b.data for b in found)] == [b"step 1\n", b"step 2\n"]


def test_line_of_30_mb_needs_little_memory():
    class Endless(io.RawIOBase):
        left = 30 << 20

        def readinto(self, buffer):
            count = min(self.left, len(buffer))
            self.left -= count
            buffer[:count] = b"#" * count
            return count

    tracemalloc.start()
    pieces = sum(1 for _ in read_blocks(Source("x", stream=Endless())))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (pieces > 25, peak < 12 << 20) == (True, True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(1, 64), st.data())
def test_ranges_that_meet_share_no_line_and_lose_none(lines, block_bytes, data):
    content = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    edges = [0, *cuts, len(content) + 1]
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        source = Source("x", path=file.name, seekable=True)
        parts = [
            joined(list(read_range(source, start, end, block_bytes=block_bytes, find_marks=None)))
            for start, end in pairwise(edges)
        ]
    assert b"".join(parts) == content
    for part, end in zip(parts, edges[1:], strict=False):
        assert part.endswith(b"\n") or not part or end > content.rfind(b"\n")


def test_garbage_behind_a_gzip_stream_is_told(tmp_path):
    source = source_of(tmp_path, gzip.compress(LINE) + b"something else follows", "x.gz")
    assert joined(list(read_blocks(source))) == LINE
    assert source.damage == ["what follows the gzip stream is not gzip and was not read"]


PACKS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("suffix", sorted(PACKS))
def test_truncated_stream_gives_what_there_was_and_says_so(tmp_path, suffix):
    content = b"".join(b"step %d %s\n" % (n, os.urandom(20).hex().encode()) for n in range(30_000))
    packed = PACKS[suffix](content)
    source = source_of(tmp_path, packed[: len(packed) * 2 // 3], f"x.{suffix}")
    found = joined(list(read_blocks(source)))
    assert content.startswith(found)
    assert len(found) > len(content) // 4
    assert "cut short" in source.damage[0]


def test_bytes_before_a_flipped_bit_are_given(tmp_path):
    content = b"".join(b"step %d %s\n" % (n, os.urandom(20).hex().encode()) for n in range(9_000))
    packed = bytearray(gzip.compress(content))
    packed[len(packed) // 2 : len(packed) // 2 + 64] = b"\xff" * 64
    source = source_of(tmp_path, bytes(packed), "x.gz")
    found = joined(list(read_blocks(source)))
    assert found[:100_000] == content[:100_000]
    assert source.damage[0].startswith("damaged after")


def test_disk_error_ends_the_stream_with_a_note():
    class Failing(io.RawIOBase):
        reads = 0

        def readinto(self, buffer):
            self.reads += 1
            if self.reads > 1:
                raise OSError(116, "Stale file handle")
            buffer[: len(LINE)] = LINE
            return len(LINE)

    source = Source("x", stream=Failing())
    assert joined(list(read_blocks(source))) == LINE
    assert source.damage == ["reading stopped early (Stale file handle)"]
