"""One source's events and the stamps of its lines in, each event with the stamp near it out; what is alike is held once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

from ..lines.prefix import MAX_SPEAKERS, Line, Prefix
from ..lines.timestamp import Stamp
from .event import SourceEvents, Speaker, named_in

T = TypeVar("T")
Stamps = list[tuple[int, Stamp]]  # by line number, in order
MAX_KNOWN = 4096  # values that are looked up to be shared
DAY_S = 86_400
_printed = attrgetter(*Stamp.__slots__)  # type: ignore[attr-defined]


class Same:
    """Yields, for a value, the equal one that was met before, if that is not long ago."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._speakers: dict[tuple[Any, ...], Speaker] = {}

    def speaker(self, prefix: Prefix) -> Speaker:
        """Yield who speaks with this prefix."""
        named = named_in(prefix)
        speaker = self._speakers.get(named)
        return self._met(named) if speaker is None else speaker

    def speakers(self, prefixes: Iterable[Prefix]) -> Iterator[Speaker]:
        """Yield who speaks with these prefixes, each once, in order."""
        for named in dict.fromkeys(map(named_in, prefixes)):
            yield self._speakers.get(named) or self._met(named)

    def _met(self, named: tuple[Any, ...]) -> Speaker:
        if len(self._speakers) >= MAX_SPEAKERS:
            self._speakers.clear()
        speaker = Speaker.of(named)
        self._speakers[speaker] = speaker  # which is the same key as the plain tuple, and held once
        return speaker

    def __call__(self, value: T) -> T:
        return self._known_as(value, value)

    def stamp(self, value: Stamp) -> Stamp:
        """Yield the equal stamp; told by its fields as a tuple, which is compared in a third of the time."""
        return self._known_as(_printed(value), value)

    def _known_as(self, key: Any, value: T) -> T:
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        known: T = self._known.setdefault(key, value)
        return known


def stamps_of(lines: Sequence[Line]) -> Stamps:
    """Yield the stamps that the lines print."""
    return [(line.number, line.prefix.stamp) for line in lines if line.prefix.stamp is not None]


def years_of(stamps: Stamps) -> tuple[tuple[int, int], ...]:
    """Yield the years that stamps print, and how often."""
    years: dict[int, int] = {}
    for _, stamp in stamps:
        if stamp.has_year:
            year = _year_of(stamp.seconds // DAY_S)
            years[year] = years.get(year, 0) + 1
    return tuple(years.items())


@lru_cache(1024)
def _year_of(day: float) -> int:
    return datetime.fromtimestamp(day * DAY_S, timezone.utc).year


def note_stamps(source: SourceEvents, stamps: Stamps, same: Same) -> None:
    """Give each event the stamp of the nearest line above that has one; above all of them, of the first.

    Thousands of files tell of the same moments, so what is equal is held once.
    """
    numbers = [number for number, _ in stamps]
    held = {id(stamp): same.stamp(stamp) for _, stamp in stamps}
    for event in source.all_events():
        above, stamp = bisect_right(numbers, event.line or 0), event.stamp
        event.near_is_below = above == 0
        if stamp is not None:
            event.stamp = held.get(id(stamp)) or same.stamp(stamp)
        if stamps and not (stamp is not None and stamp.has_date and stamp.has_year):  # of that no other is asked
            event.near = held[id(stamps[max(above - 1, 0)][1])]
