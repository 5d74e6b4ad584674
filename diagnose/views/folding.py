"""Thousands of rows in, a few folded lines out: ranks that tell the same are one line, and each message is shown once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..advice.statement import Evidence, Fact
from ..catalogue.sentences import duration
from ..report import parts
from ..report.phrases import Say, clock, common_folder, known, one_day, place, short_host, who
from ..report.printable import clip, one_line, sentence
from ..report.report import Report
from .evidence import news
from .view import CollectiveLine, Limits, MessageView, RankLine, StackLine

# --- tables --------------------------------------------------------------------------------------------------------------

HOSTS_SHOWN = 3
LEAST_DELAY_S = 1.0
FACTS_FIRST = ("world_size", "nnodes", "hosts", "gpus_per_node", "gpu_model", "framework", "launcher", "torch_version",
               "nccl_version", "cuda_version")  # fmt: skip
ROOT_MOMENTS = 3  # that tell of the root cause and are in the timeline, however short it is
Moment = tuple[parts.TimelineEntry, str | None]  # what happened, and until when
_COLUMNS = ("group", "who", "operation", "stuck", "enqueued", "completed", "sizes", "verdict")
_RANK_COLUMNS = ("who", "state", "last_step", "last_seen", "hosts")


def fold_ranks(rows: Sequence[parts.RankRow], blamed: Collection[int], say: Say) -> list[RankLine]:
    """Yield the culprits first, then groups of ranks, the smaller (the odd ones) first."""
    groups: dict[tuple[bool, str, int | None], list[parts.RankRow]] = defaultdict(list)
    for row in rows:
        groups[row.rank not in blamed, row.state, row.last_step].append(row)
    lines = []
    with_date = not one_day([row.last_time for row in rows])
    for (innocent, state, step), members in sorted(groups.items(), key=lambda g: (g[0][0], len(g[1]), g[1][0].rank)):
        last = max((m.last_time for m in members if m.last_time), default=None)
        hosts = sorted({m.host for m in members if m.host})
        names = ", ".join(map(short_host, hosts[:HOSTS_SHOWN]))
        lines.append(
            RankLine(
                who(say, [m.rank for m in members]),
                f"{names}, … ({len(hosts)})" if len(hosts) > HOSTS_SHOWN else names,
                one_line(known(say, "state", state)),
                "" if step is None else str(step),
                clock(last, with_date=with_date),
                not innocent,
            )
        )
    return lines


def fold_timeline(entries: Sequence[parts.TimelineEntry]) -> list[Moment]:
    """Yield neighbours that say the same as one entry, with the time of the last where that differs."""
    folded: list[Moment] = []
    for entry in entries:
        if folded and _same_news(folded[-1][0], entry):
            first, until = folded[-1]
            joined = replace(first, ranks=tuple(sorted({*first.ranks, *entry.ranks})))
            folded[-1] = (joined, entry.time if entry.time != first.time else until)
        else:
            folded.append((entry, None))
    return folded


def choose_moments(moments: Sequence[Moment], root: str | None, most: int) -> list[Moment]:
    """Yield so many at most, in order: what tells of the root cause stays where hundreds of ranks failed around it."""
    of_root = [i for i, (entry, _) in enumerate(moments) if entry.cause == root][:ROOT_MOMENTS]
    others = [i for i in range(len(moments)) if i not in of_root]
    return [moments[i] for i in sorted([*of_root, *others][:most])]


def _same_news(a: parts.TimelineEntry, b: parts.TimelineEntry) -> bool:
    alike = (a.cause, a.rule, a.text, a.attempt) == (b.cause, b.rule, b.text, b.attempt)
    return bool(a.ranks and b.ranks) and alike


def fold_collectives(rows: Sequence[parts.CollectiveRow], say: Say) -> list[CollectiveLine]:
    """Yield one line per group and position; within a group the odd ones come first."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for r in rows:
        sizes = " → ".join(f"{n:,}" for n in r.sizes[:4])
        numbers = [("" if n is None else str(n)) for n in (r.stuck, r.enqueued, r.completed)]
        verdict = one_line(known(say, "state", r.verdict)) if r.verdict else ""
        key = (one_line(r.group), one_line(r.op or ""), sizes, *numbers, verdict)
        groups[key] += [] if r.rank is None else [r.rank]
    lines = []
    for key, ranks in sorted(groups.items(), key=lambda g: (g[0][0], len(g[1]), g[0])):
        group, op, sizes, stuck, enqueued, completed, verdict = key
        lines.append(CollectiveLine(group, who(say, ranks), op, sizes, stuck, enqueued, completed, verdict))
    return lines


def fold_stacks(stacks: Sequence[parts.StackGroup], say: Say, frames: int) -> list[StackLine]:
    """Yield each group with at most so many frames: the outermost and, more of them, the innermost."""
    return [StackLine(who(say, s.ranks) or say("stack-of-nobody"), s.count, _frames(s.frames, frames)) for s in stacks]


def _frames(frames: Sequence[str], most: int) -> tuple[str, ...]:
    shown = tuple(clip(one_line(f), 200) for f in frames)
    outer = most // 3
    return shown if len(shown) <= most else (*shown[:outer], "…", *shown[-(most - outer - 1) :])


def ordered_facts(facts: Mapping[str, Fact]) -> list[tuple[str, Fact]]:
    """Yield the facts on which ranks differ, then what a maintainer asks first, then versions, then the rest."""

    def key(item: tuple[str, Fact]) -> tuple[bool, int, bool, str]:
        name, fact = item
        place = FACTS_FIRST.index(name) if name in FACTS_FIRST else len(FACTS_FIRST)
        return (not fact.others, place, not name.endswith("_version"), name)

    return sorted(facts.items(), key=key)


def filled(rows: Sequence[CollectiveLine] | Sequence[RankLine]) -> list[str]:
    """Yield the columns in which any row has something, in order."""
    columns = _RANK_COLUMNS if rows and isinstance(rows[0], RankLine) else _COLUMNS
    return [c for c in columns if any(getattr(row, c) for row in rows)]


# --- messages ------------------------------------------------------------------------------------------------------------


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
        """The symptoms of each cause, with the link that leads to it."""
        links = {link.to: link for link in reversed(self._report.chain)}
        by_cause: dict[str | None, list[parts.Symptom]] = {}
        for s in self._report.symptoms:
            by_cause.setdefault(s.cause, []).append(s)
        return [self._symptoms(group, links.get(cause or "")) for cause, group in by_cause.items()]

    def _symptoms(self, group: Sequence[parts.Symptom], link: parts.Link | None) -> MessageView:
        """What one cause made many messages say, as one: launchers report the same death three times."""
        first = min(group, key=lambda s: (s.first.file, s.first.line or 0) if s.first else ("", 0))
        ranks = tuple(sorted({rank for s in group for rank in s.ranks}))
        count, at_least = sum(s.count for s in group), any(s.at_least for s in group)
        return self._symptom(replace(first, ranks=ranks, count=count, at_least=at_least), link)

    def symptom(self, s: parts.Symptom) -> MessageView:
        return self._symptom(s, None)

    def _symptom(self, s: parts.Symptom, link: parts.Link | None) -> MessageView:
        notes = []
        if s.count > max(1, len(s.ranks)) or s.at_least:
            notes.append(self._say("at-least-times" if s.at_least else "times", n=s.count))
        if link and link.delay_s is not None and link.delay_s >= LEAST_DELAY_S:
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

    def alternatives(self) -> list[parts.Alternative]:
        """What could have been the root, without what is shown as a consequence."""
        told = {link.to for link in self._report.chain}
        shown = {(s.first.file, s.first.line) for s in self._report.symptoms if s.first is not None}
        left = (a for a in self._report.alternatives if a.cause not in told)
        return [a for a in left if not a.evidence or (a.evidence[0].file, a.evidence[0].line) not in shown]

    def alternative(self, a: parts.Alternative) -> MessageView:
        ranks = [c.rank for c in a.culprits if c.rank is not None]
        first = next(iter(a.evidence), None)
        names = who(self._say, ranks, next((c.host for c in a.culprits if c.host), None))
        return self.once(
            self._message(a.cause, a.title or a.cause, names, "", a.why_not, first.text if first else "", first)
        )

    def attempt(self, a: parts.Attempt) -> MessageView:
        first = next(iter(a.evidence), None)
        span = " – ".join(clock(t, with_date=True) for t in (a.start, a.end) if t)
        note = self._say("comma").join(x for x in (known(self._say, "", one_line(a.outcome)), span) if x)
        names = who(self._say, [c.rank for c in a.culprits if c.rank is not None])
        title, text = self._say("attempt", n=a.n), first.text if first else ""
        return self.once(self._message(a.cause, title, names, note, "", text, first))

    def where(self, e: Evidence | None) -> str:
        """Where it is, without the folder that all inputs share: proofs show that once in full."""
        return place(e.file, e.line).removeprefix(self._folder) if e and e.file else ""
