"""Recorder dumps that unfold into far more than they hold: one line in `inputs` says so, and the fault is still named."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.dumps import Job, dumps
from diagnose.recorder import reader
from diagnose.recorder.reader import DumpReader

from ..command_line import tell

GOOD = dict(dumps(Job(ranks=8, fault="swap", culprit=5)))
MODULUS = 2**61 - 1  # numbers apart by it have one hash


def dump_of(**differing: Callable[[int], Any]) -> bytes:
    """A dump of 2,000 entries, of which some fields are computed from the entry's number."""
    entry = {"pg_id": 0, "process_group": ("0", "default"), "state": "started", "is_p2p": False, "frames": []}
    entries = [
        {**entry, "collective_seq_id": n, "profiling_name": f"nccl:all_reduce{n}", **{k: v(n) for k, v in differing.items()}}
        for n in range(2000)
    ]
    return pickle.dumps({"version": "2.10", "pg_config": {}, "entries": entries})


def repeated_types() -> bytes:
    """Each entry refers to the same 10,000 types."""
    types = ["Float"] * 10_000
    return dump_of(input_dtypes=lambda _: types)


def repeated_sizes() -> bytes:
    """Each entry refers to the same sizes of 10,000 tensors."""
    sizes = [[4096, 4096]] * 10_000
    return dump_of(input_sizes=lambda _: sizes)


def repeated_ranks() -> bytes:
    """Two thousand groups refer to the same 100,000 ranks."""
    ranks = list(range(100_000))
    groups = {str(n): {"desc": "", "ranks": ranks} for n in range(2000)}
    return pickle.dumps({"version": "2.10", "pg_config": groups, "entries": []})


def hash_bomb(count: int = 60_000) -> bytes:
    """A dictionary of so many keys with one hash, in opcodes."""
    keys = b"".join(b"\x8a\x0c" + (MODULUS * n).to_bytes(12, "little") + b"N" for n in range(count))
    return b"\x80\x02}(X\x07\x00\x00\x00entries]X\x07\x00\x00\x00versionX\x01\x00\x00\x00x" + keys + b"u."


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "types": (repeated_types, "expands to more than 2,097,152"),
    "sizes": (repeated_sizes, "expands to more than 2,097,152"),
    "ranks": (repeated_ranks, "expands to more than 2,097,152"),
    "one hash": (hash_bomb, "s of CPU"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_dump_unfolds_into_is_bounded_and_the_rest_is_diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make, reason = BOMBS[name]
    for file, data in GOOD.items():
        (tmp_path / file).write_bytes(data)
    (tmp_path / "nccl_trace_rank_90").write_bytes(make())

    monkeypatch.setattr(reader, "DumpReader", partial(DumpReader, 1))

    said = json.loads(tell(tmp_path, "--format", "json").out)

    assert "collective.desync" == said["diagnosis"]["cause"]
    assert [i["skipped"] for i in said["inputs"] if reason in str(i["skipped"])]
