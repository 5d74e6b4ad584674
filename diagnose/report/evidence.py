"""A place in the logs in, `Evidence` out: the line with its context, its captures, and the user's own code it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..advice.statement import CodePlace, Evidence, Place, Span
from ..job.event import Event, Exhibit
from ..job.job import Job
from ..job.process import CRASHES
from ..lines.prefix import read_lines
from ..lines.timestamp import format_rfc3339
from ..traces.stack_tree import main_thread
from ..traces.traceback import Link, Traceback
from ..traces.traceback_lines import Frame, is_library
from ..verdict.decision import Verdict
from .translation import Translator

CONTEXT_LINES = 3
MAX_TEXT = 2000
MAX_AROUND = 400  # characters of a line beside the proof
MOST_FRAMES = 3  # the innermost say where it broke and who called; further out it is the training loop
MAX_CODE = 200
BELOW = 4  # lines between what crashed and the dump of its stacks
BAR = "%|"  # ` 34%|███▍      | 34/100`
TELLING_BELOW, TELLING_CHARS = 6, 12  # lines below an exception in which what it says may stand, and the least of that


class Exhibitor:
    """Shows one job and the verdict on it in one language; the kept lines of a source are unpacked once."""

    def __init__(self, job: Job, verdict: Verdict, translator: Translator) -> None:
        self.job, self.verdict, self.translator = job, verdict, translator
        self._kept: dict[str, dict[int, str]] = {}
        self._scans = {s.name: s.scan for s in job.sources}

    def evidence(self, exhibit: Exhibit) -> Evidence:
        """Yield the evidence of one place."""
        event = exhibit.event
        line, end, text = self._telling(exhibit)
        who = event.speaker if event else None  # as a prefix calls it: `WorkerDict pid 4711 on 10.0.0.3`
        named = (who.actor, f"pid {who.pid}" if who.pid else "", f"on {who.ip}" if who.ip else "") if who else ()
        return Evidence(
            file=exhibit.source,
            line=line,
            end_line=end,
            rank=exhibit.rank,
            host=exhibit.host,
            time=show_time(self.job, exhibit.time) if event is None or event.has_own_time or event.timed_by_copy else None,
            text=text,
            rule=event.rule.id if event else None,
            fields={k: _plain(v) for k, v in sorted(event.fields.items())} if event else {},
            before=self._around(exhibit.source, line, -CONTEXT_LINES, 0),
            after=self._around(exhibit.source, end, 1, CONTEXT_LINES + 1),
            spans=_spans(event, text) if event else (),
            also_in=tuple(Place(f, n) for f, n in event.also_in) if event else (),
            own_code=self._own_code(event, exhibit),
            speaker=" ".join(filter(None, named)),
        )

    def _telling(self, exhibit: Exhibit) -> tuple[int | None, int | None, str]:
        """Where the proof is, and its text: below an exception that names only a call, the line that says what failed."""
        line, end, text = exhibit.line, exhibit.end_line or exhibit.line, exhibit.text[:MAX_TEXT]
        if exhibit.event is None or line is None or exhibit.event.traceback is None:
            rest = self._around(exhibit.source, line, 1, (end or 0) - line + 1) if line is not None else ()
            is_whole = line is not None and len(rest) == (end or 0) - line  # of a banner all lines are the message
            return line, end, "\n".join((text, *rest))[:MAX_TEXT] if is_whole else text
        if end != line:
            return line, end, text
        read = (v for v in exhibit.event.fields.values() if isinstance(v, str) and len(v) >= TELLING_CHARS)
        missing = [v for v in read if v not in text]
        for below in range(1, TELLING_BELOW) if missing else ():
            if any(v in said for said in self._around(exhibit.source, line, below, below + 1) for v in missing):
                return line + below, line + below, self._around(exhibit.source, line, below, below + 1)[0].strip()
        return line, end, text

    def _own_code(self, event: Event | None, exhibit: Exhibit) -> tuple[CodePlace, ...]:
        if event is not None and (event.traceback is not None or event.cause not in CRASHES):
            return own_code(event.traceback, exhibit.line)
        # of the stack around the line, or of the thread that crashed, which is below the line that says so
        at, dumps = exhibit.line or 0, (d for s in self.job.sources if s.name == exhibit.source for d in s.stacks)
        dump = next((d for d in dumps if at and d.line - BELOW * (not d.is_live) <= at <= d.end_line), None)
        thread = main_thread(dump) if dump is not None else None
        return _own([Frame(f.file, f.line, f.function, "") for f in thread.frames if f.line]) if thread is not None else ()

    def _around(self, source: str, line: int | None, first: int, stop: int) -> tuple[str, ...]:
        if line is None or source not in self._scans:
            return ()
        kept = self._kept.get(source) or self._kept.setdefault(source, self._scans[source].kept())
        near = ([x.raw for x in read_lines(n, kept[n])] for n in range(line + first, line + stop) if n in kept)
        # without the states of a progress bar that later ones overwrote: they hide the rest
        return tuple(" ".join([s for s in raws if BAR not in s] or raws[-1:])[:MAX_AROUND] for raws in near if raws)


def _spans(event: Event, text: str) -> tuple[Span, ...]:
    """Where the captured values stand in the line: behind its head, of whose date they may be a part."""
    found, begin = [], max(text.find(event.text.split("\n", 1)[0]), 0)
    for name, value in sorted(event.fields.items()):
        word = str(value)
        if len(word) < 2 or name not in event.rule.fields or (first := text.find(word, begin)) < 0:
            continue
        at = first  # by itself, or else anywhere: `82` is in `[Rank 828]` too, before `SeqNum=82`
        while at >= 0 and (text[at - 1 : at].isalnum() or text[at + len(word) : at + len(word) + 1].isalnum()):
            at = text.find(word, at + 1)
        at = at if at >= 0 else first
        found.append(Span(at, at + len(word), name))
    return tuple(sorted(found, key=lambda s: (s.start, s.end, s.field)))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value if isinstance(value, str | int | float) else str(value)


def show_time(job: Job, seconds: float | None) -> str | None:
    """Yield a time as RFC 3339; None where it is unknown or its year is."""
    return None if seconds is None or job.clocks.year is None else format_rfc3339(seconds) or None


def own_code(traceback: Traceback | None, line: int | None) -> tuple[CodePlace, ...]:
    """Yield the innermost frames that are no library's, of the exception on `line`, else of the next one in the chain."""
    if traceback is None or line is None:
        return ()
    raised: tuple[Traceback | Link, ...] = (traceback, *traceback.links)
    chain = sorted(raised, key=lambda one: abs(one.exception_line - line))
    return next(filter(None, (_own(one.frames) for one in chain)), ())


def _own(frames: Sequence[Frame]) -> tuple[CodePlace, ...]:
    own: list[Frame] = []
    for frame in reversed(frames):
        is_entry = frame.function == "<module>" and any(frame.file == f.file for f in own)  # `main()`, below its def
        if is_library(frame.file) or is_entry:
            continue
        if own and (own[-1].file, own[-1].line) == (frame.file, frame.line):
            own.pop()  # `<listcomp>` stands at the line of the function around it
        elif len(own) == MOST_FRAMES:
            break
        own.append(frame)
    return tuple(CodePlace(f.file, f.line, f.function, f.code[:MAX_CODE]) for f in own)
