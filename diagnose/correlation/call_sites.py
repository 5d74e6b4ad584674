"""Do the ranks wait in different collectives of the program?

Over Gloo a call returns when its collective is done, so a traceback shows which collective its rank was in. One that all
ranks complete together (all-reduce, all-gather, barrier) lets no rank pass before all have come: where a rank waited in
vain in one of them, and those that then lost it stood in another, they matched calls that do not belong together. Which
side left the common order the tracebacks do not say, nor whether the calls were of groups of their own; flight recorders
do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..events import Event
from ..job import Job
from ..lazy_pattern import lazy
from ..traces.library_paths import is_library
from ..traces.traceback_lines import Frame
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

# Of a broadcast, a reduction or a send one side may be done long before the other comes.
TOGETHER = lazy(r"^(?:all_reduce|allreduce|all_gather\w{0,24}|reduce_scatter\w{0,24}|all_to_all\w{0,9}|barrier)$")
WAITED = "collective.timeout/gloo-operation-timed-out-exception"
LOST = ("network.connection-reset/gloo-closed-by-peer-exception", "network.connection-reset/gloo-read-error-exception")

Site = tuple[str, int, str]  # file, line, what is called there


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where those that waited in vain stand at one call, and those that lost them at others."""
    waited = _sites(e for e in job.failures() if e.rule.id == WAITED)
    lost = _sites(e for e in job.failures() if e.rule.id in LOST)
    if job.dumps or len(waited) != 1 or not lost or set(waited) & set(lost) or None in {*waited, *lost}:
        return
    ((site, of_waited),) = waited.items()
    others = [e for events in lost.values() for e in events]
    elsewhere = " and ".join(_named(place) for place in sorted(filter(None, lost)))
    if site is None or _ranks(of_waited) & _ranks(others):
        return
    here, there = rank_ranges(_ranks(of_waited)), rank_ranges(_ranks(others))
    why = f"Ranks {here} waited in {_named(site)}, ranks {there} in {elsewhere}."
    onset = min((e.onset for e in of_waited if e.onset is not None), default=None)
    yield Finding(
        "collective.desync", why, exhibits([*of_waited[:2], *others[:2]]), certainty="possible", onset=onset,
        question="call_sites",
    )  # fmt: skip


def _ranks(events: Sequence[Event]) -> set[int]:
    return {e.rank for e in events if e.rank is not None}


def _named(site: Site) -> str:
    file, line, function = site
    return f"{function} ({file.rpartition('/')[2]}:{line})"


def _sites(events: Iterator[Event]) -> dict[Site | None, list[Event]]:
    """Where the program called the collective; None where a traceback does not show it."""
    found: dict[Site | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.rank is not None:
            found[_site(event.traceback.frames if event.traceback else ())].append(event)
    return found


def _site(frames: Sequence[Frame]) -> Site | None:
    called = next((i for i, frame in enumerate(frames) if TOGETHER.match(frame.function) and is_library(frame.file)), 0)
    own = frames[called - 1] if called else None
    while own is not None and is_library(own.file):  # `wrapper` of c10d_logger.py
        called -= 1
        own = frames[called - 1] if called else None
    function = next((f.function for f in frames[called:] if TOGETHER.match(f.function)), "")
    return (own.file, own.line, function) if own is not None else None
