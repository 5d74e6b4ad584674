"""Do others than one rank say the same? Then it is not the fault of the one whose number happens to be known."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..job.copies import is_repetition
from ..job.event import Event
from ..lines.lazy_pattern import lazy
from .suspects import alike

if TYPE_CHECKING:
    from .decision import Verdict

# An engine repeats what its worker answered: `RuntimeError: Worker failed with error 'CUDA error: …', please check …`.
PASSED_ON = lazy(r"Worker failed with error '|Call to \w{1,60} method failed: ")
LAST_SAID = "numerics.nan/loss-is-nan-stopping"  # a process says it once, and ends


def is_said_by_several(verdict: Verdict) -> bool:
    """The same error on several hosts, or of several processes in one console, is not the fault of the first that ends."""
    said = [e for s in verdict.roots for e in s.events if e.role == "cause" and e.rule.tells != "exit"]
    said = [e for e in said if not is_repetition(e) and not _is_passed_on(e)]
    hosts = {e.host for e in said if e.host is not None}
    once = (e for e in said if e.traceback is not None or e.rule.id == LAST_SAID)
    texts = Counter((e.source, e.rule.id, alike(e)) for e in once)
    processes = {(e.host, e.speaker.pid) for e in said if e.speaker.pid is not None}
    return len(hosts) > 1 or len(processes) > 1 or max(texts.values(), default=0) > 1


def is_said_by_unknown_ones(verdict: Verdict, ranks: set[int]) -> bool:
    """Whether other processes, whose ranks nobody tells, say the same: `node7:801:801 [1] … NCCL WARN …`, `node7:802:…`."""
    said = [e for s in verdict.roots for e in s.events if e.role == "cause" and e.speaker.pid is not None]
    known = {(e.host, e.speaker.pid) for e in said if e.rank in ranks}
    unknown = (e for e in said if e.rank is None and not _is_passed_on(e))
    return any((e.host, e.speaker.pid) not in known for e in unknown) and bool(known)


def _is_passed_on(event: Event) -> bool:
    return event.traceback is not None and PASSED_ON.match(event.traceback.message) is not None
