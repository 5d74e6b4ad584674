"""A report's sentences claim no more than is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.report.report import StackGroup
from diagnose.views.rendering import render

from .report_samples import cuda_oom
from .told import alive, told

TOLD_TO_END = """slurmstepd: error: *** JOB 6562584 ON dgx-731 CANCELLED AT 2026-11-20T10:23:28 DUE TO PREEMPTION ***
W1120 10:23:28.981000 9335 torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers
W1120 10:23:28.982000 9335 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 9364 closing signal SIGTERM
W1120 10:23:28.982000 9335 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 9365 closing signal SIGTERM
"""
STORE_FULL = """Traceback (most recent call last):
  File "/home/mei/tune.py", line 12, in <module>
    ref = ray.put(weights)
  File "/opt/conda/lib/python3.8/site-packages/ray/worker.py", line 1480, in put
    object_ref = worker.put_object(value)
  File "python/ray/_raylet.pyx", line 142, in ray._raylet.check_status
ray.exceptions.ObjectStoreFullError: Failed to put object ffffffff in object store because it is full. Object size is 25892330588 bytes.
"""


@pytest.mark.parametrize("form", ["terminal", "markdown"])
@pytest.mark.parametrize(("certainty", "says"), [("possible", "may help"), ("certain", "a plain restart helps")])
def test_a_restart_is_promised_only_where_the_cause_is_more_than_possible(form: str, certainty: str, says: str) -> None:
    report = cuda_oom()
    assert report.diagnosis is not None
    found = replace(report.diagnosis, restart="yes", certainty=certainty)
    assert says in render(replace(report, diagnosis=found), form)


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_a_stack_that_names_no_rank_says_so(form: str) -> None:
    report = replace(cuda_oom(), stacks=(StackGroup(ranks=(), frames=("main (train.py:3)",), count=1),))
    assert "a process that names no rank" in render(report, form)


def test_a_launcher_that_was_told_to_end_ends_nobody_for_another_one_that_failed(tmp_path: Path) -> None:
    report = told(tmp_path, {"train.log": alive(0) + alive(1) + TOLD_TO_END})
    text = render(report, "markdown")
    assert "once one has failed" not in text
    assert "a launcher that is told to end ends its processes" in text
    assert "none: the job was ended from outside" in text


def test_frames_that_cython_compiled_are_not_the_users_own(tmp_path: Path) -> None:
    report = told(tmp_path, {"tune.log": STORE_FULL})
    assert report.diagnosis is not None
    assert [c.file for c in report.diagnosis.evidence[0].own_code] == ["/home/mei/tune.py"]
