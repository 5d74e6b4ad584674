"""Whose log just stops?

Where all the others report a lost connection or a time-out, the rank whose log ends without any complaint either died at
once (SIGKILL, a node that went down) or hangs. Where nobody complains at all, the rank that is behind the others in
steps is the one they wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job.event import FAILING, Event
from ..job.job import Job, RankInfo
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges
from .finding import Exhibit, Finding
from .last_words import last_complaint, last_line

MAX_SHARE = 0.34
# `plover INFO: finished`, `max wall time reached on this rank, leaving`; not `validation done`, after which it goes on.
FAREWELL = lazy(
    r"(?i)(?:(?:^|[:|\]>-] {0,4})(?:(?:all|we are|i am|i'm|training|run|job|work(?:er)?|rank \d{1,6})[:,]? )?"
    r"(?:is )?(?:done|finished|complete|completed|end of (?:run|training|job))|"
    r"\b(?:good ?bye|bye|exiting|leaving|quitting|stopping|shutting down|nothing (?:left|more) to do))[\s.!)]{0,4}$"
)
SIGNALLED = 128  # from here on a shell tells of a signal


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the silent rank among those that lost a peer, or for the one behind where nobody fails."""
    yield from _silent(job)
    yield from _behind(job)


def _silent(job: Job) -> Iterator[Finding]:
    complaining = {e.rank for e in job.telling("peer-lost") if e.rank is not None and e.role in FAILING}
    failing = {e.rank for e in job.failures() if e.rank is not None}
    quiet = [i for r, i in job.ranks.items() if r not in failing and (i.sources or i.last_sign or i.has_lines)]
    quiet = [i for i in quiet if job.is_heard_on(i.rank, "stderr") and not _is_of_old(job, i)]
    world = job.world_size or len(job.ranks)
    if len(complaining) < 1 or not quiet or len(failing) + len(quiet) < world:
        return
    if len(quiet) > max(1, MAX_SHARE * world):
        yield from _silent_host(job, quiet)
        return
    ranks = tuple(sorted(i.rank for i in quiet))
    shown = tuple(Exhibit.of_event(i.last_sign) for i in quiet if i.last_sign is not None)
    lost = [Exhibit.of_event(e) for e in job.telling("peer-lost")[:2]]
    who = f"Rank{'s' if len(complaining) > 1 else ''} {rank_ranges(complaining)}"
    silent = f"rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"
    why = f"{who} lost a peer; the log of {silent} stops without a word."
    code = _own_code(job)
    if code is not None and len(ranks) == 1:
        left = f"a process left with code {code.fields['exit_code']}"
        why = f"{who} lost a peer; {left}, and the log of {silent} stops without a word."
        yield Finding("process.exit-code", why, (Exhibit.of_event(code), *lost, *shown), ranks, question="silence")
        return
    logged = _last_error(job, quiet[0]) if len(ranks) == 1 else None
    if logged is not None:
        why = f"{who} lost a peer; the log of {silent} stops after an error."
        yield Finding("process.exit-code", why, (logged, *lost), ranks, question="silence")
        return
    farewell = [x for i in quiet[:1] for x in last_line(job, i) if FAREWELL.search(x.text)] if len(ranks) == 1 else []
    if farewell:
        why = f"{who} lost a peer; {silent} says last that it leaves, and nothing of a failure."
        yield Finding("process.early-exit", why, (*farewell, *lost), ranks, question="silence")
        return
    complained = [x for i in quiet[:1] for x in last_complaint(job, i)]
    last = [x for i in quiet[:1] for x in last_line(job, i)]
    yield Finding("network.connection-reset", why, (*complained, *lost, *last, *shown), ranks, question="silence")


def _last_error(job: Job, info: RankInfo) -> Exhibit | None:
    """What the program logged as an error before its log stops, in words that no rule knows."""
    last = job.last_line_of(info.rank)
    return Exhibit.of_line(*last, info.rank, info.host) if last is not None and last[1].is_error else None


def _own_code(job: Job) -> Event | None:
    """The one end that a launcher tells of no rank, by a code that no uncaught exception gives."""
    ends = [e for e in job.telling("exit") if e.rank is None and e.fields.get("exit_code") is not None]
    code = ends[0].fields["exit_code"] if len(ends) == 1 else None
    return ends[0] if isinstance(code, int) and 1 < code < SIGNALLED else None


def _silent_host(job: Job, quiet: list[RankInfo]) -> Iterator[Finding]:
    """All ranks of one host, and nobody else, stop without a word while the other hosts' ranks lose them."""
    hosts = {i.host for i in quiet}
    host = next(iter(hosts))
    if len(hosts) > 1 or host is None or len(quiet) < 2 or any(e.host in (host, None) for e in job.failures()):
        return
    lost = [Exhibit.of_event(e) for e in job.telling("peer-lost")[:2]]
    shown = tuple(Exhibit.of_event(i.last_sign) for i in quiet[:2] if i.last_sign is not None)
    ranks = rank_ranges({i.rank for i in quiet})
    why = f"The other hosts' ranks lost a peer; the logs of {host} (ranks {ranks}) stop without a word."
    yield Finding("network.connection-reset", why, (*lost, *shown), hosts=(host,), question="silence")


def _is_of_old(job: Job, info: RankInfo) -> bool:
    """Whether it was heard before the last attempt only, which may have fewer ranks."""
    return info.last_sign is not None and info.last_sign.attempt < job.attempt


def _behind(job: Job) -> Iterator[Finding]:
    """Nobody reports anything: compare last steps."""
    if job.failures() or job.context.exit_code == 0 or _is_folded(job):
        return
    signs = {r: i for r, i in job.ranks.items() if i.last_sign is not None and i.last_step is not None}
    if len(signs) < 3 or any(i.finished for i in job.ranks.values()):
        return
    steps = Counter(i.last_step for i in signs.values())
    common, count = steps.most_common(1)[0]
    late = [i for i in signs.values() if i.last_step is not None and common is not None and i.last_step < common]
    if not late or count < len(signs) - len(late) or len(late) > MAX_SHARE * len(signs) or not _same_words(signs):
        return
    ranks = tuple(sorted(i.rank for i in late))
    shown = tuple(Exhibit.of_event(i.last_sign) for i in late if i.last_sign is not None)
    usual = next(i.last_sign for i in signs.values() if i.last_step == common)
    why = (
        f"Rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)} stopped at step {late[0].last_step}, "
        f"the others at step {common}."
    )
    more = (Exhibit.of_event(usual),) if usual is not None else ()
    yield Finding("collective.straggler", why, (*shown, *more), ranks, certainty="possible", question="silence")


def _is_folded(job: Job) -> bool:
    """Ray folds equal lines of several workers into one: then a lower last step proves nothing."""
    return any(source.is_folded for source in job.sources)


def _same_words(signs: dict[int, RankInfo]) -> bool:
    """Only where all ranks print the same kind of line does a lower number mean being behind."""
    rules = {i.last_sign.rule.id for i in signs.values() if i.last_sign is not None}
    return len(rules) == 1
