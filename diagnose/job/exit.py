"""How processes end: by which signal, by whose, and when."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache

from .event import Event

CERTIFICATES = ("exit", "signal-sent", "killed")  # said of a process by another one
CRASHES = ("process.segfault", "process.bus-error", "process.abort")  # as the table of exit codes calls such ends
HEAD = "process.exit-code/child-failed-error"  # the rules of torchrun's summary
ENTRY = "process.exit-code/torchelastic-summary-entry"
ENTRIES = (ENTRY, "process.exit-code/torchelastic-summary-rest")  # whole, and one of which the head was not copied
ONCE = "process.exit-code/torchelastic-worker-failed"  # an agent says it once an attempt, when all processes have ended
SIGTERM_NAMES = {"15", "-15", "SIGTERM", "143"}
SIGKILL_NAMES = {"9", "-9", "SIGKILL", "137", "247"}


def is_terminated(event: Event) -> bool:
    """Whether an exit is by SIGTERM: the launcher's own clean-up."""
    told = event.fields.get
    return not SIGTERM_NAMES.isdisjoint((str(told("exit_code")), str(told("signal")), str(told("signal_name"))))


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
