"""Is what ended the whole job, or a host, history? It is once ranks make progress again, and clocks of hosts may lie."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from .event import FAILING, Event
from .restart import HISTORY_S

if TYPE_CHECKING:
    from .job import Job

SOON_S = 600.0  # within which processes feel what the kernel of their host tells
OUTLIVED = ("nccl.ib-error", "gpu.", "storage.io-error")  # of which a process says more when it ends of it
OF_THREAD = "process.exception/traceback-without-rank-thread"
OF_MACHINES = ("killed", "signal-received", "fact")  # what is told of a host from outside of its processes


class History:
    """The steps of a job, and by host the times at which its processes fail."""

    def __init__(self, job: Job, signs: Sequence[Event]) -> None:
        self._job = job
        stamped = (e for e in signs if e.time is not None and e.stamp is not None)
        self._last = max(stamped, key=lambda e: e.time or 0.0, default=None)
        self._of_source: dict[str, list[Event]] = defaultdict(list)
        for sign in (e for e in signs if e.time is not None):
            self._of_source[sign.source].append(sign)
        self._reaches: dict[str, tuple[list[int], list[float], list[float]]] = {}
        self._failed: dict[str, list[float]] = defaultdict(list)
        for e in job.events:
            if e.host is not None and e.time is not None and e.role in FAILING and _is_of_process(e):
                self._failed[e.host].append(e.time)
        for times in self._failed.values():
            times.sort()

    def holds(self, event: Event) -> bool:
        """Whether an error that no rank said is history, as ranks made progress clearly after it."""
        if (event.rank is not None and not _is_of_gpu(event)) or event.time is None:
            return False
        if event.stamp is None and event.fields.get("time") is None:
            return self._goes_on_below(event)
        last, spread_s = self._last, self._job.clocks.spread_s.get(event.host or "", HISTORY_S)
        if last is None or (last.time or 0.0) <= event.time + max(HISTORY_S, spread_s):
            return False
        return self._share_clock(event, last) or not self._is_felt(event)

    def _goes_on_below(self, event: Event) -> bool:
        """Whether an error without a time of its own, as `srun: error: Node failure on n7`, stands above many steps.

        Steps that were buffered are printed at once; these tell of minutes.
        """
        if event.traceback is not None:
            return False
        lines, first, last = self._reach(event.source)
        below = bisect_right(lines, event.end_line or 0)
        return below < len(lines) and last[below] - first[below] > HISTORY_S

    def _reach(self, source: str) -> tuple[list[int], list[float], list[float]]:
        """The lines of a file's steps in order, with the first and the last time from each line on."""
        if source not in self._reaches:
            signs = sorted(self._of_source.get(source, ()), key=lambda s: s.line or 0)
            times = [s.time or 0.0 for s in reversed(signs)]
            first, last = list(accumulate(times, min))[::-1], list(accumulate(times, max))[::-1]
            self._reaches[source] = [s.line or 0 for s in signs], first, last
        return self._reaches[source]

    def _share_clock(self, event: Event, sign: Event) -> bool:
        """Whether one clock, or two that are aligned, printed both."""
        known = self._job.clocks.spread_s
        return None in (event.host, sign.host) or event.host == sign.host or (event.host in known and sign.host in known)

    def _is_felt(self, event: Event) -> bool:
        """Whether processes of its host fail soon after it, by the same clock: another host's may show another zone."""
        times = self._failed.get(event.host or "", [])
        after = bisect_left(times, event.time or 0.0)
        return after < len(times) and times[after] <= (event.time or 0.0) + SOON_S


def ended_nothing(job: Job, finished: Sequence[Event]) -> list[Event]:
    """What is left of the errors of a run that says that it is done, where none of them is the end of anything.

    `mlx5_0:1 Got async event : port error` on some host, and `Link down` in its kernel's log, with clocks that order
    neither of them and the end: no process died, raised or waited in vain.
    """
    dropped = {id(e) for e in (*job.earlier, *job.survived)}
    left = [e for e in job.events if id(e) not in dropped and e.role in FAILING]
    done = {e.source: e.line or 0 for e in finished if e.attempt == job.attempt}
    quiet = (e.traceback is None and e.rule.tells is None and (e.cause or "").startswith(OUTLIVED) for e in left)
    is_below = any((e.line or 0) > done.get(e.source, 1 << 62) for e in left)
    return left if done and not is_below and all(quiet) else []


def raised_in_threads(job: Job, until: Mapping[str, int]) -> list[Event]:
    """What threads raised, which ended nothing but themselves: nothing else failed, and each rank took steps below it.

    `Exception in thread metrics-uploader:`. `until`: of consoles, the line to which each rank had gone on.
    """
    heads = {(e.source, e.line) for e in job.events if e.rule.id == OF_THREAD}
    dropped = {id(e) for e in (*job.earlier, *job.survived)} if heads else set()
    left = [e for e in job.events if e.role in FAILING and id(e) not in dropped] if heads else []
    for e in left:
        begins = e.traceback.line if e.traceback is not None else e.line
        if (e.source, begins) not in heads or until.get(e.source, 0) <= (e.end_line or 0):
            return []
    return left


def _is_of_process(event: Event) -> bool:
    return event.traceback is not None or (event.rule.tells not in OF_MACHINES and event.fields.get("pci") is None)


def _is_of_gpu(event: Event) -> bool:
    """Whether the kernel tells of a GPU: whose that was, its address says, and no rank takes steps without the others."""
    return event.fields.get("pci") is not None and event.traceback is None
