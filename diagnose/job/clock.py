"""When: puts every event on one clock.

Years and zones that were not printed are inferred; clocks of hosts are aligned by events they share (the same collective's
time-out, the same step). What stays unknown is an uncertainty that the verdict respects.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from itertools import chain
from statistics import median

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
    """Estimate each host's offset against the host that shares most moments with the others."""
    shared = _shared_moments(sources)
    counts = Counter(host for times in shared for host in times)
    reference = min(counts, key=lambda h: (-counts[h], h), default="")
    apart_s: dict[str, list[float]] = defaultdict(list)  # by host
    for times in (times for times in shared if reference in times):
        for host, time in times.items():
            apart_s[host].append(time - times[reference])
    for host, differences in apart_s.items():
        middle = median(differences)
        clocks.offset_s[host] = middle if abs(middle) > SAME_CLOCK_S else 0.0
        clocks.spread_s[host] = max(SAME_CLOCK_S, median(abs(d - middle) for d in differences) * 2)
    for event in (e for source in sources for e in source.all_events()) if any(clocks.offset_s.values()) else ():
        offset = clocks.offset_s.get(event.host or "", 0.0)
        event.time = event.time - offset if event.time is not None else None
        event.onset = event.onset - offset if event.onset is not None else None


def _shared_moments(sources: Sequence[SourceEvents]) -> list[dict[str, float]]:
    """Moments that several hosts print: by host, the first time that it does."""
    shared: dict[tuple[object, ...], dict[str, float]] = defaultdict(dict)
    for source in sources:
        for event in chain(source.telling("collective-timeout", "progress"), *source.progress):
            key = _moment(event)
            if key is None or event.time is None or event.host is None or event.stamp is None:
                continue  # a time taken from a line above is none of this moment
            known = shared[key].get(event.host)
            shared[key][event.host] = event.time if known is None else min(known, event.time)
    return [times for times in shared.values() if len(times) > 1]


def _moment(event: Event) -> tuple[object, ...] | None:
    fields = event.fields
    if event.rule.tells == "collective-timeout" and fields.get("seq") is not None:
        return ("timeout", event.attempt, fields.get("pg"), fields["seq"], fields.get("op"), fields.get("timeout_ms"))
    if event.rule.tells == "progress" and fields.get("step") is not None:
        return ("step", event.attempt, event.rule.id, fields["step"])
    return None
