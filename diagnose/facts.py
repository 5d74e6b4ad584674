"""A `Job` in, what is known about it as a whole out: versions, sizes, time-outs, settings, each with its line.

Facts come from what processes printed (rules under `rules/context/`), from launch commands, from configuration files
given beside the logs, and from paths in tracebacks. What a running process printed beats what a file asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .facts_commands import command_facts, variable_facts
from .facts_contradictions import contradictions
from .facts_files import file_facts
from .facts_names import PACKAGES, PLACES, Stated, stated_setting
from .facts_paths import library_facts
from .facts_store import Facts, Known, facts_of, gather_facts
from .job import Job

__all__ = ["Facts", "Known", "facts_of", "read_facts"]


def read_facts(job: Job) -> Facts:
    """Yield everything that `job` states about itself."""
    stated = list(_stated(job))
    known = gather_facts(stated)
    facts = Facts(known, _libraries(stated))
    return Facts(known, facts.libraries, contradictions(facts))


def _stated(job: Job) -> Iterator[Stated]:
    yield from _from_events(job)
    for source in job.sources:
        if source.kind == "context":
            lines = {x.number: x.raw for x in reversed(source.head)}
            yield from file_facts(sorted(lines.items()), source.name)
    yield from library_facts(job)
    if job.world_size is not None:
        surety = {"given": 4, "stated in the logs": 3}.get(job.places.world_from, 1)
        yield Stated("world_size", job.world_size, job.places.world_from, None, surety)
    if job.places.local_world:
        yield Stated("gpus_per_node", job.places.local_world, "the ranks seen on one host", None, 1)
    if job.hosts:
        yield Stated("hosts", len(job.hosts), "the hosts seen", None, 1)


def _from_events(job: Job) -> Iterator[Stated]:
    context = {s.name for s in job.sources if s.kind == "context"}
    for event in job.events:
        fields = event.fields
        if event.source in context:
            continue  # read whole, by `file_facts`
        if event.rule.tells == "fact":
            yield from _of_event(fields, event.source, event.line, event.rank, event.host)
        elif event.rule.tells == "collective-timeout" and isinstance(fields.get("timeout_ms"), int):
            seconds = _whole(fields["timeout_ms"] / 1000)
            yield Stated("nccl_timeout_s", seconds, event.source, event.line, 3, event.rank, event.host)
        for name, value in fields.items():
            if name.endswith("_version") and event.rule.tells != "fact" and isinstance(value, (str, int, float)):
                yield Stated(name, value, event.source, event.line, 3, event.rank, event.host)


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _of_event(
    fields: Mapping[str, Any], source: str, line: int | None, rank: int | None, host: str | None
) -> Iterator[Stated]:
    """A rule's captures are facts of their names; `setting`, `variable` and `package` name the fact themselves."""
    found: list[Stated] = []
    value = str(fields.get("value", ""))
    if "setting" in fields:
        found += stated_setting(str(fields["setting"]), value, source, line, 3)
    elif "variable" in fields:
        found += variable_facts(str(fields["variable"]), value, source, line, 3)
    elif "package" in fields:
        name = PACKAGES.get(str(fields["package"]).lower().replace("_", "-"))
        found += [Stated(name, value, source, line, 3)] if name else []
    else:
        for key, captured in fields.items():
            if key not in PLACES and isinstance(captured, (str, int, float)):
                found.append(Stated(key, captured, source, line, 3))
    if "command" in fields:
        found += command_facts(str(fields["command"]), source, line, 3)
    for one in found:
        yield Stated(one.name, one.value, source, line, one.surety, rank, host)


def _libraries(stated: Sequence[Stated]) -> frozenset[str]:
    """The packages whose code the logs show: paths in tracebacks, the framework of the launch command."""
    seen = {str(s.value) for s in stated if s.name in ("library", "framework")}
    if "open-r1" in seen:
        seen.add("trl")  # Open-R1 is a set of scripts over TRL's trainers
    return frozenset(seen)
