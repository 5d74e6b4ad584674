"""When an error without a time was raised: after the line above it, and not after its launcher told of the end."""

from __future__ import annotations

from .told import told

STEP = "2026-11-20 10:00:00,000 | INFO | rank 1 | step 120 loss 1.2345\n"
RAISED = 'Traceback (most recent call last):\n  File "/app/train.py", line 9, in <module>\n    main()\nValueError: bad row 7\n'
ENDED = (
    "E1120 10:47:03.006000 1759777 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
    "local_rank: 1 (pid: 4121) of binary: /usr/bin/python\n"
)


def test_an_error_is_dated_by_the_launcher_that_found_its_process_dead(tmp_path):
    report = told(tmp_path, {"console.log": STEP + RAISED + ENDED})
    assert report.diagnosis is not None
    assert report.diagnosis.evidence[0].time == "2026-11-20T10:47:03.006Z"


def test_an_error_after_which_the_job_went_on_keeps_the_time_above_it(tmp_path):
    later = STEP.replace("10:00", "10:30").replace("step 120", "step 500")
    report = told(tmp_path, {"console.log": STEP + RAISED + later + ENDED})
    moments = {e.rule: e.time for e in report.timeline}
    assert moments["process.exception/uncaught-exception"] == "2026-11-20T10:00:00Z"


def test_an_error_in_a_ranks_own_file_is_dated_by_its_launchers_file(tmp_path):
    box = (
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-20_10:47:02\n  host      : n1\n"
        "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 4121)\n  error_file: <N/A>\n"
    )
    report = told(tmp_path, {"rank_1.log": STEP + RAISED, "launcher.log": box})
    assert report.diagnosis is not None
    assert report.diagnosis.evidence[0].time == "2026-11-20T10:47:02Z"


def test_without_a_launcher_the_line_above_is_all_that_is_known(tmp_path):
    report = told(tmp_path, {"rank_1.log": STEP + RAISED})
    assert report.diagnosis is not None
    assert report.diagnosis.evidence[0].time == "2026-11-20T10:00:00Z"
