"""A `Report` in, the data of the picture out: ranks over time, small enough for thousands of ranks.

Times are seconds since 1970 (UTC); rank sets are range strings; every text is printable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from ..lines.rank_ranges import rank_ranges
from ..report.phrases import place
from ..report.printable import clip, one_line, sentence
from ..report.report import Report

TEXT_WIDTH = 200
MOST_EVENTS = 5_000


def picture_data(report: Report) -> dict[str, Any]:
    """Yield `{ranks, hosts, events}` as the page's script reads them."""
    culprits = report.diagnosis.culprits if report.diagnosis else ()
    blamed = {c.rank for c in culprits if c.rank is not None}
    blamed_hosts = {c.host for c in culprits if c.rank is None and c.host}
    hosts: dict[str, int] = {}
    rows: list[Any] = []
    for r in report.ranks:
        host = -1 if r.host is None else hosts.setdefault(one_line(r.host), len(hosts))
        step = -1 if r.last_step is None else r.last_step
        guilty = int(r.rank in blamed or r.host in blamed_hosts)
        rows.append([r.rank, host, one_line(r.state), step, seconds(r.first_time), seconds(r.last_time), guilty])
    events = [*_timeline(report), *_first_failures(report)]
    known = {row[0] for row in rows}
    for rank in sorted({n for e in report.timeline for n in e.ranks} - known):
        rows.append([rank, -1, "", -1, None, None, int(rank in blamed)])
    rows.sort(key=lambda row: int(row[0]))
    return {"ranks": rows, "hosts": list(hosts), "events": events[:MOST_EVENTS]}


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
    for e in report.timeline:
        time, ranks = seconds(e.time), e.ranks or (alone if e.ref == proof_ref else ())
        if time is not None and (ranks or e.host):
            is_root = bool(found) and (e.cause == (found and found.cause) or e.ref == proof_ref)
            events.append(_event(time, ranks, e.host, e.layer, e.text, e.ref, is_root))
    time = seconds(proof.time) if proof else None
    if found and proof and time is not None and not any(e["root"] for e in events):
        ranks = alone if proof.rank is None else [proof.rank]
        events.append(_event(time, ranks, proof.host, found.cause.partition(".")[0], proof.text, proof_ref, True))
    return events


def _first_failures(report: Report) -> list[dict[str, Any]]:
    """First failures of ranks that the timeline does not show, those of one moment together."""
    shown = {(rank, e.cause) for e in report.timeline for rank in e.ranks}
    titles = {s.cause: s.title for s in reversed(report.symptoms) if s.title}
    together: dict[tuple[float, str, str], list[int]] = defaultdict(list)
    for row in report.ranks:
        failure = row.first_failure
        time = seconds(failure.time) if failure else None
        if failure and time is not None and (row.rank, failure.cause) not in shown:
            together[time, failure.cause or "", failure.ref or ""].append(row.rank)
    return [
        _event(time, ranks, None, cause.partition(".")[0], titles.get(cause) or cause, ref, False)
        for (time, cause, ref), ranks in sorted(together.items())
    ]


def _event(  # noqa: PLR0913, PLR0917  (one per column)
    time: float, ranks: Sequence[int], host: str | None, layer: str, text: str, ref: str | None, is_root: bool
) -> dict[str, Any]:
    return {
        "t": time,
        "ranks": rank_ranges(ranks),
        "host": one_line(host or ""),
        "layer": one_line(layer),
        "text": clip(sentence(one_line(text)), TEXT_WIDTH),
        "ref": one_line(ref or ""),
        "root": int(is_root),
    }
