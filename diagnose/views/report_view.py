"""A `Report` in, a `View` out: the same facts as short printable phrases in one language, cut to limits.

Every renderer and every user's template lays out this view (docs/templates.md); none of them decides anything.
No text in it holds a terminal sequence or control character; escaping for the form at hand is the renderer's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..report.language import Say
from ..report.phrases import byte_size, clock, common_folder, duration, one_day, place, value_text, who
from ..report.printable import clip, one_line, sentence
from ..report.report import (
    Alternative,
    Attempt,
    Culprit,
    Diagnosis,
    Evidence,
    Fact,
    Gap,
    InputRow,
    Link,
    Notice,
    OtherJob,
    RemedyStep,
    Report,
    Symptom,
    TimelineEntry,
)
from .evidence import EvidenceView, join_neighbours, view_evidence
from .limits import Limits
from .parts import Cut, FactView, InputView, MessageView, NoteView, StepView, TimeView, View
from .tables import Moment, choose_moments, fold_collectives, fold_ranks, fold_stacks, fold_timeline, ordered_facts
from .texts import beside_title, command, known, nobody, nothing_wrong, prose, restart, steps

_BOUNDS = {"earliest": "≥ ", "latest": "≤ "}

T = TypeVar("T")
S = TypeVar("S")


def build_view(report: Report, say: Say, limits: Limits, *, language: str = "en", redacted: str = "") -> View:
    """Yield the view of a report."""
    found = report.diagnosis
    build = _Builder(report, say, limits)
    moments = fold_timeline(report.timeline)
    shown = choose_moments(moments, found.cause if found else None, limits.timeline)
    return View(
        language=language,
        outcome=report.outcome,
        outcome_word=say(report.outcome),
        title=clip(sentence(one_line(found.title or found.cause)), limits.prose) if found else "",
        summary=clip(beside_title(found), limits.prose) if found else nothing_wrong(report, say),
        cause=one_line(found.cause) if found else "",
        certainty=found.certainty if found else "",
        certainty_word=say(found.certainty) if found else "",
        confidence=f"{found.confidence:.2f}" if found else "",
        culprits=_cut(found.culprits if found else (), limits.culprits, build.culprit),
        culprit_names=build.culprit_names(),
        nobody=nobody(report, say),
        owner=known(say, "owner", found.owner) if found else "",
        restart=restart(say, found) if found else "",
        evidence=build.evidence(found),
        remedy=build.remedy(found),
        references=tuple(one_line(r) for r in found.references[: limits.references]) if found else (),
        consequences=_cut(build.consequences(), limits.consequences, _same),
        alternatives=_cut(build.alternatives(), limits.alternatives, build.alternative),
        survived=_cut(report.survived, limits.survived, build.symptom),
        timeline=Cut(tuple(map(build.moment, shown)), len(moments) - len(shown)),
        ranks=_cut(fold_ranks(report.ranks, build.blamed, say), limits.ranks, _same),
        collectives=_cut(fold_collectives(report.collectives, say), limits.collectives, _same),
        stacks=_cut(fold_stacks(report.stacks, say, limits.frames), limits.stacks, _same),
        attempts=_cut(report.attempts, limits.attempts, build.attempt),
        other_jobs=_cut((j for j in report.other_jobs if j.name), limits.gaps, _other_job),
        facts=_cut(ordered_facts(report.facts), limits.facts, build.fact),
        notices=_cut((n for n in report.notices if n.text), limits.gaps, build.notice),
        gaps=_cut((g for g in report.gaps if g.text), limits.gaps, build.gap),
        inputs=_cut(sorted(report.inputs, key=lambda i: not i.skipped), limits.inputs, build.input),
        read=build.read(),
        time_basis=say("time-basis", basis=one_line(report.time_basis)) if report.time_basis else "",
        redacted=say("redacted", what=redacted) if redacted else "",
    )


class _Builder:
    """The conversions of single rows; holds what all of them need."""

    def __init__(self, report: Report, say: Say, limits: Limits) -> None:
        self._report, self._say, self._limits = report, say, limits
        found = report.diagnosis
        culprits = found.culprits if found else ()
        self.blamed = frozenset(c.rank for c in culprits if c.rank is not None)
        self._blamed_hosts = frozenset(c.host for c in culprits if c.rank is None and c.host)
        self._summary = one_line(found.summary) if found else ""
        self._folder = common_folder([i.file for i in report.inputs])
        self._root = found.cause if found else None
        self._with_date = not one_day([t.time for t in report.timeline])
        self._title_of = {s.cause: one_line(s.title) for s in reversed(report.symptoms) if s.cause and s.title}
        if found and found.title:
            self._title_of[found.cause] = one_line(found.title)

    def culprit(self, c: Culprit) -> str:
        say = self._say
        parts = [say("rank", n=c.rank)] if c.rank is not None else []
        parts += [say("host", name=one_line(c.host))] if c.host else []
        for key, number in (("gpu", c.gpu), ("local-rank", c.local_rank), ("pid", c.pid)):
            if number is not None and not (key == "local-rank" and number in (c.gpu, c.rank)):
                parts.append(say(key, n=number))
        name = say("comma").join(parts)
        why = one_line(c.why)
        said = not why or why.rstrip(".") in self._summary  # once is enough
        return clip(name if said else f"{name}{say('colon')}{why}", self._limits.prose)

    def culprit_names(self) -> str:
        if self.blamed:
            return who(self._say, sorted(self.blamed))
        hosts = [one_line(h) for h in sorted(self._blamed_hosts)]
        if len(hosts) < 2:
            return self._say("host", name=hosts[0]) if hosts else ""
        return self._say("host-list", names=self._say("comma").join(hosts[:3]) + (", …" if len(hosts) > 3 else ""))

    def remedy(self, found: Diagnosis | None) -> Cut[StepView]:
        return _cut(found.remedy if found else (), self._limits.remedy, self.step)

    def step(self, s: RemedyStep) -> StepView:
        return StepView(s.when, self._say(s.when), prose(s.text, self._limits), command(s.command, self._limits))

    def consequences(self) -> list[MessageView]:
        """The symptoms, each with the link that leads to it, then the links that no symptom shows."""
        links = {link.to: link for link in reversed(self._report.chain)}
        seen = {s.cause for s in self._report.symptoms}
        by_cause: dict[str | None, list[Symptom]] = {}
        for s in self._report.symptoms:
            by_cause.setdefault(s.cause, []).append(s)
        shown = [self.symptoms(group, links.get(cause or "")) for cause, group in by_cause.items()]
        return shown + [self.symptom(Symptom(x.to, ranks=x.ranks), x) for x in self._report.chain if x.to not in seen]

    def symptoms(self, group: Sequence[Symptom], link: Link | None) -> MessageView:
        """What one cause made many messages say, as one: launchers tell of the same death three times."""
        group = sorted(group, key=_place_of)
        first = self.symptom(group[0], link)
        titles = list(dict.fromkeys(one_line(s.title or "") for s in group))
        if len(group) == 1:
            return first
        ranks = sorted({rank for s in group for rank in s.ranks})
        count = sum(s.count for s in group)
        notes = [self._say("at-least-times" if any(s.at_least for s in group) else "times", n=count)]
        if link and link.delay_s is not None:
            notes.append(self._say("after", delay=duration(link.delay_s)))
        return replace(
            first,
            title=sentence(clip(self._say("semicolon").join(titles), self._limits.prose)),
            who=who(self._say, ranks) or first.who,
            note=self._say("comma").join(notes),
            line="" if len(titles) > 1 else first.line,  # of several messages no line stands for all
        )

    def alternatives(self) -> list[Alternative]:
        """What could have been the root; what is a consequence of it, or shown as such by the same line, was told above."""
        told = {link.to for link in self._report.chain}
        shown = {(s.first.file, s.first.line) for s in self._report.symptoms if s.first is not None}
        left = (a for a in self._report.alternatives if a.cause not in told)
        return [a for a in left if not a.evidence or (a.evidence[0].file, a.evidence[0].line) not in shown]

    def evidence(self, found: Diagnosis | None) -> Cut[EvidenceView]:
        proofs = found.evidence[: self._limits.evidence] if found else ()
        views = join_neighbours([view_evidence(e, self._say, self._limits) for e in proofs])
        return Cut(tuple(views), len(found.evidence) - len(proofs) if found else 0)

    def symptom(self, s: Symptom, link: Link | None = None) -> MessageView:
        notes = []
        if s.count > max(1, len(s.ranks)) or s.at_least:
            notes.append(self._say("at-least-times" if s.at_least else "times", n=s.count))
        if link and link.delay_s is not None:
            notes.append(self._say("after", delay=duration(link.delay_s)))
        parent = link.from_ if link else s.explained_by
        why = one_line(link.why) if link and link.why != s.title else ""
        if parent and parent != self._root:  # what follows from the root itself stands under a heading that says so
            why = self._say("explained-by", cause=self._title_of.get(parent, one_line(parent)))
        first = s.first
        return MessageView(
            one_line(s.cause or ""),
            sentence(one_line(s.title or s.cause or s.rule or "")),
            who(self._say, s.ranks, first.host if first else None),
            self._say("comma").join(notes),
            clip(why, self._limits.prose).rstrip("."),
            clip(one_line(first.text), self._limits.line) if first else "",
            self.where(first),
        )

    def alternative(self, a: Alternative) -> MessageView:
        ranks = [c.rank for c in a.culprits if c.rank is not None]
        first = a.evidence[0] if a.evidence else None
        return MessageView(
            one_line(a.cause),
            sentence(one_line(a.title or a.cause)),
            who(self._say, ranks, next((c.host for c in a.culprits if c.host), None)),
            "",
            prose(a.why_not, self._limits).rstrip("."),
            clip(one_line(first.text), self._limits.line) if first else "",
            self.where(first),
        )

    def attempt(self, a: Attempt) -> MessageView:
        first = a.evidence[0] if a.evidence else None
        span = " – ".join(clock(t, with_date=True) for t in (a.start, a.end) if t)
        return MessageView(
            one_line(a.cause or ""),
            self._say("attempt", n=a.n),
            who(self._say, [c.rank for c in a.culprits if c.rank is not None]),
            self._say("comma").join(x for x in (known(self._say, "", a.outcome), span) if x),
            "",
            clip(one_line(first.text), self._limits.line) if first else "",
            self.where(first),
        )

    def moment(self, folded: Moment) -> TimeView:
        t, until = folded
        text = clip(sentence(one_line(t.text)), self._limits.line)
        if until:
            text += " " + self._say("until", time=clock(until, with_date=self._with_date))
        blamed = bool(self.blamed.intersection(t.ranks)) or (not t.ranks and t.host in self._blamed_hosts)
        return TimeView(
            self.when(t),
            who(self._say, t.ranks, t.host),
            one_line(t.layer),
            text,
            one_line(t.ref or "").removeprefix(self._folder),
            blamed and (len(t.ranks) <= len(self.blamed) or t.cause == self._root),
        )

    def when(self, t: TimelineEntry) -> str:
        """When it happened; where no year is known, how long after the first moment; else that it is not known."""
        bound = _BOUNDS.get(t.time_is, "")
        if t.time:
            return bound + clock(t.time, with_date=self._with_date)
        if t.after_s is not None:
            return f"{bound}+{duration(t.after_s)}"
        return self._say("undated") if any(e.time or e.after_s is not None for e in self._report.timeline) else ""

    def fact(self, item: tuple[str, Fact]) -> FactView:
        name, fact = item
        others = "; ".join(
            self._say("others-differ", who=who(self._say, o.ranks) or one_line(o.source), value=value_text(o.value))
            for o in fact.others[:4]
        )
        return FactView(
            one_line(name), value_text(fact.value), clip(others, 200), one_line(fact.source).removeprefix(self._folder)
        )

    def where(self, e: Evidence | None) -> str:
        """Where it stands, without the folder that all inputs share: proofs show that once in full."""
        return place(e.file, e.line).removeprefix(self._folder) if e and e.file else ""

    def gap(self, g: Gap) -> NoteView:
        how = self._say("next-time", how=prose(g.how, self._limits)) if g.how else ""
        text = prose(g.text, self._limits)
        if how and text[-1:] not in ".。!?)":
            text += self._say("stop").rstrip()  # what was not read is named without one
        return NoteView(text, how, command(g.command, self._limits))

    def notice(self, n: Notice) -> NoteView:
        commands = "\n".join(s.command for s in n.remedy if s.command)
        return NoteView(prose(n.text, self._limits), steps(n.remedy), command(commands, self._limits))

    def input(self, i: InputRow) -> InputView:
        skipped = self._say("not-read", why=one_line(i.skipped)) if i.skipped else ""
        file = one_line(i.file).removeprefix(self._folder)
        return InputView(file, byte_size(i.bytes), one_line(i.kind), who(self._say, i.ranks), skipped)

    def read(self) -> str:
        inputs, stats = self._report.inputs, self._report.stats
        files = sum(1 for i in inputs if not i.skipped)
        return self._say("read", files=files, size=byte_size(stats.bytes), events=stats.events) if inputs else ""


def _cut(rows: Iterable[S], most: int, convert: Callable[[S], T]) -> Cut[T]:
    rows = list(rows)
    shown = rows[:most]
    return Cut(tuple(map(convert, shown)), len(rows) - len(shown))


def _same(row: T) -> T:
    return row


def _other_job(j: OtherJob) -> NoteView:
    return NoteView(one_line(j.name), one_line(j.text), "")


def _place_of(s: Symptom) -> tuple[str, int]:
    return (s.first.file, s.first.line or 0) if s.first else ("", 0)
