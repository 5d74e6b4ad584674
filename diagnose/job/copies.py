"""The same message in two files (`--tee`, console and worker log, driver and worker) as one event with two places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from ..lines.lazy_pattern import lazy
from .event import Event
from .identity_table import Places

MAX_PLACES = 8  # where else a message was seen; thousands of hosts may say the same
MIN_TEXT = 24  # characters: shorter messages are alike by chance
MOST_ASKED = 256  # messages of one text that an event is compared with; 8,000 of one console took 30 s
# `logs/events/event_RAYLET.log`: Ray exports there as JSON, by the whole second, what its processes also log.
RAY_EVENTS = lazy(r"(?:^|/)event_[A-Z_]{2,40}(?:_\d{1,10})?\.log$")
ERROR_FILE = lazy(r"error\.json(?:\.\w{2,4})?$")  # packed or not
REPEATED = " [repeated "  # how often Ray's driver saw it, `[repeated 2x across cluster]`


def merge_copies(events: Sequence[Event], places: Places) -> list[Event]:
    """Yield the events, in their order, those that repeat another one taken up by it."""
    said: dict[tuple[Any, ...], dict[object, list[Event]]] = {}  # by text, then by rank, else by host
    dropped: set[Event] = set()
    for event in events:
        if (key := _identity(event)) is None:
            continue
        alike = said.setdefault(key, {})
        twin = next((e for e in islice(_asked(alike, event), MOST_ASKED) if _repeats(event, e)), None)
        if twin is None:
            alike.setdefault(_owner(event), []).append(event)
            continue
        better, other = (event, twin) if _specific(event, places) > _specific(twin, places) else (twin, event)
        alike[_owner(twin)].remove(twin)
        _absorb(better, other)
        alike.setdefault(_owner(better), []).append(better)
        dropped.add(other)
    return [e for e in events if e not in dropped]


def _asked(alike: dict[object, list[Event]], event: Event) -> Iterator[Event]:
    """The events of one text that one may repeat: of its rank, or of none; of its host, or of none."""
    if event.rank is None and event.host is None:
        return chain.from_iterable(alike.values())
    own = (_owner(event), ("host", event.host), ("host", None))
    of_ranks = () if event.rank is not None else (key for key in alike if isinstance(key, int))
    return (e for key in chain(dict.fromkeys(own), of_ranks) for e in alike.get(key, ()))


def _owner(event: Event) -> object:
    return event.rank if event.rank is not None else ("host", event.host)


def _repeats(event: Event, other: Event) -> bool:
    for mine, its in ((event.rank, other.rank), (event.host, other.host)):
        if mine is not None and its not in (None, mine):
            return False  # launchers of several hosts say the same
    if (event.source, event.line) == (other.source, other.line):
        return False  # two rules speak of one line, and one of them may name the cause
    is_seen_there = event.source == other.source or any(event.source == source for source, _ in other.also_in)
    return not is_seen_there or is_repetition(other) or is_repetition(event)


def is_repetition(event: Event) -> bool:
    """Whether it only repeats: torchelastic's summary box and its error files show what a process printed."""
    boxed = event.traceback is not None and event.traceback.form == "elastic_box"
    return boxed or ("error.json" in event.source and ERROR_FILE.search(event.source) is not None)


def _absorb(better: Event, other: Event) -> None:
    copies = (*better.also_in, *other.also_in, (other.source, other.line))
    better.also_in = tuple(dict.fromkeys(copies))[:MAX_PLACES]
    if better.rank is None:
        better.rank, better.rank_from, better.local_rank = other.rank, other.rank_from, other.local_rank
    better.host = better.host or other.host
    better.pid = better.pid if better.pid is not None else other.pid
    if better.stamp is None and other.stamp is not None and other.time is not None:
        better.time, better.onset, better.timed_by_copy = other.time, other.onset, True


def _identity(event: Event) -> tuple[Any, ...] | None:
    """What makes two events one message: same rule and text, or the same exception."""
    if event.rule.role == "context":
        return None
    text = event.text
    if len(text) < MIN_TEXT and event.traceback is None:
        return None
    rule = event.rule.id if event.traceback is None else ""  # frames differ between copies, and with them the rule
    text = text.partition("\n")[0].partition(REPEATED)[0]
    return (rule, text[:300], event.attempt)


def _specific(event: Event, places: Places) -> tuple[bool, bool, bool, bool]:
    """A process's own file tells more than the console, a log more than the file of errors or events made from it."""
    path = places.by_source[event.source]
    own = event.source in places.source_rank or path.local_rank is not None or path.worker_id is not None
    own = own or event.speaker.local_rank is not None  # `--tee`: the console has it as it came, in order with the others
    by_driver = event.speaker.actor is not None and event.speaker.pid is not None  # as it came, as on a console
    first = by_driver or (event.speaker.actor is None and path.worker_id is None)
    return (not is_repetition(event), RAY_EVENTS.search(event.source) is None, own or by_driver, first)
