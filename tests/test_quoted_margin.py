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


@pytest.mark.parametrize("margin", ["> ", ">", "    ", "\t", "> > "])
def test_a_log_behind_a_margin_is_read(margin: str) -> None:
    lines = [margin + line if line else line for line in RAISED.splitlines()]
    report = diagnose(Text("\n".join(lines), name="paste.txt"))

    assert report.diagnosis is not None
    assert "memory.cuda-oom" == report.diagnosis.cause
    assert 5 == report.diagnosis.evidence[0].line


def test_what_a_fence_in_a_list_quotes_begins_where_the_fence_does() -> None:
    """The blanks before a list's fence are its margin; behind them an exception would pass for a line of code."""
    raised = "   FileExistsError: Checkpoint directory step_40 already exists\n"
    text = f"1. Resume from step 40\n   and save again, which raises:\n   ```\n{raised}   ```\n"
    report = diagnose(Text(text, name="paste.md"))

    assert report.diagnosis is not None
    assert "process.exception" == report.diagnosis.cause
    assert 4 == report.diagnosis.evidence[0].line


def test_a_message_copied_alone_with_the_blank_before_it_is_read() -> None:
    said = " The client socket has failed to connect to any network address of (node-3, 52873). The client socket has failed to connect to"
    report = diagnose(Text(f"{said} node-3:52873 (errno: 110 - Connection timed out)\n", name="paste.txt"))

    assert report.diagnosis is not None
    assert "network.connect-timeout" == report.diagnosis.cause


def test_lines_of_megatron_that_begin_like_a_quotation_keep_their_mark() -> None:
    """Only a text of which every line is quoted is a quotation."""
    text = "using world size: 16, data-parallel-size: 2\n> initialized tensor model parallel with size 8\n"
    report = diagnose(Text(text, name="paste.txt"))

    assert "8" == str(report.facts["tensor_parallel"].value)
