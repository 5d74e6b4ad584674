"""A pool: this process and workers beside it read the same parts once each, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.rule import Form, Rule
from diagnose.lines.record import record
from diagnose.scan import parts as cutting
from diagnose.scan import pool as pooling
from diagnose.scan.parts import Part, cut_parts
from diagnose.scan.pool import Pool
from diagnose.scan.scan import SourceScan
from diagnose.scan.scanner import ScanRules
from diagnose.scan.workers import UNREAD, scan_part
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import find_sources

HUNG_S = 60
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stops workers by signals, asks /proc for them")


@cache
def rules() -> ScanRules:
    rule = Rule("oom", "symptom", "line", "", (Form(("CUDA out of memory",), r"CUDA out of memory"),), "", id="a.b/oom")
    return ScanRules(Catalogue({rule.id: rule}, {}, {}, {}, "no-such-catalogue-is-in-the-cache"))


@pytest.fixture
def some_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Part]:
    """40 of them, of one file."""
    rows = [f"[rank{n % 5}]: {OOM if n % 401 == 7 else f'step {n} is done'}\n" for n in range(20_000)]
    (tmp_path / "x.log").write_text("".join(rows))
    monkeypatch.setattr(cutting, "SEGMENT_BYTES", (tmp_path / "x.log").stat().st_size // 40)
    (source,) = find_sources([tmp_path / "x.log"])
    return cut_parts(source)


def plain(found: dict[int, SourceScan]) -> list[str]:
    return [repr(found[index]) for index in sorted(found)]


def here(parts: list[Part]) -> list[str]:
    """What this process finds in them alone."""
    return plain({n: scan_part(part, rules(), Deadline()) for n, part in enumerate(parts)})


def read(parts: list[Part], workers: int = 2, deadline: Deadline | None = None) -> dict[int, SourceScan]:
    found: dict[int, SourceScan] = {}
    for index, scan in Pool(rules(), workers).scan(parts, deadline or Deadline()):
        assert index not in found
        found[index] = scan
    return found


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def during(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Have `act` done when this process begins its second part: a worker is up by then, or about to be."""
    real = pooling.scan_by_block
    begun = 0

    def scan_by_block(*given: object) -> Iterator[SourceScan | None]:
        nonlocal begun
        begun += 1
        if begun == 2:
            act()
        yield from real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(pooling, "scan_by_block", scan_by_block)


def asked_once(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> list[int]:
    """Have `act` done to a worker that has just been given its first part; this process waits until then."""
    asked: list[int] = []
    real = pooling.send

    def send(stream: BinaryIO, what: Any) -> None:
        if isinstance(what[0], Part) and not asked:
            asked.append(what[0].start or 0)
            act(children()[-1])  # the youngest
        real(stream, what)

    def wait() -> None:
        ends = time.monotonic() + HUNG_S
        while not asked and time.monotonic() < ends:
            time.sleep(0.01)

    monkeypatch.setattr(pooling, "send", send)
    during(monkeypatch, wait)
    return asked


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def let_go(_: int) -> None:
    pass


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_part_is_read_once_as_this_process_alone_reads_it(some_parts: list[Part], workers: int) -> None:
    assert plain(read(some_parts, workers)) == here(some_parts)


@pytest.mark.parametrize("harm", [kill, stop])
def test_the_part_of_a_worker_that_dies_or_stops_over_it_is_read_here(
    some_parts: list[Part], monkeypatch: pytest.MonkeyPatch, harm: Callable[[int], None]
) -> None:
    monkeypatch.setattr(pooling, "PATIENCE_S", 0.5)
    asked = asked_once(monkeypatch, harm)
    assert plain(read(some_parts)) == here(some_parts)
    assert asked


@record
class SpentOnceAsked(Deadline):
    """A budget that is used up as soon as a worker was asked for a part."""

    asked: list[int] = field(default_factory=list)

    def passed(self) -> bool:
        return bool(self.asked)


def test_a_stopped_worker_does_not_outlast_the_budget(some_parts: list[Part], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "LATE_S", 0.1)
    deadline = SpentOnceAsked(asked=asked_once(monkeypatch, stop))
    found = read(some_parts, deadline=deadline)
    unread = [some_parts[index].start for index, scan in found.items() if scan.skipped == UNREAD]
    assert deadline.asked[0] in unread


def test_where_no_process_can_be_started_this_one_reads_all(
    some_parts: list[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert plain(read(some_parts)) == here(some_parts)


def test_no_worker_is_left_when_whoever_asked_turns_away(some_parts: list[Part]) -> None:
    before = children()
    reading = Pool(rules(), 3).scan(some_parts, Deadline())
    next(reading)
    assert len(children()) == len(before) + 2
    reading.close()  # type: ignore[attr-defined]
    assert children() == before


def test_a_worker_finds_what_this_process_finds_with_the_shipped_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = load_rules()
    path = Path(__file__).parents[1] / "fixtures" / "two-nodes-one-exception"
    parts = [part for source in find_sources([path / "logs"]) if source.kind == "text" for part in cut_parts(source)]
    asked = asked_once(monkeypatch, let_go)
    shared = dict(Pool(ScanRules(catalogue), 2).scan(parts, Deadline()))
    alone = dict(Pool(ScanRules(catalogue), 1).scan(parts, Deadline()))
    assert asked
    assert plain(shared) == plain(alone)
    assert any(scan.tallies for scan in alone.values())
