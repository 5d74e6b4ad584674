"""What did a rank's own program complain of before it fell silent?

An error that was caught and logged as a warning (`WARN feeder stopped: FeedError: block 17`) is known to no rule and ends
nothing by itself; of the rank that the others wait for, or lose, it is often the reason.
"""

from __future__ import annotations

from ..job import Job, RankInfo
from ..lazy_pattern import lazy
from ..prefixes import Line
from .finding import Exhibit

NEAR = 8  # lines of the rank, from its last one: what it complained of before that did not stop it
ASKED_RANKS = 8  # whether they complain of the same
CAUGHT = "context.failures/caught-exception-told"
NUMBERS = lazy(r"\d+")
NATIVE = (".cpp:", ".cc:", ".h:", ".cu:")


def last_complaint(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the last warning or error of the program among the rank's last lines, that no other rank says."""
    lines = [(s, x) for s, x in job.lines_of(info.rank) if x.message.strip()][-NEAR:]
    ours = (e for e in job.events if e.rule.id != CAUGHT and (e.rule.tells or e.role in ("harmless", "context")))
    known = {(e.source, n) for e in ours for n in range(e.line or 0, (e.end_line or e.line or 0) + 1)}
    own = [(s, x) for s, x in lines if _complains(x) and (s, x.number) not in known and not _is_common(job, info, x)]
    return (Exhibit.of_line(*own[-1], info.rank, info.host),) if own else ()


def last_line(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the last line of all that the rank printed."""
    last = job.last_line_of(info.rank)
    return (Exhibit.of_line(*last, info.rank, info.host),) if last is not None else ()


def _complains(line: Line) -> bool:
    is_native = any(word in (line.prefix.origin or "") for word in NATIVE)
    return (line.is_error or line.prefix.severity == "W") and not is_native


def _is_common(job: Job, info: RankInfo, line: Line) -> bool:
    said = NUMBERS.sub("", line.message)
    others = [rank for rank in job.ranks if rank != info.rank][:ASKED_RANKS]
    return any(NUMBERS.sub("", x.message) == said for rank in others for _, x in job.lines_of(rank))
