"""Whom did a call of PyTorch's RPC wait for that ran past its limit?

The caller raises and leaves; then TensorPipe tells all the others that the caller's end of the channel is gone ("eof"),
and they say it louder. Whoever dies makes a call to it fail at once, so a call that ran out its limit was to a worker that
lived and was late; that worker says so itself where it sends its response to a caller that has left. Where somebody else
than a caller is lost, that one may have died first, and nothing is concluded. Source: PyTorch, tensorpipe_agent.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..events import Event
from ..job import Job
from ..lazy_pattern import lazy
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

TIMED_OUT = "collective.timeout/rpc-ran-too-long"
LOST = ("network.connection-reset/tensorpipe-peer-gone", "network.connection-reset/tensorpipe-agent-lost-peer")
AGENT = lazy(
    r"RPC agent for (?P<own>\S{1,120}) encountered error when (?P<did>\w{1,9}ing (?:incoming |outgoing )?\w{1,9})"
    r"[^:]{0,40}? (?:from|to) (?P<peer>\S{1,120}): "
)
CALLS = lazy(r"\b(?:rpc_sync|rpc_async|remote)\(\s*(?:to=)?f?['\"](?P<callee>[^'\"{}\s]{1,120})['\"]")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of the callee where its name leads to a rank."""
    failures = job.failures()
    calls = [e for e in failures if e.rule.id.startswith(TIMED_OUT)]
    lost = [e for e in failures if e.rule.id in LOST]
    told = [(m, e) for e in lost if (m := AGENT.search(e.raw))]
    if not calls or not lost or _is_another_lost(calls, told):
        return
    callee = next((name for e in calls if (name := _callee(e))), None)
    own = [(m, e) for m, e in told if callee is not None and m["own"] == callee]
    late = [e for m, e in own if m["did"] == "sending response"]
    ranks = tuple(sorted({e.rank for _, e in own if e.rank is not None} - {e.rank for e in calls}))
    callers = sorted({e.rank for e in calls if e.rank is not None})
    who = f"Rank{'s' * (len(callers) > 1)} {rank_ranges(callers)}" if callers else "A rank"
    why = f"{who} waited for a remote call to {callee or 'another worker'} until its limit passed, and left"
    why += "; the response came later." if late else "; the others lost the caller."
    shown = tuple(Exhibit.of_event(e) for e in (calls[-1], *late[:1]))
    onset = min((e.onset for e in calls if e.onset is not None), default=None)
    blamed = ranks if late and len(ranks) == 1 else ()
    cause = "collective.straggler" if blamed else "collective.timeout"
    yield Finding(cause, why, shown, blamed, onset=onset, fields=calls[-1].fields, question="late_call")


def _is_another_lost(calls: list[Event], told: list[tuple[re.Match[str], Event]]) -> bool:
    """Whether more workers were lost, of which no word is here, than had left over a call."""
    heard = {m["own"] for m, _ in told}
    return len({m["peer"] for m, _ in told} - heard) > len({(e.source, e.rank) for e in calls})


def _callee(event: Event) -> str | None:
    frames = event.traceback.frames if event.traceback is not None else ()
    found = (CALLS.search(frame.code or "") for frame in frames)
    return next((m["callee"] for m in found if m), None)
