"""Inputs that are too large for the time that is given, and readers who lose patience."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.scan import parts
from diagnose.scan.reading import read_all
from diagnose.scan.scanner import ScanRules
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import Source

from .told import watchdog

RANKS = 20
CULPRIT = 7
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 7 has a total capacity of 79.15 GiB"
HUNG_S = 60


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """A test that hangs ends."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def twenty_gigabytes(tmp_path: Path) -> Path:
    """A sparse log of 1 GB per rank: steps at its start, nothing for long, steps and the failure at its end."""
    for rank in range(RANKS):
        with (tmp_path / f"rank_{rank:02d}.log").open("wb") as file:
            file.write(b"".join(b"step %d loss 2.0\n" % n for n in range(100)))
            file.seek(10**9)
            file.write(b"\n" + b"".join(b"step %d loss 2.0\n" % n for n in range(5000, 5100)))
            last = f"[rank{rank}]: {OOM}" if rank == CULPRIT else watchdog(rank, 120)
            file.write(last.encode() + b"\n")
    return tmp_path


@pytest.fixture
def no_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that stores zeros."""

    def none(_: Source) -> list[tuple[int, int]]:
        return []

    monkeypatch.setattr(parts, "_extents", none)


@pytest.mark.usefixtures("no_holes")
@pytest.mark.parametrize("workers", [1, 2])
def test_tails_are_read_first_where_the_rest_is_too_much_and_then_no_part_is_begun(
    twenty_gigabytes: Path, workers: int
) -> None:
    rules = ScanRules(load_rules())
    with at_most(HUNG_S):
        scan = read_all([twenty_gigabytes], rules, Deadline.after(2), workers=workers)
    found = [source for source in scan.sources.values() if any("oom" in hit.rule for hit in source.hits())]
    assert [source.name for source in found] == [f"{twenty_gigabytes}/rank_{CULPRIT:02d}.log"]
    assert any("budget of time" in gap for gap in scan.gaps)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the workers")
def test_ctrl_c_ends_workers_without_a_word(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.log").write_bytes(b"step 1 loss 2.0, and some words that nobody reads\n" * 5_000_000)
    command = [sys.executable, "-m", "diagnose", "--workers", "3", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    workers = started_by(process)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=HUNG_S)
    assert b"Traceback" not in said
    assert process.returncode == 130
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def started_by(process: subprocess.Popen[bytes]) -> list[int]:
    """The two workers beside the process itself, once they run."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(HUNG_S * 20):
        found = [int(pid) for pid in children.read_text().split()]
        if len(found) == 2:
            time.sleep(0.2)  # they are being started up
            return found
        time.sleep(0.05)
    raise TimeoutError
