"""A logger puts its head, and the rank in it, before the first line of a record; the traceback below belongs to it."""

from __future__ import annotations

import pytest

from diagnose import diagnose
from diagnose.lines.prefix import read_lines
from diagnose.traces.traceback import find_tracebacks

FRAMES = '  File "/x/train.py", line 2015, in run\n    step(batch)\n'
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of "
    "which 1.20 GiB is free.\n"
)


@pytest.mark.parametrize(
    "head",
    [
        "[rank3]:2025-05-29 02:52:38,000 - trainer - ERROR - Training failed: ",
        "2025-05-29 02:52:38,000 - trainer - ERROR - [rank 3] Training failed: ",
        "[2025-05-29 02:52:38 TP3] Scheduler hit an exception: ",
        "[2025-05-29 02:52:38 TP3 EP3] Scheduler hit an exception: ",
    ],
)
def test_the_exception_of_a_record_has_the_rank_of_its_head(tmp_path, head):
    log = tmp_path / "train.log"
    log.write_text(
        f"{head}Traceback (most recent call last):\n{FRAMES}{OUT_OF_MEMORY}\n[2025-05-29 02:52:38] Shutting down\n"
    )

    found = diagnose(str(log)).diagnosis

    assert "memory.cuda-oom" == found.cause
    assert [3] == [c.rank for c in found.culprits]
    assert 4 == found.evidence[0].line


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
