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


DOCTEST = """    >>> fut.set_exception(ValueError("foo"))
    >>> fut.wait()
    Traceback (most recent call last):
      File "<stdin>", line 1, in <module>
    ValueError: foo
"""
ELIDED = """rank 0 says
    Traceback (most recent call last):
        ...
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.
"""
CONTINUED = """>>> with detect_anomaly():
...     out.backward()
Traceback (most recent call last):
  File "<stdin>", line 4, in <module>
RuntimeError: CUDA error: an illegal memory access was encountered
"""
SET_IN = """    Traceback of forward call that caused the error:
        Traceback (most recent call last):
          File "<stdin>", line 8, in backward
        RuntimeError: Some error in backward
"""


@pytest.mark.parametrize("text", [DOCTEST, ELIDED, CONTINUED, SET_IN], ids=["doctest", "elided", "continued", "set-in"])
def test_a_traceback_under_a_prompt_or_without_its_frames_is_quoted(text: str) -> None:
    assert diagnose(Text(text, name="x.log")).diagnosis is None


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

    assert found is not None
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


@pytest.mark.parametrize(
    "line",
    [
        "ip-10-1-0-5:811:900 [0] misc/ibvwrap.cc:171 NCCL WARN Call to ibv_query_port_speed failed with error Protocol not "
        "supported errno 93",
        "[2025-08-22 17:44:36] gpu-7:6801:6839 [1] ras/client_support.cc:159 NCCL WARN Call to bind failed: Address already in use",
    ],
)
def test_what_nccl_warns_of_and_does_without_is_no_failure(line: str) -> None:
    """Both were printed by runs that went on: an old kernel knows no port speed, and RAS serves only who asks it."""
    assert diagnose(Text(line + "\n", name="train.log")).diagnosis is None


INDENTED = """error: subprocess-exited-with-error
  × python setup.py egg_info did not run successfully.
      Traceback (most recent call last):
        File "{}", line 198, in _run_module_as_main
        File "/opt/conda/lib/python3.10/subprocess.py", line 1863, in _execute_child
      FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'
"""


@pytest.mark.parametrize("outermost", ["<string>", "<frozen runpy>"])
def test_an_indented_traceback_of_python_c_or_m_is_no_session(outermost: str) -> None:
    """As pip sets in what a package's build printed."""
    found = diagnose(Text(INDENTED.format(outermost), name="x.log")).diagnosis

    assert found is not None
    assert found.cause == "software.missing-tool"
