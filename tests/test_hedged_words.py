"""A report's sentences claim no more than is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnose.report import StackGroup
from diagnose.views.rendering import render

from .report_samples import cuda_oom


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
