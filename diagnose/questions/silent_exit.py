"""Who left with an error code, or died by a signal, and said no word?

The launcher prints exit codes. A rank that failed and printed nothing, where all the others that failed say that they lost
a peer or waited in vain, or were ended by their launcher, is the one that left first: `sys.exit(13)` in the program, a
wrapper script, a library's `_exit`. Words of which nobody knows the rank may be its own, and so may those in the file that
torchrun's summary names. Where the logs hold no failure at all, all that is known is the signal that the caller saw.
"""

from __future__ import annotations

from collections.abc import Iterator
from signal import Signals

from ..job.activity import last_complaint
from ..job.coverage import TORN_LINES
from ..job.event import Event
from ..job.job import CERTIFICATES, Job
from ..lines.prefix import read_lines
from .finding import Exhibit, Finding, Sentence

SIGNALLED = range(128, 193)  # how a shell tells of a signal; 255 is `exit(-1)`
CAUSE = "process.exit-code"
BY_SIGNAL = {6: "process.abort", 9: "process.sigkill", 11: "process.segfault", 15: "process.terminated"}
NEVER = 1 << 62  # behind any line


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where exactly one rank ended with an error code and says nothing; else what the caller saw."""
    failures = job.failures()
    if not failures:
        yield from _seen_by_the_caller(job)
    ends = [e for e in failures if e.rule.tells == "exit" and e.rank is not None and _is_error(e)]
    words = [e for e in failures if e.rule.tells not in CERTIFICATES]
    said, unowned = {e.rank for e in words}, [e for e in words if e.rank is None]  # these may be anybody's there
    closed = {e.source: e.line or 0 for e in reversed(job.telling("signal-sent"))}
    above = {e.source for e in unowned if (e.line or 0) < closed.get(e.source, NEVER)}
    if any(e.role == "cause" for e in unowned):
        return
    wordless = [e for e in ends if e.rank not in said and e.source not in above and not e.fields.get("error_file")]
    wordless = [e for e in wordless if job.is_heard_on(e.rank, "stderr") and _would_be_here(job, e.rank)]
    if len({e.rank for e in wordless}) == 1 and wordless[0].rank is not None:
        end = min(wordless, key=lambda e: (int(e.time or 0), e.source, e.line or 0))
        yield from _finding(job, end, wordless[0].rank)


def _would_be_here(job: Job, rank: int | None) -> bool:
    """Whether words of a rank would be here: it is heard, or no one else is missing, or no console begins with an error."""
    heard = sum(info.has_lines for info in job.ranks.values())
    if job.is_heard(rank) or heard + 1 >= max(len(job.ranks), job.world_size or 0):
        return True
    shared = (e.traceback for e in job.failures() if job.places.source_rank.get(e.source) is None and e.rank is not None)
    return all(tb is None or tb.line > TORN_LINES for tb in shared)


def _finding(job: Job, end: Event, rank: int) -> Iterator[Finding]:
    by_signal = bool(end.fields.get("signal_name"))
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
