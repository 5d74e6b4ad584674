"""Thousands of rows in, a few folded lines out: ranks that tell the same are one line with their ranges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..report.language import Say, known
from ..report.phrases import clock, one_day, who
from ..report.printable import clip, one_line
from ..report.report import CollectiveRow, Fact, RankRow, StackGroup, TimelineEntry
from .view import CollectiveLine, RankLine, StackLine

HOSTS_SHOWN = 3
FACTS_FIRST = ("world_size", "nnodes", "hosts", "gpus_per_node", "gpu_model", "framework", "launcher", "torch_version",
               "nccl_version", "cuda_version")  # fmt: skip
ROOT_MOMENTS = 3  # that tell of the root cause and are in the timeline, however short it is
Moment = tuple[TimelineEntry, str | None]  # what happened, and until when
_COLUMNS = ("group", "who", "operation", "stuck", "enqueued", "completed", "sizes", "verdict")
_RANK_COLUMNS = ("who", "state", "last_step", "last_seen", "hosts")


def fold_ranks(rows: Sequence[RankRow], blamed: Collection[int], say: Say) -> list[RankLine]:
    """Yield the culprits first, then groups of ranks, the smaller (the odd ones) first."""
    groups: dict[tuple[bool, str, int | None], list[RankRow]] = defaultdict(list)
    for row in rows:
        groups[row.rank not in blamed, row.state, row.last_step].append(row)
    lines = []
    with_date = not one_day([row.last_time for row in rows])
    for (innocent, state, step), members in sorted(groups.items(), key=lambda g: (g[0][0], len(g[1]), g[1][0].rank)):
        last = max((m.last_time for m in members if m.last_time), default=None)
        hosts = sorted({m.host for m in members if m.host})
        names = ", ".join(one_line(n) for n in hosts[:HOSTS_SHOWN])
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


def fold_timeline(entries: Sequence[TimelineEntry]) -> list[Moment]:
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


def _same_news(a: TimelineEntry, b: TimelineEntry) -> bool:
    alike = (a.cause, a.rule, a.text, a.attempt) == (b.cause, b.rule, b.text, b.attempt)
    return bool(a.ranks and b.ranks) and alike


def fold_collectives(rows: Sequence[CollectiveRow], say: Say) -> list[CollectiveLine]:
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


def fold_stacks(stacks: Sequence[StackGroup], say: Say, frames: int) -> list[StackLine]:
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
