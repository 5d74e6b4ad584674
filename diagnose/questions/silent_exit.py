"""Who left with an error code, or died by a signal, and said no word?

The launcher prints exit codes. A rank that failed and printed nothing, where all the others that failed say that they lost
a peer or waited in vain, or were ended by their launcher, is the one that left first: `sys.exit(13)` in the program, a
wrapper script, a library's `_exit`. Words of which nobody knows the rank may be its own.

SIGABRT and SIGTERM are otherwise what a watchdog and a launcher end ranks with: here the others only lost the rank, nobody
waited in vain, and no launcher says that it sent the signal; or it says so of all but one (`kill` of one process).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.copies import is_repetition
from ..job.event import Event, SourceEvents
from ..job.exit import CRASHES, ended_at, is_terminated
from ..job.job import CERTIFICATES, Job
from ..lines.path_identity import identity_from_path
from .finding import Exhibit, Finding
from .last_words import is_said_by_others
from .own_labels import last_error_labelled

SIGNALLED = range(128, 193)  # how a shell tells of a signal; 255 is `exit(-1)`
CAUSE = "process.exit-code"
SENT = ("process.abort", "process.terminated")  # by a signal that is mostly sent by others: a watchdog, a launcher
NEAR_LINES = 16  # above the launcher's first: in which all ranks of a node say why
PEER_GONE = "nccl.remote-error"  # by its exceptions, which name no peer
FOUND_DEAD = "process.exit-code/vllm-worker-died"  # the first that went, by a watcher that is told no code
NEVER = 1 << 62  # behind any line
LOST = ("peer-lost", "collective-timeout", "collective-status", "heartbeat")


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where exactly one rank ended with an error code and says nothing."""
    ends = [e for e in job.telling("exit") if e.rank is not None and _is_error(e)] or _signalled(job)
    said = _Said(job)
    listening = _Listening(job)
    wordless = {e.rank for e in ends if not said.by(e) and listening.to(e)}
    wordless = {r for r in wordless if job.is_heard_on(r, "stderr")}
    if len(wordless) != 1 or not _others_followed(job, wordless):
        return
    rank = next(r for r in wordless if r is not None)
    end = min((e for e in ends if e.rank == rank), key=lambda e: (int(e.time or 0), e.source, e.line or 0))
    followed = {e.rank for e in job.telling(*LOST)} | {rank}  # who says that it lost another aborts over that
    if any(e.cause in CRASHES and e.rank not in followed and _is_earlier(e, end) for e in job.telling("exit")):
        return
    by_signal = end.cause in SENT or bool(end.fields.get("signal_name"))
    signal, cause = end.fields.get("signal_name", "a signal"), end.cause if by_signal and end.cause else CAUSE
    code = end.fields.get("exit_code")
    how = f"died by {signal}" if by_signal else "was found dead" if code is None else f"ended with code {code}"
    said_last = _last_words(job, rank, end)
    if said_last is None:
        return
    if not (said_last or by_signal) and len(alike := _alike_above(job, end)) > 1:
        why = f"Rank {rank} {how}; it was not the only one to print this: {alike[-1].text.strip()}"
        yield Finding(cause, why, (*alike, Exhibit.of_event(end)), onset=end.onset, question="silent_exit")
        return
    reason = "after what it logged last" if said_last else "and printed no reason"
    why = f"Rank {rank} {how} {reason}; the others only lost it or were ended after it."
    shown = (*said_last, Exhibit.of_event(end))
    yield Finding(cause, why, shown, (rank,), onset=end.onset, fields=end.fields, question="silent_exit")


def _last_words(job: Job, rank: int, end: Event) -> tuple[Exhibit, ...] | None:
    """What its program logged just before it left, in words that no rule knows; None where others complain of the same."""
    last = job.last_line_of(rank)
    if last is None or not (last[1].is_error or last[1].prefix.severity == "W"):
        return last_error_labelled(job, rank, end)
    if not is_said_by_others(job, rank, last[1]):
        return (Exhibit.of_line(*last, rank, job.ranks[rank].host),)
    # Each rank warns at its start: `WARNING - __main__ - Process rank: 14, device: cuda:6`.
    return None if last[1].is_error else last_error_labelled(job, rank, end)


def _alike_above(job: Job, end: Event) -> list[Exhibit]:
    """The words right above the launcher's first, with those like them: `sys.exit("no such tokenizer")` in each process."""
    source = next((s for s in job.sources if s.name == end.source and s.name not in job.places.source_rank), None)
    if source is None:
        return []
    first = min(e.line or 0 for e in job.telling("exit", "signal-sent") if e.source == end.source)
    above = [x for x in source.lines() if x.number < first and x.message.strip()][-NEAR_LINES:]
    last = above[-1] if above else None
    if last is None or last.prefix.rank is not None or last.number < first - 1:
        return []
    alike = (x for x in above if x.message == last.message and x.prefix.end == 0)
    return [Exhibit.of_line(source.name, x, None, end.host) for x in alike]


def _is_error(event: Event) -> bool:
    code = event.fields.get("exit_code")
    if event.cause == CAUSE and (event.fields.get("signal_name") or event.rule.id == FOUND_DEAD):
        return True  # SIGPIPE, SIGALRM: no launcher sends them
    return isinstance(code, int) and (0 < code < SIGNALLED.start or code >= SIGNALLED.stop)


def _is_earlier(event: Event, end: Event) -> bool:
    a, b = ended_at(event), ended_at(end)
    if a is not None and b is not None and a != b:
        return a < b
    return event.source == end.source and (event.line or 0) < (end.line or 0)


def _signalled(job: Job) -> list[Event]:
    """Deaths by a signal that nobody owns to, where the others lost a peer and did not wait for it in vain.

    Of SIGTERM it is enough that the launcher then ended the others, each by its process id, before they noticed.
    """
    if job.telling("signal-received") or job.telling(*LOST[1:]):
        return []
    closing = job.telling("signal-sent")
    sent = {e.rank for e in closing}
    died = [e for e in job.telling("exit") if e.rank is not None and e.rank not in sent and e.cause in SENT]
    if job.telling("peer-lost"):
        return died
    closed = {e.source for e in closing if e.fields.get("pid") is not None and e.fields.get("signal") is not None}
    return [e for e in died if e.source in closed and is_terminated(e)]


def _others_followed(job: Job, left: set[int | None]) -> bool:
    """Whether the others lost it or were ended."""
    lost = any(e.rank not in left for e in job.telling(*LOST))
    lost = lost or any(e.cause == PEER_GONE and e.rank is not None and e.rank not in left for e in job.failures())
    return lost or any(e.rule.tells == "signal-sent" or is_terminated(e) for e in job.telling("signal-sent", "exit"))


def _only_aborts(event: Event) -> bool:
    """`terminate called without an active exception` says that the process aborts, as its exit code does, and not why."""
    return event.cause == "process.abort" and event.role == "symptom"


class _Listening:
    """Whose words would be here; looked up, as thousands of ranks end and thousands of files tell of them."""

    def __init__(self, job: Job) -> None:
        self._job = job
        empty = [identity_from_path(n) for n in job.files - {s.name for s in job.sources}]  # `1/stderr.log` of no byte
        paths = [(job.places.by_source[s.name].local_rank, job.places.source_host.get(s.name)) for s in job.sources]
        paths += ((path.local_rank, path.host) for path in empty)
        self._files = {(local, None if job.places.is_one_node else host) for local, host in paths if local is not None}
        self._ranks = {path.rank for path in empty}
        self._consoles = {s.name for s in job.sources if s.last_sign_line is not None or _has_words_of_ranks(s)}
        agents = {e.source for e in job.telling("exit") if e.fields.get("local_rank") is not None}
        self._consoles |= agents if agents & self._consoles else set()  # what ranks print goes where their agent prints

    def to(self, end: Event) -> bool:
        """Whether what the rank prints is here: it has lines or a file of its own, or the console is that of its host."""
        places = self._job.places
        of_node = (end.local_rank, None if places.is_one_node else end.host)
        if self._job.is_heard(end.rank) or end.rank in self._ranks or of_node in self._files:
            return True
        return end.source not in places.source_rank and end.source in self._consoles


def _has_words_of_ranks(console: SourceEvents) -> bool:
    own = (e for e in console.events if not is_repetition(e))
    return any(e.rule.tells in LOST or (e.rule.tells == "identity" and e.rank is not None) for e in own)


class _Said:
    """What was said of failures, and by whom."""

    def __init__(self, job: Job) -> None:
        words = [e for e in job.failures() if e.rule.tells not in CERTIFICATES and not _only_aborts(e)]
        self._ranks = {e.rank for e in words} - {None}
        self._causes: set[str | None] = set()  # hosts on which a speaker whose rank is not known states a cause, …
        self._first: dict[str | None, dict[str, int]] = {}  # … or says anything: by file, where first
        for event in words:
            if event.rank is None:
                self._note(event)
        self._closed: dict[tuple[str, str | None], int] = {}  # by console and host: where the launcher ends the others
        for sent in job.telling("signal-sent"):
            place = (sent.source, sent.host)
            self._closed[place] = min(self._closed.get(place, NEVER), sent.line or 0)

    def _note(self, event: Event) -> None:
        if event.role == "cause":
            self._causes.add(event.host)
        first, line = self._first.setdefault(event.host, {}), event.line or 0
        first[event.source] = min(first.get(event.source, line), line)

    def by(self, end: Event) -> bool:
        """Whether the rank itself says anything of its failure, or somebody on its host whose rank is not known.

        Where torchrun's summary names a file, it holds what the rank raised. What is heard after its launcher closes the
        others is theirs, unless it states a cause.
        """
        if end.rank in self._ranks or end.fields.get("error_file") or not self._causes.isdisjoint((end.host, None)):
            return True
        places = {(end.source, end.host), (end.source, None)}  # torchrun's summary names the host, what it logs does not
        closed = min(self._closed.get(place, NEVER) for place in places)
        near = [self._first.get(host, {}) for host in {end.host, None}]
        return any(first.get(end.source, NEVER) < closed or not first.keys() <= {end.source} for first in near)
