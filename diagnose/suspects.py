"""Events and findings grouped into `Suspect`s: one cause at one place, with when it began and what shows it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from .attempts import FAILING, ended_at, is_terminated
from .catalogue import Catalogue
from .correlation.finding import Finding
from .doubles import is_repetition
from .events import Event
from .job import Job
from .lazy_pattern import lazy
from .traces.last_error import is_quoted
from .untold import died_untold

EXCEPTION = "process.exception"
STATED = 3  # how direct the evidence is where a line states the cause
WARNED = 2  # where it states what a logger wrote as a warning: the program went on after it
EXIT_CODE, SIGKILL, LATE = "process.exit-code", "process.sigkill", "collective.straggler"
MONITOR = "collective.straggler/nvrx-rank-monitor-heard-nothing"
WRAPPED = (EXIT_CODE, "ray.actor-died")  # causes under which launchers pass on what a process raised
WAITED_IN_A_KERNEL, TRAPPED = "collective.timeout/deepep-kernel-timed-out", "unspecified launch failure"
CERTIFIED_S = 60.0  # a launcher's summary gives the time of death of which it told lines before
SAME_MOMENT_S = 2.0  # printed seconds do not order what several ranks say of one failure
CLOSING_S = 25.0  # torchelastic and Slurm wait 30 s for those they ended with SIGTERM, then kill them
REPEATED = "[repeated "  # Ray prints alike lines of several workers once
BELOW = (1, 2)  # lines: Ray Train puts a header between an exception and the one it wraps, which says whose it is
PYTHON_WARNING = lazy(r"\S:\d{1,6}: (?:[A-Z][A-Za-z]{1,40})?Warning: ")
NUMBERS = lazy(r"0x[0-9a-f]+|\d+")
# `Error cleaning up worker actor/0: …`, `Exception during engine shutdown`; not `Error in worker, shutting down`
_ENDING = r"(?:clean(?:ing)?[ _-]?up|shut(?:ting)?[ _-]?down|tear(?:ing)?[ _-]?down|clos(?:e|ing)|destroy(?:ing)?)\b"
CLOSING = lazy(
    r"(?i)\b(?:errors?|exception|failed|failure)(?: (?:occurred|happened|raised|to))?"
    r"(?: (?:during|while|when|in|on|at)(?: [\w.]{1,40}){0,2})? " + _ENDING
)


@dataclass(slots=True, eq=False)
class Suspect:
    """One cause at one place."""

    cause: str
    rank: int | None
    host: str | None
    direct: int  # how directly the evidence names the cause: 3 a line says so, 2 a finding, 1 a symptom
    specific: bool
    onset: float | None
    events: list[Event] = field(default_factory=list)
    finding: Finding | None = None
    signature: str = ""
    explained_by: list[Suspect] = field(default_factory=list)

    @property
    def first(self) -> Event | None:
        """The event that an expert would point at."""
        return self.events[0] if self.events else None

    @property
    def is_echo(self) -> bool:
        """Whether it is an exception that only tells of another one (a pipe broke, a worker raised), and not why."""
        return self.cause == EXCEPTION and self.direct == 1

    def place(self) -> str:
        """Where it is, in words for ordering."""
        return f"{'' if self.rank is None else self.rank:>8}|{self.host or ''}"


def gather(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> list[Suspect]:
    """Yield all suspects, sorted by cause and place."""
    found: dict[tuple[object, ...], Suspect] = {}
    failures = [e for e in job.failures() if e.cause in catalogue.causes]
    failures = _narrowest(failures)
    own = [e for e in failures if e.rule.tells != "signal-sent"]  # a launcher that ends the others never began it
    late = _consequences(job)
    for event in own if own or findings else failures:
        if event.cause is None:
            continue
        signature = _signature(event)
        where = event.rank if event.rank is not None else event.host or event.source
        key = (event.cause, where, signature)
        suspect = found.get(key)
        if suspect is None:
            suspect = found[key] = Suspect(event.cause, event.rank, event.host, 0, False, None, signature=signature)
        _add(suspect, event, late.get(id(event)))
    for number, finding in enumerate(findings):
        for rank in finding.ranks or (None,):
            host = finding.hosts[0] if finding.hosts and not finding.ranks else _host_of(job, rank)
            events = [x.event for x in finding.exhibits if x.event is not None and x.event.cause == finding.cause]
            suspect = Suspect(finding.cause, rank, host, 2, True, finding.onset, events, finding)
            found[(finding.cause, rank, "finding", number)] = suspect
    for suspect in found.values():
        suspect.events.sort(key=_telling)
    return sorted(found.values(), key=lambda s: (s.cause, s.place(), s.signature, s.finding is None))


def _narrowest(failures: list[Event]) -> list[Event]:
    """Drop what is said of an exception from its words alone where a rule that asks for a frame says more.

    `EOFError: Ran out of input` is a damaged file, but not below `spawn_main`, nor below a collective.
    """
    framed = {(e.source, e.line) for e in failures if e.rule.frame is not None}
    return [e for e in failures if e.rule.frame is not None or e.traceback is None or (e.source, e.line) not in framed]


def _host_of(job: Job, rank: int | None) -> str | None:
    info = job.ranks.get(rank) if rank is not None else None
    return info.host if info else None


def _consequences(job: Job) -> dict[int, int]:
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
    late |= {id(e): 0 for e in (*exits, *job.telling("exit")) if e.rank in ended}
    wrappers = (e for e in job.failures() if e.cause == EXIT_CODE and e.rank is None and e.rule.tells != "exit")
    late |= {id(e): 0 for e in wrappers if e.source in first}  # `ChildFailedError` above its box
    late |= {id(e): 0 for e in _carrying_another(job)}
    killed = (e for e in exits if e.rank is None or e.cause == SIGKILL)
    late |= {id(e): 0 for e in killed if closed.get(e.source, 1 << 62) < (e.line or 0)}
    late |= {id(e): 0 for e in (*_killed_while_closing(exits), *_killed_by_a_monitor(job, exits))}
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
        told = {x.number for x in source.lines() if x.number in above and CLOSING.search(x.message)}
        yield from (e for e, line in raised[source.name] if told & {line - 1, line})


def _carrying_another(job: Job) -> Iterator[Event]:
    """Wrappers in whose exception what a process died of is printed, and is known.

    `ProcessRaisedException` of mp.spawn and `WorkerGroupError` of Ray Train hold the traceback of the child; that an actor
    is dead, as `ActorDiedError` says in a further line, is no more than it said before.
    """
    failures = job.failures()
    begun = {(e.source, e.traceback.line) for e in failures if e.traceback is not None}
    said: dict[tuple[str, str | None], list[int]] = {}  # ordered: each of thousands of summaries looks at few errors
    for e in sorted(failures, key=lambda e: e.line or 0):
        for cause in (e.cause, None):  # None: whatever it is
            said.setdefault((e.source, cause), []).append(e.line or 0)
    for e in failures:
        if e.cause in WRAPPED and e.traceback is not None and e.rule.tells != "exit":
            span = e.line or 0, e.traceback.end_line
            inside, alike = (_count(said[e.source, cause], *span) for cause in (None, e.cause))
            if inside > alike or any((e.source, span[1] + n) in begun for n in BELOW):
                yield e


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


def _killed_by_a_monitor(job: Job, exits: Sequence[Event]) -> Iterator[Event]:
    """Whom the monitor that stands beside each rank killed, as it says itself: it had not heard of it for too long."""
    spoken = {(e.source, e.host): e for e in job.events if e.rule.id == MONITOR}
    for e in exits:
        said = spoken.get((e.source, e.host)) if e.cause == SIGKILL else None
        if said is not None and (said.line or 0) < (e.line or 0):
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


def _add(suspect: Suspect, event: Event, at_most: int | None) -> None:
    direct = 3 if event.role == "cause" else 1
    direct = direct if at_most is None else min(direct, at_most)
    suspect.direct, suspect.specific = max((suspect.direct, suspect.specific), (direct, not event.rule.generic))
    suspect.events.append(event)
    if event.onset is not None and (suspect.onset is None or event.onset < suspect.onset):
        suspect.onset = event.onset


def _telling(event: Event) -> tuple[object, ...]:
    """The event that an expert would point at comes first: it names the cause, it is specific, it is the earliest."""
    certificate = event.rule.tells in ("exit", "signal-sent", "signal-received")  # says that it ended, not by whom
    moment_s = CERTIFIED_S if certificate else SAME_MOMENT_S
    is_heading = "RayTaskError(" in event.text.partition("\n")[0]  # Ray puts it above the frames
    told_again = is_heading or is_repetition(event) or is_quoted(event.traceback, event.line)
    is_felt = not names_device(event)
    return (event.role != "cause", event.rule.generic, certificate, told_again, is_felt, *when(event, moment_s))


def names_device(event: Event | None) -> bool:
    """Whether it names the part that broke: the kernel does, by its clock; an exception has the time of some line above."""
    return event is not None and event.fields.get("pci") is not None


def when(event: Event, moment_s: float = SAME_MOMENT_S) -> tuple[bool, float, str, int]:
    """Yield the order of events for showing: by time, within a file and moment by line."""
    return (event.time is None, round((event.time or 0.0) / moment_s), event.source, event.line or 0)


def _signature(event: Event) -> str:
    """Exceptions of one cause are told apart by type and text, numbers aside."""
    return alike(event) if event.cause == EXCEPTION else ""


def alike(event: Event) -> str:
    """Yield the event's words without what differs between processes that fail alike: sizes, addresses, a count."""
    return NUMBERS.sub("#", event.text.split("\n", 1)[0].partition(REPEATED)[0].rstrip())[:160]
