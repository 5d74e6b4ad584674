"""All sources' events in, one `Job` out: the reduce step. Ranks, hosts, attempts, one clock, one timeline, facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..lines.path_identity import identity_from_path
from .attempt import decisive_attempt, number_attempts, number_by_time
from .clock import set_clocks
from .copies import merge_copies
from .event import SourceEvents, events_in_order, settled
from .identity_table import HERE
from .job import Job, JobContext
from .placement import place, set_jobs_apart
from .process import processes, tell_aborts, tell_ordered_ends
from .survival import set_aside

if TYPE_CHECKING:
    from ..recorder.dump import Dump


def build_job(
    sources: Sequence[SourceEvents],
    dumps: Sequence[Dump] = (),
    context: JobContext | None = None,
    zone_s: float | None = None,
    rank_from: str | None = None,
    empty: Sequence[str] = (),
) -> Job:
    """Yield the job that these sources tell of."""
    context = context or JobContext()
    alone = {s.name: identity_from_path(s.name) for s in sources}
    sources, others = set_jobs_apart(sources, alone)
    places = place(sources, context.world_size, rank_from, alone)
    del alone  # with thousands of files it weighs
    if dumps:
        from ..recorder.dump import placed

        dumps = placed(dumps, places.stated_size)
    number_attempts(sources, places)
    clocks = set_clocks(sources, zone_s)
    number_by_time(sources, places, clocks)
    events = merge_copies(events_in_order(sources), places)
    tell_ordered_ends(events)
    tell_aborts(events)
    hosts = {*places.source_host.values(), *places.hosts_of_ranks, *(e.host for e in events if e.host)}
    job = Job(
        list(sources), events, processes(events, sources, places), sorted(hosts.difference(HERE) or hosts), places, clocks,
        context, list(dumps), others=others, files=frozenset((*(s.name for s in sources), *empty)),
    )  # fmt: skip
    job.attempt = decisive_attempt(events, (e for s in sources for pair in s.progress for e in pair))
    set_aside(job)
    job.was_alive = any(source.progress for source in sources)
    for event in (e for s in sources for e in s.all_events()):
        settled(event)
    for source in sources:
        source.progress = ()  # four events for each of 20,000 files; the ranks hold their first and last one
    for event in events:
        if event.rule.tells in ("fact", "identity"):
            for name, value in event.fields.items():
                job.facts.setdefault(name, []).append((value, event))
    return job
