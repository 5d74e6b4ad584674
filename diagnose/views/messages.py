"""The messages of a report, folded: consequences, alternatives, survived errors, attempts; each text is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..report.language import Say, known
from ..report.phrases import clock, common_folder, duration, place, who
from ..report.printable import clip, one_line, sentence
from ..report.report import Alternative, Attempt, Evidence, Link, Report, Symptom
from .evidence import news
from .view import Limits, MessageView


class Messages:
    """The conversions of messages; remembers which texts were shown."""

    def __init__(self, report: Report, say: Say, limits: Limits) -> None:
        self._report, self._say, self._limits = report, say, limits
        self._folder = common_folder([i.file for i in report.inputs])
        self._shown: set[str] = set()
        found = report.diagnosis
        self._root = found.cause if found else None
        self._title_of = {s.cause: one_line(s.title) for s in reversed(report.symptoms) if s.cause and s.title}
        if found and found.title:
            self._title_of[found.cause] = one_line(found.title)

    def is_new(self, text: str) -> bool:
        """Whether this message was not shown yet; from now on it was."""
        key = news(one_line(text))
        is_new = key not in self._shown
        self._shown.add(key)
        return is_new

    def once(self, m: MessageView) -> MessageView:
        """The message without its line where that was shown before."""
        is_new = self._limits.is_full or not m.line or self.is_new(m.line)
        return m if is_new else replace(m, line="")

    def consequences(self) -> list[MessageView]:
        """The symptoms, each with the link that leads to it, then the links that no symptom shows."""
        links = {link.to: link for link in reversed(self._report.chain)}
        seen = {s.cause for s in self._report.symptoms}
        by_cause: dict[str | None, list[Symptom]] = {}
        for s in self._report.symptoms:
            by_cause.setdefault(s.cause, []).append(s)
        shown = [self._symptoms(group, links.get(cause or "")) for cause, group in by_cause.items()]
        return shown + [self._symptom(Symptom(x.to, ranks=x.ranks), x) for x in self._report.chain if x.to not in seen]

    def _symptoms(self, group: Sequence[Symptom], link: Link | None) -> MessageView:
        """What one cause made many messages say, as one: launchers report the same death three times."""
        first = min(group, key=lambda s: (s.first.file, s.first.line or 0) if s.first else ("", 0))
        ranks = tuple(sorted({rank for s in group for rank in s.ranks}))
        count, at_least = sum(s.count for s in group), any(s.at_least for s in group)
        return self._symptom(replace(first, ranks=ranks, count=count, at_least=at_least), link)

    def symptom(self, s: Symptom) -> MessageView:
        return self._symptom(s, None)

    def _symptom(self, s: Symptom, link: Link | None) -> MessageView:
        notes = []
        if s.count > max(1, len(s.ranks)) or s.at_least:
            notes.append(self._say("at-least-times" if s.at_least else "times", n=s.count))
        if link and link.delay_s is not None:
            notes.append(self._say("after", delay=duration(link.delay_s)))
        parent = link.from_ if link else s.explained_by
        why = one_line(link.why) if link and link.why != s.title else ""
        if parent and parent != self._root:  # what follows from the root itself is under a heading that says so
            why = self._say("explained-by", cause=self._title_of.get(parent, one_line(parent)))
        title, text = s.title or s.cause or s.rule or "", s.first.text if s.first else ""
        ranks = who(self._say, s.ranks, s.first.host if s.first else None)
        return self._message(s.cause, title, ranks, self._say("comma").join(notes), why, text, s.first)

    def _message(  # noqa: PLR0913, PLR0917  (one per column)
        self, cause: str | None, title: str, ranks: str, note: str, why: str, text: str, first: Evidence | None
    ) -> MessageView:
        limits = self._limits
        title, why = sentence(clip(one_line(title), limits.prose)), clip(one_line(why), limits.prose).rstrip(".")
        return MessageView(
            one_line(cause or ""), title, ranks, note, why, clip(one_line(text), limits.line), self.where(first)
        )

    def alternatives(self) -> list[Alternative]:
        """What could have been the root, without what is shown as a consequence."""
        told = {link.to for link in self._report.chain}
        shown = {(s.first.file, s.first.line) for s in self._report.symptoms if s.first is not None}
        left = (a for a in self._report.alternatives if a.cause not in told)
        return [a for a in left if not a.evidence or (a.evidence[0].file, a.evidence[0].line) not in shown]

    def alternative(self, a: Alternative) -> MessageView:
        ranks = [c.rank for c in a.culprits if c.rank is not None]
        first = next(iter(a.evidence), None)
        names = who(self._say, ranks, next((c.host for c in a.culprits if c.host), None))
        return self.once(
            self._message(a.cause, a.title or a.cause, names, "", a.why_not, first.text if first else "", first)
        )

    def attempt(self, a: Attempt) -> MessageView:
        first = next(iter(a.evidence), None)
        span = " – ".join(clock(t, with_date=True) for t in (a.start, a.end) if t)
        note = self._say("comma").join(x for x in (known(self._say, "", one_line(a.outcome)), span) if x)
        names = who(self._say, [c.rank for c in a.culprits if c.rank is not None])
        title, text = self._say("attempt", n=a.n), first.text if first else ""
        return self.once(self._message(a.cause, title, names, note, "", text, first))

    def where(self, e: Evidence | None) -> str:
        """Where it is, without the folder that all inputs share: proofs show that once in full."""
        return place(e.file, e.line).removeprefix(self._folder) if e and e.file else ""
