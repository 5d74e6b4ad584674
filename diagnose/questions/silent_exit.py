"""Who left with an error code, or died by a signal, and said no word?

The launcher prints exit codes. A rank that failed and printed nothing, where all the others that failed say that they lost
a peer or waited in vain, or were ended by their launcher, is the one that left first: `sys.exit(13)` in the program, a
wrapper script, a library's `_exit`. Words of which nobody knows the rank may be its own, and so may those in the file that
torchrun's summary names. SIGABRT and SIGTERM are otherwise what a watchdog and a launcher end ranks with: here the others
only lost the rank, nobody waited in vain, and no launcher says that it sent the signal. Where the logs hold no failure at
all, the signal by which the caller saw the job end is all that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from signal import Signals

from ..job.activity import last_complaint
from ..job.event import Event
from ..job.job import CERTIFICATES, Job
from ..job.process import is_terminated
from ..lines.prefix import read_lines
from .finding import Exhibit, Finding, Sentence

SIGNALLED = range(128, 193)  # how a shell tells of a signal; 255 is `exit(-1)`
CAUSE = "process.exit-code"
SENT = ("process.abort", "process.terminated")  # by a signal that is mostly sent by others: a watchdog, a launcher
LOST = ("peer-lost", "collective-timeout", "collective-status", "heartbeat")
BY_SIGNAL = {6: "process.abort", 9: "process.sigkill", 11: "process.segfault", 15: "process.terminated"}
NEVER = 1 << 62  # behind any line


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where exactly one rank ended with an error code and says nothing; else what the caller saw."""
    failures = job.failures()
    if not failures:
        yield from _seen_by_the_caller(job)
    ends = [e for e in failures if e.rule.tells == "exit" and e.rank is not None and _is_error(e)] or _signalled(job)
    words = [e for e in failures if e.rule.tells not in CERTIFICATES]
    said, unowned = {e.rank for e in words}, [e for e in words if e.rank is None]  # these may be anybody's there
    closed = {e.source: e.line or 0 for e in reversed(job.telling("signal-sent"))}
    above = {e.source for e in unowned if (e.line or 0) < closed.get(e.source, NEVER)}
    if any(e.role == "cause" for e in unowned):
        return
    wordless = [e for e in ends if e.rank not in said and e.source not in above and not e.fields.get("error_file")]
    wordless = [e for e in wordless if job.is_heard_on(e.rank, "stderr")]
    if len({e.rank for e in wordless}) == 1 and wordless[0].rank is not None:
        end = min(wordless, key=lambda e: (int(e.time or 0), e.source, e.line or 0))
        yield from _finding(job, end, wordless[0].rank)


def _finding(job: Job, end: Event, rank: int) -> Iterator[Finding]:
    by_signal = end.cause in SENT or bool(end.fields.get("signal_name"))
    cause = end.cause if by_signal and end.cause else CAUSE
    fields = {"rank": rank, "signal": end.fields.get("signal_name"), "code": end.fields.get("exit_code")}
    fields["by_signal"] = by_signal
    words = last_complaint(job, job.ranks[rank])
    says = Sentence("silent_exit.left", {**fields, "words": read_lines(0, words[0].text)[-1].message if words else ""})
    yield Finding("silent_exit", cause, says, (*words, Exhibit.of_event(end)), (rank,), onset=end.onset, fields=end.fields)


def _seen_by_the_caller(job: Job) -> Iterator[Finding]:
    code = job.context.exit_code or 0
    number = job.context.signal or (code - SIGNALLED.start if code in SIGNALLED else -code)
    if number in BY_SIGNAL and not job.telling("finished"):
        says = Sentence("silent_exit.seen", {"number": number, "name": Signals(number).name})
        yield Finding("silent_exit", BY_SIGNAL[number], says, (), certainty="possible")


def _is_error(event: Event) -> bool:
    """Whether it left by a code of its own, by a signal that no launcher sends (SIGPIPE), or is only found dead."""
    code = event.fields.get("exit_code")
    if event.cause == CAUSE and (code is None or event.fields.get("signal_name")):
        return True
    return isinstance(code, int) and (0 < code < SIGNALLED.start or code >= SIGNALLED.stop)


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
