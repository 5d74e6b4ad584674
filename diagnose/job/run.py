"""Where one console holds several runs, appended to one another, or several attempts of one: by what torchrun's agent says.

The agent says once an attempt which process it found dead first, and draws a summary when it gives up. Whoever is listed
in a summary is dead: another process of that rank, or a later step of it, is of a run that somebody started anew. So is
all below the note that the agent prints when it starts, where something had failed above it. Where jobs of Slurm append to
one file, each but the last is over where Slurm says that it ended it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from itertools import pairwise

from .agents import ONCE
from .event import FAILING, Event

LATE_S, LATE_LINES = 5.0, 60  # within which what the dead had printed is still written


def begun_anew(events: Sequence[Event]) -> tuple[tuple[int, ...], int]:
    """Yield the lines of a source behind which its processes were started again, and how many of them end a run."""
    runs = [*_run_ends(events), *jobs_over(events)]
    runs = sorted({*runs, *_launched_again(events, runs)})
    borders = [0, *runs, 1 << 62]
    attempts: list[int] = []
    for start, stop in pairwise(borders):
        ends = _deaths(e for e in events if e.rule.id == ONCE and start < (e.line or 0) <= stop)
        if len({(e.speaker.pid, e.speaker.host) for e in ends}) == 1:  # the agents of several nodes each tell of one
            attempts += [e.line or 0 for e in ends[:-1]]
    marks = sorted({*runs, *attempts})
    return tuple(marks), marks.index(runs[-1]) + 1 if runs else 0


def jobs_over(events: Sequence[Event]) -> list[int]:
    """Return the lines in which Slurm ends a job, `*** JOB 4711 ON n7 CANCELLED AT …`, of all jobs but the last."""
    ended: dict[str, int] = {}
    told = (e for e in events if e.fields.get("node") is not None and e.fields.get("time") is not None)
    for event in told:
        job, _, _ = str(event.fields.get("step") or "").partition(".")
        if job.isdigit():
            ended.pop(job, None)
            ended[job] = event.end_line or 0
    return list(ended.values())[:-1]


def _deaths(ends: Iterable[Event]) -> list[Event]:
    """Yield each death once: two handlers of one logger print the line twice, and no process dies twice."""
    first: dict[object, Event] = {}
    for e in ends:
        pid = e.fields.get("pid")
        first.setdefault((e.host, pid) if pid is not None else id(e), e)
    return list(first.values())


def _run_ends(events: Sequence[Event]) -> list[int]:
    ends: list[int] = []
    dead: dict[int, int] = {}  # of the last summary: process ids by rank
    last: Event | None = None
    for event in events:
        rank, pid = event.fields.get("rank"), event.fields.get("pid")
        if is_summary(event) and isinstance(rank, int) and isinstance(pid, int):
            if last is not None and dead.get(rank, pid) != pid:
                ends.append(last.end_line or 0)
                dead = {}
            dead[rank], last = pid, event
        elif last is not None and event.rule.tells == "progress" and event.rank in dead and _is_later(event, last):
            ends.append(last.end_line or 0)
            dead, last = {}, None
    return ends


def _launched_again(events: Sequence[Event], runs: Sequence[int]) -> Iterator[int]:
    """Yield the lines above which a launcher says that it starts, where something had failed since the start before.

    Something has to be heard below: what the old launcher printed on a buffered output appears when it ends.
    """
    failed = border = launched = 0
    ends = iter(sorted(runs))
    end = next(ends, 1 << 62)
    for event in events:
        line = event.line or 0
        while line > end:
            border, end = end, next(ends, 1 << 62)
        if launched and event.rule.tells != "launch":
            yield launched
            launched = 0
        if event.role in FAILING:
            failed = event.end_line or line
        elif event.rule.tells == "launch" and border < failed < line:
            border = launched = line - 1


def is_summary(event: Event) -> bool:
    """Whether it is an entry of the summary that states when each process ended."""
    return event.rule.tells == "exit" and event.fields.get("time") is not None


def _is_later(sign: Event, end: Event) -> bool:
    if sign.stamp is not None and sign.stamp.has_date and (ended := stated_end(end)) is not None:
        return sign.stamp.seconds > ended + LATE_S
    return (sign.line or 0) > (end.end_line or 0) + LATE_LINES


def stated_end(end: Event) -> float | None:
    """When a process ended, as a summary states it."""
    return _read_end(str(end.fields.get("time")))


@lru_cache(4096)
def _read_end(text: str) -> float | None:
    """The same, remembered: thousands of ranks end within the same seconds."""
    try:
        return datetime.strptime(text, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
