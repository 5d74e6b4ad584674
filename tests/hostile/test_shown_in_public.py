"""Whatever a log holds, no form shows a secret unless it is asked to; what ends up in public shows no private item."""

from __future__ import annotations

import shlex

import pytest

from diagnose import render
from diagnose.advice.statement import Evidence
from diagnose.catalogue.sentences import shell_command
from diagnose.hooks.config import FORMATS
from diagnose.report.parts import Diagnosis
from diagnose.report.report import Report
from diagnose.views import escapes

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


# --- what a log says stays text where a report is pasted: no link, no mention, no picture, and no option of a command ---

MARKS = ["org/repo#1", "#12", "GH-12", "gh-7", "@mei", "@org/team", ":tada:", ":+1:", "train.py:100:", "http://x.org/a", "www.x.org",
         "ftp://x/y", "mei@example.com", "mailto:mei@example.com"]  # fmt: skip
PLAIN = ["rank 3 at 12:34:56 in node_3", "shape (4, 1024) a:b", "std::vector of c10d::Work", "mei@host", "GH200 and C# 12", "10:20:30.5"]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_github_stands_in_code(mark: str) -> None:
    assert escapes.md(f"see {mark} now") == f"see `{mark}` now"


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_left_as_it_is(text: str) -> None:
    assert escapes.md(text) == text


@pytest.mark.parametrize("address", ["http://x.org/a_b", "mei@example.com"])
def test_an_address_is_no_link_in_slack(address: str) -> None:
    assert escapes.slack(f"see {address} now") == f"see `{address}` now"


@pytest.mark.parametrize("value", ["-oProxyCommand=touch x", "--help", "-rf", "$(x)", "a b"])
def test_a_value_is_never_an_option_of_the_command(value: str) -> None:
    words = shlex.split(shell_command("ssh {{ host }} uptime", {"host": value}))
    assert (len(words), words[1].startswith("-"), words[1].removeprefix("./")) == (3, False, value)
