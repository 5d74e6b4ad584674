"""Thousands of rows in, a few folded lines out (`limits.yaml`): short phrases, for templates (docs/templates.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..advice.statement import Evidence, Fact
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record
from ..report import parts
from ..report.phrases import FROM_OUTSIDE, Say, clip, clock, known, one_day, one_line, short_host, who
from ..report.report import Report

Row = dict[str, Any]
Limits = Mapping[str, int]
LIMITS = Path(__file__).with_name("limits.yaml")
ALL = 1_000_000
HOSTS_SHOWN = 3
AT_FAULT = ("config", "software", "platform", "storage")  # layers and owners of causes for which no rank is at fault
ONLY_FOLLOWS = {"hinted", "aftermath", "concluded-certain", "concluded-likely", "concluded-possible"}
UNSURE_WHO = {*ONLY_FOLLOWS, "nobody-named"}
WAITING_ALIKE = ("collective.timeout", "collective.desync")  # of what hangs: all wait, and none is known to be late
OF_NO_HOST = ("0.0.0.0", "127.0.0.1", "localhost")
ROOT_MOMENTS = 3  # that tell of the root cause and are in the timeline, however short it is
NUMBERS = lazy(r"(?i)rank ?\d+|\d{4,}|\d\d:\d\d[:.\d]*")  # of ranks, processes and clocks
ALIKE_CHARS = 160


def limits_of(form: str, *, full: bool = False) -> Limits:
    """Yield how many rows of each section a form shows; `full` folds nothing."""
    normal = tables(LIMITS)["normal"]
    return dict.fromkeys(normal, ALL) if full else {**normal, **tables(LIMITS).get(form, {})}


@record
class Cut:
    """The rows that are shown, and how many more there are; without any it is false."""

    shown: tuple[Any, ...] = ()
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.shown)


def cut(rows: Iterable[Any], most: int, convert: Callable[[Any], Any] | None = None) -> Cut:
    """Yield the first rows, converted, and how many more there are."""
    rows = list(rows)
    return Cut(tuple(map(convert, rows[:most]) if convert else rows[:most]), max(0, len(rows) - most))


def news(text: str) -> str:
    """Yield what a message says, without the numbers by which ranks that say the same differ."""
    return NUMBERS.sub("#", text)[:ALIKE_CHARS]


def fold_ranks(rows: Sequence[parts.RankRow], blamed: Collection[int], say: Say) -> list[Row]:
    """Yield the culprits first, then groups of ranks, the smaller (the odd ones) first."""
    groups: dict[tuple[bool, str, int | None], list[parts.RankRow]] = defaultdict(list)
    for row in rows:
        groups[row.rank not in blamed, row.state, row.last_step].append(row)
    lines, with_date = [], not one_day([row.last_time for row in rows])
    for (innocent, state, step), members in sorted(groups.items(), key=lambda g: (g[0][0], len(g[1]), g[1][0].rank)):
        last = max((m.last_time for m in members if m.last_time), default=None)
        shown = {"who": who(say, [m.rank for m in members]), "state": one_line(known(say, "state", state))}
        shown |= {"last_step": "" if step is None else str(step), "last_seen": clock(last, with_date=with_date)}
        lines.append({**shown, "hosts": _names({m.host for m in members if m.host}), "is_culprit": not innocent})
    return lines


def _names(hosts: Collection[str]) -> str:
    names = ", ".join(map(short_host, sorted(hosts)[:HOSTS_SHOWN]))
    return f"{names}, … ({len(hosts)})" if len(hosts) > HOSTS_SHOWN else names


def choose_moments(moments: Sequence[parts.TimelineEntry], root: str | None, most: int) -> list[parts.TimelineEntry]:
    """Yield so many at most, in order: what tells of the root cause stays where hundreds of ranks failed around it."""
    of_root = [i for i, entry in enumerate(moments) if entry.cause == root][:ROOT_MOMENTS]
    others = [i for i in range(len(moments)) if i not in of_root]
    return [moments[i] for i in sorted([*of_root, *others][:most])]


def fold_collectives(rows: Sequence[parts.CollectiveRow], say: Say) -> list[Row]:
    """Yield one line per group and position; within a group the odd ones come first."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for r in rows:
        sizes = " → ".join(f"{n:,}" for n in r.sizes[:4])
        numbers = ["" if n is None else str(n) for n in (r.stuck, r.enqueued, r.completed)]
        verdict = one_line(known(say, "state", r.verdict)) if r.verdict else ""
        key = (one_line(r.group), one_line(r.op or ""), sizes, *numbers, verdict)
        groups[key] += [] if r.rank is None else [r.rank]
    lines = []
    for key, ranks in sorted(groups.items(), key=lambda g: (g[0][0], len(g[1]), g[0])):
        group, op, sizes, *numbers, verdict = key
        at = dict(zip(("stuck", "enqueued", "completed"), numbers, strict=True))
        lines.append({"group": group, "who": who(say, ranks), "operation": op, **at, "sizes": sizes, "verdict": verdict})
    return lines


def fold_stack(s: parts.StackGroup, say: Say, most: int) -> Row:
    """Yield a group with at most so many frames: the outermost and, more of them, the innermost."""
    frames, outer = [clip(one_line(f), 200) for f in s.frames], most // 3
    shown = frames if len(frames) <= most else [*frames[:outer], "…", *frames[-(most - outer - 1) :]]
    return {"who": who(say, s.ranks) or say("stack-of-nobody"), "count": s.count, "frames": shown}


def ordered_facts(facts: Mapping[str, Fact]) -> list[tuple[str, Fact]]:
    """Yield the facts on which ranks differ, then what a maintainer asks first, then versions, then the rest."""
    order = {name: number for number, name in enumerate(tables(LIMITS)["facts_first"])}
    last = len(order)
    return sorted(
        facts.items(), key=lambda f: (not f[1].others, order.get(f[0], last), not f[0].endswith("_version"), f[0])
    )


def filled(rows: Sequence[Row]) -> list[str]:
    """Yield the columns in which any row has something to show."""
    texts = [column for column, value in rows[0].items() if isinstance(value, str)] if rows else []
    return [column for column in texts if any(row[column] for row in rows)]


def fold_symptoms(symptoms: Sequence[parts.Symptom]) -> list[parts.Symptom]:
    """Yield what one cause made many messages say as one: launchers report the same death three times."""
    by_cause: dict[str | None, list[parts.Symptom]] = defaultdict(list)
    for s in symptoms:
        by_cause[s.cause].append(s)
    folded = []
    for group in by_cause.values():
        first = min(group, key=lambda s: (s.first.file, s.first.line or 0) if s.first else ("", 0))
        ranks, count = tuple(sorted({rank for s in group for rank in s.ranks})), max(s.count for s in group)
        folded.append(replace(first, ranks=ranks, count=count, at_least=any(s.at_least for s in group)))
    return folded


def beaten(report: Report) -> list[parts.Alternative]:
    """Yield what could have been the root, without what is shown as a consequence."""
    told = {link.to for link in report.chain}
    shown = {(s.first.file, s.first.line) for s in report.symptoms if s.first is not None}
    left = (a for a in report.alternatives if a.cause not in told)
    return [a for a in left if not a.evidence or (a.evidence[0].file, a.evidence[0].line) not in shown]


def nobody(report: Report, say: Say) -> str:
    """Yield why no culprit is named: all ranks fail alike, it is no rank's fault, or what the logs don't show."""
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
    seen = _seen(found.evidence, say)
    if fault in AT_FAULT:
        return say(f"nobody-{fault}") + (say("in-brackets", text=seen) if seen and fault == "platform" else "")
    failed = [r.rank for r in ranks if r.state == "failed"]
    follows = unsure & ONLY_FOLLOWS
    if report.outcome == "hung" and found.cause in WAITING_ALIKE:
        return say("nobody-waits")
    if failed := failed or sorted({e.rank for e in found.evidence if e.rank is not None}):
        return say("nobody-caused" if follows else "nobody-first", who=who(say, failed))
    seen = seen or one_line(next((e.speaker for e in found.evidence if e.speaker), ""))
    return say("nobody-named" if follows else "nobody-seen", where=seen) if seen else say("nobody")


def _seen(evidence: Sequence[Evidence], say: Say) -> str:
    """What proofs that name no rank name instead: `host node-a, GPU 3, pid 4711`."""
    words = tables(LIMITS)["names_in_proofs"].items()
    for e in evidence:
        named = [(key, str(e.fields[f])) for f, key in words if e.fields.get(f) not in (None, *OF_NO_HOST)]
        hosts = [*(n for key, n in named if key == "peer"), e.host, *(n for key, n in named if key == "host")]
        several = list(dict.fromkeys(short_host(x.host) for x in evidence if x.host))
        names = [say("host", name=short_host(name)) for name in hosts if name][:1]
        names = [say("host-list", names=", ".join(several[:HOSTS_SHOWN]))] if names and len(several) > 1 else names
        if names := names + [say(key, n=one_line(name)) for key, name in named if key not in ("host", "peer")]:
            return say("comma").join(names)
    return ""


def common_folder(files: Sequence[str]) -> str:
    """Yield the folder (`a/b/`) in which all the files lie; nothing where they share none."""
    folders = [one_line(f).rpartition("!")[0].split("/")[:-1] or one_line(f).split("/")[:-1] for f in files]
    shared = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))]
    return "/".join(shared) + "/" if shared else ""


def value_text(value: object) -> str:
    """Yield a fact's value as it reads in a table."""
    return clip(one_line(", ".join(map(str, value)) if isinstance(value, tuple) else str(value)), 200)
