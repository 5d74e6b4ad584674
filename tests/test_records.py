"""A logger puts its head, and the rank in it, before the first line of a record; the traceback below belongs to it."""

from __future__ import annotations

from diagnose import diagnose
from diagnose.lines.prefix import read_lines
from diagnose.traces.traceback import find_tracebacks

FRAMES = '  File "/x/train.py", line 2015, in run\n    step(batch)\n'
def test_a_label_with_data_parallel_ranks_is_no_rank(tmp_path):
    log = tmp_path / "train.log"
    head = "[2025-05-29 02:52:38 DP1 TP3] Scheduler hit an exception: Traceback (most recent call last):\n"
    log.write_text(f"{head}{FRAMES}ValueError: bad request\n")

    assert not diagnose(str(log)).diagnosis.culprits


def test_another_writer_without_a_prefix_keeps_its_own_exception():
    text = (
        "[rank3]: Traceback (most recent call last):",
        '[rank3]:   File "/x/train.py", line 2, in run',
        "[rank3]:     step()",
        "ValueError: of the launcher",
        "[rank3]: RuntimeError: of the rank",
    )
    lines = [line for number, raw in enumerate(text, 1) for line in read_lines(number, raw)]

    assert {("rank3", "RuntimeError"), ("", "ValueError")} == {(t.speaker, t.exception) for t in find_tracebacks(lines)}
