"""Dumps of every version and form are read, hostile ones are one line each, and nothing of them runs."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.dumps import read_all
from diagnose.recorder.child import reduce_dump
from diagnose.recorder.dump import Dump
from diagnose.recorder.reader import rank_from_name
from diagnose.recorder.reduction import BadDumpError

ENTRY = {
    "record_id": 38,
    "pg_id": 0,
    "process_group": ("0", "default_pg"),
    "collective_seq_id": 39,
    "p2p_seq_id": 0,
    "op_id": 39,
    "profiling_name": "gloo:all_reduce",
    "time_created_ns": 1795196558933802374,
    "input_sizes": [[3]],
    "input_dtypes": ["Float"],
    "output_sizes": [[3]],
    "output_dtypes": ["Float"],
    "state": "scheduled",
    "time_discovered_started_ns": None,
    "time_discovered_completed_ns": None,
    "retired": True,
    "timeout_ms": 6000,
    "is_p2p": False,
    "frames": [
        {"name": "all_reduce", "filename": "/venv/site-packages/torch/distributed/distributed_c10d.py", "line": 3245},
        {"name": "wrapper", "filename": "/venv/site-packages/torch/distributed/c10d_logger.py", "line": 83},
        {"name": "reduce_metrics", "filename": "/app/train_coll.py", "line": 75},
        {"name": "main", "filename": "/app/train_coll.py", "line": 134},
    ],
}
DUMP = {
    "version": "2.10",
    "pg_config": {"": {"name": "", "desc": "", "ranks": "[0, 1, 2]"}},
    "comm_lib_version": "",
    "pg_status": {"0": {"last_enqueued_collective": 39, "last_started_collective": -1, "last_completed_collective": 39}},
    "entries": [ENTRY],
}
GOOD = pickle.dumps(DUMP, protocol=2)


def read(content, name="trace_rank_1"):
    return read_all([(name, content)])[0]


def test_entry_keeps_what_was_called_and_the_users_line():
    entry = read(GOOD).entry(0)
    assert entry.text == "collective_seq_id=39 all_reduce input_sizes=[[3]] output_sizes=[[3]] dtypes=Float state=scheduled"
    assert entry.call.frame == "reduce_metrics at /app/train_coll.py:75"


def test_json_dump_reads_like_the_pickle():
    dump = read(json.dumps(DUMP).encode())
    assert (dump.is_json, dump.entry(0)) == (True, read(GOOD).entry(0))


def test_json_laid_out_over_lines_gives_the_line_of_an_entry():
    text = json.dumps({**DUMP, "entries": [ENTRY, {**ENTRY, "collective_seq_id": 40}]}, indent=1, sort_keys=True)
    line = read(text.encode()).entry(1).line
    assert '"profiling_name"' in text.splitlines()[line - 1]


def test_group_without_a_name_in_the_configuration_is_found_by_elimination():
    """Gloo in 2.9 writes `""` in pg_config and `0` in the entries."""
    assert read(GOOD).groups["0"].ranks == (0, 1, 2)


def test_rank_is_the_one_that_all_groups_of_the_dump_share():
    config = {
        "0": {"desc": "default_pg", "ranks": "[0, 1, 2, 3]"},
        "5": {"desc": "", "ranks": "[1, 3]"},
        "7": {"desc": "", "ranks": "[2, 3]"},
    }
    dump = read(pickle.dumps({**DUMP, "pg_config": config}), name="trace_rank_0")
    assert (dump.rank, dump.rank_from) == (3, "content")


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_12", 12),
        ("/tmp/comm_lib_trace_rank_3", 3),
        ("trace_rank_0.json", 0),
        ("comm_traces/rank_7", 7),
        ("known_rank_0/dump.pkl", None),
        ("dump_20261120.pkl", None),
        ("dump12.pickle", 12),
        ("run4/dump", None),
    ],
)
def test_rank_from_name(name, rank):
    assert rank_from_name(name)[0] == rank


def test_dump_that_takes_too_much_time_is_named_and_the_next_is_read():
    """A chain of dictionaries keyed by nested tuples hashes in exponential time."""
    tuples = b"\x80\x02)" + b"2\x86" * 60
    bomb = b"\x80\x02}" + tuples[2:] + b"Ns."
    found = read_all([("a", bomb), ("trace_rank_1", GOOD)], 0)
    assert "s of CPU" in found[0]
    assert found[1].rank == 1


def test_entry_with_wrong_types_is_skipped():
    broken = [{**ENTRY, "input_sizes": 5}, 7, {**ENTRY, "frames": [{"name": "no file"}]}, ENTRY]
    dump = read(pickle.dumps({**DUMP, "entries": broken}, protocol=2))
    assert len(dump) == 1


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(0, len(GOOD))), min_size=20, max_size=40))
def test_damaged_pickles_give_a_reason_or_a_dump(damages):
    """In the child, since four random bytes may ask for gigabytes."""
    damaged = [(str(n), GOOD[:at] + noise + GOOD[at + len(noise) :]) for n, (noise, at) in enumerate(damages)]
    found = read_all([*damaged, ("rank_9", GOOD)])
    assert all(isinstance(dump, Dump | str) for dump in found)
    assert isinstance(found[-1], Dump)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(ENTRY)), inner, max_size=4),
        max_leaves=20,
    )
)
def test_entries_of_any_values_never_raise_anything_else(value):
    entry = {**ENTRY, **value} if isinstance(value, dict) else value
    try:
        reduce_dump(pickle.dumps({"version": "2.4", "entries": [entry, ENTRY], "pg_config": value, "pg_status": value}))
    except BadDumpError as error:
        assert str(error)
