"""Whatever a log holds, no form shows a secret unless it is asked to; what ends up in public shows no private item."""

from __future__ import annotations

import pytest

from diagnose import render
from diagnose.advice.statement import Evidence
from diagnose.hooks.config import FORMATS
from diagnose.report.parts import Diagnosis
from diagnose.report.report import Report

LINE = "torch.OutOfMemoryError: password=hunter2x at /home/mei/train.py from 52.14.7.9, ask mei.lin@example.com"
PRIVATE = ("/mei/", "52.14.7.9", "mei.lin@")
PUBLIC = ("markdown", "html", "slack", "github", "junit")


def report() -> Report:
    evidence = (Evidence(text=LINE, file="rank0.log", line=1),)
    return Report(outcome="failed", diagnosis=Diagnosis(cause="memory.cuda-oom", title="t", summary=LINE, evidence=evidence))


@pytest.mark.parametrize("form", FORMATS)
def test_the_library_shows_no_secret(form: str) -> None:
    assert "hunter2x" not in render(report(), form)


@pytest.mark.parametrize("form", FORMATS)
def test_the_library_shows_the_secret_to_whom_asks_for_it(form: str) -> None:
    assert "hunter2x" in render(report(), form, redact=False)


@pytest.mark.parametrize("form", PUBLIC)
def test_a_form_that_ends_up_in_public_shows_no_private_item(form: str) -> None:
    page = render(report(), form)

    assert [item for item in PRIVATE if item in page] == []


def test_a_page_of_the_users_own_making_shows_no_private_item(tmp_path) -> None:
    template = tmp_path / "page.j2"
    template.write_text("{{ view.summary }} {{ report }}", encoding="utf-8")

    page = render(report(), template=template)
    assert [item for item in ("hunter2x", *PRIVATE) if item in page] == []
