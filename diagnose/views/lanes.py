"""A `Report` in, the data of the picture out: one lane per rank over time, small enough for thousands of ranks.

Times are seconds since 1970 (UTC); rank sets are range strings; every text is printable. An event has the number of its
row in the timeline, so that the picture and the table lead to each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from ..lines.rank_ranges import rank_ranges
from ..report.parts import RankRow, TimelineEntry
from ..report.phrases import place
from ..report.printable import clip, one_line, sentence
from ..report.report import Report
from .tables import fold_timeline

TEXT_WIDTH = 200
MOST_EVENTS = 5_000
TEARDOWN = ("process.terminated", "process.exit-code", "process.abort")  # how the other processes end
PHASES = "context.activity/"


def lanes(report: Report) -> dict[str, Any]:
    """Yield `{ranks, hosts, events}` as the page's script reads them."""
    culprits = report.diagnosis.culprits if report.diagnosis else ()
    blamed = {c.rank for c in culprits if c.rank is not None}
    blamed_hosts = {c.host for c in culprits if c.rank is None and c.host}
    hosts: dict[str, int] = {}
    known = {r.rank for r in report.ranks}
    told = {n for e in report.timeline for n in e.ranks} | blamed  # a culprit is drawn, though it left no line
    rows = []
    for r in sorted((*report.ranks, *map(RankRow, told - known)), key=lambda r: r.rank):
        host = -1 if r.host is None else hosts.setdefault(one_line(r.host), len(hosts))
        guilty = int(r.rank in blamed or r.host in blamed_hosts)
        times = (seconds(r.first_time), seconds(r.last_time), seconds(r.step_time))
        step = -1 if r.last_step is None else r.last_step
        rows.append([r.rank, host, one_line(r.state), step, *times, guilty])
    return {"ranks": rows, "hosts": list(hosts), "events": [*_timeline(report), *_first_failures(report)][:MOST_EVENTS]}


def seconds(time: str | None) -> float | None:
    """Yield an RFC 3339 time as seconds since 1970; None for what is no time."""
    try:
        moment = datetime.fromisoformat((time or "").replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None


def _timeline(report: Report) -> list[dict[str, Any]]:
    """The moments of the timeline; where none of them is the root or its proof, the proof joins them."""
    events = []
    found = report.diagnosis
    proof = found.evidence[0] if found and found.evidence else None
    proof_ref = place(proof.file, proof.line) if proof else ""
    blamed = [c.rank for c in found.culprits if c.rank is not None] if found else []
    alone = blamed if len(blamed) == 1 else []  # whose a proof is that names no rank
    for number, (e, _) in enumerate(fold_timeline(report.timeline), 1):
        ranks = e.ranks or (alone if e.ref == proof_ref else ())
        is_root = bool(found) and (e.cause == (found and found.cause) or e.ref == proof_ref)
        if (event := _event(e, ranks, number, is_root=is_root)) is not None:
            events.append(event)
    if found and proof and not any(e["kind"] == "root" for e in events):
        ranks = alone if proof.rank is None else [proof.rank]
        layer = found.cause.partition(".")[0]
        entry = TimelineEntry(proof.time, tuple(ranks), proof.host, layer, found.cause, text=proof.text, ref=proof_ref)
        if (event := _event(entry, ranks, 0, is_root=True)) is not None:
            events.append(event)
    return events


def _first_failures(report: Report) -> list[dict[str, Any]]:
    """First failures of ranks that the timeline does not show, those of one moment together."""
    shown = {(rank, e.cause) for e in report.timeline for rank in e.ranks}
    titles = {s.cause: s.title for s in reversed(report.symptoms) if s.title}
    together: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for row in report.ranks:
        failure = row.first_failure
        if failure and failure.time and (row.rank, failure.cause) not in shown:
            together[failure.time, failure.cause or "", failure.ref or ""].append(row.rank)
    events = []
    for (time, cause, ref), ranks in sorted(together.items()):
        entry = TimelineEntry(time, layer=cause.partition(".")[0], cause=cause, text=titles.get(cause) or cause, ref=ref)
        events.append(_event(entry, ranks, 0, is_root=False))
    return [e for e in events if e is not None]


def _event(e: TimelineEntry, ranks: Sequence[int], number: int, *, is_root: bool) -> dict[str, Any] | None:
    time = seconds(e.time)
    if time is None or not (ranks or e.host):
        return None
    is_phase = (e.rule or "").startswith(PHASES) or e.until is not None
    kind = (
        "root"
        if is_root
        else "phase"
        if is_phase
        else "teardown"
        if e.cause in TEARDOWN
        else "error"
        if e.cause
        else "note"
    )
    return {
        "t": time,
        "ranks": rank_ranges(ranks),
        "host": one_line(e.host or ""),
        "layer": one_line(e.layer),
        "text": clip(sentence(one_line(e.text)), TEXT_WIDTH),
        "ref": one_line(e.ref or ""),
        "kind": kind,
        "since": seconds(e.since),
        "until": seconds(e.until),
        "old": int(e.attempt is not None),
        "n": number,
    }
