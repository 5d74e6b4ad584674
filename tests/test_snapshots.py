"""The reports on five real and simulated jobs, as somebody read and approved them; see `snapshots.py`."""

from __future__ import annotations

import json

import pytest

from diagnose import diagnose, render
from diagnose.redaction import redact
from diagnose.report import Report, dumps

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
