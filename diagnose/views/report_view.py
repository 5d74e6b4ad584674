"""A `Report` in, a `View` out: the same facts as short printable phrases in one language, cut to limits.

Every renderer and every user's template lays out this view (docs/templates.md); none of them decides anything.
No text in it holds a terminal sequence or control character; escaping for the form at hand is the renderer's work.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar

from ..advice.statement import Fact, Notice, RemedyStep
from ..catalogue.sentences import duration, size
from ..job.identity_table import GUESSED
from ..report import parts
from ..report.phrases import (
    FROM_OUTSIDE,
    Say,
    clock,
    common_folder,
    known,
    one_day,
    place,
    short_host,
    value_text,
    who,
    words,
)
from ..report.printable import clip, one_line, printable, sentence
from ..report.report import Report
from . import folding
from .evidence import hit_alone, join_neighbours, seen_at, view_evidence
from .folding import Messages, Moment
from .view import (
    NORMAL,
    Cut,
    EvidenceView,
    FactView,
    InputView,
    Limits,
    NoteView,
    StepView,
    StopView,
    TimeView,
    View,
    cut,
)

T = TypeVar("T")
_BOUNDS = {"earliest": "≥ ", "latest": "≤ "}
_COUNTED = ("world_size", "hosts")  # facts that are a lower bound where nobody states them
HOSTS_SHOWN = 3
REASONS_SHOWN = 2
SHOWN_IN_SECONDS = 120  # later moments as `+0:02:30`
AT_FAULT = ("config", "software", "platform", "storage")  # layers and owners of causes for which no rank is at fault
ONLY_FOLLOWS = {"hinted", "aftermath", "concluded-certain", "concluded-likely", "concluded-possible"}
UNSURE_WHO = {*ONLY_FOLLOWS, "nobody-named"}
BEARS_OUT = ("none", "concluded-certain")  # reasons why a verdict is certain; the others only say why it is no surer


def build_view(report: Report, limits: Limits, redacted: str = "") -> View:
    """Yield the view of a report."""
    say, found = words(report.language), report.diagnosis
    build = _Builder(report, say, limits)
    messages = build.messages
    moments = folding.fold_timeline(report.timeline)
    shown = folding.choose_moments(moments, found.cause if found else None, limits.timeline)
    headline = one_line(report.summary or (found.summary or found.title if found else "")) or say(report.outcome)
    evidence = build.evidence(found)  # first: what it shows is not shown again below
    return View(
        language=report.language,
        outcome=report.outcome,
        outcome_word=say(report.outcome),
        headline=sentence(clip(headline, limits.prose)),
        title=clip(sentence(one_line(found.title or found.cause)), limits.prose) if found else "",
        summary=clip(one_line(found.summary if found else report.summary), limits.prose),
        cause=one_line(found.cause) if found else "",
        certainty=found.certainty if found else "",
        certainty_word=say(found.certainty) if found else "",
        confidence=f"{found.confidence:.2f}" if found else "",
        reason=build.reason(found) if found else "",
        culprits=cut(found.culprits if found else (), limits.culprits, build.culprit),
        culprit_names=build.culprit_names(),
        nobody=_nobody(report, say),
        owner=known(say, "owner", one_line(found.owner)) if found and found.owner else "",
        restart=build.restart(found) if found else "",
        evidence=evidence,
        remedy=cut(found.remedy if found else report.collect, limits.remedy, build.step),
        references=tuple(one_line(r) for r in found.references[: limits.references]) if found else (),
        consequences=cut(messages.consequences(), limits.consequences, messages.once),
        alternatives=cut(messages.alternatives(), limits.alternatives, messages.alternative),
        survived=cut(report.survived, limits.survived, messages.symptom),
        timeline=Cut(tuple(map(build.moment, shown)), len(moments) - len(shown)),
        ranks=cut(folding.fold_ranks(report.ranks, build.blamed, say), limits.ranks, _same),
        last_lines=cut(report.last_lines, limits.last_lines, build.stop),
        collectives=cut(folding.fold_collectives(report.collectives, say), limits.collectives, _same),
        stacks=cut(folding.fold_stacks(report.stacks, say, limits.frames), limits.stacks, _same),
        attempts=cut(report.attempts, limits.attempts, messages.attempt),
        other_jobs=cut((j for j in report.other_jobs if j.name), limits.gaps, _other_job),
        facts=cut(folding.ordered_facts(report.facts), limits.facts, build.fact),
        notices=cut((n for n in report.notices if n.text), limits.gaps, build.notice),
        gaps=cut((g for g in report.gaps if g.text), limits.gaps, build.gap),
        inputs=cut(sorted(report.inputs, key=lambda i: not i.skipped), limits.inputs, build.input),
        read=build.read(),
        time_basis=say("time-basis", basis=one_line(report.time_basis)) if report.time_basis else "",
        redacted=say("redacted", what=redacted) if redacted else "",
    )


class _Builder:
    """The conversions of single rows; holds what all of them need, and which messages are shown already."""

    def __init__(self, report: Report, say: Say, limits: Limits) -> None:
        self._report, self._say, self._limits = report, say, limits
        found = report.diagnosis
        culprits = found.culprits if found else ()
        self.blamed = frozenset(c.rank for c in culprits if c.rank is not None)
        self._hosts = tuple(dict.fromkeys(short_host(c.host) for c in culprits if c.host))
        self._blamed_hosts = frozenset(c.host for c in culprits if c.rank is None and c.host)
        self._folder = common_folder([i.file for i in report.inputs])
        self._root = found.cause if found else None
        self._with_date = not one_day([t.time for t in report.timeline])
        self.messages = Messages(report, say, limits)

    # --- the first screen

    def culprit(self, c: parts.Culprit) -> str:
        say = self._say
        names = [say("rank", n=c.rank)] if c.rank is not None else []
        names += [say("host", name=short_host(c.host))] if c.host else []
        for key, number in (("gpu", c.gpu), ("local-rank", c.local_rank), ("pid", c.pid)):
            if number is not None and not (key == "local-rank" and number in (c.gpu, c.rank)):
                names.append(say(key, n=number))
        return clip(say("comma").join(names), self._limits.prose)

    def culprit_names(self) -> str:
        if self.blamed:
            return who(self._say, sorted(self.blamed))
        if len(self._hosts) < 2:
            return self._say("host", name=self._hosts[0]) if self._hosts else ""
        names = self._say("comma").join(self._hosts[:HOSTS_SHOWN])
        return self._say("host-list", names=names + (", …" if len(self._hosts) > HOSTS_SHOWN else ""))

    def reason(self, found: parts.Diagnosis) -> str:
        kept = [r for r in found.reasons if found.certainty != "certain" or r.name in BEARS_OUT]
        texts = list(dict.fromkeys(one_line(r.text) for r in kept))
        return self._say("semicolon").join(texts if self._limits.is_full else texts[:REASONS_SHOWN])

    def restart(self, found: parts.Diagnosis) -> str:
        """What follows for a restart; that none helps follows only from a cause that is certain."""
        is_sure = found.certainty == "certain" or (found.certainty == "likely" and found.restart != "no")
        if not is_sure or not found.restart:
            return ""
        if found.restart == "elsewhere" and self._hosts:
            return self._say("restart-without", hosts=", ".join(self._hosts[:HOSTS_SHOWN]))
        return known(self._say, "restart", one_line(found.restart))

    def evidence(self, found: parts.Diagnosis | None) -> Cut[EvidenceView]:
        """The proofs, each message once: of a later one only the line itself."""
        if found is None:
            return Cut()
        limits = self._limits
        if limits.evidence > NORMAL.evidence:
            shown = found.evidence[: limits.evidence]
            views = join_neighbours([view_evidence(e, self._say, limits) for e in shown])
            return Cut(tuple(views), len(found.evidence) - len(shown))
        proofs = found.evidence[:1] if self._report.last_lines else found.evidence  # the others are among the last lines
        fresh = [e for e in proofs if self.messages.is_new(e.text)]
        views = join_neighbours([view_evidence(e, self._say, limits) for e in fresh])
        alone = tuple(e if i == 0 else hit_alone(e) for i, e in enumerate(views[: limits.evidence]))
        return Cut(alone, len(views) - len(alone))

    def step(self, s: RemedyStep) -> StepView:
        return StepView(s.when, self._say(s.when), self._prose(s.text), self._command(s.command))

    def _prose(self, text: str) -> str:
        return clip(one_line(text), self._limits.prose)

    def _command(self, command: str | None) -> str:
        """A command keeps its lines and their indentation, since it is there to be copied."""
        lines = [clip(line.rstrip(), self._limits.line) for line in printable(command or "").strip("\n").split("\n")]
        most = self._limits.command_lines
        return "\n".join(lines if len(lines) <= most else [*lines[:most], "…"])

    # --- tables

    def moment(self, folded: Moment) -> TimeView:
        t, until = folded
        text = clip(sentence(one_line(t.text)), self._limits.line)
        remarks = self._say("semicolon").join(self._remarks(t, until))
        if remarks:
            text += self._say("in-brackets", text=remarks)
        blamed = bool(self.blamed.intersection(t.ranks)) or (not t.ranks and t.host in self._blamed_hosts)
        return TimeView(
            self._when(t),
            who(self._say, t.ranks, t.host),
            one_line(t.layer),
            text,
            one_line(t.ref or "").removeprefix(self._folder),
            blamed and (len(t.ranks) <= len(self.blamed) or t.cause == self._root),
        )

    def _remarks(self, t: parts.TimelineEntry, until: str | None) -> Iterable[str]:
        say = self._say
        if t.attempt is not None:
            yield say("earlier-attempt", n=t.attempt)
        if t.waited_s is not None and t.since:
            since = clock(t.since, with_date=self._with_date)
            yield say("waiting-since", time=since, seconds=duration(t.waited_s))
        elif t.waited_s is not None:
            yield say("waited", seconds=duration(t.waited_s))
        if end := until or t.until:
            yield say("until", time=clock(end, with_date=self._with_date))
        if t.is_late:
            yield say("printed-late")

    def _when(self, t: parts.TimelineEntry) -> str:
        """When it happened; where no year is known, how long after the first moment; else that it is not known."""
        bound = _BOUNDS.get(t.time_is, "")
        if t.time:
            return bound + clock(t.time, with_date=self._with_date)
        if t.after_s is not None:
            is_short = t.after_s < SHOWN_IN_SECONDS
            return f"{bound}+{duration(t.after_s) if is_short else timedelta(seconds=round(t.after_s))}"
        return self._say("undated") if any(e.time or e.after_s is not None for e in self._report.timeline) else ""

    def stop(self, x: parts.LastLine) -> StopView:
        phase = known(self._say, "phase", one_line(x.phase)) if x.phase else ""
        where = place(x.file, x.line).removeprefix(self._folder)
        step = "" if x.step is None else str(x.step)
        time = clock(x.time, with_date=self._with_date)
        return StopView(who(self._say, x.ranks, x.host), step, phase, time, self._prose(x.text), where, x.is_behind)

    def fact(self, item: tuple[str, Fact]) -> FactView:
        name, fact = item
        others = "; ".join(
            self._say("others-differ", who=who(self._say, o.ranks) or one_line(o.source), value=value_text(o.value))
            for o in fact.others[:4]
        )
        value = value_text(fact.value)
        is_bound = name in _COUNTED and fact.source == GUESSED
        value = self._say("at-least", n=value) if is_bound else value
        return FactView(one_line(name), value, clip(others, 200), one_line(fact.source).removeprefix(self._folder))

    def gap(self, g: parts.Gap) -> NoteView:
        how = self._say("next-time", how=self._prose(g.how)) if g.how else ""
        text = self._prose(g.text)
        if how and text[-1:] not in ".。!?)":
            text += self._say("stop").rstrip()  # what was not read is named without one
        return NoteView(text, how, self._command(g.command))

    def notice(self, n: Notice) -> NoteView:
        commands = "\n".join(s.command for s in n.remedy if s.command)
        how = " ".join(one_line(step.text) for step in n.remedy)
        return NoteView(self._prose(n.text), how, self._command(commands))

    def input(self, i: parts.InputRow) -> InputView:
        skipped = self._say("not-read", why=one_line(i.skipped)) if i.skipped else ""
        file = one_line(i.file).removeprefix(self._folder)
        return InputView(file, size(i.bytes), one_line(i.kind), who(self._say, i.ranks), skipped)

    def read(self) -> str:
        inputs, stats = self._report.inputs, self._report.stats
        files = sum(1 for i in inputs if not i.skipped)
        return self._say("read", files=files, size=size(stats.bytes), events=stats.events) if inputs else ""


def _nobody(report: Report, say: Say) -> str:
    """Why no culprit is named: all ranks fail alike, it is no rank's fault, or what the logs don't show."""
    found = report.diagnosis
    if found is None or found.culprits:
        return ""
    if found.cause in FROM_OUTSIDE:
        return say("nobody-outside")
    ranks, world = report.ranks, report.facts.get("world_size")
    whole = len(ranks) > 1 and (world is None or world.value == len(ranks))  # who left no log may be the reason
    if whole and all(r.first_failure and r.first_failure.cause == found.cause for r in ranks):
        return say("both-alike") if len(ranks) == 2 else say("all-alike", n=len(ranks))
    layer, unsure = found.cause.partition(".")[0], {r.name for r in found.reasons} & UNSURE_WHO
    fault = layer if layer in ("config", "software") else "" if unsure else layer if layer in AT_FAULT else found.owner
    seen = seen_at(found.evidence[0], say) if found.evidence else ""
    if fault in AT_FAULT:
        return say(f"nobody-{fault}") + (say("in-brackets", text=seen) if seen and fault == "platform" else "")
    failed = [r.rank for r in ranks if r.state == "failed"]
    if failed := failed or sorted({e.rank for e in found.evidence if e.rank is not None}):
        return say("nobody-caused" if unsure & ONLY_FOLLOWS else "nobody-first", who=who(say, failed))
    return say("nobody-seen", where=seen) if seen else say("nobody")


def _same(row: T) -> T:
    return row


def _other_job(j: parts.OtherJob) -> NoteView:
    return NoteView(one_line(j.name), one_line(j.text), "")
