"""One source's scan in, its `Event`s out: hits read with what stands around them (tracebacks, blocks, stacks).

Here a rule that needs more than one line is verified, a catch-all gives way to a narrower rule, and what a harmless
rule matches is taken as evidence of nothing else. Who and when in the whole job is decided later, by `placement`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from .catalogue import Catalogue
from .event_stamps import Same, note_stamps, stamps_of, years_of
from .events import Event, SourceEvents, Speaker, is_narrow, last_words, settle, sign_line, words_of
from .matcher import Candidate, Matcher
from .prefixes import Line, speaker_key
from .rule import Rule
from .rulebook.firing import with_table
from .scan import Hit, SourceScan
from .scanning.scan_rules import STACK
from .tracebacks import Traceback, find_tracebacks, innermost
from .traces.exception_lines import exception_lines, exception_text, exceptions, inside_lines
from .traces.last_error import quoting
from .traces.own_name import is_own_name
from .traces.own_report import lines_without_reports
from .traces.quoted import is_above_one, is_heard, looks_quoted, quoted_tracebacks
from .traces.told import told_texts, wrapped_texts
from .traces.traceback_lines import told_frames
from .traces.warned import record_above
from .traces.wrapped import quoted_in

if TYPE_CHECKING:
    from .stacks import StackDump

MAX_BLOCK_LINES, BARE_LINES = 80, 14  # the second: of a message without a traceback above it
LAST_RESORT = "process.exception"  # says only that there was an exception, so every other rule is asked first
BROAD: dict[str | None, int] = {"software.import-error": 1, "config.invalid-argument": 2, LAST_RESORT: 3}  # asked last
UNCAUGHT = f"{LAST_RESORT}/uncaught-exception"  # its forms know how exceptions are called; below frames any name is one
MEASURED = frozenset({"~text", "loss", "epoch", "epochs", "steps", "tokens_per_s"})  # of a sign of life; nobody asks


class EventReader:
    """Reads scans with one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._matcher = Matcher(r for r in catalogue.rules.values() if r.tells != "progress")
        asked = (r for r in catalogue.rules.values() if r.generic and r.match == "traceback")
        order = (((BROAD.get(r.cause, 0), (r.frame is None) == (r.cause not in BROAD), r.id), r) for r in asked)
        self._catch_alls = [rule for _, rule in sorted(order)]
        self._same = Same()

    def read(self, scan: SourceScan) -> SourceEvents:
        """Yield the events of one source, in line order."""
        stored, scan = scan, scan.unpacked()
        lines = lines_without_reports(scan)
        tracebacks = [replace(tb, frames=self._same(tb.frames)) for tb in find_tracebacks(lines)]
        stacks = _stacks(scan, lines)
        reading = _Reading(self._catalogue, self._matcher, scan, lines, tracebacks, stacks)
        found = [e for hit in scan.hits() for e in reading.events(hit)]
        found += [*reading.told(scan, {e.line for e in found if e.role != "context"})]
        spoken = {(id(e.traceback), e.line) for e in found if is_narrow(e) and e.role != "confirmation"}
        found += [e for tb in tracebacks for e in reading.catch_all(tb, self._catch_alls, spoken)]
        quoted = quoted_tracebacks(tracebacks, lines)
        events = settle([e for e in found if e.traceback is None or is_heard(e.traceback, quoted)])
        for order, event in enumerate(events):
            event.order = order
        stamps = stamps_of(lines)
        signs = tuple(_signs(reading, stored, scan))
        for event in chain(events, *signs):
            event.speaker = self._same(event.speaker)
        source = SourceEvents(
            scan.name,
            scan.kind,
            events,
            tuple(dict.fromkeys(self._same(Speaker.of(line.prefix)) for line in lines)),
            self._same(years_of(stamps)),
            any("across cluster" in x.raw for x in lines),
            tuple(tb for tb in tracebacks if tb.line not in quoted),
            tuple(stacks),
            signs,
            last_words(scan, lines),
            max((last.line or 0 for _, last in signs), default=None),
            tuple(dict.fromkeys(rule for (rule, _), t in scan.tallies.items() if t.at_least)),
            stored,
        )
        note_stamps(source, stamps, self._same)
        return source


def _signs(reading: _Reading, stored: SourceScan, scan: SourceScan) -> Iterator[tuple[Event, Event]]:
    """The first and the last sign of life of each speaker, without their text."""
    for place, (first, last) in enumerate(scan.progress.values()):
        if reading.knows(first) and reading.knows(last):
            pair = reading.progress(first), reading.progress(last)
            for order, sign in enumerate(pair, 2 * place):
                sign.words, sign.order = stored, order
            yield pair


def _stacks(scan: SourceScan, lines: Sequence[Line]) -> list[StackDump]:
    """Dumps of live threads, where the scan met the mark of one."""
    if scan.kind != "json-stacks" and not any(rule == STACK for rule, _ in scan.tallies):
        return []
    from .stacks import find_stacks

    return find_stacks(lines)


class _Reading:
    """The state of reading one source."""

    def __init__(
        self,
        catalogue: Catalogue,
        matcher: Matcher,
        scan: SourceScan,
        lines: Sequence[Line],
        tracebacks: Sequence[Traceback],
        stacks: Sequence[StackDump],
    ) -> None:
        self._catalogue, self._matcher, self._source = catalogue, matcher, scan.name
        self._lines = lines
        self._at: dict[int, list[int]] = {}
        for index, line in enumerate(lines):
            self._at.setdefault(line.number, []).append(index)
        self._keys = [speaker_key(line.prefix) for line in lines]
        self._traceback_at = exception_lines(tracebacks)
        self._inside = inside_lines(tracebacks, zip(self._keys, (line.number for line in lines), strict=True))
        self._stacks = stacks
        self._bare: dict[int, str] = {}
        capped = {rule for (rule, _), tally in scan.tallies.items() if tally.at_least}
        rules = (catalogue.rules[name] for name in sorted(capped) if name in catalogue.rules)
        self._capped = [r for r in rules if r.match == "traceback" and not r.generic and not r.frame and not r.applies_to]

    def knows(self, hit: Hit) -> bool:
        """Whether the catalogue still has the hit's rule and form (a saved scan may be older)."""
        rule = self._catalogue.rules.get(hit.rule)
        return rule is not None and hit.form < len(rule.forms)

    def events(self, hit: Hit) -> Iterator[Event]:
        """Yield the event of a hit, if what it anchors holds."""
        if hit.rule.startswith("~") or not self.knows(hit) or hit.line not in self._at:
            return
        index = self._at[hit.line][min(hit.segment, len(self._at[hit.line]) - 1)]
        rule, line = self._catalogue.rules[hit.rule], self._lines[index]
        if hit.fields is not None:
            tb = None if is_above_one(self._lines, self._at[hit.line], index) else self._traceback_of(hit.line, line)
            yield self._event(rule, hit.fields, line, hit.line, tb)
            return
        # the scan saw a literal; of several forms that share it, which one holds shows only here
        for number in (hit.form, *(n for n in range(len(rule.forms)) if n != hit.form)):
            found = list(self._wide(Candidate(rule, rule.forms[number], number), line, index))
            if found:
                yield from found
                return

    def _wide(self, candidate: Candidate, line: Line, index: int) -> Iterator[Event]:
        """Yield the event of a form that needs more than its line."""
        if candidate.rule.match == "block":
            yield from self._block(candidate, index)
        elif candidate.rule.match == "traceback":
            yield from self._exception(candidate, index)
        else:
            yield from self._stack(candidate, line)

    def progress(self, hit: Hit) -> Event:
        """Yield a sign of life as an event, without what it measured: there are two for each speaker of each file."""
        fields = {k: v for k, v in (hit.fields or {}).items() if k not in MEASURED}
        return self._event(self._catalogue.rules[hit.rule], fields, sign_line(hit), hit.line, None)

    def catch_all(self, tb: Traceback, rules: Sequence[Rule], spoken: Container[tuple[int, int | None]]) -> Iterator[Event]:
        """Yield what the generic rules say of a traceback about which no narrower rule spoke."""
        inner = innermost(tb)
        if (id(tb), inner.exception_line) in spoken or not inner.exception or inner.exception_line not in self._at:
            return
        text = exception_text(inner.exception, inner.message)
        if any(self._verify(Candidate(r, f, n), text) is not None for r in self._capped for n, f in enumerate(r.forms)):
            return  # a narrower rule has said the same so often that this one was not kept
        quoted = [exception_text(*each) for each in quoted_in(inner.exception, inner.message)]
        is_label = bool(quoted) and inner.message.split("\n", 1)[0].endswith(":")  # what was raised stands below it
        for rule in (r for r in rules if self._has_frame(r, tb)):
            for said in (text,) if rule.cause == LAST_RESORT and not is_label else (*reversed(quoted), text):
                match = self._matcher.first_form(rule, said)
                if match is not None:
                    line = self._line_of(inner.exception_line, inner.exception)
                    yield self._event(rule, match, line, inner.exception_line, tb, text)
                    return
        rule_of_all = self._catalogue.rules.get(UNCAUGHT)
        if rule_of_all is not None and is_own_name(inner.exception, inner.frames):
            fields = {"type": inner.exception, "text": inner.message.split("\n", 1)[0]}
            line = self._line_of(inner.exception_line, inner.exception)
            yield self._event(rule_of_all, fields, line, inner.exception_line, tb, text)

    def _line_of(self, number: int, word: str) -> Line:
        pieces = [self._lines[i] for i in self._at[number]]
        begins = (p for p in pieces if p.message.lstrip().startswith(word[:40]))  # before `raise ValueError(...)`
        return next((p for p in (*begins, *pieces) if word[:40] in p.raw), pieces[-1])

    def _verify(self, candidate: Candidate, text: str) -> dict[str, Any] | None:
        return self._matcher.captures(candidate.rule, candidate.form, text)

    def _block(self, candidate: Candidate, index: int) -> Iterator[Event]:
        scope = self._following(index, candidate.rule.lines)
        fields = self._verify(candidate, "\n".join(x.message for x in scope))
        if fields is not None:
            first = self._lines[index]
            yield self._event(candidate.rule, fields, first, scope[-1].number, self._traceback_of(first.number, first))

    def _following(self, index: int, count: int) -> list[Line]:
        """The line and those below it of the same speaker; a line without a speaker belongs to whom it follows."""
        keys = self._keys[index : index + MAX_BLOCK_LINES * 4]
        own = (n for n, key in enumerate(keys, index) if not key or key == keys[0])
        return [self._lines[n] for n in islice(own, min(count, MAX_BLOCK_LINES))]

    def _exception(self, candidate: Candidate, index: int) -> Iterator[Event]:
        line = self._lines[index]
        tb = self._traceback_of(line.number, line)
        if tb is None:
            if candidate.rule.frame or line.number in self._inside or looks_quoted(line):
                return
            fields = self._verify(candidate, self._bare_text(index))
            if fields is not None:
                yield self._event(candidate.rule, fields, line, line.number, None)
            return
        for exception, message, number in exceptions(tb):
            if not number <= line.number <= max(tb.end_line, number):
                continue
            fields = self._verify(candidate, text := exception_text(exception, message))
            if fields is not None and self._has_frame(candidate.rule, tb) and number in self._at:
                yield self._event(candidate.rule, fields, self._line_of(number, exception), number, tb, text)
                return

    def _bare_text(self, index: int) -> str:
        """The message of an exception without a traceback, with what may go on below; several rules ask for it."""
        if index not in self._bare:
            first, *rest = (line.message for line in self._following(index, BARE_LINES))
            self._bare[index] = "\n".join((first.strip(), *rest))
        return self._bare[index]

    def told(self, scan: SourceScan, taken: set[int | None]) -> Iterator[Event]:
        """Yield what rules about exceptions say of lines that give one's message without its name, or as another's."""
        free = self._at.keys() - taken - self._inside
        for hit in (x for x in scan.hits() if x.line in free and x.rule in self._catalogue.rules):
            rule = self._catalogue.rules[hit.rule]
            if rule.match == "traceback" and not rule.frame:
                line = self._lines[self._at[hit.line][min(hit.segment, len(self._at[hit.line]) - 1)]]
                tb = self._traceback_of(hit.line, line)
                above = next((self._lines[i] for i in self._at.get(hit.line - 1, ())), None)
                texts = told_texts(line, above) if tb is None else wrapped_texts(tb, hit.line)
                found = (self._matcher.first_form(rule, text) for text in texts)
                for fields in islice((x for x in found if x is not None), 1):
                    event = self._event(rule, fields, line, hit.line, tb)
                    yield event if tb or event.role != "cause" else replace(event, role="symptom")

    def _has_frame(self, rule: Rule, tb: Traceback) -> bool:
        if rule.frame is None:
            return True
        asked = self._matcher.compiled(rule.frame)
        return any(asked.search(w, timeout=1.0) for f in (tb.frames, *(x.frames for x in tb.links)) for w in told_frames(f))

    def _stack(self, candidate: Candidate, line: Line) -> Iterator[Event]:
        dump = next((d for d in self._stacks if d.line <= line.number <= d.end_line), None)
        if dump is None:
            return
        for thread in dump.threads:
            fields = self._verify(candidate, "\n".join(f"{f.function} ({f.file}:{f.line})" for f in thread.frames))
            if fields is not None:
                yield self._event(candidate.rule, fields, line, dump.end_line, None)
                return

    def _traceback_of(self, number: int, line: Line) -> Traceback | None:
        """The traceback whose exception stands on this line, of the same speaker where several are woven together."""
        found = self._traceback_at.get(number, ())
        return next((tb for tb in found if tb.speaker == speaker_key(line.prefix)), found[0] if found else None)

    def _event(
        self, rule: Rule, fields: dict[str, Any], line: Line, end: int, tb: Traceback | None, text: str | None = None
    ) -> Event:
        fields = with_table(self._catalogue, rule, fields)
        cause = fields.pop("cause", None) or rule.cause
        role = fields.pop("role", None) or rule.role
        return Event(
            rule, cause, role, self._source, line.number, max(end, line.number), words_of(line, text), fields,
            self._speaker(line, tb), line.prefix.stamp, tb,
        )  # fmt: skip

    def _speaker(self, line: Line, tb: Traceback | None) -> Speaker:
        """Who speaks; a logger names itself on the first line of a record only, so a traceback's head tells."""
        if tb is not None and tb.speaker and not speaker_key(line.prefix):
            heads = (x for i in self._at.get(tb.line, ()) if speaker_key((x := self._lines[i]).prefix) == tb.speaker)
            line = next(heads, line)
        elif tb is not None and not speaker_key(line.prefix):
            above = next((self._lines[i] for i in self._at.get(tb.line - 1, ())), None)
            line = record_above(above, next(iter(tb.frames), None), is_of_a_rank=True) or line
        elif tb is None and line.number in self._at and not line.prefix.end:
            line = quoting(self._lines, self._at[line.number][0])
        return Speaker.of(line.prefix)
