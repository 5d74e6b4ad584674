"""A traceback that stands in one line is read as its lines, and the line keeps its number."""

from __future__ import annotations

from diagnose.sources.normalise import normalise

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
