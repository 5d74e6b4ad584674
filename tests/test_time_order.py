"""A job's events in order of time: in a large job made anew in it, which changes nothing that anybody asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.job import time_order
from diagnose.job.event import Event

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("case", sorted(p.parent.name for p in FIXTURES.glob("*/logs")))
def test_events_made_anew_tell_what_they_told(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_read = diagnose(FIXTURES / case / "logs")
    monkeypatch.setattr(time_order, "MANY_EVENTS", 0)
    anew = diagnose(FIXTURES / case / "logs")
    assert anew.diagnosis == as_read.diagnosis
    assert anew.timeline == as_read.timeline
    assert anew.ranks == as_read.ranks


def test_an_event_made_anew_is_the_same_and_another_object(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Event, Event]] = []
    again = Event.again
    monkeypatch.setattr(time_order, "MANY_EVENTS", 0)
    monkeypatch.setattr(Event, "again", lambda event: made.append((event, again(event))) or made[-1][1])
    diagnose(next(FIXTURES.glob("*/logs")))
    assert made
    assert all(old == new and old is not new for old, new in made[-1:])
