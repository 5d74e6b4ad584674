"""One source's scan in, its `Event`s out: hits read with what stands around them (tracebacks, blocks, stacks).

Here a catch-all gives way to a narrower rule, and what a harmless rule matches is taken as evidence of nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from itertools import repeat
from operator import attrgetter, contains
from typing import TYPE_CHECKING

from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_keys
from ..lines.timestamp import Stamp
from ..scan.scan import SourceScan
from ..scan.scan_rules import REPORT, STACK
from ..traces.quotation import is_heard, quoted_tracebacks
from ..traces.traceback import find_tracebacks
from .event import Event, SourceEvents, kept_lines, named_in, speaker_named
from .hit_reading import LAST_RESORT, SourceReading

if TYPE_CHECKING:
    from ..traces.stack_forms import StackDump

BROAD: dict[str | None, int] = {"software.import-error": 1, "config.invalid-argument": 2, LAST_RESORT: 3}  # asked last
MAX_REPORT_LINES = 400  # the terminal's longest have 150
HEADING = lazy(r"(?:^|\s)(?:FAILED|HUNG|RECOVERED|UNFINISHED) {2}\S")
CLOSING = lazy(r"(?:^|\s)Inputs read: [\d,]{1,12} \([\d.]{1,8} \w{1,2}\); events: [\d,]{1,12}\.")
_raw = attrgetter("raw")
DAY_S = 86_400


class EventReader:
    """Reads scans with one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._matcher = Matcher(r for r in catalogue.rules.values() if r.tells != "progress")
        asked = (r for r in catalogue.rules.values() if r.generic and r.match == "traceback")
        order = (((BROAD.get(r.cause, 0), (r.frame is None) == (r.cause not in BROAD), r.id), r) for r in asked)
        self._catch_alls = [rule for _, rule in sorted(order)]

    def read(self, scan: SourceScan) -> SourceEvents:
        """Yield the events of one source, in line order."""
        stored, scan = scan, scan.opened()
        lines, hits = lines_without_reports(scan), scan.hits()
        keys = speaker_keys(lines)
        tracebacks = find_tracebacks(lines, keys)
        stacks: list[StackDump] = []
        if scan.holds(STACK):  # the scan met the mark of one
            from ..traces.stacks import find_stacks

            stacks = find_stacks(lines)
        reading = SourceReading(self._catalogue, self._matcher, scan.name, lines, keys, tracebacks, stacks)
        found = [e for hit in hits for e in reading.events(hit)]
        found += [*reading.told(hits, {e.line for e in found if e.role != "context"})]
        if tracebacks:
            spoken = {(id(e.traceback), e.line) for e in found if is_narrow(e) and e.role != "confirmation"}
            found += [e for tb in tracebacks for e in reading.catch_all(tb, self._catch_alls, spoken)]
        quoted = quoted_tracebacks(tracebacks, lines)
        # with what a warning names alone: `WARNING: OSError: …`
        unheard = quoted.union(tb.line for tb in tracebacks if tb.is_warned and not tb.frames and not tb.links)
        heard = [e for e in found if e.traceback is None or is_heard(e.traceback, unheard)]
        for order, event in enumerate(events := sift(heard)):
            event.order = order
        stamps = [(line.number, line.prefix.stamp) for line in lines if line.prefix.stamp is not None]
        years = Counter(_year_of(stamp.seconds // DAY_S) for _, stamp in stamps if stamp.has_year)
        signs = tuple(_signs(reading, stored, scan))
        source = SourceEvents(
            scan.name, scan.kind, events,
            tuple(map(speaker_named, dict.fromkeys(named_in(x.prefix) for x in lines))),
            tuple(years.items()),
            any(map(contains, map(_raw, lines), repeat("across cluster"))),
            tuple(tb for tb in tracebacks if tb.line not in quoted), tuple(stacks), signs,
            max((last.line or 0 for _, last in signs), default=None), scan.capped(), stored,
        )  # fmt: skip
        _note_stamps(source, stamps)
        return source


def _signs(reading: SourceReading, stored: SourceScan, scan: SourceScan) -> Iterator[tuple[Event, Event]]:
    """The first and the last sign of life of each speaker, without their text."""
    for place, (first, last) in enumerate(scan.progress.values()):
        if reading.knows(first) and reading.knows(last):
            pair = reading.progress(first), reading.progress(last)
            for order, sign in enumerate(pair, 2 * place):
                sign.words, sign.order = stored, order
            yield pair


def lines_without_reports(scan: SourceScan) -> list[Line]:
    """Yield the kept lines of a source, less those of whole reports of ours: a job script may end with `diagnose logs`."""
    lines = kept_lines(scan)
    if not scan.holds(REPORT):
        return lines
    spans: list[tuple[int, int]] = []
    opened = 0
    for line in lines:
        if HEADING.search(line.raw):
            opened = line.number
        elif opened and CLOSING.search(line.raw):
            spans += [(opened, line.number)] if line.number - opened <= MAX_REPORT_LINES else []
            opened = 0
    return [x for x in lines if not any(a <= x.number <= b for a, b in spans)]


def is_narrow(event: Event) -> bool:
    """Whether an event says what a catch-all need not say; a bug of other versions than run says nothing in the end."""
    return not event.rule.generic and not event.rule.applies_to and event.role in ("cause", "symptom", "confirmation")


def sift(events: list[Event]) -> tuple[Event, ...]:
    """Drop what a harmless rule covers, catch-alls beside narrower rules, and doubles; sort by place."""
    placed = [(e, (e.line, e.raw)) for e in events]
    harmless = {place for e, place in placed if e.role == "harmless"}
    narrow = [(e, place) for e, place in placed if is_narrow(e)]
    spoken = {place for _, place in narrow}
    understood = {id(e.traceback) for e, _ in narrow if e.traceback}
    kept: dict[tuple[str, tuple[int | None, str]], Event] = {}
    for event, place in placed:
        if place in harmless and event.role not in ("harmless", "context"):
            continue
        if event.rule.generic and place in spoken:
            continue
        if event.rule.generic and event.rule.match == "line" and id(event.traceback) in understood:
            continue  # one line of a message that a rule has understood as a whole
        kept.setdefault((event.rule.id, place), event)
    return tuple(_whole(sorted(kept.values(), key=lambda e: (e.line or 0, e.rule.id))))


def _whole(events: list[Event]) -> Iterator[Event]:
    """Yield the events, in order, without the rest of a block that was read from its first line already."""
    last: dict[str | None, Event] = {}  # by what they tell
    for event in events:
        if event.rule.match == "block":
            block = last.get(event.rule.tells)
            told, said = ({k: v for k, v in e.fields.items() if v is not None} for e in (event, block or event))
            if block is not None and (event.line or 0) <= (block.end_line or 0) and told.items() < said.items():
                continue  # less than the block in which it begins, and nothing else
            last[event.rule.tells] = event
        yield event


@lru_cache(1024)
def _year_of(day: float) -> int:
    return datetime.fromtimestamp(day * DAY_S, timezone.utc).year


def _note_stamps(source: SourceEvents, stamps: Sequence[tuple[int, Stamp]]) -> None:
    """Give each event the stamp of the nearest line above that has one, else of the first below."""
    numbers = [number for number, _ in stamps]
    for event in source.all_events():
        above, stamp = bisect_right(numbers, event.line or 0), event.stamp
        event.near_is_below = above == 0
        if stamps and not (stamp is not None and stamp.has_date and stamp.has_year):  # of that no other is asked
            event.near = stamps[max(above - 1, 0)][1]
