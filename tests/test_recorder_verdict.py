"""What flight recorders alone let the verdict say, and what of them the report shows."""

from __future__ import annotations

import pickle

from benchmarks.dumps import START_NS, Job, dumps
from diagnose import diagnose, render

from .told import alive, cause, culprits


def written(folder, job, without=()):
    for rank, (name, data) in enumerate(dumps(job)):
        if rank not in without:
            (folder / name).write_bytes(data)
    return diagnose(folder)


def stuck(folder, ranks=4, created_ns=START_NS):
    """Writes dumps in which every rank waits in the same all-reduce."""
    for rank in range(ranks):
        entries = [
            {
                "record_id": n,
                "pg_id": 0,
                "process_group": ("0", "default_pg"),
                "collective_seq_id": n + 1,
                "p2p_seq_id": 0,
                "is_p2p": False,
                "profiling_name": "nccl:all_reduce",
                "time_created_ns": created_ns + n * 10**9,
                "input_sizes": [[64, 2]],
                "output_sizes": [[64, 2]],
                "state": "completed" if n < 9 else "started",
            }
            for n in range(10)
        ]
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}}
        dump = {"version": "2.9", "pg_config": config, "entries": entries}
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump, protocol=2))


def test_rank_without_a_dump_is_named_but_not_blamed(tmp_path):
    report = written(tmp_path, Job(ranks=8, fault="missing", culprit=6), without=(6,))
    assert ("collective.timeout", [], "possible") == (cause(report), culprits(report), report.diagnosis.certainty)
    assert "rank 6 left no dump" in report.diagnosis.summary


def test_all_in_one_call_that_none_finished(tmp_path):
    stuck(tmp_path)
    report = diagnose(tmp_path)
    assert ("collective.timeout", [], "possible") == (cause(report), culprits(report), report.diagnosis.certainty)
    assert "ranks 0-3 wait in all_reduce" in report.diagnosis.summary


def test_dumps_on_demand_of_a_job_that_went_on_are_no_hang(tmp_path):
    stuck(tmp_path)  # 2025-10-09
    (tmp_path / "rank0.log").write_text("".join(alive(rank) for rank in range(4)))  # 2026-11-20
    assert "unfinished" == cause(diagnose(tmp_path))


def test_report_shows_how_far_each_rank_came(tmp_path):
    stuck(tmp_path)
    rows = diagnose(tmp_path).collectives

    assert [0, 1, 2, 3] == [row.rank for row in rows]
    assert {("default_pg", 10, 10, 9, "all_reduce", (128, 128))} == {
        (row.group, row.stuck, row.enqueued, row.completed, row.op, row.sizes) for row in rows
    }


RAS_JSON = """\
{
  "nccl_version": "2.28.9",
  "cuda_runtime_version": 12090,
  "communicators_count": 1,
  "communicators": [
    {
      "hash": "0x5f0cc17a2b9de013",
      "size": 2,
      "ranks_count": 1,
      "missing_ranks_count": 1,
      "ranks": [
        {
          "rank": 0,
          "host": "10.31.0.41",
          "pid": 48100
        }
      ],
      "missing_ranks": [
        {
          "rank": 1,
          "host": "10.31.0.42",
          "pid": 48219
        }
      ]
    }
  ]
}
"""


def test_report_of_ncclras_in_json_names_the_host_that_is_missing(tmp_path):
    (tmp_path / "ras.json").write_text(RAS_JSON)
    report = diagnose(tmp_path)
    assert cause(report) == "nccl.remote-error"
    assert "10.31.0.42" in render(report, "markdown")
