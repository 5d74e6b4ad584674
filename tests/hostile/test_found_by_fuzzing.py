"""Kinds of damage that `benchmarks.fuzz` found: each is borne, and the rest is diagnosed."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
from pathlib import Path

import pytest

from benchmarks.dumps import Job, dumps
from diagnose.advice.fact_store import read_version
from diagnose.scan import passages
from diagnose.sources.bounds import MAX_NAME_CHARS
from diagnose.sources.source import find_sources

from ..command_line import tell

ERROR = "[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered"


def test_of_a_line_of_megabytes_only_so_many_passages_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that lost its line ends; each of its passages was parted again for each one that followed."""
    (tmp_path / "train.log").write_text(f"2026-11-20 10:00:00,000 ERROR {ERROR} ".ljust(1000) * 3000)
    parted, whole = [], passages.read_pieces
    monkeypatch.setattr(passages, "read_pieces", lambda text: parted.append(1) or whole(text))

    said = json.loads(tell(tmp_path, "--format", "json").out)

    assert said["diagnosis"]["cause"] == "gpu.illegal-access"
    assert len(parted) < 2 * (passages.MAX_LOOKED_AT + passages.MAX_PASSAGES)


@pytest.mark.parametrize("text", ["1.3.\u0663", "\u00b2.1", "\u0661"])
def test_a_version_in_other_digits_is_none_that_can_be_compared(text: str) -> None:
    assert read_version(text) is None or str(read_version(text)).isascii()


def test_a_pattern_for_ranks_that_does_not_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / f"{'a' * 200}b.log").write_text(f"{ERROR}\n")
    answer = tell(tmp_path, "--rank-from", "(a|aa)+z")
    assert answer.code == 2
    assert "timed out" in answer.err


def test_a_digit_that_is_no_number_is_no_rank(tmp_path: Path) -> None:
    (tmp_path / "job\u00b2.log").write_text(f"{ERROR}\n")
    assert tell(tmp_path, "--rank-from", r"job(.)").code == 1


def test_a_dump_without_an_entry_that_can_be_read_is_compared_with_the_others(tmp_path: Path) -> None:
    for number, (name, data) in enumerate(dumps(Job(ranks=4, entries=60, fault="missing-send", culprit=2))):
        value = pickle.loads(data)  # noqa: S301 - made above
        value["entries"] = [{"record_id": 7}] * 3 if number == 1 else value["entries"][30:]
        (tmp_path / name).write_bytes(pickle.dumps(value))

    answer = tell(tmp_path, "--format", "json")

    assert answer.code in (1, 3)
    assert "a fault of its own" not in answer.err


def test_a_member_s_name_of_a_megabyte_is_cut(tmp_path: Path) -> None:
    member = tarfile.TarInfo("ip-0" * 200_000 + "/rank_3.log")
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        member.size = len(ERROR)
        archive.addfile(member, io.BytesIO(ERROR.encode()))

    (found,) = find_sources([str(tmp_path / "a.tar")])

    assert len(found.name) < MAX_NAME_CHARS + len(str(tmp_path)) + 10
    assert found.skipped or found.name.endswith("rank_3.log")
