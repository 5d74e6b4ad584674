"""The same message in two files (`--tee`, console and worker log, driver and worker) as one event with two places."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeVar

from ..lines.lazy_pattern import lazy
from .event import Event
from .placement import Places

T = TypeVar("T")
MAX_PLACES = 8  # where else a message was seen; thousands of hosts may say the same
MIN_TEXT = 24  # characters: shorter messages are alike by chance
# `logs/events/event_RAYLET.log`: Ray exports there as JSON, by the whole second, what its processes also log.
RAY_EVENTS = lazy(r"(?:^|/)event_[A-Z_]{2,40}(?:_\d{1,10})?\.log$")

ERROR_FILE = lazy(r"error\.json(?:\.\w{2,4})?$")  # packed or not
REPEATED = " [repeated "  # how often Ray's driver saw it, `[repeated 2x across cluster]`
# How Ray's own processes go on behind the exception of a task that they log: `ValueError: no shard (timeout: -1ms)`.
IN_ITS_LOG = lazy(
    r"(?: \(timeout: -?\d{1,9}ms\)|, has creation_task_exception_pb_bytes=\d{1,9}| job_id=\w{1,64} actor_id=\w{1,64})$"
)

IN_RAYS_LOG = ("timeout: ", "_pb_bytes=", " job_id=")  # one of them stands in each of these


def merge_doubles(events: Sequence[Event], places: Places) -> list[Event]:
    """Yield the events, in their order, those that repeat another one taken up by it."""
    by_text: dict[tuple[Any, ...], Event | _Messages] = {}  # an event as long as it alone says it: most texts name a rank
    dropped: set[int] = set()
    for event in events:
        key = _identity(event)
        if key is None:
            continue
        messages = by_text.setdefault(key, event)
        if messages is event:
            continue
        if isinstance(messages, Event):
            messages = by_text[key] = _Messages(messages)
        twin = messages.find(event)
        if twin is None:
            messages.add(event)
            continue
        is_better = _specific(event, places) > _specific(twin.event, places)
        better, other = (event, twin.event) if is_better else (twin.event, event)
        twin.sources |= _sources(event)
        _absorb(better, other)
        dropped.add(id(other))
        messages.replace(twin, better)
    return [e for e in events if id(e) not in dropped]


@dataclass(slots=True, eq=False)
class _Message:
    """One message, and the files that it was seen in."""

    number: int
    event: Event
    rank: int | None
    host: str | None
    sources: set[str]
    is_copy: bool


class _Messages:
    """Messages of one text; a job of many ranks says the same as often as it has ranks, or hosts."""

    def __init__(self, event: Event) -> None:
        self._all: list[_Message] = []
        self._by_rank: dict[int | None, list[_Message]] = {}
        self._by_host: dict[str | None, list[_Message]] = {}
        self.add(event)

    def find(self, event: Event) -> _Message | None:
        """Yield the first message that the event repeats: in another file, and of no other rank."""
        for message in self._asked(event):
            if event.host is not None and message.event.host not in (None, event.host):
                continue  # launchers of several hosts say the same
            if (event.source, event.line) == (message.event.source, message.event.line):
                continue  # two rules speak of one line, and one of them may name the cause
            if event.source not in message.sources or message.is_copy or is_repetition(event) or _is_said_again(event):
                return message
        return None

    def add(self, event: Event) -> None:
        """Take the event as a message of its own."""
        message = _Message(len(self._all), event, event.rank, event.host, _sources(event), is_repetition(event))
        self._all.append(message)
        self._by_rank.setdefault(message.rank, []).append(message)
        self._by_host.setdefault(message.host, []).append(message)

    def replace(self, message: _Message, event: Event) -> None:
        """Let `event`, which has taken up the message's, stand for it."""
        message.event, message.is_copy = event, is_repetition(event)
        if event.rank != message.rank:
            _move(self._by_rank, message, message.rank, event.rank)
            message.rank = event.rank
        if event.host != message.host:
            _move(self._by_host, message, message.host, event.host)
            message.host = event.host

    def _asked(self, event: Event) -> Iterator[_Message]:
        """Those that may be of its rank or, where nothing tells that, of its host, in order."""
        if event.rank is not None:
            return _of(self._by_rank, event.rank)
        return _of(self._by_host, event.host) if event.host is not None else iter(self._all)


def _of(groups: dict[T | None, list[_Message]], key: T) -> Iterator[_Message]:
    """Those of one key and those of none, in order."""
    own, of_none = groups.get(key, ()), groups.get(None, ())
    return merge(own, of_none, key=_number) if own and of_none else iter(own or of_none)


def _move(groups: dict[T | None, list[_Message]], message: _Message, old: T | None, new: T | None) -> None:
    groups[old].remove(message)
    insort(groups.setdefault(new, []), message, key=_number)


def _number(message: _Message) -> int:
    return message.number


def _sources(event: Event) -> set[str]:
    return {event.source, *(source for source, _ in event.also_in)}


def is_repetition(event: Event) -> bool:
    """Whether it only repeats: torchelastic's summary box and its error files show what a process printed."""
    boxed = event.traceback is not None and event.traceback.form == "elastic-box"
    return boxed or ("error.json" in event.source and ERROR_FILE.search(event.source) is not None)


def _is_said_again(event: Event) -> bool:
    """Whether Ray's driver prints, for no rank, that it has seen again what stands above: its controller logs it too."""
    return event.rank is None and event.traceback is not None and REPEATED in event.raw


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
    text = IN_ITS_LOG.sub("", text) if any(map(text.__contains__, IN_RAYS_LOG)) else text
    return (rule, text[:300], event.attempt)


def _specific(event: Event, places: Places) -> tuple[bool, bool, bool, bool]:
    """A process's own file tells more than the console, a log more than the file of errors or events made from it.

    Of what Ray's workers print, the driver's log is the console on which one reads it in order.
    """
    path = places.by_source[event.source]
    own = event.source in places.source_rank or path.local_rank is not None or path.worker_id is not None
    own = own or event.speaker.local_rank is not None  # `--tee`: the console has it as it came, in order with the others
    by_driver = event.speaker.actor is not None and event.speaker.pid is not None  # as it came, as on a console
    first = by_driver or (event.speaker.actor is None and path.worker_id is None)
    return (not is_repetition(event), RAY_EVENTS.search(event.source) is None, own or by_driver, first)
