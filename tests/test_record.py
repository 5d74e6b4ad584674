"""Records: what a frozen dataclass gives, without its price."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import field, fields, replace

import pytest

from diagnose.lines.record import record


@record
class Place:
    """Where something stands."""

    line: int
    column: int = 0
    notes: list[str] = field(default_factory=list, compare=False)
    secret: str = field(default="", repr=False)


@record
class Nowhere:
    """A record without a field."""


@record
class Named:
    """A record that shows itself in its own way."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


def test_records_with_the_same_fields_are_one_and_those_of_another_class_none_of_them() -> None:
    assert Place(1, 2) == Place(1, 2) != Place(1, 3)
    assert Place(1) != (1, 0, [], "") and Nowhere() == Nowhere() != Place(1)


def test_a_record_can_be_changed_into_another_and_copied_as_workers_do() -> None:
    moved = replace(Place(1, 2), line=5)
    assert moved == Place(5, 2) and [f.name for f in fields(moved)] == ["line", "column", "notes", "secret"]
    assert deepcopy(moved) == moved


def test_a_record_takes_no_field_that_it_does_not_have() -> None:
    with pytest.raises(AttributeError):
        Place(1).other = 2  # type: ignore[attr-defined]
