"""Which rank raised what Ray Train's controller repeats of its workers' errors.

    ray.train.v2.api.exceptions.WorkerGroupError: Training failed due to worker errors:
    [Rank 2 Error Snippet]:                         later `[Rank 2]:`; `[Rank 0, 1]:` above what several raised alike
    Traceback (most recent call last):

Source: ray/train/v2/_internal/execution/worker_group/poll.py, `get_error_string`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from .event import Event, SourceEvents

HEADER = lazy(r"\[Rank (\d{1,6}(?:, ?\d{1,6}){0,1000})(?: Error Snippet)?\]:\s{0,3}$")


def place_snippets(sources: Sequence[SourceEvents]) -> None:
    """Give the rank of its header to every error that names none itself.

    Not to who only waited: the controller ends the others as soon as one has failed, so that they do not get to say so.
    """
    for source in filter(_is_of_a_controller, sources):
        heads = {line.number: _ranks(m[1]) for line in source.lines() if (m := HEADER.match(line.message))}
        for event in (e for e in source.events if e.rank is None and e.role == "cause"):
            ranks = heads.get(_first_line(event) - 1, [])
            if len(ranks) == 1:
                event.rank, event.rank_from = ranks[0], "the controller's header"
        for event in (e for e in source.events if e.traceback is not None and e.role == "symptom"):
            ranks = heads.get(event.traceback.end_line + 1 if event.traceback else 0, [])
            if "ranks" in event.rule.fields and len(ranks) > 1:
                event.fields["ranks"] = ranks  # of the one error below, which all of them raised


def _ranks(listed: str) -> list[int]:
    return [int(rank) for rank in listed.split(",")]


def _is_of_a_controller(source: SourceEvents) -> bool:
    return any("WorkerGroupError" in e.raw or e.speaker.actor == "TrainController" for e in source.events)


def _first_line(event: Event) -> int:
    return event.traceback.line if event.traceback is not None else event.line or 0
