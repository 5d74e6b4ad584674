"""Of two lines of one file: whether the place where they stand, or the time that they print, tells which came of which."""

from __future__ import annotations

from ..job.event import Event
from .consequences import ACTOR_DIED
from .suspects import Suspect

# How many lines below its own line the reason of a message may stand that is printed before it.
BEFORE_ITS_REASON = {
    "process.abort/terminate-called": 2,
    "gpu.xid/torch-npu-error-code": 12,  # `ERR00100 PTA call acl api failed`, and below it the runtime's own messages
    "gpu.xid/hccl-npu-call-failed": 16,
    "process.exit-code/vertex-replica-exited": 200,
}


def is_told_before(a: Event, b: Event) -> bool:
    """Whether a is printed above b, in one file, and yet came of it.

    `what():` stands below `terminate called`, and the watchdog speaks when the communicators are aborted. A process
    says nothing once it is dead, but Ray prints what it said after the raylet's `A worker died … Worker PID: 4121`.
    """
    if a.rule.id not in BEFORE_ITS_REASON and a.cause != ACTOR_DIED:
        return False
    below = (b.line or 0) - (a.line or 0)
    if a.rule.id in BEFORE_ITS_REASON:
        is_below = 0 < below or (below == 0 and a.traceback is None and b.traceback is not None)  # a string held both
        return is_below and below <= BEFORE_ITS_REASON[a.rule.id] and a.rank in (b.rank, None)
    pid = a.fields.get("pid")
    return below > 0 and pid is not None and pid == b.speaker.pid


def tell_time(t: Suspect, s: Suspect, a: Event, b: Event) -> bool:
    """Whether the times of two lines of one file order them; one that was taken from a line nearby does not."""
    return t.onset is not None and s.onset is not None and a.has_own_time and b.has_own_time


def is_told_to_end(t: Suspect, s: Suspect) -> bool:
    """Whether a launcher was told to end, in t, above what a rank raised then: its handler's last checkpoint failed."""
    a, b = t.first, s.first
    is_told = a is not None and a.rule.id == "process.terminated/agent-death-signal"
    return is_told and a is not None and b is not None and a.source == b.source and b.traceback is not None
