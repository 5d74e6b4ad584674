"""One bad source costs only itself: it is skipped with its reason, and the failure beside it is still named."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnose.job import event_reader
from diagnose.scan import scanner
from diagnose.sources import archives, source
from diagnose.sources.source import find_sources

from ..command_line import OOM, tell

LOG = OOM.read_bytes()


def zip_without_a_name() -> bytes:
    """A zip whose only member has an empty name."""
    nameless = zipfile.ZipInfo("x")
    nameless.filename = ""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(nameless, b"step 1 loss 2.0\n")
    return data.getvalue()


def zip_of_bad_lzma() -> bytes:
    """A zip whose member's LZMA stream has a flipped byte."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.log", LOG * 20)
    flipped = bytearray(data.getvalue())
    flipped[len(flipped) // 3] ^= 0xFF
    return bytes(flipped)


def tar_of_headers(kind: bytes, content: bytes, count: int = 1000) -> bytes:
    """A tar in which so many headers of a long name or of pax records precede one member."""
    head = tarfile.TarInfo("././@LongLink")
    head.type, head.size = kind, len(content)
    one = head.tobuf(tarfile.GNU_FORMAT) + content.ljust(512, b"\0")
    return gzip.compress(one * count + tarfile.TarInfo("a.log").tobuf(tarfile.GNU_FORMAT) + bytes(1024))


BAD: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zip of bad LZMA": ("a.zip", zip_of_bad_lzma),
    "long names": ("a.tar.gz", lambda: tar_of_headers(b"L", b"aaaaaaaaa\0")),
    "pax headers": ("a.tar.gz", lambda: tar_of_headers(b"x", b"13 path=aaaa\n")),
    "bad xz": ("a.log.xz", lambda: lzma.compress(LOG)[:40] + b"\xff" * 40),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_source_is_skipped_with_a_reason_and_the_rest_is_diagnosed(tmp_path: Path, name: str) -> None:
    file, make = BAD[name]
    (tmp_path / file).write_bytes(make())
    (tmp_path / "job.log").write_bytes(LOG)

    said = json.loads(tell(tmp_path, "--format", "json").out)

    assert "memory.cuda-oom" == said["diagnosis"]["cause"]
    assert [g for g in said["gaps"] if f"/{file}" in g["text"]]


def test_a_member_without_a_name_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zip_without_a_name())
    assert [("a.zip!", None)] == [(s.name[-6:], s.skipped) for s in find_sources([str(tmp_path / "a.zip")])]


@pytest.mark.parametrize("error", [RecursionError(), LookupError()], ids=repr)
@pytest.mark.parametrize("where", ["opening", "scanning", "the events", "an archive"])
def test_whatever_a_source_raises_costs_only_that_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, where: str
) -> None:
    """What nobody thought of is met at each place where a source is read."""
    (tmp_path / "job.log").write_bytes(LOG)
    (tmp_path / "odd.log").write_bytes(b"ValueError: odd one out\n")
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        archive.writestr("a.log", b"step 1 loss 2.0\n")
    owner, name = {
        "opening": (source, "kind_of"),
        "scanning": (scanner.Scanner, "feed"),
        "the events": (event_reader.EventReader, "read"),
        "an archive": (archives, "zip_members"),
    }[where]
    whole = getattr(owner, name)

    def broken(*given: object, **more: object) -> object:
        if any(b"odd" in bytes(getattr(x, "data", b"")) or "odd" in str(getattr(x, "name", x)) for x in given):
            raise error
        return whole(*given, **more)

    monkeypatch.setattr(owner, name, broken)

    said = json.loads(tell(tmp_path, "--format", "json").out)

    assert "memory.cuda-oom" == said["diagnosis"]["cause"]
    assert [g for g in said["gaps"] if "odd." in g["text"]]


def test_members_before_the_bad_one_are_kept(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "good.tar", "w") as archive:
        member = tarfile.TarInfo("job.log")
        member.size = len(LOG)
        archive.addfile(member, io.BytesIO(LOG))
    good = (tmp_path / "good.tar").read_bytes()[: 512 + -(-len(LOG) // 512) * 512]
    (tmp_path / "good.tar").unlink()
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(good + gzip.decompress(tar_of_headers(b"L", b"aaaaaaaaa\0"))))

    found = list(find_sources([str(tmp_path)]))

    assert [None] == [s.skipped for s in found if s.name.endswith("job.log")]
    assert 1 == sum(s.skipped is not None for s in found)
