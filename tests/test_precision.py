"""What only speaks about messages, or holds them in quotation, is no log: nothing in it failed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from diagnose.engine import diagnose
from diagnose.errors import SourceError
from diagnose.sources.kinds import kind_of
from diagnose.sources.source import Text

ROOT = Path(__file__).parent.parent
TRACEBACK = b"""  * Fix #12:
    Traceback (most recent call last):
      File "/app/train.py", line 3, in main
    ValueError: could not convert string to float: '0.1f3x'
"""


@pytest.mark.parametrize("folder", ["rules", "diagnose", "benchmarks", "docs"])
def test_our_own_sources_are_no_failed_job(folder: str) -> None:
    with suppress(SourceError):  # no line of a log is in it
        assert diagnose(ROOT / folder).diagnosis is None


@pytest.mark.parametrize(
    "name", ["changelog.Debian.gz", "changelog", "NEWS", "x-1.0.dist-info/METADATA", "pkg/PKG-INFO"]
)
def test_changelogs_and_package_descriptions_are_prose(name: str) -> None:
    assert kind_of(TRACEBACK, name)[0] == "prose"


@pytest.mark.parametrize("name", ["install.log", "news.log", "metadata.out", "changes_rank0.log", "console.txt"])
def test_logs_with_like_names_are_read(name: str) -> None:
    assert kind_of(TRACEBACK, name) == ("text", None)


@pytest.mark.parametrize(
    "line",
    [
        "        ImportError: If smart_open is not installed and a remote URI is used.",
        "            RendezvousTimeoutError:",
        "            ray.exceptions.ObjectStoreFullError: This is raised if the attempt",
        "    RendezvousGracefulExitError,",
        "    # sh: 1: nvcc: not found",
        "changed while being read.  Previous versions exited with code 2 (fatal",
        '    LOG(ERROR) << "Store is down while getting key " << key;',
    ],
)
def test_code_and_docstrings_that_hold_a_message_name_no_cause(line: str) -> None:
    assert diagnose(Text(line + "\n", name="x.log")).diagnosis is None


PASTED = """2026-11-20 10:00:00 INFO starting
Traceback (most recent call last):
  File "/app/train.py", line 12, in step
    loss = f(x)
  ...
{}RuntimeError: The size of tensor a (512) must match the size of tensor b (511) at non-singleton dimension 1
"""


@pytest.mark.parametrize("indent", ["", "  "])
def test_a_traceback_of_which_somebody_left_frames_out_is_heard(indent: str) -> None:
    found = diagnose(Text(PASTED.format(indent), name="x.log")).diagnosis
    assert found.evidence[0].line == 6


@pytest.mark.parametrize("cut", ["{}\n...\n", "...\n{}\n", "{}\n...\n  File \"/app/train.py\", line 3, in step\n"])
def test_an_exception_beside_which_somebody_left_lines_out_is_heard(cut: str) -> None:
    found = diagnose(Text(cut.format("KeyError: 'target'"), name="x.log")).diagnosis
    assert found is not None and found.cause == "process.exception"


def test_a_directive_of_a_documentation_page_shows_what_could_be_printed() -> None:
    page = "# Conflicts\n\nYou may see this:\n\n```{pip-cli}\nERROR: Cannot install a==1 and b<2 because these package "
    page += "versions have conflicting dependencies.\n```\n"
    with pytest.raises(SourceError, match="no log is quoted in it"):
        diagnose(Text(page, name="conflicts.md"))
    assert diagnose(Text(page.replace("{pip-cli}", "text"), name="issue.md")).diagnosis is not None
