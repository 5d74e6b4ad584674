"""A traceback that stands in one line is read as its lines, and the line keeps its number."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.normalise import normalise
from diagnose.sources.source import Text
from tests.told import cause

VERTEX = (
    "The replica worker 2 exited with a non-zero status of 1. Termination reason: Error. "
    'Traceback (most recent call last): File "/usr/lib/python2.7/runpy.py", line 174, in _run_module_as_main '
    '"__main__", fname, loader, pkg_name) File "/app/trainer/task.py", line 88, in main import pandas '
    "ImportError: No module named pandas"
)
CHAIN = (
    'Traceback (most recent call last): File "/app/a.py", line 3, in load return d[k] KeyError: \'x\' '
    "During handling of the above exception, another exception occurred: "
    'Traceback (most recent call last): File "/app/a.py", line 9, in main load(d) RuntimeError: no x'
)
VERL = (
    'Traceback (most recent call last): File "/opt/verl/protocol.py", line 499, in chunk assert len( AssertionError: only support equal '
    "chunk. Got size of DataProto 10 and chunk 8."
)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (VERTEX, "software.import-error"),
        (VERTEX.replace("): File", "):  File"), "software.import-error"),
        (CHAIN, "process.exception"),
        (VERL, "config.batch-size-mismatch"),
    ],
)
def test_exception_behind_frames_in_one_line_is_the_reason(log: str, expected: str) -> None:
    assert cause(diagnose(Text(log + "\n", name="job.log"))) == expected


def test_lines_of_a_folded_traceback_are_parted_where_they_were() -> None:
    written = normalise(f"step 1\n{VERTEX}\nstep 2\n".encode())
    assert written.count(b"\n") == 3
    assert written.split(b"\n")[1].split(b"\r")[-3:] == [
        b'  File "/app/trainer/task.py", line 88, in main',
        b"    import pandas",
        b"ImportError: No module named pandas",
    ]


def test_both_exceptions_of_a_folded_chain_stand_on_lines_of_their_own() -> None:
    lines = normalise(CHAIN.encode()).split(b"\r")
    assert {b"KeyError: 'x'", b"RuntimeError: no x"} <= set(lines)
