"""A `Job` in, what is known about it as a whole out: versions, sizes, time-outs, settings, each with its line.

From what processes printed (which beats what a file asks for), launch commands, configuration files, paths in tracebacks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..catalogue.rule import Rule
from ..job.event import Event
from ..job.identity_table import GUESSED
from ..job.job import Job
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from .fact_store import Facts, gather_facts
from .settings import (
    NAMES,
    PACKAGES,
    Pair,
    Stated,
    command_facts,
    file_facts,
    package_name,
    program_facts,
    setting_facts,
    variable_facts,
)

Place = tuple[str, int | None]  # input and line
PLATFORM = Path(__file__).with_name("platform.yaml")
NO_FACTS = NAMES["no_facts"].split()
INTERFACE = "nccl_interface"  # named by whoever else a line tells of
MAX_S = 7 * 86400.0  # a longer save or evaluation is two runs in one file
MAX_TRACEBACKS = 400
MAX_FAILURES = 400  # of which the words are read
_INSTALLED, _PYTHON, _VERSIONED = map(lazy, NAMES["paths"].values())
OF_AN_OPERATOR = lazy(NAMES["of_an_operator"])


def read_facts(job: Job) -> Facts:
    """Yield everything that `job` states about itself."""
    stated = list(_stated(job))
    stated += platform_facts(job, Facts(gather_facts(stated), _packages(stated)))
    return Facts(gather_facts(stated), _packages(stated))


def _stated(job: Job) -> Iterator[Stated]:
    context = {s.name for s in job.sources if s.kind == "context"}  # read whole, by `file_facts`
    for event in job.events:
        if event.source not in context:
            told = event_facts(event.rule, event.fields, event.text)
            yield from (Stated(*fact, event.source, event.line, surety, event.rank, event.host) for fact, surety in told)
    for source in job.sources:
        if source.name in context:
            yield from file_facts(sorted({x.number: x.raw for x in reversed(source.head())}.items()), source.name)
    yield from _package_facts(job)
    yield from _duration_facts(job)
    yield from _world(job, context)
    if job.places.local_world and job.places.local_world * max(1, len(job.hosts)) == job.world_size:
        yield Stated("gpus_per_node", job.places.local_world, "the ranks seen on one host", None, 1)


def _world(job: Job, context: set[str]) -> Iterator[Stated]:
    """The world as processes print it; what a launch script asks for is another fact."""
    told = (e for e in job.events if e.rule.tells in ("identity", "fact") and "launcher" not in e.fields)
    printed = [e for e in told if e.source not in context and isinstance(e.fields.get("world_size"), int)]
    if job.context.world_size is not None:
        yield Stated("world_size", job.context.world_size, "given", None, 4)
    elif printed:
        whole = max(printed, key=lambda e: e.fields["world_size"])  # smaller ones are groups
        yield Stated("world_size", whole.fields["world_size"], whole.source, whole.line, 3)
    elif job.world_size is not None and (job.world_size, job.places.world_from) != (1, GUESSED):  # rank 0 is heard alone
        yield Stated("world_size", job.world_size, job.places.world_from, None, 1)


def event_facts(rule: Rule, fields: Mapping[str, Any], text: str) -> Iterator[tuple[Pair, int]]:
    """Yield the facts in a rule's captures: under its own names, or as `setting`, `variable`, `package` and `value`."""
    value, printed = str(fields.get("value", "")), list[Pair]()
    if rule.tells == "collective-timeout" and isinstance(fields.get("timeout_ms"), int):
        seconds, rest = divmod(fields["timeout_ms"], 1000)
        printed.append(("nccl_timeout_s", seconds + rest / 1000 if rest else seconds))
    if rule.tells != "fact":
        versions = ((n, v) for n, v in fields.items() if n.endswith("_version") and isinstance(v, str) and "." in v)
        printed += [*versions, *((n, v) for n, v in fields.items() if n == INTERFACE)]
    elif "setting" in fields:
        printed += setting_facts(str(fields["setting"]), value)
    elif "variable" in fields:
        printed += variable_facts(str(fields["variable"]), value)
    elif "package" in fields:
        package = PACKAGES.get(package_name(str(fields["package"])))
        yield from [((package, value), 2)] if package else []
    else:
        printed += _named(fields)
        if "command" in fields or "launcher" in fields:
            yield from ((fact, 2) for fact in command_facts(str(fields.get("command") or text.lstrip("+$ "))))
    yield from ((fact, 3) for fact in printed)


def _named(fields: Mapping[str, Any]) -> Iterator[Pair]:
    for key, captured in fields.items():
        name = "processes_asked" if key == "world_size" and "launcher" in fields else NAMES["aliases"].get(key, key)
        is_fact = key not in NO_FACTS and name != "world_size"  # see `_world`
        if is_fact and isinstance(captured, (str, int, float)):
            yield name, captured * 60 if key == "timeout_min" and not isinstance(captured, str) else captured


def _packages(stated: Sequence[Stated]) -> frozenset[str]:
    """The packages whose code the logs show: paths in tracebacks, the framework of the launch command."""
    seen = {str(s.value) for s in stated if s.name in ("package", "framework")}
    if "open-r1" in seen:
        seen.add("trl")  # Open-R1 is a set of scripts over TRL's trainers
    return frozenset(seen)


def _duration_facts(job: Job) -> Iterator[Stated]:
    """Yield the longest whole duration of each kind of slow work, with the line where it ended."""
    longest_of: dict[str, str] = NAMES["longest"]
    longest: dict[str, tuple[float, Event]] = {}
    begun: dict[tuple[str | None, str, int | None, int], Event] = {}
    for event in job.events:
        activity = event.rule.activity
        key = (activity, event.source, event.rank, event.attempt)
        if activity in longest_of and event.rule.tells == "activity":
            begun.setdefault(key, event)
        elif activity in longest_of and event.rule.tells == "activity-end":
            start, seconds = begun.pop(key, None), event.fields.get("seconds")  # as the line states it
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):  # else from its beginning
                is_timed = start is not None and start.time is not None and event.time is not None
                seconds = (event.time or 0.0) - (start.time or 0.0) if is_timed and start is not None else 0.0
                seconds = seconds if seconds < MAX_S else 0.0
            if seconds > longest.get(activity, (0.0, event))[0]:
                longest[activity] = (float(seconds), event)
    for name, (seconds, last) in sorted(longest.items()):
        yield Stated(longest_of[name], round(seconds, 1), last.source, last.line, 3)


def _package_facts(job: Job) -> Iterator[Stated]:
    """Yield `package`, `framework` and `python_version` from the files that tracebacks name: every print beats them."""
    seen: set[object] = set()  # thousands of ranks have the same frames
    for source in job.sources:
        for tb in source.tracebacks[:MAX_TRACEBACKS]:
            frames = (*tb.frames, *(frame for link in tb.links for frame in link.frames))
            files = {frame.file: None for frame in frames if frame.file not in seen}
            facts = {fact: None for file in files for fact in path_facts(file) if fact not in seen}
            seen.update(files, facts)
            yield from (Stated(*fact, source.name, tb.line, 1) for fact in facts)


def path_facts(path: str) -> Iterator[Pair]:
    """Yield what one path of a frame tells."""
    if path[1:3] == ":\\":
        yield "system", "windows"
    if installed := _INSTALLED.search(path):
        yield "package", installed["package"].lower()
    if versioned := _VERSIONED.search(path):
        yield f"{versioned['package'].lower()}_version", versioned["version"]
    if python := _PYTHON.search(path):
        yield "python_version", python["version"]
    yield from (fact for fact in program_facts(path) if fact[0] != "trainer" or "/trl/" in path)


def platform_facts(job: Job, facts: Facts) -> Iterator[Stated]:
    """Yield where the job runs by `platform.yaml`: what a command or a process states beats what is inferred here."""
    rules: dict[str, Event] = {}
    harmless: dict[str, Event] = {}  # tell of the scheduler alone: TensorFlow's notices stand in many logs
    for event in job.events:
        (harmless if event.rule.role == "harmless" else rules).setdefault(event.rule.id.rpartition("/")[2], event)
    failures = job.failures()[:MAX_FAILURES]
    for name, values in tables(PLATFORM).items():
        seen = {**harmless, **rules} if name == "scheduler" else rules
        places = ((value, _place(job, facts, seen, failures, shown)) for value, shown in values.items())
        found = next(((value, place) for value, place in places if place), None)
        if name == "scheduler" and (pod := _pod(job, is_open=found is None)):
            found = ("kubernetes", pod)
        if found:
            yield Stated(name, found[0], *found[1], 1)
    if hosts := _hosts(job, facts):
        yield Stated("hosts", hosts, "logs", None, 1)


def _place(
    job: Job, facts: Facts, rules: Mapping[str, Event], failures: Sequence[Event], shown: Mapping[str, list[str]]
) -> Place | None:
    """Where the first evidence stands: rules by name, files, words of failures, facts, packages."""
    names, files = shown.get("rules", ()), tuple(shown.get("files", ()))
    told = (e for rule, e in rules.items() if any(rule == name or rule.startswith(f"{name}-") for name in names))
    said = (e for e in failures if any(word in e.raw for word in shown.get("words", ())))
    if (event := next(told, None)) is not None:
        return event.source, event.line
    named = (s.name for s in job.sources if files and s.name.rpartition("/")[2].startswith(files))
    if (name := next(named, None)) is not None:
        return name, None
    stated = (known.stated[0] for fact in shown.get("facts", ()) for known in facts.all(fact))
    if (found := next(said, None) or next(stated, None)) is not None:
        return found.source, found.line
    return ("logs", None) if facts.packages.intersection(shown.get("packages", ())) else None


def _pod(job: Job, *, is_open: bool) -> Place | None:
    """The first input in which a pod speaks, or that a host is named as pods are in their cluster."""
    if any(".svc." in f"{host}." or (is_open and OF_AN_OPERATOR.fullmatch(host)) for host in job.hosts):
        return "logs", None
    named = (s.name for s in job.sources if job.places.by_source[s.name].pod or any(x.pod for x in s.speakers))
    return next(((name, None) for name in named), None)


def _hosts(job: Job, facts: Facts) -> int | None:
    """How many hosts the job has; None where ranks may run on hosts of which nothing is seen."""
    seen, stated = len(job.hosts), facts.number("nnodes")
    world, local = job.world_size, job.places.local_world or facts.number("gpus_per_node")
    if max(seen, stated or 0) > 1:
        return max(seen, stated or 0)
    if stated == 1 or world == 1:
        return 1
    if world and local:
        return math.ceil(world / local)
    placed = sum(1 for info in job.ranks.values() if info.host)
    return 1 if seen == 1 and world and placed >= world else None
