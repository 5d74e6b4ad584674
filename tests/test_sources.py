"""Sources: what is found, in which order, under which name, and why something is not read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import socket
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.errors import SourceError, UsageError
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import Source, Text, find_sources

LINE = b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def read_all(source: Source) -> bytes:
    stream = source.open()
    try:
        return b"".join(iter(lambda: stream.read(1 << 16) or b"", b""))
    finally:
        stream.close()


def contents(*inputs: object) -> dict[str, bytes | str]:
    return {s.name: s.skipped if s.skipped is not None else read_all(s) for s in find_sources(inputs)}  # type: ignore[arg-type]


def only(path: object) -> Source:
    (source,) = find_sources([path])  # type: ignore[list-item]
    return source


def tar_bytes(members: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_bytes(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_file_keeps_the_name_it_was_given_by(tmp_path, monkeypatch):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/rank0.log").write_bytes(LINE)
    monkeypatch.chdir(tmp_path)
    assert contents("logs/rank0.log") == {"logs/rank0.log": LINE}


def test_folder_is_walked_by_name_without_caches(tmp_path, monkeypatch):
    for name in ("b.log", "a.log", ".hidden.log", "n1/r0.log", ".git/HEAD", "__pycache__/x.pyc", "node_modules/i.js"):
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_bytes(LINE)
    monkeypatch.chdir(tmp_path)
    names = [source.name for source in find_sources(["logs/"])]
    assert names == ["logs/.hidden.log", "logs/a.log", "logs/b.log", "logs/n1/r0.log"]


def test_real_folder_wins_over_the_link_to_it(tmp_path):
    (tmp_path / "session_2026").mkdir()
    (tmp_path / "session_2026/x.log").write_bytes(LINE)
    (tmp_path / "latest").symlink_to(tmp_path / "session_2026")
    (tmp_path / "a.log").symlink_to(tmp_path / "session_2026/x.log")
    assert [f"{tmp_path}/session_2026/x.log"] == [source.name for source in find_sources([tmp_path])]


def test_file_given_twice_is_read_once(tmp_path):
    (tmp_path / "x.log").write_bytes(LINE)
    assert [f"{tmp_path}/x.log"] == [s.name for s in find_sources([tmp_path / "x.log", tmp_path])]


def test_dangling_link_is_skipped_with_a_reason(tmp_path):
    (tmp_path / "x.log").symlink_to(tmp_path / "gone")
    assert only(tmp_path / "x.log").skipped == "a link to a file that is gone"


def test_pattern_the_shell_left_alone_is_expanded(tmp_path):
    for name in ("rank1.log", "rank0.log", "other.txt"):
        (tmp_path / name).write_bytes(LINE)
    names = [Path(source.name).name for source in find_sources([f"{tmp_path}/rank*.log"])]
    assert names == ["rank0.log", "rank1.log"]


def test_file_named_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "job[1].log").write_bytes(LINE)
    assert only(f"{tmp_path}/job[1].log").name == f"{tmp_path}/job[1].log"


def test_missing_path_is_an_error_at_once(tmp_path):
    with pytest.raises(SourceError, match=r"^no such file or folder: .*nope\.log$"):
        find_sources([tmp_path / "nope.log"])


def test_pattern_without_a_match_is_an_error():
    with pytest.raises(SourceError, match=r"^no file matches nowhere/\*\.log$"):
        find_sources(["nowhere/*.log"])


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstandard.compress)],
)
def test_compressed_file_keeps_its_name_and_can_be_opened_again(tmp_path, suffix, pack):
    path = tmp_path / f"x.log.{suffix}"
    path.write_bytes(pack(LINE * 1000))
    source = only(path)
    assert (source.name, source.path, source.seekable) == (str(path), str(path), False)
    assert read_all(source) == read_all(source) == LINE * 1000


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_members_of_a_tar_are_sources(tmp_path, mode):
    path = tmp_path / "job.tar.any"
    path.write_bytes(tar_bytes({"n0/rank0.log": LINE, "n1/rank1.log": LINE * 2}, mode))
    assert contents(path) == {f"{path}!n0/rank0.log": LINE, f"{path}!n1/rank1.log": LINE * 2}


def test_compressed_member_is_opened_and_keeps_its_name(tmp_path):
    path = tmp_path / "job.tar"
    path.write_bytes(tar_bytes({"rank0.log.gz": gzip.compress(LINE)}))
    assert contents(path) == {f"{path}!rank0.log.gz": LINE}


def test_archives_are_opened_three_deep_and_no_deeper(tmp_path):
    data = tar_bytes({"x.log": LINE})
    for name in ("c.tar", "b.tar", "a.tar"):
        data = tar_bytes({"here.log": LINE, name: data})
    (tmp_path / "top.tar").write_bytes(data)
    found = contents(tmp_path / "top.tar")
    assert found[f"{tmp_path}/top.tar!a.tar!b.tar!here.log"] == LINE
    assert found[f"{tmp_path}/top.tar!a.tar!b.tar!c.tar"] == "nested more than 3 archives deep"


def test_members_of_a_zip_are_sources(tmp_path):
    path = tmp_path / "logs.zip"
    path.write_bytes(zip_bytes({"a.log": LINE, "b/c.log.gz": gzip.compress(LINE)}))
    assert contents(path) == {f"{path}!a.log": LINE, f"{path}!b/c.log.gz": LINE}


def test_name_that_climbs_out_of_an_archive_is_only_a_name(tmp_path):
    path = tmp_path / "evil.tar"
    path.write_bytes(tar_bytes({"../../etc/cron.d/x": LINE}))
    assert contents(path) == {f"{path}!../../etc/cron.d/x": LINE}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.tar"]


def test_members_before_the_cut_of_a_tar_are_read_and_the_damage_is_named(tmp_path):
    path = tmp_path / "job.tar.gz"
    path.write_bytes(tar_bytes({"a.log": LINE, "b.log": os.urandom(300_000).hex().encode()}, "w:gz")[:100_000])
    found = contents(path)
    assert found[f"{path}!a.log"] == LINE
    assert "cut short" in str(found[str(path)])


def test_encrypted_member_is_skipped_with_a_reason(tmp_path):
    data = bytearray(zip_bytes({"a.log": LINE}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    assert contents(tmp_path / "x.zip") == {f"{tmp_path}/x.zip!a.log": "encrypted in its zip archive"}


def test_link_in_an_archive_is_named_not_followed(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("passwd")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    (tmp_path / "x.tar").write_bytes(out.getvalue())
    assert contents(tmp_path / "x.tar") == {f"{tmp_path}/x.tar!passwd": "a link to /etc/passwd in the same archive"}


def test_member_cannot_be_read_after_its_turn(tmp_path):
    path = tmp_path / "job.tar"
    path.write_bytes(tar_bytes({"a.log": LINE, "b.log": LINE}))
    first = list(find_sources([path]))[0]  # noqa: RUF015 - both are asked for on purpose
    with pytest.raises(SourceError, match="only once"):
        first.open()


def test_gzip_bomb_is_cut_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("diagnose.sources.bounds.BOMB_BYTES", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"a" * (8 << 20)))
    source = only(tmp_path / "bomb.gz")
    assert len(read_all(source)) < 3 << 20
    assert "expands more than 200 times" in source.damage[0]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.log", b"", "empty"),
        ("core.123", b"\x7fELF\x02\x01\x01", "binary: a program, library or core dump"),
        ("plot.png", b"\x89PNG\r\n\x1a\n", "binary: an image"),
        ("db", b"SQLite format 3\x00", "binary: an SQLite database"),
        ("m.safetensors", b'\x50\x01\0\0\0\0\0\0{"__metadata__":{}}', "binary: tensors in safetensors form"),
        ("model.pt", zip_bytes({"model/data.pkl": b"x"}), "binary: a checkpoint or package in zip form"),
        ("weights", zip_bytes({"model/data.pkl": b"x"}), "binary: a checkpoint or package in zip form"),
        (
            "state.bin",
            pickle.dumps({"step": 1}),
            "binary: a pickle that is no flight recorder dump (pickles are never loaded)",
        ),
        ("noise", bytes(range(256)) * 16, "binary: full of control characters"),
        (
            "train.py",
            b"raise RuntimeError('CUDA out of memory')\n",
            "source code (.py): messages in it were not printed by a run",
        ),
        ("faq.md", b"If you see `CUDA out of memory`\n", "documentation (.md): no log is quoted in it"),
    ],
)
def test_what_is_no_log_is_skipped_with_a_reason(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)
    assert only(tmp_path / name).skipped == reason


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("dmesg", b"[123.456] Out of memory: Killed process 7 (python)\n", "text"),
        ("export.json", b'[\n  {\n    "insertId": "a",\n    "textPayload": "KeyError: 1"\n  }\n]\n', "text"),
        ("events.json", b'{\n  "events": [\n    {\n      "message": "x",\n      "ingestionTime": 1795168800\n', "text"),
        ("win.log", "Traceback (most recent call last):\r\n".encode("utf-16"), "text"),
        ("hole.log", b"\x00" * 3000 + LINE * 20, "text"),
        ("中文.log", "错误：显存不足\n".encode("gbk") * 9, "text"),
        ("trace_rank_0", pickle.dumps({"version": "2.4", "pg_config": {}, "entries": []}, 2), "recorder"),
        ("rank_0", pickle.dumps([{"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:all_reduce"}], 2), "recorder"),
        ("t.json", b'{"comm_lib_version":"","entries":[{"collective_seq_id":1,"input_sizes":[[1]]}]}', "recorder"),
        ("node7.scan.json.gz", gzip.compress(b'{"diagnose_scan": 1, "events": []}', mtime=0), "scan"),
        ("error.json", b'{"message": {"message": "KeyError: 1", "extraInfo": {"py_callstack": ""}}}', "json-error"),
        ("ds_config.json", b'{\n  "train_batch_size": 8\n}', "context"),
        ("launch.sh", b"#!/bin/bash\ntorchrun train.py\n", "context"),
        ("c-json.json", b'{"log":"CUDA error\\n","stream":"stderr","time":"2026-11-20T17:00:00Z"}\n', "text"),
        ("pod.json", b'{\n  "kind": "Pod",\n  "status": {"reason": "OOMKilled"}}', "text"),
        ("requirements.txt", b"torch==2.4.0\n", "text"),
        ("issue.md", b"I see\n```\nTraceback (most recent call last):\n```\n", "markdown"),
    ],
)
def test_content_tells_the_kind(tmp_path, name, data, kind):
    (tmp_path / name).write_bytes(data)
    source = only(tmp_path / name)
    assert (source.kind, source.skipped) == (kind, None)


def test_named_pipe_and_socket_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        reasons = [source.skipped for source in find_sources([tmp_path])]
    assert reasons == ["a named pipe: reading it could wait for ever", "a socket"]


def test_pipe_of_the_shell_is_read():
    """`diagnose <(kubectl logs pod)` hands over /dev/fd/63."""
    reader, writer = os.pipe()
    os.write(writer, LINE)
    os.close(writer)
    try:
        assert contents(f"/dev/fd/{reader}") == {f"/dev/fd/{reader}": LINE}
    finally:
        os.close(reader)


def test_permission_error_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.log").write_bytes(LINE)

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("diagnose.sources.source._open", refuse)
    assert only(tmp_path / "x.log").skipped == "permission denied"


def test_text_and_file_objects_are_sources():
    assert contents(Text("CUDA error\n"), io.BytesIO(LINE)) == {"<text>": b"CUDA error\n", "<stream>": LINE}


def test_file_object_of_the_caller_stays_open():
    given = io.BytesIO(LINE)
    contents(given)
    assert not given.closed


def test_dash_reads_standard_input_also_an_archive(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(tar_bytes({"a.log": LINE}, "w:gz"))))
    assert contents("-") == {"<stdin>!a.log": LINE}


def test_pasted_issue_is_markdown():
    text = "### Bug\nTraining stops.\n```\n[rank0]: CUDA error\n```\nAny ideas?\n"
    assert only(Text(text)).kind == "markdown"


def test_log_that_prints_fences_is_a_log():
    text = "2026-11-20 17:00:01 INFO sample:\n```\ndef f(): ...\n```\n[rank0]: CUDA error\n"
    assert only(Text(text)).kind == "text"


def test_missing_zstd_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("diagnose.sources.streams._is_installed", lambda module: False)
    (tmp_path / "x.zst").write_bytes(zstandard.compress(LINE))
    assert only(tmp_path / "x.zst").skipped == "compressed with zstd, which needs `pip install 'diagnose-training[zstd]'`"


ARCHIVES = {
    "tar": tar_bytes({"a.log": LINE, "b.log.gz": gzip.compress(LINE)}),
    "tgz": tar_bytes({"a.log": LINE, "b.zip": zip_bytes({"c.log": LINE})}, "w:gz"),
    "zip": zip_bytes({"a.log": LINE * 9, "b.tar": tar_bytes({"c.log": LINE})}),
}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(ARCHIVES)), st.integers(0, 12_000), st.integers(0, 12_000), st.binary(max_size=20))
def test_damaged_archive_never_raises(form, at, cut, garbage):
    data = ARCHIVES[form]
    damaged = (data[: at % len(data)] + garbage + data[at % len(data) + len(garbage) :])[: cut % len(data) + 1]
    for source in find_sources([io.BytesIO(damaged)]):
        if source.skipped is None:
            read_all(source)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_a_log_behind_a_long_hole_is_a_log(tmp_path: Path, is_sparse: bool) -> None:
    with (tmp_path / "rank0.log").open("wb") as file:
        file.seek(3 << 20) if is_sparse else file.write(bytes(3 << 20))
        file.write(LINE * 20)
    assert kind_of_path(tmp_path / "rank0.log") == ("text", None)


def test_a_program_behind_a_long_hole_is_none(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(1 << 20) + b"\x7fELF\x02\x01" + bytes(range(256)) * 20)
    assert kind_of_path(tmp_path / "image") == ("binary", "binary: a program, library or core dump")


def kind_of_path(path: Path) -> tuple[str, str | None]:
    (source,) = find_sources([path])
    return source.kind, source.skipped


def test_a_link_to_what_holds_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "rank0.log").write_bytes(LINE)
    (tmp_path / "job" / "root").symlink_to("/")
    (tmp_path / "job" / "up").symlink_to("..")
    (tmp_path / "secret.log").write_bytes(LINE)
    assert [source.name for source in find_sources([tmp_path / "job"])] == [f"{tmp_path}/job/rank0.log"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="Linux only")
def test_a_pipe_that_is_met_in_a_folder_is_not_waited_for() -> None:
    end, other = os.pipe()
    try:
        (found,) = [source for source in find_sources(["/proc/self/fd"]) if source.name == f"/proc/self/fd/{end}"]
    finally:
        os.close(end)
        os.close(other)
    assert found.skipped == "a named pipe: reading it could wait for ever"


def test_past_the_deadline_no_more_files_of_a_folder_are_opened(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.log").write_bytes(LINE)
    found = {s.name: s.skipped for s in find_sources([tmp_path], Late())}
    assert found == {
        f"{tmp_path}/0.log": None,
        str(tmp_path): "4 files in it were not opened: the budget of time was used up",
    }


def test_a_folder_that_takes_too_long_to_list_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.log").write_bytes(LINE)
    found = {s.name: s.skipped for s in find_sources([tmp_path], Deadline.after(0))}
    assert found == {str(tmp_path): "not listed to its end: the budget of time was used up"}


class Late(Deadline):
    """Passes once the folder is listed."""

    def passed(self) -> bool:
        return True


def test_list_of_paths_as_one_input_is_told_how_to_be_given():
    with pytest.raises(UsageError, match=r"a list is not an input: .*diagnose\(\*inputs\)"):
        list(find_sources([["a.log", "b.log"]]))


def test_past_the_deadline_only_the_first_of_many_given_files_is_opened(tmp_path: Path) -> None:
    """`diagnose logs/*.log`: the shell gives thousands of paths."""
    paths = [tmp_path / f"{n}.log" for n in range(3)]
    for path in paths:
        path.write_bytes(LINE)
    found = [s.skipped for s in find_sources(paths, Late())]
    assert [None, *["not opened: the budget of time was used up"] * 2] == found


def test_a_path_behind_a_closed_folder_is_refused_and_not_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: object, **_: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", closed)
    monkeypatch.setattr(os, "stat", closed)
    assert ["permission denied"] == [s.skipped for s in find_sources([tmp_path / "closed" / "x.log"])]
