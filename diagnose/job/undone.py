"""Which errors a later line says to be over.

A pod that found no node was placed, an image that failed was pulled, a process of NCCL that could not open one network
took another, an application of Ray Serve got its replicas, a file server answers again. What is said to be over only
after ranks had failed or begun to wait in vain came too late for them. And what the parts of a Ray cluster say of each
other when all are told to end is no death: a raylet that takes leave hears that it was removed, and calls that a mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .event import FAILING

if TYPE_CHECKING:
    from .event import Event
    from .job import Job

SHORT_S = 120.0  # less than any rank waits for another before it gives up
LISTING = 40  # lines: `kubectl describe` names the pod once, above all of its events
TOLD_TO_END = "context.ray/told-to-end"
FAREWELLS = ("marked-dead-by-mistake", "raylet-terminated", "actor-lost-with-its-node")  # of ray.node-died
LEAVE_S, STAMP_S = 60.0, 2.0  # Ray waits so long for its parts; stamps of its event files are whole seconds
Thing = tuple[str | None, object]  # the name of a pod or an application; or host and process


def undone(job: Job) -> set[int]:
    """Return the ids of events whose rule a later event undoes, of the same pod or process."""
    ends: dict[tuple[str, str], dict[Thing | None, Event]] = {}  # rule undone, file -> whom it was last undone for
    for event in job.events:
        for rule in event.rule.undoes:
            last = ends.setdefault((rule, event.source), {})
            for thing in {_thing(event), None}:
                last[thing] = max(last.get(thing, event), event, key=lambda e: e.line or 0)
    suffered_s = _first_suffered(job) if ends else 0.0
    asked = ((e, ends.get((e.rule.id, e.source))) for e in job.events) if ends else ()
    over = {id(e) for e, last in asked if last and _is_over(e, last, suffered_s)}
    told = [e for e in job.events if e.rule.id == TOLD_TO_END]
    farewells = (e for e in job.events if e.cause == "ray.node-died" and e.rule.id.endswith(FAREWELLS)) if told else ()
    return over | {id(e) for e in farewells if any(_is_farewell(e, t) for t in told)}


def _is_farewell(event: Event, told: Event) -> bool:
    """Whether it was said by the process that was told to end, or within the time that the others take to leave."""
    if event.speaker.pid is not None and event.speaker.pid == told.speaker.pid:
        return True
    return event.time is None or told.time is None or -STAMP_S <= event.time - told.time <= LEAVE_S


def _first_suffered(job: Job) -> float:
    """When the first rank failed, or began what it waited for in vain."""
    ranked = (e for e in job.events if e.rank is not None and e.role in FAILING and e.fields.get("pci") is None)
    return min((e.onset for e in ranked if e.onset is not None), default=float("inf"))


def _thing(event: Event) -> Thing | None:
    told, speaker = event.fields, event.speaker
    named = told.get("pod") or told.get("application") or told.get("server")
    if named is not None:
        return (str(named), None)
    return (speaker.host, speaker.pid) if speaker.pid is not None else None


def _is_over(event: Event, last: dict[Thing | None, Event], suffered_s: float) -> bool:
    line, thing = event.end_line or 0, _thing(event)
    end = last.get(thing)
    if end is None or (end.line or 0) <= line or (thing is None and (end.line or 0) > line + LISTING):
        return False
    if event.time is None or end.time is None or end.stamp is None:
        return True
    return end.time < max(suffered_s, event.time + SHORT_S)
