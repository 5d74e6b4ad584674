"""Recorder dumps made to hurt, in a folder with good ones: each is one line in `inputs`, and the fault is still named."""

from __future__ import annotations

import json
import os
import pickle
import struct
from pathlib import Path

import pytest

from benchmarks.dumps import Job, dumps

from .test_hostile import measured

PWNED = Path("pwned-by-a-pickle")
JOB = Job(ranks=8, fault="swap", culprit=5)
GOOD = dict(dumps(JOB))


class _Runs:
    def __reduce__(self):
        return os.system, (f"touch {PWNED}",)


BAD = {
    "os.system": (pickle.dumps({"pg_config": {}, "entries": [_Runs()]}), "refused: the pickle asks for posix.system"),
    "class": (pickle.dumps({"pg_config": Path("x")}), "refused: the pickle asks for pathlib."),
    "persistent id": (b"\x80\x02X\x01\x00\x00\x00aQ.", "refused: the pickle asks for a persistent object"),
    "memo bomb": (b"\x80\x02]r\xff\xff\xff\x7f.", "needs more memory than a dump may take"),
    "terabyte": (b"\x80\x05\x8e" + struct.pack("<Q", 2**40) + b"abc.", "needs more memory than a dump may take"),
    "recursion": (b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b".", "it has no list of collectives"),
    "truncated": (GOOD["nccl_trace_rank_0"][:3000], "truncated or damaged pickle"),
    "truncated JSON": (next(dumps(Job(ranks=8, form="json")))[1][:3000], "truncated or damaged JSON"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the command says of a folder with all of them, and its peak memory in MiB."""
    folder = tmp_path_factory.mktemp("dumps")
    for name, data in GOOD.items():
        (folder / name).write_bytes(data)
    for number, (data, _) in enumerate(BAD.values(), 90):
        (folder / f"nccl_trace_rank_{number}").write_bytes(data)
    with (folder / "nccl_trace_rank_80").open("wb") as file:
        file.write(b"\x80\x02")
        file.truncate(2 << 30)
    answer, peak_mib, _ = measured(folder, "--format", "json")
    return json.loads(answer.out), peak_mib


@pytest.mark.parametrize("name", BAD)
def test_bad_dump_is_one_line_in_the_inputs(said, name):
    number = 90 + list(BAD).index(name)
    (row,) = [i for i in said[0]["inputs"] if i["file"].endswith(f"nccl_trace_rank_{number}")]
    assert BAD[name][1] in row["skipped"]
    assert "\n" not in row["skipped"]


def test_sparse_file_of_two_gigabytes_is_one_line_and_costs_no_memory(said):
    (row,) = [i for i in said[0]["inputs"] if i["file"].endswith("nccl_trace_rank_80")]
    assert "2,147,483,648 bytes; a dump may have 100,663,296" == row["skipped"]
    assert said[1] < 200


def test_the_rest_is_diagnosed(said):
    diagnosis = said[0]["diagnosis"]
    assert ("collective.desync", [5]) == (diagnosis["cause"], [c["rank"] for c in diagnosis["culprits"]])


def test_nothing_of_a_pickle_runs(said):
    assert not PWNED.exists()


def test_thread_after_thread_without_end_costs_little(tmp_path):
    heads = "".join(f'Thread {number} (idle): "x"\n' for number in range(30_000))
    (tmp_path / "job.log").write_text(f"Process 7: python train.py\n{heads}")
    answer, peak_mib, seconds = measured(tmp_path / "job.log", "--format", "json")

    assert "unfinished" == json.loads(answer.out)["outcome"]
    assert peak_mib < 200
    assert seconds < 10
