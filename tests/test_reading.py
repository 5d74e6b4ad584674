"""Reading: every dress of a line, every way of cutting the work, and budgets of time lead to the same findings."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from diagnose.catalogue.load import Catalogue
from diagnose.catalogue.rule import Form, Rule
from diagnose.scan import parts, reading
from diagnose.scan.reading import read_all
from diagnose.scan.scan import Scan, scan_to_json
from diagnose.scan.scanner import ScanRules
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import Input

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
def rule(name: str, pattern: str, *literals: str, **more: object) -> Rule:
    return Rule(name, "symptom", "line", "", (Form(literals, pattern),), "", id=name, **more)  # type: ignore[arg-type]


@cache
def rules() -> ScanRules:
    found = [
        rule("a.b/oom", r"^torch\.OutOfMemoryError: CUDA out of memory", "CUDA out of memory"),
        rule("a.b/reset", r"Connection reset by peer", "reset by peer"),
        rule("a.b/step", r"^step (?P<step>\d+)", "step ", fields={"step": "int"}, tells="progress"),
    ]
    return ScanRules(Catalogue({r.id: r for r in found}, {}, {}, {}, "test"))


def read(*inputs: Input, budget_s: float | None = None, workers: int | None = 1) -> Scan:
    return read_all(inputs, rules(), Deadline.after(budget_s), workers=workers)


def hits(scan: Scan) -> list[tuple[str, int]]:
    return [(h.rule, h.line) for s in scan.sources.values() for h in s.hits()]


def in_docker(text: str, end: str = "\n") -> str:
    return json.dumps({"log": text + end, "stream": "stderr", "time": "2026-11-20T10:00:00.1Z"}, separators=(",", ":"))


def in_cri(text: str, tag: str = "F") -> str:
    return f"2026-11-20T10:00:00.123456789Z stderr {tag} {text}"


DRESSES = {
    "plain": OOM.encode(),
    "carriage return line end": OOM.encode() + b"\r",
    "after a progress bar": b"\r 10%|#  | 1/9\r 20%|## | 2/9\r" + OOM.encode(),
    "glued to a bar": b" 20%|##        | 2/9 [00:01<00:05,  1.2it/s][rank3]: " + OOM.encode(),
    "drawn over a bar": " 33%|██████▌[rank3]: ".encode() + OOM.encode() + b":54:01, 26.24s/it]",
    "colour between words": OOM.replace("CUDA out", "\x1b[31mCUDA\x1b[0m \x1b[1mout").encode(),
    "written colour": OOM.replace("CUDA out", "#033[31mCUDA#033[0m out").encode(),
    "bad UTF-8 behind it": OOM.encode() + b" \xff\xfe\xc3(",
    "NUL bytes before it": b"\x00" * 5000 + OOM.encode(),
    "byte order mark": b"\xef\xbb\xbf" + OOM.encode(),
    "docker": in_docker(OOM).encode(),
    "docker with escapes": in_docker(OOM + ' "x" \u00e9').encode(),
    "CRI": in_cri(OOM).encode(),
    "CRI in parts": in_cri(OOM[:30], "P").encode() + b"\n" + in_cri(OOM[30:]).encode(),
    "docker in parts": in_docker(OOM[:30], "").encode() + b"\n" + in_docker(OOM[30:]).encode(),
    "rank tag": b"[rank3]: " + OOM.encode(),
    "srun label": b" 3: " + OOM.encode(),
    "megabytes behind it": OOM.encode() + b" " + b"x" * 3_000_000,
    "at the end of a long bar": b"\r 10%|#  | 1/9" * 200_000 + b"\r" + OOM.encode(),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_a_failure_is_found_in_this_dress(dress: str, tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"a\nb\n" + DRESSES[dress] + b"\nc\n")
    assert hits(read(path)) == [("a.b/oom", 3)]


def test_a_message_deep_within_a_huge_line_is_found_where_it_is_not_anchored(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.write(b"start ")
        for _ in range(20):
            file.write(b"y" * 1_000_000)
        file.write(b" Connection reset by peer " + b"z" * 3_000_000 + b"\nend\n")
    scan = read(path).sources[str(path)]
    assert [(h.rule, h.line) for h in scan.hits()] == [("a.b/reset", 1)]
    assert "Connection reset by peer" in scan.kept()[1]


def test_an_anchored_pattern_does_not_match_within_a_huge_line(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"y" * 20_000 + OOM.encode() + b"z" * 20_000 + b"\n")
    assert hits(read(path)) == []


def test_an_error_json_is_read_as_the_traceback_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "error.json"
    extra = {"py_callstack": f"Traceback (most recent call last):\n{OOM}\n", "timestamp": "1763650000"}
    path.write_text(json.dumps({"message": {"message": OOM, "extraInfo": extra}}))
    scan = read(path)

    assert ("a.b/oom", 1) in hits(scan)
    assert "2025-11-20T14:46:40" in scan.sources[str(path)].kept()[1]
    assert path.stat().st_size == scan.sources[str(path)].bytes


def test_a_context_file_in_an_archive_keeps_all_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    content = "".join(f"package-{n}: 1.{n}\n" for n in range(60)).encode()
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("env.yaml")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    (scan,) = read(path).sources.values()
    assert (scan.kind, len(scan.kept())) == ("context", 60)


def log_of(path: Path, lines: int) -> Path:
    rows = []
    for n in range(lines):
        rows.append(f"[rank{n % 5}]: {OOM}\n" if n % 401 == 7 else f"step {n} is done, and nothing is wrong with it\n")
    path.write_text("".join(rows))
    return path


def test_the_number_of_workers_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SEGMENT_BYTES", 30_000)
    for n in range(3):
        log_of(tmp_path / f"{n}.log", 4000)
    (tmp_path / "z.log.gz").write_bytes(gzip.compress((tmp_path / "0.log").read_bytes(), mtime=0))
    assert scan_to_json(read(tmp_path, workers=3)) == scan_to_json(read(tmp_path, workers=1))


def test_parts_of_a_file_give_what_one_reading_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of(tmp_path / "x.log", 4000)
    whole = scan_to_json(read(path))
    monkeypatch.setattr(parts, "SEGMENT_BYTES", 20_000)
    assert scan_to_json(read(path)) == whole


def test_a_budget_that_is_long_enough_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of(tmp_path / "x.log", 4000)
    whole = scan_to_json(read(path))
    monkeypatch.setattr(parts, "MIN_EDGE_BYTES", 10_000)
    monkeypatch.setattr(parts, "EDGE_BYTES", 10_000)
    assert scan_to_json(read(path, budget_s=600)) == whole


def test_what_a_budget_left_unread_is_told(tmp_path: Path) -> None:
    path = log_of(tmp_path / "x.log", 10)
    scan = read(path, budget_s=0)
    assert (scan.sources[str(path)].skipped, hits(scan)) == ("not read: the budget of time was used up", [])


def test_the_hole_in_a_sparse_file_is_not_walked(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.write(b"head\n" * 1000)
        file.seek(30 << 30)
        file.write(b"\n" + b"tail\n" * 1000 + OOM.encode() + b"\nend\n")
    scan = read(path)
    assert [h.rule for h in scan.sources[str(path)].hits()] == ["a.b/oom"]
    assert scan.sources[str(path)].bytes < 1 << 20


def test_a_log_that_was_cut_while_it_was_open_goes_on_behind_its_hole(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.write(b"start\n")
        file.seek(8 << 20)
        file.write(OOM.encode() + b"\nend\n")
    assert hits(read(path)) == [("a.b/oom", 2)]


def test_scans_of_many_files_say_the_same_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(3):
        (tmp_path / f"rank_{n}.log").write_text(f"[rank{n}] step 1\nä\n{OOM}\n" + "x\n" * 40 + f"[rank{n}] step 2\n")
    plain = read(tmp_path)
    monkeypatch.setattr(reading, "MANY_SOURCES", 3)
    packed = read(tmp_path)

    assert {type(s.held) for s in packed.sources.values()} == {bytes}
    assert {name: (s.hits(), s.kept(), s.progress) for name, s in packed.sources.items()} == {
        name: (s.hits(), s.kept(), s.progress) for name, s in plain.sources.items()
    }
    assert {name: replace(s, held=s.whole()) for name, s in packed.sources.items()} == plain.sources
    assert scan_to_json(packed) == scan_to_json(plain)


def test_opening_many_files_leaves_time_to_read_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """660 files and 0.3 s: all the time went into opening 400 of them, and nothing was read."""
    for n in range(8):
        (tmp_path / f"{n}.log").write_text(OOM + "\n")
    clock = iter(range(10_000))
    monkeypatch.setattr("diagnose.sources.bounds.time", SimpleNamespace(monotonic=lambda: next(clock) / 10))
    found = read(tmp_path, budget_s=4)
    assert any(s.skipped and "were not opened" in s.skipped for s in found.sources.values())
    assert hits(found)
