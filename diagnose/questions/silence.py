"""Whose log just stops?

Where all the others report a lost connection, the rank whose log ends without any complaint either left, or died at once
(SIGKILL, a node that went down), or hangs. Where nobody complains at all, the rank that is behind the others in steps, or
that began something else, is the one they wait for; unless they share a file that may only end before it could print.
Where all end with one line that a stale lock is known to hold up (`Using … as PyTorch extensions root...`), that lock is
what they wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..job.activity import STRAGGLER, Phase, last_complaint, last_line, phase_of, wait_for
from ..job.event import FAILING, Event, named_in
from ..job.job import Job, RankInfo
from ..lines.lazy_pattern import lazy
from .finding import Exhibit, Finding, Sentence, exhibits

MAX_SHARE = 0.34
SIGNALLED = 128  # from here on a shell tells of a signal
FEWEST = 3  # ranks whose steps are compared
LOST = "network.connection-reset"
WAITING = "waiting"  # an activity
NUMBERS = lazy(r"\d+(?:\.\d+)?")
RANK = lazy(r"(?i)\brank[\s:=_]{0,2}(\d{1,6})")


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the silent rank among those that lost a peer, or for the one behind where nobody fails."""
    yield from _silent(job)
    is_over = job.failures() or job.telling("finished") or job.context.exit_code == 0
    if not is_over and not any(source.is_folded for source in job.sources):  # of folded lines no step proves anything
        yield from list(_behind(job)) or list(_busy(job)) or _stalled(job)


def _silent(job: Job) -> Iterator[Finding]:
    lost = [e for e in job.telling("peer-lost") if e.rank is not None and e.role in FAILING]
    failing = {e.rank for e in job.failures() if e.rank is not None}
    quiet = [i for r, i in job.ranks.items() if r not in failing and (i.sources or i.last_sign or i.has_lines)]
    quiet = [i for i in quiet if job.is_heard_on(i.rank, "stderr")]
    world = job.world_size or len(job.ranks)
    if not lost or not quiet or len(failing) + len(quiet) < world or len(quiet) > max(1, MAX_SHARE * world):
        return
    ranks = tuple(sorted(i.rank for i in quiet))
    cause, how, shown = _ending(job, quiet, exhibits(job.telling("peer-lost"), 2))
    says = {"waiting": sorted({e.rank for e in lost if e.rank is not None}), "ranks": ranks, "how": how}
    yield Finding("silence", cause, Sentence("silence.lost", says), shown, ranks)


def _ending(job: Job, quiet: list[RankInfo], lost: tuple[Exhibit, ...]) -> tuple[str, Sentence, tuple[Exhibit, ...]]:
    """How the log of the silent one ends: with a code that a launcher tells, an error, a farewell, or without a word."""
    info, signs = quiet[0], exhibits([i.last_sign for i in quiet if i.last_sign is not None])
    last = last_line(job, info)
    if len(quiet) == 1 and (code := _own_code(job)) is not None:
        says = Sentence("silence.code", {"code": code.fields["exit_code"]})
        return "process.exit-code", says, (Exhibit.of_event(code), *lost, *signs)
    if len(quiet) == 1 and (line := job.last_line_of(info.rank)) is not None and line[1].is_error:
        return "process.exit-code", Sentence("silence.error"), (*last, *lost)
    return LOST, Sentence("silence.stops"), (*last_complaint(job, info), *lost, *last, *signs)


def _own_code(job: Job) -> Event | None:
    """The one end that a launcher tells of no rank, by a code that no uncaught exception gives."""
    ends = [e for e in job.telling("exit") if e.rank is None and e.fields.get("exit_code") is not None]
    code = ends[0].fields["exit_code"] if len(ends) == 1 else None
    return ends[0] if isinstance(code, int) and 1 < code < SIGNALLED else None


def _behind(job: Job) -> Iterator[Finding]:
    """Nobody reports anything: who is behind in steps."""
    signs = [i for i in job.ranks.values() if i.last_step is not None]
    if len(signs) < FEWEST:
        return
    common, count = Counter(i.last_step for i in signs).most_common(1)[0]
    few = [i for i in signs if (i.last_step or 0) < (common or 0)]
    is_clear = few and len(few) <= MAX_SHARE * len(signs) and count >= len(signs) - len(few)
    last = [i.last_sign for i in signs if i.last_sign is not None]
    if is_clear and all(_had_its_turn(job, late.last_sign, last) for late in few if late.last_sign is not None):
        usual = next(i for i in signs if i.last_step == common)
        ranks, (cause, does, seen) = tuple(sorted(i.rank for i in few)), wait_for(_phase(few[0]))
        says = Sentence("silence.behind", {"ranks": ranks, "step": few[0].last_step, "common": common, "phase": does})
        shown = seen or exhibits(i.last_sign for i in few if i.last_sign is not None)
        shown += exhibits([usual.last_sign] if usual.last_sign else [])
        yield Finding("silence", cause, says, shown, ranks, certainty="possible")


def _had_its_turn(job: Job, late: Event, signs: Sequence[Event]) -> bool:
    """Whether a rank could have printed its step before the end of a file that several share, which may be cut anywhere.

    It could where another one has printed two since the last of this one.
    """
    shared = {_who(sign.speaker, sign.raw): sign.rank for sign in signs if sign.source == late.source}
    if len(shared) == 1:
        return True  # a file of its own ends by itself
    tail = next(s for s in job.sources if s.name == late.source).tail()
    below = [_who(named_in(x.prefix), x.raw) for x in tail if x.number > (late.line or 0)]
    return any(count > 1 for _, count in Counter(who for who in below if who in shared).items())


def _who(speaker: tuple[object, ...], text: str) -> tuple[object, ...]:
    """Who prints which kind of line: as its prefix tells, or the words `rank 3`; numbers aside."""
    return (*speaker, *RANK.findall(text)[:1], NUMBERS.sub("#", text))


def _busy(job: Job) -> Iterator[Finding]:
    """Nobody reports anything: who began something that nobody else does, and has not ended it, while the others rest."""
    heard = [i for i in job.ranks.values() if i.has_lines]
    doing = {i.rank: phase for i in heard if (phase := _phase(i)) is not None}
    few = [rank for rank, phase in doing.items() if phase.name != WAITING] or [*doing]
    if few and len(heard) >= max(job.world_size or 0, FEWEST) and len(few) <= MAX_SHARE * len(heard):
        ranks, phase = tuple(sorted(few)), doing[few[0]]
        waits = exhibits([i.phase for i in heard if i.rank not in few and i.phase is not None], 2)
        says = Sentence("silence.busy", {"ranks": ranks, "phase": phase.says})
        yield Finding("silence", phase.cause, says, (phase.exhibit, *waits), ranks, certainty="possible")


def _stalled(job: Job) -> Iterator[Finding]:
    """Nobody reports anything: all logs end with the same begun work, which a lock that a dead process left holds up."""
    begun = {(e.source, e.line): e for e in job.telling("activity") if e.rule.stalls}
    last = {s.name: x.number for s in job.sources if begun for x in s.tail() if x.message.strip()}
    ends = [e for place in last.items() if (e := begun.get(place)) is not None]
    if ends and len(ends) == len(last):
        cause, fields = ends[0].rule.stalls or STRAGGLER, ends[0].fields
        says = Sentence("silence.stalled", {"ranks": tuple(sorted(job.ranks)), "path": fields.get("path")})
        yield Finding("silence", cause, says, exhibits(ends), certainty="possible", fields=fields)


def _phase(info: RankInfo) -> Phase | None:
    """What it began no earlier than its last step, and did not end."""
    doing, sign = info.phase, info.last_sign
    is_over = doing is None or (sign is not None and sign.source == doing.source and (sign.line or 0) > (doing.line or 0))
    return None if is_over or doing is None else phase_of(doing)
