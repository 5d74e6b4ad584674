"""Which errors are not why the job is dead now: those of an earlier life of its processes, and those that it outlived.

Within one stream the order of lines decides: what stands below a rank's last step is never history. No rank takes steps
without the others: training that goes on for longer than they would wait shows that what was said before ended nobody.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from ..lines.lazy_pattern import lazy
from ..traces.traceback_lines import is_library
from .attempt import BUFFERED_LINES, HISTORY_S, NUMBERED, ended_before, reborn_at, restarted_until
from .event import FAILING, Event, SourceEvents
from .job import Job
from .process import CRASHES, is_terminated

BUFFERED_S = 3.0  # within which a process that has died still prints
ANOTHER_ZONE_S = 3600.0 * 0.9  # clocks that differ by as much may show two zones, by less they show one
CAUGHT_S = 60.0  # within which the threads of a process, and its interpreter, print what ends it
AGO_S = 26 * 3600.0  # more than zones differ by and a hang lasts
BOOT_S = 60.0  # within which a kernel finds its devices, cables and links
WAITS = ("collective-timeout", "peer-lost", "absent-ranks")  # which had begun before they are told
FROM_OUTSIDE = ("process.time-limit", "process.preempted", "process.node-failure")  # a job that is done may still stand
ENDS = ("exit", "killed", "signal-sent", "signal-received")
NOT_FINITE = "numerics.nan"
FINITE = lazy(r"(?i)(?:loss|norm)['\"]?\s{0,3}(?:[:=]|\s)\s{0,3}['\"]?-?\d")
# The kernel's names of ranks, their workers and launchers: `python3.11`, `pt_main_thread`, `ray::WorkerDict`
OF_JOBS = lazy(r"(?i)python|^pt_|^ray|torch|train|deepspeed|accelerate|vllm|sglang|nccl|mpi|megatron|^srun|^bash$|^sh$")


def set_aside(job: Job) -> None:
    """Fill in `earlier` and `survived`: the errors that are not why the job is dead now."""
    until, began_s, outlived = restarted_until(job), _began(job), _Outlived(job)
    reborn, ended = reborn_at(job), ended_before(job)
    # files that tell of the attempts they hold, by a line or by their name; of the others only lines with a clock do
    numbered = {e.source for e in job.events if e.rule.tells == "attempt"}
    numbered |= {name for name, path in job.places.by_source.items() if path.kind in NUMBERED}
    earlier = [
        e for e in job.events
        if (e.attempt != job.attempt and (e.source in numbered or (e.stamp is not None and e.time is not None)))
        or (e.line or 0) < reborn.get(e.source, 0)
        or (e.line or 0) <= ended.get(e.source, 0)
        or (e.line or 0) <= until.get((e.source, e.host), until.get((e.source, None), 0))
        or (e.rank is None and e.traceback is None and _is_outside(job, e, began_s))
    ]  # fmt: skip
    before = set(earlier)
    job.set_aside(earlier, [e for e in job.events if e.role in FAILING and e not in before and outlived.holds(e)])


def may_be_of_a_job(event: Event) -> bool:
    """Whether a process has a name that ranks, their workers or their launchers have, or none is told."""
    name = event.fields.get("process")
    return not isinstance(name, str) or OF_JOBS.search(name) is not None


def _began(job: Job) -> float | None:
    """When the first process of the job said anything with a clock of its own."""
    own = (s for s in job.sources if s.tracebacks or s.progress or any(p.rank is not None for p in s.speakers))
    return min((e.time for s in own for e in s.all_events() if e.stamp and e.time is not None), default=None)


def _is_outside(job: Job, event: Event, began_s: float | None) -> bool:
    """Whether a kernel or a scheduler says it of a time or a process that is none of the job's."""
    stamp = event.stamp
    if event.role not in (*FAILING, "confirmation"):
        return False
    if job.ranks and stamp is not None and stamp.since_boot and stamp.seconds < BOOT_S:
        return True
    if job.ranks and event.rule.tells == "killed" and not may_be_of_a_job(event):
        return True
    is_dated = event.time is not None and event.has_own_time and (stamp is None or stamp.has_date)
    return is_dated and began_s is not None and (event.time or 0.0) < began_s - AGO_S


@dataclass(slots=True)
class _Stream:
    """How far one source goes on with steps: its first and last one by lines, and the latest by the clock."""

    first: int
    last: int
    last_s: float | None
    is_training: bool  # signs show a loss: no data is prepared, no answers are generated
    still: int  # lines within which those who speak here may print what they had buffered

    @classmethod
    def of(cls, source: SourceEvents) -> _Stream | None:
        """Yield it; None for a source without signs of life."""
        if not source.progress:
            return None
        signs = [sign for pair in source.progress for sign in pair]
        times = [s.time for s in signs if s.time is not None and s.stamp is not None]
        lines = [s.line or 0 for s in signs]
        is_training = any("loss" in first.raw.lower() for first, _ in source.progress[:8])
        return cls(min(lines), max(lines), max(times, default=None), is_training, BUFFERED_LINES * len(source.progress))


class _Outlived:
    """What the one who said it, or the whole job, went on after; and what was said when all was done."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._sources = {s.name: s for s in job.sources}
        self._streams = {s.name: _Stream.of(s) for s in job.sources}
        done = [e for e in job.events if e.rule.tells == "finished" and e.rule.teller != "rank"]
        self._done: dict[str, list[Event]] = defaultdict(list)  # by source
        for end in done:
            self._done[end.source].append(end)
        self._timed = sorted((e for e in done if e.has_own_time and e.time is not None), key=attrgetter("time"))
        deaths = ((rank, info.death) for rank, info in job.ranks.items())
        self._died_alone = {r for r, death in deaths if death and death.rule.tells == "exit" and not is_terminated(death)}
        self._gone_past = _undone(job.events) | _caught(job.events)
        self._came_back = any(e.cause in FROM_OUTSIDE for e in self._gone_past)

    def holds(self, event: Event) -> bool:
        """Whether the job outlived an error."""
        if event.cause == NOT_FINITE and event.role == "symptom":
            kept = self._sources[event.source].scan.kept()  # a step does not heal the weights, nor does an end
            below = (text for n, text in kept.items() if n > (event.end_line or 0))
            return any(FINITE.search(text) and ": nan" not in text.lower() for text in below)
        if event in self._gone_past or self._is_done(event):
            return True
        if self._came_back and is_terminated(event) and not event.has_own_time:
            return True  # its scheduler took it off, started it again, and saw its end
        return self._goes_on_itself(event) or self._all_go_on(event)

    def _is_noise(self, event: Event) -> bool:
        """Whether it may be said by a process that leaves: nobody waits any more, and the program's own code is through."""
        raised = event.traceback.frames if event.traceback is not None else ()
        return event.rule.tells not in WAITS and all(is_library(frame.file) for frame in raised)

    def _is_done(self, event: Event) -> bool:
        """Whether the same process, or one of its host that names no rank, says later or said before that it is done."""
        if event.cause in FROM_OUTSIDE:
            return False
        ends = self._done.get(event.source, [])
        if event.has_own_time and event.time is not None:
            later = bisect_right(self._timed, event.time + HISTORY_S, key=attrgetter("time"))
            ends = [*ends, *self._timed[later:]]
        return any(self._is_over(event, end) for end in ends if end.attempt >= event.attempt)

    def _is_over(self, event: Event, end: Event) -> bool:
        # A process, of whichever rank, may break down within the moment below the end: ranks are done together.
        stream, gap_s = self._streams[event.source], (event.time or end.time or 0.0) - (end.time or event.time or 0.0)
        is_below = event.source == end.source and (event.line or 0) > (end.line or 0)
        is_below &= stream is None or stream.last <= (end.line or 0) + BUFFERED_LINES  # no second stage of the work
        if is_below and event.cause in CRASHES and gap_s < CAUGHT_S and self._is_noise(event):
            return True
        if _differ(event.rank, end.rank) or _differ(event.host, end.host):
            return False
        of_all = end.rule.teller == "job"
        if not of_all and event.rank is not None and end.rank is None and event.rank in self._died_alone:
            return False  # the others are done, and its launcher found this one dead
        if event.source == end.source:
            return (end.line or 0) > (event.end_line or 0) or self._is_noise(event) or of_all
        return (end.time or 0.0) > (event.time or 0.0) + max(HISTORY_S, self._job.clocks.uncertainty_s(end, event))

    def _goes_on_itself(self, event: Event) -> bool:
        """Whether the same rank takes steps below the error, in the same file or by the clock of the same host."""
        info = self._job.ranks.get(event.rank) if event.rank is not None else None
        sign = info.last_sign if info is not None else None
        if sign is None or sign.attempt < event.attempt:
            return False
        if sign.source != event.source:
            is_timed = event.stamp is not None and sign.stamp is not None
            soon_s = HISTORY_S if event.fields.get("pci") else 1.0  # a GPU that broke fails its program when next asked
            return is_timed and (sign.time or 0.0) > (event.time or 0.0) + soon_s
        if (sign.line or 0) <= (event.end_line or 0) or (sign.stamp is not None and _is_before(sign.time, event)):
            return False  # as where logs were joined into one file
        if (sign.line or 0) > (event.end_line or 0) + BUFFERED_LINES:
            return True
        is_timed = sign.stamp is not None and sign.time is not None and event.time is not None
        return is_timed and (sign.time or 0.0) > (event.time or 0.0) + BUFFERED_S

    def _all_go_on(self, event: Event) -> bool:
        """Whether the file shows that training began only below the error, or goes on for longer than anyone would wait."""
        stream = self._streams[event.source]
        if stream is None or stream.last <= (event.end_line or 0) or _is_before(stream.last_s, event):
            return False  # or steps that are shown again, as where logs were joined into one file
        is_later = stream.last_s is not None and event.time is not None and stream.last_s > event.time + HISTORY_S
        if event.rule.tells in ENDS:  # a script that tries again, or the next job that writes into this file
            return stream.is_training and (is_later or stream.last > (event.end_line or 0) + stream.still)
        if event.rule.generic and event.rule.match == "line":
            return True  # a warning in words that nobody knows, which the run went past
        if event.rule.at_start or (event.traceback is not None and not stream.is_training):
            return event.rule.at_start
        if stream.first > (event.end_line or 0) and (stream.first < stream.last or event.traceback is None):
            return True
        return is_later


def _differ(a: object, b: object) -> bool:
    return a is not None and b is not None and a != b


def _is_before(time_s: float | None, event: Event) -> bool:
    """Whether a time is before an error; what differs by hours is the zone of a launcher's clock, not a trainer's."""
    if time_s is None or event.time is None or event.time - time_s >= ANOTHER_ZONE_S:
        return False
    return event.time > time_s or (event.time == time_s and (event.stamp is not None or event.rank is not None))


def _undone(events: Sequence[Event]) -> set[Event]:
    """Yield the events whose rule a later line takes back of the same thing: the pod was placed, the server answers."""
    ends: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        for rule in event.rule.undoes:
            ends[rule, event.source].append(event)
    pairs = ((e, end) for e in events for end in ends.get((e.rule.id, e.source), ()))
    return {e for e, end in pairs if (end.line or 0) > (e.end_line or 0) and not _differ(_thing(e), _thing(end))}


def _caught(events: Sequence[Event]) -> set[Event]:
    """Yield what was raised at a place of the program where one process raises again minutes later: there it is caught."""
    raised: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    ends: dict[str, list[int]] = defaultdict(list)
    for e in events:
        if e.rule.tells in (*ENDS, "identity", "attempt"):
            ends[e.source].append(e.line or 0)
        elif e.traceback is not None and e.role in FAILING and e.time is not None:
            raised[e.source, e.rule.id, e.traceback.frames[-1:] or e.traceback.exception].append(e)
    return {e for alike in raised.values() if _raises_again(alike, ends[alike[0].source]) for e in alike if e.rule.generic}


def _raises_again(alike: Sequence[Event], ends: Sequence[int]) -> bool:
    """Whether one process, by its id, raises twice so far apart that it cannot have ended by the first."""
    first: dict[object, Event] = {}
    for e in (e for e in alike if e.speaker.pid is not None):
        before = first.setdefault((e.host, e.speaker.pid), e)
        is_one_life = not any((before.line or 0) < n < (e.line or 0) for n in ends)
        if is_one_life and (e.time or 0.0) >= (before.time or 0.0) + CAUGHT_S:
            return True
    return False


def _thing(event: Event) -> object:
    told = event.fields
    return told.get("pod") or told.get("application") or told.get("server") or event.speaker.pid
