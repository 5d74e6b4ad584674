"""What ranks recorded is laid side by side: by majority, with what is unknown told apart from what is missing."""

from __future__ import annotations

import pickle

from benchmarks.dumps import compared


def entry(
    seq,
    op="all_reduce",
    size=4,
    *,
    state="completed",
    group="0",
    out=None,
    record=None,
    p2p=None,
    dtype="Float",
    backend="nccl",
    line=None,
):
    return {
        "record_id": seq - 1 if record is None else record,
        "pg_id": int(group),
        "process_group": (group, "default_pg" if group == "0" else "tp"),
        "collective_seq_id": seq,
        "p2p_seq_id": p2p or 0,
        "is_p2p": p2p is not None,
        "profiling_name": f"{backend}:{op}",
        "time_created_ns": 10**18 + seq * 1000,
        "input_sizes": [[size]],
        "output_sizes": [[size if out is None else out]],
        "input_dtypes": [dtype],
        "output_dtypes": [dtype],
        "state": state,
        "retired": state == "completed",
        "frames": [{"name": "step", "filename": "/app/train.py", "line": line or seq}],
    }


def reports(entries_of_ranks, ranks=None, more=None, world_size=None, groups=None, version="2.4"):
    members = str(list(ranks if ranks is not None else entries_of_ranks))
    config = groups or {"0": {"name": "0", "desc": "default_pg", "ranks": members}}
    dumps = [
        (
            f"trace_rank_{rank}",
            pickle.dumps({"version": version, "pg_config": config, "entries": entries, **(more or {})}),
        )
        for rank, entries in entries_of_ranks.items()
    ]
    return compared(dumps, world_size)


def test_dumps_of_one_name_are_told_apart_by_their_folders():
    dumps = [(f"rank_{rank}/dump", pickle.dumps({"version": "2.4", "entries": waits_at(5)})) for rank in range(3)]
    (report,) = compared(dumps)
    assert [progress.rank for progress in report.progress] == [0, 1, 2]


def waits_at(seq, **given):
    return [entry(n) for n in range(1, seq)] + [entry(seq, state="scheduled", **given)]


def test_rank_that_never_came_is_missing_and_shown_where_it_was_last():
    dumps = {0: waits_at(5), 1: waits_at(5), 2: [entry(n) for n in range(1, 5)]}
    (report,) = reports(dumps)
    first = report.first
    assert (first.kind, first.seq, first.ranks) == ("missing", 5, (2,))
    assert (first.expected.frame, first.found[0].frame) == ("step at /app/train.py:5", "step at /app/train.py:4")


def test_rank_without_a_dump_is_not_missing_but_suspect():
    (report,) = reports({0: waits_at(5), 1: waits_at(5)}, ranks=range(3))
    assert (report.verdict, report.without_dump, report.divergences) == ("unknown", (2,), ())


def test_all_ranks_in_the_same_operation_are_stuck_and_none_is_at_fault():
    (report,) = reports({rank: waits_at(5) for rank in range(4)})
    assert (report.verdict, report.divergences) == ("stuck", ())


def test_run_ahead_is_no_divergence():
    """One rank issued three more before it waited for the device; all completed the same."""
    ahead = [*waits_at(5), *(entry(n, state="scheduled") for n in (6, 7, 8))]
    (report,) = reports({0: ahead, 1: waits_at(5), 2: waits_at(5)})
    assert (report.verdict, report.divergences) == ("stuck", ())


def test_two_equal_halves_are_ambiguous():
    dumps = {0: waits_at(5), 1: waits_at(5), 2: waits_at(5, op="broadcast"), 3: waits_at(5, op="broadcast")}
    first = reports(dumps)[0].first
    assert (first.kind, first.is_ambiguous) == ("op", True)


def test_what_the_ring_buffer_lost_is_not_missing():
    dumps = {0: waits_at(50), 1: waits_at(50)[40:], 2: waits_at(50)[30:]}
    (report,) = reports(dumps)
    assert (report.verdict, report.divergences) == ("stuck", ())


def test_scatter_of_the_root_may_differ():
    dumps = {
        0: waits_at(5, op="scatter", size=8, out=2),
        1: waits_at(5, op="scatter", size=0, out=2),
        2: waits_at(5, op="scatter", size=0, out=2),
    }
    assert reports(dumps)[0].divergences == ()


def test_gloo_completes_nothing_so_the_first_size_counts():
    """Gloo leaves every entry `scheduled`; here rank 0 went on to 6 and the others timed out in 5."""
    gloo = {"state": "scheduled", "backend": "gloo"}
    usual = [entry(n, **gloo) for n in range(1, 6)]
    dumps = {0: [*usual, entry(6, **gloo)], 1: [*usual[:4], entry(5, size=3, **gloo)], 2: usual}
    first = reports(dumps)[0].first
    assert (first.kind, first.seq, first.ranks, first.found[0].file) == ("size", 5, (1,), "trace_rank_1")


def test_absent_rank_that_waits_in_another_group_is_a_consequence():
    groups = {"0": {"name": "0", "desc": "", "ranks": "[0, 1, 2]"}, "1": {"name": "1", "desc": "tp", "ranks": "[1, 2]"}}
    stuck = entry(1, group="1", state="scheduled", record=4)
    none = [entry(n) for n in range(1, 5)]
    found = reports({0: waits_at(5), 1: [*none, stuck], 2: none}, groups=groups)
    assert (found[0].group, found[0].first.ranks) == ("1", (2,))
    assert (found[1].first.ranks, found[1].first.blocked_in) == ((2,), ((1, "1", 1),))


def test_send_without_receive_names_who_did_not_receive():
    sends = [
        entry(0, "send 0->1", p2p=1, state="completed", record=0),
        entry(0, "send 0->1", p2p=2, state="scheduled", record=1),
    ]
    first = reports({0: sends, 1: [entry(0, "recv 1<-0", p2p=1, record=0)]})[0].first
    assert (first.kind, first.ranks) == ("p2p", (1,))


def test_batch_of_sends_is_complete_when_its_coalesced_is():
    """Only the closing entry of a batch completes (pytorch#137969)."""
    batch = [entry(0, "send 0->1", p2p=1, state="scheduled", record=0), entry(0, "coalesced", p2p=1, record=1)]
    assert reports({0: batch, 1: [entry(1, record=0)]}, ranks=[0, 1])[0].first.kind != "p2p"


def test_coalesced_groups_are_compared_part_by_part():
    def group(size):
        return [
            *waits_at(4)[:3],
            entry(4, "all_gather", state="scheduled"),
            entry(4, "all_gather", size, state="scheduled", record=4),
            entry(4, "coalesced", state="scheduled", record=5),
        ]

    first = reports({0: group(4), 1: group(4), 2: group(7)})[0].first
    assert (first.kind, first.seq, first.ranks) == ("size", 4, (2,))


def test_dump_of_an_older_attempt_is_left_out():
    old = [{**e, "time_created_ns": e["time_created_ns"] - 10**12} for e in waits_at(9)]
    dumps = [("a/rank_0", old), ("b/rank_0", waits_at(5)), ("b/rank_1", waits_at(5))]
    (report,) = compared((name, pickle.dumps({"version": "2.4", "entries": e})) for name, e in dumps)
    assert [progress.enqueued for progress in report.progress] == [5, 5]


def test_groups_of_one_name_and_other_ranks_are_apart():
    dumps = []
    for rank in range(4):
        ranks = "[0, 1]" if rank < 2 else "[2, 3]"
        value = {
            "version": "2.4",
            "pg_config": {"1": {"name": "1", "desc": "tp", "ranks": ranks}},
            "entries": [entry(1, group="1", state="scheduled")],
        }
        dumps.append((f"rank_{rank}", pickle.dumps(value)))
    assert [(report.ranks, report.verdict) for report in compared(dumps)] == [
        ((0, 1), "stuck"),
        ((2, 3), "stuck"),
    ]


def test_two_sizes_in_swapped_order_or_one_left_out_are_another_order_and_no_size():
    usual = [*waits_at(5)[:4], entry(5, size=8), entry(6, size=2), entry(7, size=16, state="scheduled")]
    swapped = [*usual[:4], entry(5, size=2), entry(6, size=8), usual[6]]
    left_out = [*usual[:4], entry(5, size=2), entry(6, size=16, state="scheduled")]
    for odd in (swapped, left_out):
        first = reports({0: usual, 1: usual, 2: odd})[0].first
        assert (first.kind, first.seq, first.ranks) == ("op", 5, (2,))
