"""What an editor of Markdown puts into a log that was pasted without a fence: backslashes, and numbers of a list."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.errors import SourceError
from diagnose.sources.escapes import without_escapes

MISSING = """\\[rank1\\]: Traceback (most recent call last):
\\[rank1\\]:   File "/data/jobs/train\\_ddp.py", line 187, in main
\\[rank1\\]:     from flash\\_attn import flash\\_attn\\_func
\\[rank1\\]: ModuleNotFoundError: No module named 'flash\\_attn'
"""
@pytest.mark.parametrize("name", ["issue.md", "issue.txt"])
def test_a_log_in_a_numbered_list_is_read_though_no_fence_is_there(name: str) -> None:
    lines = MISSING.replace("\\", "").splitlines() * 2
    report = diagnose(Text("".join(f"{n}. {line}\n" for n, line in enumerate(lines, 1)), name=name))

    assert ("software.import-error", 4) == (report.diagnosis.cause, report.diagnosis.evidence[0].line)


def test_a_page_that_speaks_of_a_message_holds_no_log() -> None:
    page = "# Memory\n\n1. Run the job.\n2. Look for this message.\n3. Lower the batch size.\n\n[rank0]: CUDA out of memory.\n"

    with pytest.raises(SourceError, match="no log is quoted in it"):
        diagnose(Text(page, name="guide.md"))


@pytest.mark.parametrize(
    "printed",
    [
        b"+ grep -c '\\[rank0\\]' train_0.log\n",
        b"sample: x\\_1 + x\\_2 in step_12\n",
        b'{"msg": "\\[rank0\\] x\\_1"}\n',
        b"loading C:\\_data\\[old\\]\\shard_1.tar\n",
    ],
)
def test_a_log_keeps_the_backslashes_that_it_printed(printed: bytes) -> None:
    assert printed == without_escapes(printed)
