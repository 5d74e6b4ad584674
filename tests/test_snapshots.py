"""Reports as somebody read and approved them: five jobs in every form, and the six documented incidents in full.

The report on an incident lies beside its logs, in English and in Chinese; see `snapshots.py` for approving.
"""

from __future__ import annotations

import json

import pytest

from diagnose import diagnose, render
from diagnose.report.redaction import redact
from diagnose.report.report import Report, dumps

from .command_line import FIXTURES
from .snapshots import assert_approved

NAMES = [
    "cuda-oom-one-rank",
    "desync-two-nodes",
    "hang-one-rank-elsewhere",
    "host-oom-with-dmesg",
    "two-nodes-one-exception",
]


@pytest.fixture(params=NAMES)
def told(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Report]:
    """A fixture's name, and the report on it with paths as one types them in its folder."""
    monkeypatch.chdir(FIXTURES / request.param)
    return request.param, diagnose("logs")


@pytest.mark.parametrize("width", [80, 120])
def test_terminal(told, width):
    name, report = told
    assert_approved(f"{name}.{width}.txt", render(redact(report, privacy=False)[0], "terminal", width=width))


def test_markdown(told):
    name, report = told
    assert_approved(f"{name}.md", render(redact(report, privacy=True)[0], "markdown"))


def test_json(told):
    name, report = told
    value = json.loads(dumps(redact(report, privacy=False)[0]))
    value["stats"].pop("seconds")
    assert_approved(f"{name}.json", json.dumps(value, ensure_ascii=False, indent=1) + "\n")


INCIDENTS = sorted(p.name for p in FIXTURES.glob("incidents-*") if "-twin-" not in p.name)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", INCIDENTS)
def test_full_report_on_an_incident(name, lang, monkeypatch):
    monkeypatch.chdir(FIXTURES / name)
    page = render(diagnose("logs", lang=lang), "markdown", full=True, lang=lang)
    assert_approved("report.md" if lang == "en" else "report.zh.md", page, FIXTURES / name)
