"""NCCL's last error as c10 quotes it, and the line of the rank that does: c10 puts its head before the first line only.

[rank3]:[E… ProcessGroupNCCL.cpp:542] [Rank 3] … NCCL error: remote process exited or there was a network error, …
ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
Last error:
socketProgress: Connection closed by remote peer gpu-07<41512>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..lines.prefix import Line, speaker_key

if TYPE_CHECKING:
    from .traceback import Traceback

ABOVE = "Last error:"
MOST_LINES = 4  # from the head to what NCCL said


def quoting(lines: Sequence[Line], index: int) -> Line:
    """Yield the head above a quoted line; any other line as it is."""
    line, above = lines[index], lines[max(0, index - MOST_LINES) : index]
    if speaker_key(line.prefix) or not above or above[-1].message.strip() != ABOVE:
        return line
    return next((x for x in reversed(above) if speaker_key(x.prefix)), line)


def is_quoted(raised: Traceback | None, line: int | None) -> bool:
    """Whether the line stands in what was raised below `Last error:`: NCCL had printed it before, as a warning."""
    return raised is not None and f"{ABOVE}\n" in raised.message and (line or 0) > raised.exception_line
