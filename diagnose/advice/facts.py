"""A `Job` in, what is known about it as a whole out: versions, sizes, time-outs, settings, each with its line.

Facts come from what processes printed (rules under `rules/context/`), from launch commands, from configuration files
given beside the logs, and from paths in tracebacks. What a running process printed beats what a file asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..catalogue.rule import Rule
from ..job.event import Event
from ..job.identity_table import GUESSED
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from .fact_store import Facts, differences, gather_facts
from .platform import platform_facts
from .settings import (
    LONGEST,
    PACKAGES,
    PLACES,
    Stated,
    command_facts,
    file_facts,
    framework_of,
    stated_setting,
    trainer_of,
    variable_facts,
)

# Names that rules use for what a line says, and the fact (and factor) that it is.
ALIASES: dict[str, tuple[str, int]] = {
    "train_batch": ("train_batch_size", 1),
    "micro_batch": ("micro_batch_size", 1),
    "accumulation": ("gradient_accumulation", 1),
    "timeout_s": ("nccl_timeout_s", 1),
    "timeout_min": ("nccl_timeout_s", 60),
    "lightning_backend": ("backend", 1),
    "max_nodes": ("nnodes", 1),
}
NO_FACTS = frozenset(
    ["entrypoint", "interface", "job_id", "launcher", "min_nodes", "ray_started", "rdzv_endpoint", "repeated", "run_id"]
)
INTERFACE = "nccl_interface"  # named by whoever else a line tells of
MAX_S = 7 * 86400.0  # a longer save or evaluation is two runs in one file
MAX_TRACEBACKS = 400
_INSTALLED = lazy(r"(?:site|dist)-packages/(?P<package>[A-Za-z]\w{1,60})(?:/|\.py)")
_PYTHON = lazy(r"/python(?P<version>\d\.\d{1,2})/")
_VERSIONED = lazy(
    r"(?:site|dist)-packages/(?P<package>[A-Za-z]\w{1,60})-(?P<version>\d[\w.]{0,30})(?:\+[\w.]{1,30})?[-.](?:py|dist|egg)"
)


def read_facts(job: Job) -> Facts:
    """Yield everything that `job` states about itself."""
    stated = list(_stated(job))
    stated += platform_facts(job, Facts(gather_facts(stated), _packages(stated)))
    facts = Facts(gather_facts(stated), _packages(stated))
    return Facts(facts.known, facts.packages, differences(facts))


def _stated(job: Job) -> Iterator[Stated]:
    yield from _from_events(job)
    for source in job.sources:
        if source.kind == "context":
            lines = {x.number: x.raw for x in reversed(source.head())}
            yield from file_facts(sorted(lines.items()), source.name)
    yield from _package_facts(job)
    yield from _duration_facts(job)
    yield from _world(job)
    if job.places.local_world and job.places.local_world * max(1, len(job.hosts)) == job.world_size:
        yield Stated("gpus_per_node", job.places.local_world, "the ranks seen on one host", None, 1)


def _world(job: Job) -> Iterator[Stated]:
    """The world as processes print it; what a launch script asks for is another fact."""
    context = {s.name for s in job.sources if s.kind == "context"}
    printed = [
        e
        for e in job.events
        if e.rule.tells in ("identity", "fact") and "launcher" not in e.fields and e.source not in context
        if isinstance(e.fields.get("world_size"), int)
    ]
    if job.context.world_size is not None:
        yield Stated("world_size", job.context.world_size, "given", None, 4)
    elif printed:
        whole = max(printed, key=lambda e: e.fields["world_size"])  # smaller ones are groups
        yield Stated("world_size", whole.fields["world_size"], whole.source, whole.line, 3)
    elif job.world_size is not None and (job.world_size, job.places.world_from) != (1, GUESSED):  # rank 0 is heard alone
        yield Stated("world_size", job.world_size, job.places.world_from, None, 1)


def _from_events(job: Job) -> Iterator[Stated]:
    context = {s.name for s in job.sources if s.kind == "context"}
    states: dict[str, bool] = {}  # by rule
    for event in job.events:
        may_state = states.get(event.rule.id)
        if may_state is None:
            may_state = states[event.rule.id] = _may_state(event.rule)
        if not may_state or event.source in context:  # which is read whole, by `file_facts`
            continue
        for one in event_facts(event.rule, event.fields, event.text):
            yield Stated(one.name, one.value, event.source, event.line, one.surety, event.rank, event.host)


def _may_state(rule: Rule) -> bool:
    """Whether a rule's captures can be facts, as `event_facts` reads them."""
    is_named = any(name == INTERFACE or name.endswith("_version") for name in rule.fields) or rule.table is not None
    return is_named or rule.tells in ("fact", "collective-timeout")


def event_facts(rule: Rule, fields: Mapping[str, Any], text: str) -> Iterator[Stated]:
    """Yield the facts in a rule's captures: under its own names, or as `setting`, `variable`, `package` and `value`."""
    value = str(fields.get("value", ""))
    if rule.tells == "collective-timeout" and isinstance(fields.get("timeout_ms"), int):
        yield Stated("nccl_timeout_s", _whole(fields["timeout_ms"] / 1000), "", None, 3)
    if rule.tells != "fact":
        for name, captured in fields.items():
            is_version = name.endswith("_version") and isinstance(captured, str) and "." in captured
            if is_version or name == INTERFACE:
                yield Stated(name, captured, "", None, 3)
    elif "setting" in fields:
        yield from stated_setting(str(fields["setting"]), value, "", None, 3)
    elif "variable" in fields:
        yield from variable_facts(str(fields["variable"]), value, "", None, 3)
    elif "package" in fields:
        package = PACKAGES.get(str(fields["package"]).lower().replace("_", "-").replace(" ", "-"))
        yield from [Stated(package, value, "", None, 2)] if package else []
    else:
        yield from _named(fields)
        if "command" in fields or "launcher" in fields:
            yield from command_facts(str(fields.get("command") or text.lstrip("+$ ")), "", None, 2)


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _named(fields: Mapping[str, Any]) -> Iterator[Stated]:
    for key, captured in fields.items():
        if key in PLACES or key in NO_FACTS or not isinstance(captured, (str, int, float)):
            continue
        name, factor = ALIASES.get(key, (key, 1))
        name = "processes_asked" if name == "world_size" and "launcher" in fields else name
        if name == "world_size":
            continue  # see `_world`
        yield Stated(name, captured * factor if isinstance(captured, (int, float)) else captured, "", None, 3)


def _packages(stated: Sequence[Stated]) -> frozenset[str]:
    """The packages whose code the logs show: paths in tracebacks, the framework of the launch command."""
    seen = {str(s.value) for s in stated if s.name in ("package", "framework")}
    if "open-r1" in seen:
        seen.add("trl")  # Open-R1 is a set of scripts over TRL's trainers
    return frozenset(seen)


# --- how long slow work took ---------------------------------------------------------------------------------------


def _duration_facts(job: Job) -> Iterator[Stated]:
    """Yield the longest whole duration of each kind of slow work, with the line where it ended."""
    longest: dict[str, tuple[float, Event]] = {}
    begun: dict[tuple[str, str, int | None, int], Event] = {}
    for event in job.events:
        activity = str(event.rule.activity)
        if activity not in LONGEST or event.rule.tells not in ("activity", "activity-end"):
            continue
        key = (activity, event.source, event.rank, event.attempt)
        if event.rule.tells == "activity":
            begun.setdefault(key, event)
            continue
        seconds = _seconds(event, begun.pop(key, None))
        if seconds is not None and seconds > longest.get(activity, (0.0, event))[0]:
            longest[activity] = (seconds, event)
    for name, (seconds, last) in sorted(longest.items()):
        yield Stated(LONGEST[name], round(seconds, 1), last.source, last.line, 3)


def _seconds(end: Event, start: Event | None) -> float | None:
    """As the line states it, else from its beginning; None where no clock tells."""
    stated = end.fields.get("seconds")
    if isinstance(stated, (int, float)) and not isinstance(stated, bool):
        return float(stated)
    if start is None or start.time is None or end.time is None:
        return None
    return end.time - start.time if 0 < end.time - start.time < MAX_S else None


# --- what paths in tracebacks tell ---------------------------------------------------------------------------------


def _package_facts(job: Job) -> Iterator[Stated]:
    """Yield `package`, `framework` and `python_version` from the files that tracebacks name: every print beats them."""
    seen: set[tuple[str, str]] = set()
    files: set[str] = set()  # thousands of ranks have the same frames
    for source in job.sources:
        for tb in source.tracebacks[:MAX_TRACEBACKS]:
            frames = [*tb.frames, *(f for link in tb.links for f in link.frames)]
            for frame in frames:
                if frame.file in files:
                    continue
                files.add(frame.file)
                for name, value in path_facts(frame.file):
                    if (name, value) not in seen:
                        seen.add((name, value))
                        yield Stated(name, value, source.name, tb.line, 1)


def path_facts(path: str) -> Iterator[tuple[str, str]]:
    """Yield what one path of a frame tells."""
    if path[1:3] == ":\\":
        yield "system", "windows"
    installed = _INSTALLED.search(path)
    if installed:
        yield "package", installed["package"].lower()
    versioned = _VERSIONED.search(path)
    if versioned:
        yield f"{versioned['package'].lower()}_version", versioned["version"]
    python = _PYTHON.search(path)
    if python:
        yield "python_version", python["version"]
    trainer = trainer_of(path) if "/trl/" in path else None
    if trainer:
        yield "trainer", trainer
    framework = framework_of(path)
    if framework:
        yield "framework", framework
