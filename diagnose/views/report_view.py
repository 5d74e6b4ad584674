"""A `Report` in, what is shown of it out, for every form and user's template: short printable phrases, cut to limits.

No text in it holds a terminal sequence or control character; escaping for the form at hand is the renderer's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ..advice.statement import Evidence, Fact, Notice, RemedyStep
from ..catalogue.sentences import duration, size
from ..job.identity_table import GUESSED
from ..report import parts
from ..report.phrases import Say, clip, clock, known, one_day, one_line, place, printable, sentence, short_host, who, words
from ..report.report import Report
from . import folding
from .evidence import join_neighbours, view_evidence
from .folding import ALL, HOSTS_SHOWN, Cut, Limits, Row

View = dict[str, Any]
_BOUNDS = {"earliest": "≥ ", "latest": "≤ "}
_COUNTED = ("world_size", "hosts")  # facts that are a lower bound where nobody states them
REASONS_SHOWN = 2
FEW_PROOFS = 4  # of a form that shows more each one has its context
LEAST_DELAY_S = 1.0
SHOWN_IN_SECONDS = 120  # later moments as `+0:02:30`
BEARS_OUT = ("none", "concluded-certain")  # reasons why a verdict is certain; the others only say why it is no surer


def build_view(report: Report, limits: Limits, redacted: str = "") -> View:
    """Yield the view of a report: its texts, and each of its lists as a `Cut` of rows."""
    build, say, is_found = _Builder(report, words(report.language), limits), words(report.language), bool(report.diagnosis)
    found = report.diagnosis or parts.Diagnosis(cause="", summary=report.summary, remedy=report.collect)
    shown = folding.choose_moments(report.timeline, build.root, limits["timeline"])

    def cut(section: str, rows: Iterable[Any], convert: Callable[[Any], Any] | None = None) -> Cut:
        return folding.cut(rows, limits[section], convert)

    return {
        "language": report.language,
        "outcome": report.outcome,
        "outcome_word": say(report.outcome),
        "headline": sentence(build.prose(report.summary or found.summary or found.title or say(report.outcome))),
        "title": sentence(build.prose(found.title or found.cause)),
        "summary": build.prose(found.summary),
        "cause": one_line(found.cause),
        "certainty": found.certainty if is_found else "",
        "certainty_word": say(found.certainty) if is_found else "",
        "confidence": f"{found.confidence:.2f}" if is_found else "",
        "reason": build.reason(found),
        "culprits": cut("culprits", found.culprits, build.culprit),
        "culprit_names": build.culprit_names(),
        "nobody": folding.nobody(report, say),
        "owner": known(say, "owner", one_line(found.owner)) if found.owner else "",
        "restart": build.restart(found),
        "evidence": build.evidence(found),  # first: what it shows is not shown again below
        "remedy": cut("remedy", found.remedy, build.step),
        "references": tuple(map(one_line, found.references[: limits["references"]])),
        "consequences": cut("consequences", build.consequences(), build.once),
        "alternatives": cut("alternatives", folding.beaten(report), build.weighed),
        "survived": cut("survived", report.survived, build.symptom),
        "timeline": Cut(tuple(map(build.moment, shown)), len(report.timeline) - len(shown)),
        "ranks": cut("ranks", folding.fold_ranks(report.ranks, build.blamed, say)),
        "last_lines": cut("last_lines", report.last_lines, build.stop),
        "collectives": cut("collectives", folding.fold_collectives(report.collectives, say)),
        "stacks": cut("stacks", report.stacks, lambda s: folding.fold_stack(s, say, limits["frames"])),
        "attempts": cut("attempts", report.attempts, build.weighed),
        "other_jobs": cut("gaps", (j for j in report.other_jobs if j.name), lambda j: build.note(j.name, j.text, None)),
        "facts": cut("facts", folding.ordered_facts(report.facts), build.fact),
        "notices": cut("gaps", (n for n in report.notices if n.text), build.notice),
        "gaps": cut("gaps", (g for g in report.gaps if g.text), build.gap),
        "inputs": cut("inputs", sorted(report.inputs, key=lambda i: not i.skipped), build.input),
        "read": build.read(),
        "time_basis": say("time-basis", basis=one_line(report.time_basis)) if report.time_basis else "",
        "redacted": say("redacted", what=redacted) if redacted else "",
    }


class _Builder:
    """The conversions of single rows; holds what all of them need, and which messages are shown already."""

    def __init__(self, report: Report, say: Say, limits: Limits) -> None:
        self._report, self._say, self._limits = report, say, limits
        found = report.diagnosis
        culprits = found.culprits if found else ()
        self.root = found.cause if found else None
        self.blamed = frozenset(c.rank for c in culprits if c.rank is not None)
        self._hosts = tuple(dict.fromkeys(short_host(c.host) for c in culprits if c.host))
        self._blamed_hosts = frozenset(c.host for c in culprits if c.rank is None and c.host)
        self._folder = folding.common_folder([i.file for i in report.inputs])
        self._with_date = not one_day([t.time for t in report.timeline])
        self._shown: set[str] = set()
        self._title_of = {s.cause: one_line(s.title) for s in reversed(report.symptoms) if s.cause and s.title}
        if found and found.title:
            self._title_of[found.cause] = one_line(found.title)

    def prose(self, text: str) -> str:
        return clip(one_line(text), self._limits["prose"])

    def _command(self, command: str | None) -> str:
        """A command keeps its lines and their indentation, since it is there to be copied."""
        lines = [clip(line.rstrip(), self._limits["line"]) for line in printable(command or "").strip("\n").split("\n")]
        most = self._limits["command_lines"]
        return "\n".join(lines if len(lines) <= most else [*lines[:most], "…"])

    def _where(self, file: str, line: int | None = None) -> str:
        """Where it is, without the folder that all inputs share: proofs show that once in full."""
        return place(file, line).removeprefix(self._folder)

    def _clock(self, time: str | None) -> str:
        return clock(time, with_date=self._with_date)

    def culprit(self, c: parts.Culprit) -> str:
        say = self._say
        names = [say("rank", n=c.rank)] if c.rank is not None else []
        names += [say("host", name=short_host(c.host))] if c.host else []
        for key, number in (("gpu", c.gpu), ("local-rank", c.local_rank), ("pid", c.pid)):
            if number is not None and not (key == "local-rank" and number in (c.gpu, c.rank)):
                names.append(say(key, n=number))
        return clip(say("comma").join(names), self._limits["prose"])

    def culprit_names(self) -> str:
        if self.blamed or len(self._hosts) < 2:
            return who(self._say, sorted(self.blamed), next(iter(self._hosts), None))
        names = self._say("comma").join(self._hosts[:HOSTS_SHOWN])
        return self._say("host-list", names=names + (", …" if len(self._hosts) > HOSTS_SHOWN else ""))

    def reason(self, found: parts.Diagnosis) -> str:
        kept = [r for r in found.reasons if found.certainty != "certain" or r.name in BEARS_OUT]
        texts = list(dict.fromkeys(one_line(r.text) for r in kept))
        return self._say("semicolon").join(texts if self._limits["evidence"] == ALL else texts[:REASONS_SHOWN])

    def restart(self, found: parts.Diagnosis) -> str:
        """What follows for a restart; that none helps follows only from a cause that is certain."""
        is_sure = found.certainty == "certain" or (found.certainty == "likely" and found.restart != "no")
        if not is_sure or not found.restart:
            return ""
        if found.restart == "elsewhere" and self._hosts:
            return self._say("restart-without", hosts=", ".join(self._hosts[:HOSTS_SHOWN]))
        return known(self._say, "restart", one_line(found.restart))

    def evidence(self, found: parts.Diagnosis) -> Cut:
        """The proofs, each message once: of a later one only the line itself."""
        most, is_long = self._limits["evidence"], self._limits["evidence"] > FEW_PROOFS
        proofs = found.evidence[: most if is_long else 1 if self._report.last_lines else None]  # others are last lines
        fresh = [e for e in proofs if is_long or self._is_new(e.text)]
        views = join_neighbours([view_evidence(e, self._say, self._limits) for e in fresh])
        if is_long:
            return Cut(tuple(views), len(found.evidence) - len(proofs))
        for i, view in enumerate(views):
            if i and view.gap_after < 0:
                views[i] = replace(view, lines=tuple(line for line in view.lines if line.is_hit))
        return folding.cut(views, most)

    def step(self, s: RemedyStep) -> Row:
        told = {"when": s.when, "when_word": self._say(s.when)}
        return {**told, "text": self.prose(s.text), "command": self._command(s.command)}

    def _is_new(self, text: str) -> bool:
        """Whether this message was not shown yet; from now on it was."""
        key = folding.news(one_line(text))
        is_new = key not in self._shown
        self._shown.add(key)
        return is_new

    def once(self, m: Row) -> Row:
        """The message without its line where that was shown before."""
        is_new = self._limits["evidence"] == ALL or not m["line"] or self._is_new(m["line"])
        return m if is_new else {**m, "line": ""}

    def consequences(self) -> list[Row]:
        """The symptoms of each cause, with the link that leads to it."""
        links = {link.to: link for link in reversed(self._report.chain)}
        return [self.symptom(s, links.get(s.cause or "")) for s in folding.fold_symptoms(self._report.symptoms)]

    def symptom(self, s: parts.Symptom, link: parts.Link | None = None) -> Row:
        notes = []
        if s.count > max(1, len(s.ranks)) or s.at_least:
            notes.append(self._say("at-least-times" if s.at_least else "times", n=s.count))
        if link and link.delay_s is not None and link.delay_s >= LEAST_DELAY_S:
            notes.append(self._say("after", delay=duration(link.delay_s)))
        parent = link.from_ if link else s.explained_by
        why = one_line(link.why) if link and link.why != s.title else ""
        if parent and parent != self.root:  # what follows from the root itself is under a heading that says so
            why = self._say("explained-by", cause=self._title_of.get(parent, one_line(parent)))
        ranks = who(self._say, s.ranks, s.first.host if s.first else None)
        return self._message(s.cause, s.title or s.rule or "", ranks, s.first, notes, why)

    def _message(self, cause: str | None, title: str, who: str, first: Evidence | None, notes: list[str], why: str) -> Row:
        return {
            "cause": one_line(cause or ""),
            "title": sentence(self.prose(title or cause or "")),
            "who": who,
            "note": self._say("comma").join(notes),  # how often, how long after the root
            "why": self.prose(why).rstrip("."),  # why it is not the root
            "line": clip(one_line(first.text), self._limits["line"]) if first else "",
            "where": self._where(first.file, first.line) if first and first.file else "",
        }

    def weighed(self, a: parts.Alternative | parts.Attempt) -> Row:
        """Another cause that was weighed, or an attempt, with its line unless that was shown."""
        ranks, host = [c.rank for c in a.culprits if c.rank is not None], next((c.host for c in a.culprits if c.host), None)
        title, why, notes = (a.title, a.why_not, []) if isinstance(a, parts.Alternative) else self._attempt(a)
        names, first = who(self._say, ranks, host), next(iter(a.evidence), None)
        return self.once(self._message(a.cause, title, names, first, notes, why))

    def _attempt(self, a: parts.Attempt) -> tuple[str, str, list[str]]:
        span = " – ".join(clock(t, with_date=True) for t in (a.start, a.end) if t)
        return self._say("attempt", n=a.n), "", [x for x in (known(self._say, "", one_line(a.outcome)), span) if x]

    def moment(self, t: parts.TimelineEntry) -> Row:
        remarks = self._say("semicolon").join(self._remarks(t))
        blamed = bool(self.blamed.intersection(t.ranks)) or (not t.ranks and t.host in self._blamed_hosts)
        return {
            "time": self._when(t),
            "who": who(self._say, t.ranks, t.host),
            "layer": one_line(t.layer),
            "text": clip(sentence(one_line(t.text)), self._limits["line"])
            + (self._say("in-brackets", text=remarks) if remarks else ""),
            "where": self._where(t.ref or ""),
            "is_culprit": blamed and (len(t.ranks) <= len(self.blamed) or t.cause == self.root),
        }

    def _remarks(self, t: parts.TimelineEntry) -> Iterable[str]:
        say = self._say
        if t.attempt is not None:
            yield say("earlier-attempt", n=t.attempt)
        if t.waited_s is not None:
            since = {"time": self._clock(t.since)} if t.since else {}
            yield say("waiting-since" if since else "waited", seconds=duration(t.waited_s), **since)
        if t.until:
            yield say("until", time=self._clock(t.until))
        if t.is_late:
            yield say("printed-late")

    def _when(self, t: parts.TimelineEntry) -> str:
        """When it happened; where no year is known, how long after the first moment; else that it is not known."""
        bound = _BOUNDS.get(t.time_is, "")
        if t.time:
            return bound + self._clock(t.time)
        if t.after_s is None:
            return self._say("undated") if any(e.time or e.after_s is not None for e in self._report.timeline) else ""
        is_short = t.after_s < SHOWN_IN_SECONDS
        return f"{bound}+{duration(t.after_s) if is_short else timedelta(seconds=round(t.after_s))}"

    def stop(self, x: parts.LastLine) -> Row:
        return {
            "who": who(self._say, x.ranks, x.host),
            "last_step": "" if x.step is None else str(x.step),
            "phase": known(self._say, "phase", one_line(x.phase)) if x.phase else "",
            "time": self._clock(x.time),
            "last_line": self.prose(x.text),
            "where": self._where(x.file, x.line),
            "is_behind": x.is_behind,
        }

    def fact(self, item: tuple[str, Fact]) -> Row:
        name, fact = item
        differ = ((who(self._say, o.ranks) or one_line(o.source), folding.value_text(o.value)) for o in fact.others[:4])
        others = "; ".join(self._say("others-differ", who=names, value=value) for names, value in differ)
        value, is_bound = folding.value_text(fact.value), name in _COUNTED and fact.source == GUESSED
        value = self._say("at-least", n=value) if is_bound else value
        return {"name": one_line(name), "value": value, "others": clip(others, 200), "where": self._where(fact.source)}

    def note(self, text: str, how: str, command: str | None) -> Row:
        return {"text": self.prose(text), "how": one_line(how), "command": self._command(command)}

    def gap(self, g: parts.Gap) -> Row:
        needs_stop = g.how and self.prose(g.text)[-1:] not in ".。!?)"  # what was not read is named without one
        row = self.note(g.text, self._say("next-time", how=self.prose(g.how)) if g.how else "", g.command)
        return {**row, "text": row["text"] + (self._say("stop").rstrip() if needs_stop else "")}

    def notice(self, n: Notice) -> Row:
        return self.note(n.text, " ".join(s.text for s in n.remedy), "\n".join(s.command for s in n.remedy if s.command))

    def input(self, i: parts.InputRow) -> Row:
        skipped = self._say("not-read", why=one_line(i.skipped)) if i.skipped else ""
        told = {"file": self._where(i.file), "size": size(i.bytes), "kind": one_line(i.kind)}
        return {**told, "who": who(self._say, i.ranks), "skipped": skipped}

    def read(self) -> str:
        inputs, stats = self._report.inputs, self._report.stats
        files = sum(1 for i in inputs if not i.skipped)
        return self._say("read", files=files, size=size(stats.bytes), events=stats.events) if inputs else ""
