"""Which rank raised what torchrun's summary repeats: the entry above a traceback says whose it is.

      rank      : 3 (local_rank: 3)
      exitcode  : 1 (pid: 4121)
      error_file: /tmp/torchelastic_x/none_y/attempt_0/3/error.json
      traceback : Traceback (most recent call last):

Source: torch/distributed/elastic/multiprocessing/errors/__init__.py, `ChildFailedError`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from .event import Event, SourceEvents
from .places import HERE

HEAD = "process.exit-code/child-failed-error"
ENTRY = "process.exit-code/torchelastic-summary-entry"
ENTRIES = (ENTRY, "process.exit-code/torchelastic-summary-rest")  # whole, and one of which the head was not copied
BELOW = {"time": 5, "host": 4, "rank": 3}  # lines from the first that is here of an entry to its traceback
FAR = 20  # lines, where a launcher's label says whose each line is
BOX = "elastic-box"


def place_summaries(sources: Sequence[SourceEvents]) -> None:
    """Give rank, host and process of its entry to every error that a summary repeats and that names none itself.

    Not where several processes printed the same words without their rank: an entry tells of one, and not of which.
    """
    for source in sources:
        entries = {e.line or 0: e for e in source.telling("exit") if e.rule.id in ENTRIES and e.rank is not None}
        lines = sorted(entries)
        if not lines or _are_woven(source, [entries[line] for line in lines]):
            continue
        unplaced = [e for e in source.events if e.rank is None and e.traceback is not None]
        said = Counter(text for _, text in {(e.line, e.text) for e in unplaced if not _is_boxed(e)})
        for event in unplaced:
            if _is_boxed(event) and said[event.text] < 2:
                _take_from(entries, lines, event)


def _are_woven(source: SourceEvents, entries: Sequence[Event]) -> bool:
    """Whether two agents draw their summaries into one console at once: then no line belongs to the one above it."""
    if any(value is not None for value in entries[0].speaker):
        return False  # a launcher's label says whose each line is
    above = sum((e.line or 0) < (entries[0].line or 0) for e in source.events if e.rule.id == HEAD)
    hosts = [host for host, _ in groupby(e.fields.get("host") for e in entries)]
    return above > 1 or len(hosts) > len(set(hosts))


def _is_boxed(event: Event) -> bool:
    return event.traceback is not None and event.traceback.form == BOX


def _take_from(entries: dict[int, Event], lines: list[int], event: Event) -> None:
    begin = event.traceback.line if event.traceback is not None else 0
    at = bisect_left(lines, begin) - 1
    if at >= 0 and _is_of_entry(entries[lines[at]], event, begin - lines[at]):
        entry = entries[lines[at]]
        event.rank, event.rank_from = entry.rank, "the entry of torchrun's summary"
        event.local_rank, event.pid = entry.local_rank, entry.pid
        if entry.host not in HERE:  # an agent on one node calls it so, and the log knows its name
            event.host, event.host_from = entry.host, entry.host_from


def _is_of_entry(entry: Event, event: Event, below: int) -> bool:
    """Whether nothing stands between the two: summaries of two agents may be woven into one another, line by line."""
    first = next((name for name in BELOW if entry.fields.get(name) is not None), "")
    is_labelled = entry.speaker == event.speaker and any(value is not None for value in event.speaker)
    return below == BELOW.get(first) or (is_labelled and below <= FAR)
