"""Which ends and errors cannot have begun it: what a launcher brought about, what followed another death, mere warnings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence

from ..job.event import FAILING, Event
from ..job.exit import ended_at, is_terminated
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from .untold import died_untold

WARNED = 2  # how direct it is where a line states what a logger wrote as a warning: the program went on after it
EXCEPTION, EXIT_CODE, SIGKILL = "process.exception", "process.exit-code", "process.sigkill"
RAISED = 1  # the exit code of Python after an exception
ACTOR_DIED = "ray.actor-died"
WRAPPED = (EXIT_CODE, ACTOR_DIED)  # causes under which launchers pass on what a process raised
WAITED_IN_A_KERNEL, TRAPPED = "collective.timeout/deepep-kernel-timed-out", "unspecified launch failure"
CLOSING_S = 25.0  # torchelastic and Slurm wait 30 s for those they ended with SIGTERM, then kill them
BELOW = (1, 2)  # lines: Ray Train puts a header between an exception and the one it wraps, which says whose it is
PYTHON_WARNING = lazy(r"\S:\d{1,6}: (?:[A-Z][A-Za-z]{1,40})?Warning: ")
# `Error cleaning up worker actor/0: …`, `Exception during engine shutdown`; not `Error in worker, shutting down`
_ENDING = r"(?:clean(?:ing)?[ _-]?up|shut(?:ting)?[ _-]?down|tear(?:ing)?[ _-]?down|clos(?:e|ing)|destroy(?:ing)?)\b"
CLOSING = lazy(
    r"(?i)\b(?:errors?|exception|failed|failure)(?: (?:occurred|happened|raised|to))?"
    r"(?: (?:during|while|when|in|on|at)(?: [\w.]{1,40}){0,2})? " + _ENDING
)


def consequences(job: Job) -> dict[int, int]:
    """How directly ends speak that cannot have begun it, by the event's id.

    Of a rank that had waited in vain before, or ordered after a process had failed: a symptom. Of a rank that its
    launcher was ending (SIGTERM, then SIGKILL): nothing. What was logged as a warning is not what a process died of.
    """
    waited = {e.rank for e in job.telling("collective-timeout") if e.rank is not None}
    exits = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e)]
    first: dict[str, int] = {}
    for e in exits:
        first[e.source] = min(first.get(e.source, e.line or 0), e.line or 0)
    told = [e for e in job.telling("signal-received") if first.get(e.source, e.line or 0) < (e.line or 0)]
    ended = {e.rank for e in job.telling("signal-sent") if e.rank is not None}
    closed = {e.source: e.line or 0 for e in reversed(job.telling("signal-sent")) if _names_nobody(e)}
    told = job.telling("signal-received") if died_untold(job) else told
    late = {id(e): 1 for e in (*told, *(x for x in exits if x.rank in waited))}
    late |= {id(e): 0 for e in exits if e.rank in waited and e.fields.get("exit_code") == RAISED}  # of that very exception
    late |= {id(e): 0 for e in (*exits, *job.telling("exit")) if e.rank in ended}
    wrappers = (e for e in job.failures() if e.cause == EXIT_CODE and e.rank is None and e.rule.tells != "exit")
    late |= {id(e): 0 for e in wrappers if e.source in first}  # `ChildFailedError` above its box
    late |= {id(e): 0 for e in _carrying_another(job)}
    killed = (e for e in exits if e.rank is None or e.cause == SIGKILL)
    late |= {id(e): 0 for e in killed if closed.get(e.source, 1 << 62) < (e.line or 0)}
    late |= {id(e): 0 for e in _killed_while_closing(exits)}
    late |= {id(e): 1 for e in _raised_while_closing(job)}
    late |= {id(e): WARNED for e in job.failures() if e.traceback and e.traceback.is_warned and id(e) not in late}
    stated = (e for e in job.failures() if e.role == "cause" and e.traceback is None)
    late |= {id(e): WARNED for e in stated if PYTHON_WARNING.search(e.text)}
    late |= {id(e): 0 for e in _outlived(job)}
    late |= {id(e): 0 for e in (*_told_to_end_by_a_summary(job, exits), *_told_by_its_launcher(job, ended))}
    late |= {id(e): 0 for e in _trapped(job)}
    return late | {id(e): 0 for e in _last_gasps(job, ended)}


def _outlived(job: Job) -> Iterator[Event]:
    """What ended a thread, or a child that a shell tells of, beside a program that went on with its steps.

    A trainer runs what a model wrote, and uploads behind its back. It may be the reason only where nothing else failed, as
    a step may be printed late.
    """
    last_sign = {s.name: s.last_sign_line or 0 for s in job.sources}
    for e in job.failures():
        is_thread = e.traceback is not None and e.traceback.form == "thread"
        is_child = e.rule.tells == "exit" and e.rank is None and e.fields.get("signal") is not None
        if (is_thread or is_child) and last_sign[e.source] > (e.end_line or e.line or 0):
            yield e


def _raised_while_closing(job: Job) -> Iterator[Event]:
    """What a logger says to have failed while something was put away: that follows every end."""
    raised: dict[str, list[tuple[Event, int]]] = {}
    for e in job.failures():
        if e.cause == EXCEPTION and e.traceback is not None and e.traceback.form != "bare":
            raised.setdefault(e.source, []).append((e, e.traceback.line))
    for source in (s for s in job.sources if s.name in raised):
        above = {n for _, line in raised[source.name] for n in (line - 1, line)}
        told = {x.number for x in source.lines(above) if CLOSING.search(x.message)}
        yield from (e for e, line in raised[source.name] if told & {line - 1, line})


def _carrying_another(job: Job) -> Iterator[Event]:
    """Wrappers in whose exception what a process died of is printed, and is known.

    `ProcessRaisedException` of mp.spawn and `WorkerGroupError` of Ray Train hold the traceback of the child; that an actor
    is dead, as `ActorDiedError` says in a further line, is no more than it said before. Ray prints a wrapper several times,
    and folds what it holds where that was printed before.
    """
    failures = job.failures()
    wrappers = [e for e in failures if e.cause in WRAPPED and e.traceback is not None and e.rule.tells != "exit"]
    sources = {e.source for e in wrappers}
    failures = [e for e in failures if e.source in sources] if wrappers else []
    begun = {(e.source, e.traceback.line) for e in failures if e.traceback is not None}
    said: dict[tuple[str, str | None], list[int]] = {}  # ordered: each of thousands of summaries looks at few errors
    for e in sorted(failures, key=lambda e: e.line or 0):
        for cause in (e.cause, None):  # None: whatever it is
            said.setdefault((e.source, cause), []).append(e.line or 0)
    carried: set[tuple[str, str, str]] = set()
    for e in wrappers:
        span = e.line or 0, e.traceback.end_line if e.traceback is not None else 0
        inside, alike = (_count(said[e.source, cause], *span) for cause in (None, e.cause))
        if inside > alike or any((e.source, span[1] + n) in begun for n in BELOW):
            carried.add((e.source, e.rule.id, e.text))
    yield from (e for e in wrappers if (e.source, e.rule.id, e.text) in carried)


def _count(lines: Sequence[int], above: int, last: int) -> int:
    return bisect_right(lines, last) - bisect_right(lines, above)


def _told_to_end_by_a_summary(job: Job, exits: Sequence[Event]) -> Iterator[Event]:
    """Who had SIGTERM in a summary that lists others with a failure of their own: torchrun itself ended them over it.

    Told to end from outside, the agent leaves by a SignalException and draws no summary.
    """
    summaries = {e.source for e in exits if e.fields.get("time") is not None}
    ends = (e for e in job.telling("exit") if is_terminated(e) and e.fields.get("time") is not None)
    return (e for e in ends if e.source in summaries)


def _killed_while_closing(exits: Sequence[Event]) -> Iterator[Event]:
    """Who was killed so long after another process of the host had failed that the launcher was ending all by then.

    torchelastic's summary lists who failed, and with its own later time who had to be killed: SIGTERM was not enough.
    """
    failed: dict[tuple[str, str | None], float] = {}
    for e in exits:
        if e.cause != SIGKILL and (time := ended_at(e)) is not None:
            failed[e.source, e.host] = min(failed.get((e.source, e.host), time), time)
    for e in exits:
        first = failed.get((e.source, e.host))
        if e.cause == SIGKILL and first is not None and (late := ended_at(e)) is not None and late >= first + CLOSING_S:
            yield e


def _trapped(job: Job) -> Iterator[Event]:
    """What CUDA says of a kernel that ended itself, below what that kernel printed: that it had waited in vain."""
    waited: dict[str, int] = {}
    for e in job.failures():
        if e.rule.id == WAITED_IN_A_KERNEL:
            waited[e.source] = min(waited.get(e.source, e.line or 0), e.line or 0)
    return (e for e in job.failures() if e.fields.get("error") == TRAPPED and waited.get(e.source, 1 << 62) < (e.line or 0))


def _told_by_its_launcher(job: Job, ended: Container[int | None]) -> Iterator[Event]:
    """Ranks that say which signal reached them when their launcher, which tells of it above, was ending them.

    `spawn.py:165] Terminating process 10273 via signal SIGTERM`, then `[rank: 0] Received SIGTERM: 15`.
    """
    sent: dict[str, int] = {}
    first_s = min((e.time for e in job.telling("signal-sent") if e.time is not None), default=float("inf"))
    for e in job.telling("signal-sent"):
        sent[e.source] = min(sent.get(e.source, e.line or 0), e.line or 0)
    for e in job.telling("signal-received"):
        if e.source in sent:
            is_later = sent[e.source] < (e.line or 0)
        else:
            is_later = e.rank in ended and not (e.has_own_time and (e.time or 0.0) < first_s)
        if e.rank is not None and is_later:
            yield e


def _names_nobody(event: Event) -> bool:
    """Whether a launcher says that it ends all of its processes (srun a step; SGLang itself too: `Killed` comes next)."""
    return event.rank is None and event.fields.get("pid") is None


def _last_gasps(job: Job, ended: set[int]) -> list[Event]:
    """What threads of a process that its launcher is ending print of one another."""
    closing: dict[str, int] = {}
    for e in job.telling("signal-sent"):
        closing[e.source] = min(closing.get(e.source, e.line or 0), e.line or 0)
    echoes = [e for e in job.failures() if e.role == "symptom" and e.cause == EXCEPTION]
    return [e for e in echoes if e.rank in ended or (e.rank is None and closing.get(e.source, 1 << 62) < (e.line or 0))]
