"""Where a job runs: scheduler, stack, library, launcher, number of hosts; each decided once, each with one meaning.

`platform.yaml` says what shows each of them. What a launch command or a process states beats what is inferred here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ..job.event import Event
from ..job.job import Job
from ..lines.cache import tables
from ..lines.record import record
from .fact_store import Facts
from .settings import Stated

EVIDENCE = Path(__file__).with_name("platform.yaml")
MAX_FAILURES = 400  # of which the words are read


@record
class Seen:
    """What the logs show of a platform: rules by name, files, texts of failures, packages."""

    rules: Mapping[str, Event]
    harmless: Mapping[str, Event]  # which tell of the scheduler alone: TensorFlow's notices stand in many logs
    files: Mapping[str, str]  # name of an input without its folder -> input
    failures: Sequence[Event]
    packages: frozenset[str]
    facts: Facts


def platform_facts(job: Job, facts: Facts) -> Iterator[Stated]:
    """Yield the facts on where the job runs."""
    seen = _seen(job, facts)
    for name, values in evidence().items():
        rules = {**seen.harmless, **seen.rules} if name == "scheduler" else seen.rules
        found = next(((value, place) for value, shown in values.items() if (place := _place(seen, rules, shown))), None)
        if name == "scheduler" and (pod := _pod(job)):
            found = ("kubernetes", pod)
        if found:
            yield Stated(name, found[0], *found[1], 1)
    hosts = _hosts(job, facts)
    if hosts:
        yield Stated("hosts", hosts, "logs", None, 1)


def evidence() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Yield the table: fact, value, and what shows it."""
    return tables(EVIDENCE)


def _seen(job: Job, facts: Facts) -> Seen:
    rules: dict[str, Event] = {}
    harmless: dict[str, Event] = {}
    for event in job.events:
        (harmless if event.rule.role == "harmless" else rules).setdefault(event.rule.id.rpartition("/")[2], event)
    files = {PurePosixPath(source.name).name: source.name for source in job.sources}
    return Seen(rules, harmless, files, job.failures()[:MAX_FAILURES], facts.packages, facts)


def _place(seen: Seen, rules: Mapping[str, Event], shown: Mapping[str, list[str]]) -> tuple[str, int | None] | None:
    """Where the first evidence stands."""
    for rule, event in rules.items():
        if any(rule == word or rule.startswith(f"{word}-") for word in shown.get("rules", ())):
            return event.source, event.line
    for file, source in seen.files.items():
        if file.startswith(tuple(shown.get("files", ()))):
            return source, None
    for event in seen.failures:
        if any(word in event.raw for word in shown.get("words", ())):
            return event.source, event.line
    stated = next((known for fact in shown.get("facts", ()) for known in seen.facts.all(fact)), None)
    if stated is not None:
        return stated.stated[0].source, stated.stated[0].line
    return ("logs", None) if seen.packages.intersection(shown.get("packages", ())) else None


def _pod(job: Job) -> tuple[str, int | None] | None:
    """The first input in which a pod speaks, or that a host is named as pods are in their cluster."""
    if any(".svc." in f"{host}." for host in job.hosts):
        return "logs", None
    return next(((s.name, None) for s in job.sources for speaker in s.speakers if speaker.pod), None)


def _hosts(job: Job, facts: Facts) -> int | None:
    """How many hosts the job has; None where ranks may run on hosts of which nothing is seen."""
    seen, stated = len(job.hosts), facts.number("nnodes")
    world, local = job.world_size, job.places.local_world or facts.number("gpus_per_node")
    if seen > 1 or (stated or 0) > 1:
        return max(seen, stated or 0)
    if stated == 1 or world == 1:
        return 1
    if world and local:
        return math.ceil(world / local)
    placed = sum(1 for info in job.ranks.values() if info.host)
    return 1 if seen == 1 and world and placed >= world else None
