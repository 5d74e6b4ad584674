"""Sources behind a URL: the same report as from the files, by ranges, from a real S3 server."""

from __future__ import annotations

import gzip
import json
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from diagnose import render
from diagnose.engine import diagnose
from diagnose.errors import MissingExtra, SourceError
from diagnose.sources.paths import find_remote, is_url, open_remote
from diagnose.sources.source import find_sources

from .s3_server import serve_s3

LOGS = Path(__file__).parent.parent / "fixtures" / "two-nodes-one-exception" / "logs"
needs_fsspec = pytest.mark.skipif(find_spec("fsspec") is None, reason="needs pip install 'diagnose-training[cloud]'")
needs_s3 = pytest.mark.skipif(
    find_spec("s3fs") is None or find_spec("moto") is None, reason="needs pip install 'diagnose-training[test-ray]'"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # of the clients


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The fixture's logs, a gzip and a zip of one of them, behind an S3 URL."""
    folder = tmp_path_factory.mktemp("s3")
    for file in (p for p in LOGS.rglob("*") if p.is_file()):
        target = folder / "logs" / file.relative_to(LOGS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    agent = next(LOGS.rglob("agent.log"))
    (folder / "packed").mkdir()
    (folder / "packed" / "agent.log.gz").write_bytes(gzip.compress(agent.read_bytes()))
    with zipfile.ZipFile(folder / "packed" / "agent.zip", "w") as archive:
        archive.write(agent, "agent.log")
    (folder / "long").mkdir()
    (folder / "long" / "rank0.log").write_bytes(b"all is well in step 12345\n" * 40_000 + agent.read_bytes())
    with serve_s3(folder) as url:
        yield url


def told(*inputs: str, under: str) -> str:
    """The report as JSON, the place of the files and the time taken left out."""
    report = json.loads(render(diagnose(*inputs, workers=1), "json"))
    report["stats"].pop("seconds")
    return json.dumps(report).replace(under, "<logs>")


@needs_s3
def test_bucket_gives_the_report_of_its_files(bucket: str) -> None:
    assert told(str(LOGS), under=str(LOGS)) == told(f"{bucket}/logs", under=f"{bucket}/logs")


@needs_s3
def test_pattern_and_single_file_are_found(bucket: str) -> None:
    one = [name for name, _ in find_remote(f"{bucket}/logs/*/agent.log")]
    assert one and [one[0]] == [name for name, _ in find_remote(one[0])]


@needs_s3
def test_compressed_and_packed_files_are_opened(bucket: str) -> None:
    names = {s.name.removeprefix(bucket): s.skipped for s in find_sources([f"{bucket}/packed"])}
    assert names == {"/packed/agent.log.gz": None, "/packed/agent.zip!agent.log": None}


@needs_s3
def test_large_object_is_read_by_ranges(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(f"{bucket}/long", under=bucket)
    monkeypatch.setattr("diagnose.scan.parts.SEGMENT_BYTES", 200_000)
    assert whole == told(f"{bucket}/long", under=bucket)


@needs_s3
def test_reading_begins_anywhere(bucket: str) -> None:
    with open_remote(f"{bucket}/long/rank0.log") as file:
        file.seek(26 * 39_999)
        assert file.read(11) == b"all is well"


@needs_s3
def test_missing_bucket_is_one_line(bucket: str) -> None:
    with pytest.raises(SourceError, match=r"s3://no-such-bucket-here"):
        diagnose("s3://no-such-bucket-here/x")


@needs_fsspec
def test_folder_of_any_protocol_is_walked() -> None:
    import fsspec
    system = fsspec.filesystem("memory")
    system.pipe({"/run/b.log": b"two\n", "/run/a/a.log": b"one\n", "/run/.git/x": b"no\n"})
    assert list(find_remote("memory://run/")) == [("memory://run/a/a.log", 4), ("memory://run/b.log", 4)]


@needs_fsspec
def test_unknown_protocol_is_one_line() -> None:
    with pytest.raises(SourceError, match="nosuch"):
        diagnose("nosuch://x/y")


@needs_fsspec
def test_missing_client_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(MissingExtra, match=r"diagnose-training\[cloud\]' gcsfs"):
        diagnose("gs://bucket/logs")


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtra, match=r"s3://bucket/logs needs `pip install 'diagnose-training\[cloud\]'`"):
        diagnose("s3://bucket/logs")


def test_existing_path_that_looks_like_a_url_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s3:" / "b").mkdir(parents=True)
    (tmp_path / "s3:" / "b" / "x.log").write_text("hello\n")
    monkeypatch.chdir(tmp_path)
    assert [s.name for s in find_sources(["s3://b/x.log"])] == ["s3://b/x.log"]


@pytest.mark.parametrize("path", ["C:/logs", "s3:bucket", "://x", "a b://c", "logs/x.log", "s3://"])
def test_what_is_no_url_is_a_path(path: str) -> None:
    assert not is_url(path)
