"""How processes end: by which signal, by whose, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache

from .event import Event

CERTIFICATES = ("exit", "signal-sent", "killed")  # said of a process by another one
CRASHES = ("process.segfault", "process.bus-error", "process.abort")  # as the table of exit codes calls such ends
HEAD = "process.exit-code/child-failed-error"  # the rules of torchrun's summary
ENTRY = "process.exit-code/torchelastic-summary-entry"
ENTRIES = (ENTRY, "process.exit-code/torchelastic-summary-rest")  # whole, and one of which the head was not copied
ONCE = "process.exit-code/torchelastic-worker-failed"  # an agent says it once an attempt, when all processes have ended
ORDERED = "process.terminated"
SIGTERM_NAMES = {"15", "-15", "SIGTERM", "143"}
SIGKILL_NAMES = {"9", "-9", "SIGKILL", "137", "247"}


def is_terminated(event: Event) -> bool:
    """Whether a launcher brought the end about in its clean-up: by SIGTERM, or by SIGKILL where that was not enough."""
    told = {str(event.fields.get(name)) for name in ("exit_code", "signal", "signal_name")}
    return event.cause == ORDERED or not told.isdisjoint(SIGTERM_NAMES)


def tell_ordered_ends(events: Sequence[Event]) -> None:
    """Take a death by SIGKILL for one that a launcher brought about, where it had sent that process a signal before.

    What a kernel says that it killed was not killed by its launcher.
    """
    killed = {(e.host, e.pid) for e in events if e.rule.tells == "killed"}
    sent = [e for e in events if e.rule.tells == "signal-sent"]
    told = {(e.attempt, e.source, e.rank) for e in sent if e.rank is not None}
    told_pids = {(e.attempt, e.source, e.pid) for e in sent if e.pid is not None}
    for event in events if sent else ():
        is_told = (event.attempt, event.source, event.rank) in told or (event.attempt, event.source, event.pid) in told_pids
        if event.rule.tells == "exit" and is_told and is_sigkill(event) and (event.host, event.pid) not in killed:
            event.cause, event.role = ORDERED, "symptom"


def is_sigkill(event: Event) -> bool:
    """Whether an end is death by SIGKILL; srun says `Killed`."""
    told = {str(event.fields.get(name)) for name in ("signal", "exit_code")}
    return event.cause == "process.sigkill" or not told.isdisjoint(SIGKILL_NAMES)


def ended_at(end: Event) -> float | None:
    """Yield when a process ended: as a summary states it, which is not when the summary was printed."""
    stated = _read_end(str(end.fields.get("time")))
    return end.time if stated is None else stated


@lru_cache(4096)
def _read_end(text: str) -> float | None:
    """The same, remembered: thousands of ranks end within the same seconds."""
    try:
        return datetime.strptime(text, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
