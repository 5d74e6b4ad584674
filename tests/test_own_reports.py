"""A report that diagnose wrote is no log: not as a file among logs, and not within a job's console."""

from pathlib import Path

import pytest

from diagnose import JobContext, Text, diagnose
from diagnose.hooks.config import FORMATS
from diagnose.sources.kinds import kind_of
from diagnose.views.rendering import render

FIXTURES = Path(__file__).parents[1] / "fixtures"
FAILED = FIXTURES / "deepspeed-rank-logs" / "logs"
HEALTHY = FIXTURES / "healthy-console" / "logs"
FORMS = tuple(form for form in FORMATS if form not in ("github", "terminal"))  # printed into a console, not kept as files

OWN_REPORT = "a report that diagnose wrote; give it the logs themselves"


def culprits_of(report):
    return report.diagnosis.cause, [(c.rank, c.host) for c in report.diagnosis.culprits]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("logs", [FAILED, HEALTHY], ids=["failed", "healthy"])
def test_report_of_each_form_and_language_is_known(logs, form, lang):
    said = render(diagnose(logs, lang=lang), form)
    assert kind_of(said.encode()[:4096], "said.txt") == ("prose", OWN_REPORT)


def test_report_without_a_cause_is_known():
    report = diagnose(Text("step 1\nnothing more\n", "job.out"), job=JobContext(exit_code=1))
    assert kind_of(render(report, "markdown").encode()[:4096], "said.md") == ("prose", OWN_REPORT)


def test_log_with_a_heading_like_ours_is_a_log():
    head = b"## Failed: tests/test_loss.py::test_step\nE   AssertionError\n2 failed in 3.1 s (0.95)\n"
    assert kind_of(head, "pytest.log") == ("text", None)


def test_report_beside_the_logs_changes_no_verdict(tmp_path):
    report = diagnose(FIXTURES / "real-deepspeed-exit-code" / "logs")
    (tmp_path / "report.md").write_text(render(report, "markdown"), encoding="utf-8")
    again = diagnose(FIXTURES / "real-deepspeed-exit-code" / "logs", tmp_path)
    assert culprits_of(again) == culprits_of(report)
    assert [i.skipped for i in again.inputs if i.file.endswith("report.md")] == [OWN_REPORT]


def test_report_printed_into_a_console_is_not_read_as_its_news():
    report = diagnose(FAILED)
    logs = {path.name: path.read_text(encoding="utf-8") for path in FAILED.rglob("*.log")}
    last = next(name for name in logs if name.endswith("rank0.log"))
    logs[last] += render(report, "terminal")
    again = diagnose(*(Text(text, name) for name, text in logs.items()))
    assert culprits_of(again) == culprits_of(report)


def test_failure_after_a_printed_report_is_read():
    said = render(diagnose(HEALTHY), "terminal").replace(" HEALTHY", " RECOVERED  Nothing stayed broken")
    news = "Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    x = int(s)\nValueError: bad shard\n"
    assert "bad shard" in diagnose(Text(said.join(["step 1\n", news]), "job.out")).diagnosis.summary
