"""What do the flight recorders say?

They hold each rank's collectives in order, so the first divergence is named with certainty: who issued another operation,
another size, or nothing. A rank without a dump is unknown, never missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .finding import Certainty, Exhibit, Finding

if TYPE_CHECKING:
    from ..recorder.comparison import Divergence, GroupReport, Side
    from ..recorder.dump import Sizes

CAUSES = {
    "op": "collective.desync",
    "extra": "collective.desync",
    "p2p": "collective.desync",
    "size": "collective.shape-mismatch",
    "dtype": "collective.shape-mismatch",
    "missing": "collective.straggler",
    "state": "collective.straggler",
}


MOST_SIZES = 3  # of a coalesced call
WENT_ON_S = 120.0  # a sign of life so long after the call: the dump was taken of a job that runs


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the divergence that nothing else explains, else for a collective that none finished."""
    for report in job.recorded():
        first = report.first
        if report.verdict == "divergent" and first is not None and not first.is_survived and not first.is_consequence:
            yield _finding(report, first)
            return
    waits = next((report for report in job.recorded() if report.verdict in ("unknown", "stuck")), None)
    if waits is not None and not job.telling("finished"):
        yield from _unfinished(job, waits)


def _unfinished(job: Job, report: GroupReport) -> Iterator[Finding]:
    """Ranks wait for those without a dump, or all in the same call: a dump taken on demand looks like that too."""
    waiting = [(p.rank, p.waiting) for p in report.progress if p.waiting is not None]
    latest_s = max((entry.created_ns for _, entry in waiting), default=0) / 1e9
    signs = (info.last_sign.time for info in job.ranks.values() if info.last_sign and info.last_sign.time is not None)
    if len(waiting) < 2 or max(signs, default=0.0) > latest_s + WENT_ON_S:
        return
    name, seq, call = report.desc or report.group, min(entry.seq for _, entry in waiting), waiting[0][1].call.op
    where = f"In group {name} at number {seq} "
    if report.without_dump:
        who, absent = _shown([rank for rank, _ in waiting]), _shown(report.without_dump)
        why = f"{where}{who} {'wait' if len(waiting) > 1 else 'waits'} in {call}; of {absent} there is no dump."
    else:
        why = f"{where}all {len(waiting)} ranks issued {call} and none finished it: the fault lies below."
    recorders = {dump.rank: dump for dump in job.dumps}
    shown = tuple(Exhibit(recorders[r].name, entry.line, entry.text, r) for r, entry in waiting[:2] if r in recorders)
    fields = {"seq": seq, "kind": report.verdict, "pg": report.group}
    yield Finding("collective.timeout", why, shown, certainty="possible", fields=fields, question="recorder")


def _shown(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"


def _finding(report: GroupReport, d: Divergence) -> Finding:
    shown = tuple(_exhibit(side) for side in (*d.found, *((d.expected,) if d.expected else ())))
    ranks = () if d.is_ambiguous else d.ranks
    who = _shown(d.ranks)
    odd = d.found[0] if d.found and d.kind != "missing" else None
    is_one_place = odd is not None and d.expected is not None and odd.frame == d.expected.frame
    expected = f"the others {_call(d.expected)}" if d.expected else "the others went on"
    did = f"issued {_call(odd, is_placed=not is_one_place)}" if odd is not None else "issued nothing"
    why = f"In group {report.desc or report.group} at number {d.seq} {who} {did}, {expected}."
    cause = CAUSES[d.kind] if d.detail not in ("skipped", "swapped") else "collective.desync"
    certainty: Certainty = "likely" if d.is_ambiguous or d.kind == "state" else "certain"
    fields = {"seq": d.seq, "kind": d.kind, "pg": report.group}
    return Finding(cause, why, shown, ranks, certainty=certainty, fields=fields, question="recorder")


def _call(side: Side, *, is_placed: bool = True) -> str:
    """Yield what was issued, as one reads it: `all_reduce [3] Float (reduce_metrics at train.py:75)`."""
    call = side.entry.call
    peers = f"{call.peers[0]}->{call.peers[1]}" if call.peers else ""
    given, got = _sizes(call.input_sizes), _sizes(call.output_sizes)
    sizes = f"{given} -> {got}" if given and got and given != got else given or got
    words = (call.op, peers, sizes, ",".join(dict.fromkeys(call.input_dtypes)))
    text = " ".join(word for word in words if word)
    return f"{text} ({side.frame})" if side.frame and is_placed else text


def _sizes(sizes: Sizes) -> str:
    shown = ", ".join(f"[{','.join(map(str, dims))}]" for dims in sizes[:MOST_SIZES])
    return f"{shown}, …" if len(sizes) > MOST_SIZES else shown


def _exhibit(side: Side) -> Exhibit:
    return Exhibit(side.file, side.line, side.entry.text, side.ranks[0] if side.ranks else None)
