"""A log behind a margin, as a reply quotes it or a code block indents it, is the log."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose

RAISED = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/job/train.py", line 40, in <module>\n'
    "[rank3]:     main()\n"
    "\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB\n"
    "node-7: Memory access fault by GPU node-1 (Agent handle: 0x560f905a1640) on address 0x10044f0000.\n"
)


@pytest.mark.parametrize("margin", ["> ", ">", "    ", "> > "])
def test_a_log_behind_a_margin_is_read(margin: str) -> None:
    lines = [margin + line if line else line for line in RAISED.splitlines()]
    report = diagnose(Text("\n".join(lines), name="paste.txt"))

    assert "memory.cuda-oom" == report.diagnosis.cause
    assert 5 == report.diagnosis.evidence[0].line


@pytest.mark.parametrize("width", [0, 140])
def test_a_log_copied_with_the_box_that_showed_it_is_read(width: int) -> None:
    lines = [f"\u2502 {line:{width}}\u2502" if width else f"\u2502 {line}" for line in RAISED.splitlines()]
    report = diagnose(Text("\n".join(lines), name="paste.txt"))

    assert "memory.cuda-oom" == report.diagnosis.cause
    assert (5, 3) == (report.diagnosis.evidence[0].line, report.diagnosis.culprits[0].rank)


def test_lines_of_megatron_that_begin_like_a_quotation_keep_their_mark() -> None:
    """Only a text of which every line is quoted is a quotation."""
    text = "using world size: 16, data-parallel-size: 2\n> initialized tensor model parallel with size 8\n"
    report = diagnose(Text(text, name="paste.txt"))

    assert "8" == str(report.facts["tensor_parallel"].value)


@pytest.mark.parametrize("margin", ["   ", "> "])
def test_a_fence_in_a_list_or_a_reply_has_the_margin_of_its_lines(margin: str) -> None:
    lines = ["1. My job fails:", "", margin + "```bash", *(margin + line for line in RAISED.splitlines()), margin + "```"]
    report = diagnose(Text("\n".join(lines), name="paste.md"))

    assert "memory.cuda-oom" == report.diagnosis.cause
    assert 8 == report.diagnosis.evidence[0].line


def test_a_line_of_ray_quoted_between_prose_is_read() -> None:
    """An issue quotes the one line that it asks about, and goes on in words."""
    said = "> (autoscaler +32s) Error: No available node types can fulfill resource request {'CPU': 1.0, 'GPU': 1.0}. Add suitable "
    report = diagnose(Text(f"I met this error:\n\n{said}node types to this cluster to resolve this issue.\n\nThen I waited.\n"))

    assert "ray.unschedulable" == report.diagnosis.cause
