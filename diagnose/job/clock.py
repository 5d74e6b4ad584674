"""When: puts every event on one clock.

Years and zones that were not printed are inferred; clocks of hosts are aligned by events they share (the same collective's
time-out, the same step). What stays unknown is an uncertainty that the verdict respects.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from itertools import chain

from ..lines.timestamp import Stamp, read_stamp, resolve
from .event import Event, SourceEvents

SAME_CLOCK_S = 2.0  # NTP keeps hosts within milliseconds; printed times are whole seconds, so two may differ by this
UNALIGNED_S = 600.0  # clocks of two hosts that share no event: minutes of skew were seen in practice
FALLBACK_YEAR = 1970  # only for order, where no line prints a year; such times are not shown


@dataclass(slots=True)
class Clocks:
    """What is known about the clocks of a job."""

    year: int | None = None
    year_from: str = ""
    zone_s: float = 0.0
    zone_from: str = "taken as UTC"
    offset_s: dict[str, float] = field(default_factory=dict)  # by host: to be subtracted
    spread_s: dict[str, float] = field(default_factory=dict)  # uncertainty left after that

    def seconds(self, stamp: Stamp) -> float | None:
        """Yield a printed stamp as seconds UTC, before hosts are aligned."""
        return resolve(stamp, self.year or FALLBACK_YEAR, self.zone_s)

    def uncertainty_s(self, a: Event, b: Event) -> float:
        """Yield how far apart two events have to be before their order is known."""
        if a.host == b.host if a.host is not None and b.host is not None else a.source == b.source:
            return SAME_CLOCK_S  # in one console each host prints its own clock
        spread_s = self.spread_s.get
        return max(SAME_CLOCK_S, spread_s(a.host or "", UNALIGNED_S), spread_s(b.host or "", UNALIGNED_S))


def set_clocks(sources: Sequence[SourceEvents], zone_s: float | None = None) -> Clocks:
    """Fill in `time` and `onset` of every event; yield what was inferred."""
    clocks = Clocks(zone_s=zone_s or 0.0, zone_from="given" if zone_s is not None else "taken as UTC")
    years: Counter[int] = Counter()
    for source in sources:
        years.update(dict(source.years))
        for stamp in (_stated(e) for e in source.events if "time" in e.fields):  # torchrun's summary prints a year
            if stamp and stamp.has_year:
                years[datetime.fromtimestamp(stamp.seconds, timezone.utc).year] += 1
    if years:
        clocks.year, clocks.year_from = max(years, key=lambda y: (years[y], y)), "printed elsewhere in the logs"
    for source in sources:
        _set_times(clocks, source)
    _align(clocks, sources)
    return clocks


def _set_times(clocks: Clocks, source: SourceEvents) -> None:
    """Times of one source; a line without a clock takes that of the line before it in the same source."""
    for event in source.all_events():
        stamp = event.stamp or _stated(event)
        time = clocks.seconds(stamp) if stamp else None
        if time is None:
            time = clocks.seconds(event.near) if event.near else None
        event.time = event.onset = time
        name = event.rule.onset
        ran_ms = event.fields.get(name) if name else None
        if name == "unknown" or (ran_ms is not None and not event.has_own_time):
            event.onset = None  # the line above says only when it was printed at the earliest
        elif time is not None and isinstance(ran_ms, int | float):
            event.onset = time - ran_ms / 1000


def _stated(event: Event) -> Stamp | None:
    """Yield the time that a message holds in its text: `*** JOB 7 ON n1 CANCELLED AT 2026-02-07T03:16:57 ***`."""
    text = event.fields.get("time")
    return _read_stated(text) if isinstance(text, str) else None


_read_stated = lru_cache(4096)(read_stamp)  # thousands of ranks end within the same seconds


# --- alignment --------------------------------------------------------------------------------------------------


def _align(clocks: Clocks, sources: Sequence[SourceEvents]) -> None:
    """Estimate each host's offset against the host that shares most with the others."""
    shared = _shared_moments(sources)
    hosts = sorted({host for times in shared.values() for host in times})
    if len(hosts) < 2:
        return
    counts = Counter(host for times in shared.values() if len(times) > 1 for host in times)
    if not counts:
        return
    reference = min(counts, key=lambda h: (-counts[h], h))
    clocks.offset_s[reference], clocks.spread_s[reference] = 0.0, SAME_CLOCK_S
    by_host: dict[str, list[tuple[float, list[float]]]] = defaultdict(list)  # its time of a moment, others' aligned
    for times in shared.values():
        aligned = [times[reference]] if reference in times else []
        for host, time in times.items():
            by_host[host].append((time, aligned))
    for host in hosts:
        if host != reference:
            _align_host(clocks, by_host[host], host)
    for event in (e for source in sources for e in source.all_events()):
        offset = clocks.offset_s.get(event.host or "", 0.0)
        if offset and event.time is not None:
            event.time -= offset
            event.onset = event.onset - offset if event.onset is not None else None


def _align_host(clocks: Clocks, moments: list[tuple[float, list[float]]], host: str) -> None:
    """Estimate one host's offset; its moments, aligned, then count for the hosts after it."""
    differences = [time - _middle(aligned) for time, aligned in moments if aligned]
    if not differences:
        return
    middle = _middle(sorted(differences))
    offset_s = middle if abs(middle) > SAME_CLOCK_S else 0.0
    clocks.offset_s[host] = offset_s
    clocks.spread_s[host] = max(SAME_CLOCK_S, _middle(sorted(abs(d - middle) for d in differences)) * 2)
    for time, aligned in moments:
        insort(aligned, time - offset_s)


def _middle(ordered: list[float]) -> float:
    """The median of what is sorted already."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _shared_moments(sources: Sequence[SourceEvents]) -> dict[tuple[object, ...], dict[str, float]]:
    """Moments that several hosts print: the first time each host does."""
    shared: dict[tuple[object, ...], dict[str, float]] = defaultdict(dict)
    for source in sources:
        for event in chain(source.telling("collective-timeout", "progress"), *source.progress):
            key = _moment(event)
            if key is None or event.time is None or event.host is None or event.stamp is None:
                continue  # a time taken from a line above is none of this moment
            known = shared[key].get(event.host)
            shared[key][event.host] = event.time if known is None else min(known, event.time)
    return {k: v for k, v in sorted(shared.items(), key=lambda kv: repr(kv[0])) if len(v) > 1}


def _moment(event: Event) -> tuple[object, ...] | None:
    fields = event.fields
    if event.rule.tells == "collective-timeout" and fields.get("seq") is not None:
        return ("timeout", event.attempt, fields.get("pg"), fields["seq"], fields.get("op"), fields.get("timeout_ms"))
    if event.rule.tells == "progress" and fields.get("step") is not None:
        return ("step", event.attempt, event.rule.id, fields["step"])
    return None
