"""A `Report` in, one HTML page out that asks the network for nothing; its content policy runs the page's own script only.

Log text reaches the page escaped by Jinja, or as JSON whose `<` is escaped, which the script shows as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import Any

from ..lines.cache import tables
from ..lines.rank_ranges import rank_ranges
from ..report.parts import Diagnosis, RankRow, TimelineEntry
from ..report.phrases import clip, one_line, place, sentence, words
from ..report.report import Report
from .evidence import pieces
from .folding import LIMITS, limits_of
from .rendering import TEMPLATES, fill, lay_out_form
from .report_view import build_view


def render_html(report: Report, *, full: bool = False, redacted: str = "") -> str:
    """Yield the page."""
    from markupsafe import Markup

    say = words(report.language)
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    texts = {key: say(key) for key in tables(LIMITS)["script_words"]}  # unfilled ("{n:,} ranks"): the script fills them
    texts |= {state: say(f"state-{state}") for state in tables(LIMITS)["states"]}
    markdown = lay_out_form(report, "markdown", full=False, redacted=redacted)
    embedded = {**lanes(report), "words": texts, "markdown": markdown}
    data = json.dumps(embedded, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for char in "<>&":  # nothing in it can end the script element or open a comment
        data = data.replace(char, f"\\u{ord(char):04x}")
    return fill(
        "report.html.j2",
        view=build_view(report, limits_of("html", full=full), redacted),
        say=say,
        css=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(data),
        pieces=pieces,
    )


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
    told = {n for e in report.timeline for n in e.ranks} | blamed  # a culprit is drawn, though it left no line
    rows, unheard = [], map(RankRow, told - {r.rank for r in report.ranks})
    for r in sorted((*report.ranks, *unheard), key=lambda r: r.rank):
        host = -1 if r.host is None else hosts.setdefault(one_line(r.host), len(hosts))
        guilty = int(r.rank in blamed or r.host in blamed_hosts)
        times = (seconds(r.first_time), seconds(r.last_time), seconds(r.step_time))
        step = -1 if r.last_step is None else r.last_step
        rows.append([r.rank, host, one_line(r.state), step, *times, guilty])
    return {"ranks": rows, "hosts": list(hosts), "events": list(islice(_timeline(report), MOST_EVENTS))}


def seconds(time: str | None) -> float | None:
    """Yield an RFC 3339 time as seconds since 1970; None for what is no time."""
    try:
        moment = datetime.fromisoformat((time or "").replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None


def _timeline(report: Report) -> Iterator[dict[str, Any]]:
    """The moments of the timeline; where none of them is the root or its proof, the proof joins them."""
    found = report.diagnosis or Diagnosis(cause="")
    proof = next(iter(found.evidence), None)
    proof_ref = place(proof.file, proof.line) if proof else ""
    blamed = tuple(c.rank for c in found.culprits if c.rank is not None)
    alone = blamed if len(blamed) == 1 else ()  # whose a proof is that names no rank
    has_root = False
    for number, e in enumerate(report.timeline, 1):
        is_root = bool(found.cause) and (e.cause == found.cause or e.ref == proof_ref)
        if drawn := _event(e, e.ranks or (alone if e.ref == proof_ref else ()), number, is_root=is_root):
            has_root |= is_root
            yield drawn
    if proof and not has_root:
        layer, ranks = found.cause.partition(".")[0], alone if proof.rank is None else (proof.rank,)
        entry = TimelineEntry(proof.time, ranks, proof.host, layer, found.cause, text=proof.text, ref=proof_ref)
        yield from filter(None, [_event(entry, ranks, 0, is_root=True)])


def _event(e: TimelineEntry, ranks: Sequence[int], number: int, *, is_root: bool) -> dict[str, Any] | None:
    """What is drawn of an entry: nothing where no clock, or neither a rank nor a host is known."""
    time = seconds(e.time)
    if time is None or not (ranks or e.host):
        return None
    is_phase = (e.rule or "").startswith(PHASES) or (e.until is not None and not e.cause)
    kinds = {"root": is_root, "phase": is_phase, "teardown": e.cause in TEARDOWN, "error": bool(e.cause), "note": True}
    return {
        "t": time,
        "ranks": rank_ranges(ranks),
        "host": one_line(e.host or ""),
        "layer": one_line(e.layer),
        "text": clip(sentence(one_line(e.text)), TEXT_WIDTH),
        "ref": one_line(e.ref or ""),
        "kind": next(kind for kind, holds in kinds.items() if holds),
        "since": seconds(e.since),
        "until": seconds(e.until) if is_phase else None,
        "old": int(e.attempt is not None),
        "n": number,
    }
