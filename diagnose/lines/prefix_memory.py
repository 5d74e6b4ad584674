"""How the heads of lines were read, remembered by the line's shape: thousands of ranks print the same with other digits.

Lines of one shape differ in their digits only. Where none of the forms that were tried asks for a particular digit that
could stand in them, all are read alike: the same fields at the same places. Stamps alone are read anew, for 31 February
is none. In: a line's text. Out: the prefix that reading it would give, or None where it has to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from .prefix_rows import Rows
from .record import record
from .shapes import DIGITS, digit_marks
from .timestamp import Stamp, fuller, read_stamp

P = TypeVar("P", bound=tuple[Any, ...])
Convert = Callable[[str], Any]

MAX_CHARS = 1_500  # of a line whose shape is remembered
WORTH_KEEPING = 2  # lines of one shape; to note how these are read costs as much as to read one of them
MAX_REMEMBERED = 16_000  # shapes; then all is forgotten
MAX_MOMENTS = 32  # of the stamps in lines of one shape; then these are: ranks that print one moment are read in turn
C10_DIGITS = 9
MAX_STAMP = 64  # characters; no form is longer
UNREAD = Stamp(0.0, "unread")
_MARKS = (b"[00:",)  # with digits, and looked for in every line: of a progress bar

_marks = lru_cache(maxsize=512)(digit_marks)


class Found:
    """What was found in the head of a line, and how: everything on which it depends beside the line's shape."""

    __slots__ = ("looked", "places", "stamps", "tried", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}  # by field
        self.places: dict[str, tuple[int, int, Convert]] = {}  # where a value stands, and how its text becomes one
        self.stamps: list[tuple[int, Stamp | None, bool]] = []  # looked for where, found, and whether it counts
        self.tried: list[str] = []  # patterns
        self.looked: list[tuple[Rows, str, int]] = []  # which table was asked for which characters, where these stand

    def take(self, field: str, text: str, start: int, stop: int, convert: Convert) -> None:
        """Take a value from its place in the text."""
        self.values[field] = convert(text[start:stop])
        self.places[field] = start, stop, convert

    def note_stamp(self, start: int, stamp: Stamp | None, *, counts: bool) -> None:
        """Note that a stamp was looked for; one that counts is kept if it tells more than the one before."""
        self.stamps.append((start, stamp, counts))
        if stamp is not None and counts:
            self.keep_stamp(stamp)

    def keep_stamp(self, stamp: Stamp) -> None:
        """Keep the fuller of this stamp and the one that was found before."""
        held = self.values.get("stamp")
        self.values["stamp"] = stamp if held is None else fuller(held, stamp)


@record
class _Clock:
    """Where lines of one shape have a stamp, and how it is read: those of one moment are the same stamp."""

    start: int
    stop: int  # what stands up to here tells the moment; of c10's nine digits, the ticks of another clock, none does
    likeness: tuple[Any, ...] | None  # what a stamp there is like
    counts: bool
    known: dict[str, Stamp | None]  # by what stands there


@record
class _Reading:
    """How lines of one shape are read."""

    values: list[Any]  # of a prefix, in order of its fields, without what stands in digits
    places: tuple[tuple[int, int, int, Convert], ...]  # of the other values: the field's number, start, stop
    stamps: tuple[_Clock, ...]
    looked: tuple[tuple[Rows, int, int, Any], ...]  # table, start, stop, the rows that it has for these characters


class PrefixMemory(Generic[P]):
    """Bounded: once it holds too much it forgets all."""

    def __init__(self, make: Callable[[Sequence[Any]], P], fields: Sequence[str]) -> None:
        self._make = make
        self._fields = {name: number for number, name in enumerate(fields)}
        self._stamp = self._fields["stamp"]
        self._known: dict[bytes, P | _Reading | int] = {}  # by shape; a number: so many lines of it were read

    def recall(self, text: str) -> tuple[bytes | None, P | None]:
        """Yield the shape of a line whose reading is asked for (else None), and its prefix if that is known."""
        if len(text) > MAX_CHARS:
            return None, None
        shape = text.encode("utf-8", "surrogatepass").translate(DIGITS)
        known = self._known.get(shape, 0)
        if not isinstance(known, int):
            return None, self._read(known, text) if isinstance(known, _Reading) else known
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        self._known[shape] = known + 1
        return (shape if known + 1 == WORTH_KEEPING else None), None

    def keep(self, shape: bytes, text: str, prefix: P, found: Found) -> None:
        """Remember how a line was read, if its digits do not decide that."""
        needed = [needs.lower().encode() for rows, key, _ in found.looked for needs, _ in rows[key] if _holds_digit(needs)]
        folded, marks = shape.lower(), [_marks(pattern) for pattern in found.tried]
        if any(own is None or any(m.translate(DIGITS) in folded for m in own) for own in (_MARKS, needed, *marks)):
            return
        values, places = list(prefix), []
        values[self._stamp] = None
        for field, (start, stop, convert) in found.places.items():
            if _holds_digit(text[start:stop]):
                places.append((self._fields[field], start, stop, convert))
        stamps = tuple(_clock(start, stamp, counts) for start, stamp, counts in found.stamps)
        looked = tuple((rows, at, at + len(key), rows[key]) for rows, key, at in found.looked if _holds_digit(key))
        is_same = not (places or stamps or looked)
        self._known[shape] = prefix if is_same else _Reading(values, tuple(places), stamps, looked)

    def _read(self, reading: _Reading, text: str) -> P | None:
        values = reading.values.copy()
        for rows, start, stop, own in reading.looked:
            if rows[text[start:stop]] is not own:
                return None
        for clock in reading.stamps:
            words = text[clock.start : clock.stop]
            stamp = clock.known.get(words, UNREAD)
            if stamp is UNREAD:
                stamp = read_stamp(text, clock.start)
                if _likeness(stamp) != clock.likeness:
                    return None
                if len(clock.known) >= MAX_MOMENTS:
                    clock.known.clear()
                clock.known[words] = stamp
            if stamp is not None and clock.counts:
                held = values[self._stamp]
                values[self._stamp] = stamp if held is None else fuller(held, stamp)
        for number, start, stop, convert in reading.places:
            values[number] = convert(text[start:stop])
        return self._make(values)


def _clock(start: int, stamp: Stamp | None, counts: bool) -> _Clock:
    stop = start + MAX_STAMP if stamp is None else stamp.end - (C10_DIGITS if stamp.form == "c10" else 0)
    return _Clock(start, stop, _likeness(stamp), counts, {})


def _holds_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _likeness(stamp: Stamp | None) -> tuple[Any, ...] | None:
    """What of a stamp decides how the line goes on; None where none is read."""
    return None if stamp is None else (stamp.form, stamp.end, stamp.has_date, stamp.has_year, stamp.has_zone)
