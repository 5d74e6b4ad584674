"""A place in the logs in, `Evidence` out: the line with what stands around it, and where its captures are."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from ..job.attempt import CRASHES
from ..job.event import Event
from ..job.exhibit import Exhibit
from ..job.job import Job
from ..lines.prefix import read_lines
from ..lines.timestamp import format_rfc3339
from .own_code import own_code, own_code_of_crash
from .report import CodePlace, Evidence, Place, Span

CONTEXT_LINES = 3
MAX_TEXT = 2000
MAX_AROUND = 400  # characters of a line beside the proof
BAR = "%|"  # ` 34%|███▍      | 34/100`


class Exhibitor:
    """Shows places of one job; the kept lines of a source are unpacked once."""

    def __init__(self, job: Job, bounds: Container[int] = ()) -> None:
        self._job, self._bounds = job, bounds
        self._kept: dict[str, dict[int, str]] = {}
        self._scans = {s.name: s.scan for s in job.sources}

    def evidence(self, exhibit: Exhibit) -> Evidence:
        """Yield the evidence of one place."""
        event = exhibit.event
        text = exhibit.text[:MAX_TEXT]
        line, end = exhibit.line, exhibit.end_line or exhibit.line
        return Evidence(
            file=exhibit.source,
            line=line,
            end_line=end,
            rank=exhibit.rank,
            host=exhibit.host,
            time=None if id(event) in self._bounds else show_time(self._job, exhibit.time),
            text=text,
            rule=event.rule.id if event else None,
            fields={k: _plain(v) for k, v in sorted(event.fields.items())} if event else {},
            before=self._around(exhibit.source, line, -CONTEXT_LINES, 0),
            after=self._around(exhibit.source, end, 1, CONTEXT_LINES + 1),
            spans=_spans(event, text) if event else (),
            also_in=tuple(Place(f, n) for f, n in event.also_in) if event else (),
            own_code=self._own_code(event, line) if event else (),
        )

    def _own_code(self, event: Event, line: int | None) -> tuple[CodePlace, ...]:
        if event.traceback is not None or event.cause not in CRASHES:
            return own_code(event.traceback, line)
        return own_code_of_crash([d for s in self._job.sources if s.name == event.source for d in s.stacks], line)

    def _around(self, source: str, line: int | None, first: int, stop: int) -> tuple[str, ...]:
        if line is None or source not in self._scans:
            return ()
        if source not in self._kept:
            self._kept[source] = self._scans[source].kept()
        kept = self._kept[source]
        near = (read_lines(n, kept[n]) for n in range(line + first, line + stop) if n in kept)
        return tuple(_as_shown([x.raw for x in lines])[:MAX_AROUND] for lines in near if lines)


def _as_shown(segments: list[str]) -> str:
    """Yield one line's text without the states of a progress bar that later ones overwrote: they hide the rest."""
    kept = [s for s in segments if BAR not in s]
    return " ".join(kept or segments[-1:])


def _spans(event: Event, text: str) -> tuple[Span, ...]:
    """Where the captured values stand in the line: behind its head, of whose date they may be a part."""
    found, begin = [], max(text.find(event.text.split("\n", 1)[0]), 0)
    for name, value in sorted(event.fields.items()):
        word = str(value)
        at = _find_word(text, word, begin) if len(word) > 1 else -1
        if at >= 0 and name in event.rule.fields:
            found.append(Span(at, at + len(word), name))
    return tuple(sorted(found, key=lambda s: (s.start, s.end, s.field)))


def _find_word(text: str, word: str, begin: int) -> int:
    """Yield where it stands by itself, or else anywhere: `82` is in `[Rank 828]` too, before `SeqNum=82`."""
    first = at = text.find(word, begin)
    while at >= 0 and (text[at - 1 : at].isalnum() or text[at + len(word) : at + len(word) + 1].isalnum()):
        at = text.find(word, at + 1)
    return at if at >= 0 else first


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value if isinstance(value, str | int | float) else str(value)


def show_time(job: Job, seconds: float | None) -> str | None:
    """Yield a time as RFC 3339; None where it is unknown or its year is."""
    if seconds is None or job.clocks.year is None:
        return None
    return format_rfc3339(seconds) or None
