"""Where a file ends in the middle of a line, as one does that was copied while it grew, the exception on it is half told.

Of a whole one that begins alike its meaning is known. Else it may be that of anything: by `RuntimeError: [/__w/pyto` Gloo
begins to tell of a peer that went away, and of the rank's own mistake as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_key
from .event import FAILING, Event, SourceEvents

NUMBERS = lazy(r"0x[0-9a-f]+|\d+")
TOLD_CHARS = 24  # of an exception, from which on another one that begins alike may be the same
# Exceptions in which libraries pass on what became of others; the name of any other tells what went wrong.
OF_ANYTHING = (
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "Exception", "OSError", "RuntimeError",
    "XlaRuntimeError",
)  # fmt: skip
CHAINED = ("During handling of the above exception, ", "The above exception was the direct cause ")
CHAIN_LINES = 4  # below an exception, in which the next one of its chain is announced
NAMES_END = ("Error", "Exception", "Exit", "Interrupt")


def complete_half_told(sources: Sequence[SourceEvents]) -> None:
    """Take what the end of a file cut off for the whole line that begins alike, where all that do are of one meaning."""
    cut = [(s, halves) for s in sources if (halves := half_told(s))]
    if not cut:
        return
    last = {(s.name, s.scan.lines + 1) for s, _ in cut}
    whole = [e for s in sources for e in s.events if e.role in FAILING and (e.source, e.line) not in last]
    said = [e for e in whole if e.traceback is not None and not e.rule.generic and e.rule.tells != "exit"]
    lines = _Wordings((_words(e.text), e) for e in said)
    messages = _Wordings((_message(e), e) for e in said if e.traceback and (e.line or 0) > e.traceback.exception_line)
    for source, halves in cut:
        for line in source.lines_at(source.scan.lines + 1):
            # on a later line of the same message, where too little of that line is left, or nothing
            alike = messages.begun(_message(halves[-1])) or lines.begun(_words(line.message))
            if len({e.rule.id for e in alike}) == 1:
                _tell_alike(source, line, alike[0])


class _Wordings:
    """What is said in full, each wording once for each rule: thousands of ranks say the same."""

    def __init__(self, told: Iterable[tuple[str, Event]]) -> None:
        self._by_begin: dict[str, dict[tuple[str, str], Event]] = {}
        for text, event in told:
            self._by_begin.setdefault(text[:TOLD_CHARS], {}).setdefault((text, event.rule.id), event)

    def begun(self, text: str) -> list[Event]:
        """Return those that begin with a text; none where it is too short to tell."""
        alike = self._by_begin.get(text[:TOLD_CHARS], {})
        return [e for (whole, _), e in alike.items() if len(text) >= TOLD_CHARS and whole.startswith(text)]


def _tell_alike(source: SourceEvents, line: Line, whole: Event) -> None:
    """Give the exception on the last line the meaning of another one; below its first line there is none to change."""
    halves = half_told(source)
    there = next((e for e in halves if e.line == line.number), None)
    if there is None:
        there = replace(halves[-1], line=line.number, end_line=line.number, words=(line.raw, line.message))
    there.rule, there.cause, there.role, there.fields = whole.rule, whole.cause, whole.role, dict(whole.fields)
    source.change(source.events if there in halves else (*source.events, there))


def half_told(source: SourceEvents) -> list[Event]:
    """Return the exceptions on the last line of a file that ends within it."""
    if source.scan.ends_line:
        return []
    last = source.scan.lines + 1
    return [e for e in source.events if e.traceback is not None and e.traceback.end_line >= last]


def are_half_told(sources: Iterable[SourceEvents], events: Sequence[Event]) -> bool:
    """Whether each of these is an exception that may be that of anything, and is half told."""
    halves = {id(e) for s in sources for e in half_told(s) if e.rule.generic and _may_be_anything(e)}
    return bool(events) and all(id(e) in halves for e in events)


def is_first_of_a_cut_chain(sources: Iterable[SourceEvents], event: Event) -> bool:
    """Whether what was raised while this exception was handled is announced below it, and never named."""
    told = event.traceback
    if told is None or event.line != told.exception_line:
        return False
    below = range(event.line + 1, max(told.end_line, event.end_line or 0) + CHAIN_LINES)
    lines = (line for s in sources if s.name == event.source for n in below for line in s.lines_at(n))
    return any(line.message.startswith(CHAINED) and speaker_key(line.prefix) == told.speaker for line in lines)


def _may_be_anything(event: Event) -> bool:
    name, colon, _ = event.text.partition(":")
    is_name_cut = not colon and not name.rstrip().endswith(NAMES_END)
    return is_name_cut or name.rpartition(".")[2] in OF_ANYTHING


def _words(text: str) -> str:
    return NUMBERS.sub("#", text.split("\n", 1)[0].rstrip())


def _message(event: Event) -> str:
    told = event.traceback
    return NUMBERS.sub("#", f"{told.exception}: {told.message}".rstrip()) if told is not None else ""
