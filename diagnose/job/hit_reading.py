"""One hit of a source in, the event that it anchors out; here a rule that needs more than one line is verified."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import InitVar, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher
from ..catalogue.rule import Form, Rule
from ..lines.prefix import Line, speaker_key
from ..scan.kept import Hit
from ..traces.exception import is_own_name
from ..traces.quotation import (
    exception_lines,
    exception_text,
    exceptions,
    inside_lines,
    quoted_in,
    quoting,
    told_texts,
    wrapped_texts,
)
from ..traces.traceback import Traceback, innermost, record_above
from ..traces.traceback_lines import told_frames
from .event import Event, named_in, sign_line, speaker_named, words_of

if TYPE_CHECKING:
    from ..traces.stack_forms import StackDump

MAX_BLOCK_LINES, BARE_LINES = 80, 14  # the second: of a message without a traceback above it
LAST_RESORT = "process.exception"  # says only that there was an exception, so every other rule is asked first
MEASURED = frozenset({"~text", "loss", "epoch", "epochs", "steps", "tokens_per_s"})  # of a sign of life; nobody asks


@dataclass
class SourceReading:
    """The state of reading one source."""

    catalogue: Catalogue
    matcher: Matcher
    source: str
    lines: Sequence[Line]
    keys: Sequence[str]  # who speaks on each line
    tracebacks: InitVar[Sequence[Traceback]]
    stacks: Sequence[StackDump]

    def __post_init__(self, tracebacks: Sequence[Traceback]) -> None:
        self._at: dict[int, list[int]] = {}
        for index, line in enumerate(self.lines):
            self._at.setdefault(line.number, []).append(index)
        self._told = {id(tb): [*exceptions(tb)] for tb in tracebacks}
        self._traceback_at = exception_lines((tb, self._told[id(tb)]) for tb in tracebacks)
        self._inside = inside_lines(tracebacks, self._traceback_at, self.lines, self.keys)
        self._bare: dict[int, str] = {}
        self._whole: dict[str, Sequence[int]] = {}  # by rule: where the lines of the last block stand that it read
        self._raised_by: dict[int, list[tuple[str, str, int]]] = {}  # by traceback: text, name and line of all in it
        self._denied: set[tuple[object, ...]] = set()  # what a rule did not find in it: many lines of a message may ask

    def knows(self, hit: Hit) -> bool:
        """Whether the catalogue still has the hit's rule and form (a saved scan may be older)."""
        rule = self.catalogue.rules.get(hit.rule)
        return rule is not None and hit.form < len(rule.forms)

    def events(self, hit: Hit) -> Sequence[Event]:
        """Yield the event of a hit, if what it anchors holds."""
        number, fields = hit.line, hit.fields
        rule, places = self.catalogue.rules.get(hit.rule), self._at.get(number)
        if rule is None or places is None or hit.form >= len(rule.forms):
            return ()
        index = places[0] if len(places) == 1 else places[min(hit.segment, len(places) - 1)]
        if fields is not None:
            return (self._event(rule, fields, self.lines[index], number, self._traceback_of(index)),)
        # the scan saw a literal; of several forms that share it, which one holds shows only here
        forms = rule.forms
        if hit.form:
            forms = (forms[hit.form], *forms[: hit.form], *forms[hit.form + 1 :])
        if rule.match == "traceback":
            return self._exception(rule, forms, index)
        return self._block(rule, forms, index) if rule.match == "block" else self._stack(rule, forms, self.lines[index])

    def progress(self, hit: Hit) -> Event:
        """Yield a sign of life as an event, without what it measured: there are two for each speaker of each file."""
        fields = {k: v for k, v in (hit.fields or {}).items() if k not in MEASURED}
        return self._event(self.catalogue.rules[hit.rule], fields, sign_line(hit), hit.line, None)

    def catch_all(self, tb: Traceback, rules: Sequence[Rule], spoken: Container[tuple[int, int | None]]) -> Iterator[Event]:
        """Yield what the generic rules say of a traceback about which no narrower rule spoke."""
        inner = innermost(tb)
        if (id(tb), inner.exception_line) in spoken or not inner.exception or inner.exception_line not in self._at:
            return
        text = exception_text(inner.exception, inner.message)
        quoted = [exception_text(*each) for each in quoted_in(inner.exception, inner.message)]
        for rule in rules:
            for said in (text,) if rule.cause == LAST_RESORT else (*reversed(quoted), text):
                match = self.matcher.first_form(rule, said)
                if match is not None and self._has_frame(rule, tb):
                    line = self._line_of(inner.exception_line, inner.exception)
                    yield self._event(rule, match, line, inner.exception_line, tb, text)
                    return
        if rules and is_own_name(inner.exception, inner.frames):  # the last forms know how exceptions are called
            fields = {"type": inner.exception, "text": inner.message.split("\n", 1)[0]}
            line = self._line_of(inner.exception_line, inner.exception)
            yield self._event(rules[-1], fields, line, inner.exception_line, tb, text)

    def _line_of(self, number: int, word: str) -> Line:
        pieces = [self.lines[i] for i in self._at[number]]
        begins = (p for p in pieces if p.message.lstrip().startswith(word[:40]))  # before `raise ValueError(...)`
        return next((p for p in (*begins, *pieces) if word[:40] in p.raw), pieces[-1])

    def _block(self, rule: Rule, forms: Sequence[Form], index: int) -> Sequence[Event]:
        read = (self._whole.get(name or "", ()) for name in (rule.rest_of, rule.id))
        if rule.rest_of is not None and any(index in places for places in read):
            return ()
        places = self._following(index, rule.lines)
        scope = [self.lines[n] for n in places]
        text = "\n".join([x.message for x in scope])
        found = self.matcher.first_of(rule, forms, [text])
        if found is None:
            return ()
        self._whole[rule.id] = places
        return (self._event(rule, found[0], self.lines[index], scope[-1].number, self._traceback_of(index)),)

    def _following(self, index: int, count: int) -> Sequence[int]:
        """Where it stands and those below it of the same speaker or process; one without a speaker is whose it follows."""
        keys = self.keys[index : index + MAX_BLOCK_LINES * 4]
        count = min(count, MAX_BLOCK_LINES)
        if keys[:count].count(keys[0]) == len(keys[:count]):  # as where nobody else writes into this file
            return range(index, min(index + count, len(self.lines)))
        pids = {self.lines[index].prefix.pid} - {None}  # a record tells its rank in its first line, Ray the process in all
        own = (n for n, key in enumerate(keys, index) if not key or key == keys[0] or self.lines[n].prefix.pid in pids)
        return [*islice(own, count)]

    def _exception(self, rule: Rule, forms: Sequence[Form], index: int) -> Sequence[Event]:
        line, tb = self.lines[index], self._traceback_of(index)
        if tb is not None:
            return self._raised(rule, forms, line, tb)
        if index not in self._bare:  # the message and what may go on below; empty for code: several rules ask for it
            is_code, below = line.number in self._inside, self._following(index, BARE_LINES)
            first, *rest = ("",) if is_code else (self.lines[n].message for n in below)
            self._bare[index] = "\n".join((first.strip(), *rest))
        if rule.frame or not self._bare[index]:
            return ()
        found = self.matcher.first_of(rule, forms, [self._bare[index]])
        return (self._event(rule, found[0], line, line.number, None),) if found is not None else ()

    def _raised(self, rule: Rule, forms: Sequence[Form], line: Line, tb: Traceback) -> Sequence[Event]:
        told = self._raised_by.get(id(tb))
        if told is None:
            told = [(exception_text(name, message), name, n) for name, message, n in self._told[id(tb)] if n in self._at]
            self._raised_by[id(tb)] = told
        asked = [x for x in told if x[2] <= line.number <= max(tb.end_line, x[2])]
        question = (id(tb), rule.id, *(number for _, _, number in asked))
        if question in self._denied:
            return ()
        found = self.matcher.first_of(rule, forms, [text for text, _, _ in asked])
        if found is not None and self._has_frame(rule, tb):
            text, exception, number = asked[found[1]]
            return (self._event(rule, found[0], self._line_of(number, exception), number, tb, text),)
        self._denied.add(question)
        return ()

    def told(self, hits: Sequence[Hit], taken: set[int | None]) -> Iterator[Event]:
        """Yield what rules about exceptions say of lines that give one's message without its name, or as another's."""
        free = self._at.keys() - taken - self._inside
        for hit in (x for x in hits if x.line in free and x.rule in self.catalogue.rules):
            rule = self.catalogue.rules[hit.rule]
            if rule.match == "traceback" and not rule.frame:
                index = self._at[hit.line][min(hit.segment, len(self._at[hit.line]) - 1)]
                line, tb = self.lines[index], self._traceback_of(index)
                above = next((self.lines[i] for i in self._at.get(hit.line - 1, ())), None)
                texts = told_texts(line, above) if tb is None else wrapped_texts(tb, hit.line)
                found = (self.matcher.first_form(rule, text) for text in texts)
                for fields in islice((x for x in found if x is not None), 1):
                    event = self._event(rule, fields, line, hit.line, tb)
                    yield event if tb or event.role != "cause" else replace(event, role="symptom")

    def _has_frame(self, rule: Rule, tb: Traceback) -> bool:
        if rule.frame is None:
            return True
        words = (each for path in (tb.frames, *(x.frames for x in tb.links)) for each in told_frames(path))
        return any(self.matcher.search(rule.frame, each, rule.forms[0]) is not None for each in words)

    def _stack(self, rule: Rule, forms: Sequence[Form], line: Line) -> Sequence[Event]:
        dump = next((d for d in self.stacks if d.line <= line.number <= d.end_line), None)
        texts = ["\n".join(f"{f.function} ({f.file}:{f.line})" for f in t.frames) for t in dump.threads] if dump else ()
        found = self.matcher.first_of(rule, forms, texts)
        return (self._event(rule, found[0], line, dump.end_line, None),) if found is not None and dump is not None else ()

    def _traceback_of(self, index: int) -> Traceback | None:
        """The traceback whose exception stands on this line, of the same speaker where several are woven together."""
        found = self._traceback_at.get(self.lines[index].number)
        if not found:
            return None
        key = self.keys[index]
        return next((tb for tb in found if tb.speaker == key), found[0])

    def _event(
        self, rule: Rule, fields: dict[str, Any], line: Line, end: int, tb: Traceback | None, text: str | None = None
    ) -> Event:
        fields = self.catalogue.with_row(rule, fields)
        cause = fields.pop("cause", None) or rule.cause
        role = fields.pop("role", None) or rule.role
        number, _, prefix = line
        who = prefix if tb is None and prefix.end else self._speaking(line, tb).prefix
        return Event(
            rule, cause, role, self.source, number, end if end > number else number, words_of(line, text), fields,
            speaker_named(named_in(who)), prefix.stamp, tb,
        )  # fmt: skip

    def _speaking(self, line: Line, tb: Traceback | None) -> Line:
        """Who speaks; a logger names itself on the first line of a record only, so a traceback's head tells."""
        first = line.number if tb is None else tb.line
        above = next((self.lines[i] for i in self._at.get(first - 1, ())), None)
        if tb is not None and tb.speaker and not speaker_key(line.prefix):
            heads = (x for i in self._at.get(tb.line, ()) if speaker_key((x := self.lines[i]).prefix) == tb.speaker)
            line = next(heads, line)
        elif tb is not None and not speaker_key(line.prefix):
            line = record_above(above, next(iter(tb.frames), None)) or line
        elif tb is None and line.number in self._at and not line.prefix.end:
            # a record may only announce what stands indented below it: `ERROR [rank 3] Training failed:`
            is_announced = above is not None and line.raw[:1].isspace() and above.message.rstrip().endswith(":")
            is_announced = is_announced and above is not None and speaker_key(above.prefix) != ""
            line = above if above and is_announced else quoting(self.lines, self._at[line.number][0])
        return line
