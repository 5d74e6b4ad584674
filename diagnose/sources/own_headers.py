"""The header that a program gives its own lines, where it says which process speaks in a way that no table knows.

In: a text's first lines and its last ones. Out: the patterns of the header's forms, each with what is put in its place, so
that the number stands as the tables know it; time and level before it stay, names of loggers and source files go.

    2026-11-23 03:02:52,375 ERROR [R2] row 17 is malformed       2026-11-23 03:02:52,375 ERROR [rank2]: row 17 is …
    (trainer-3) step 10 loss 2.1                                  [proc3]: step 10 loss 2.1
    2026-11-23 03:02:52 [error    ] row 17 is malformed  rank=2   2026-11-23 03:02:52 [error] [rank2]: row 17 is …

A line is walked part by part to where what was said begins; a line that bears no such number stays as it is. What the
number counts, `counted.what_is_counted` tells by the other lines.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.prefix_rows import filled
from ..lines.shapes import DIGITS
from ..lines.timestamp import read_stamp
from .counted import FEWEST_LINES, Head, what_is_counted
from .labels import PLACE, Rewriting
from .normalise import normalise

SAMPLE_BYTES = 12 << 10  # of each end of a text
LINE_BYTES = 600  # of a line, in which a number is looked for
MAX_LINES = 150  # with a number that is asked for
MAX_SHAPES = 4000  # of lines that are remembered
MAX_FORMS = 8  # in which the header stands: with and without a level, behind several names
MAX_PARTS, MAX_HEAD, MAX_SAID = 9, 160, 2000  # parts and characters of a header, characters behind it
_TABLES = tables(Path(__file__).with_name("headers.yaml"))
_PATTERNS = {name: filled("".join(parts), _TABLES["pieces"]) for name, parts in _TABLES["patterns"].items()}
_MAY, _MAY_BEHIND = (lazy(_PATTERNS[name].encode()) for name in ("may", "may_behind"))
_IN = {name: lazy(pattern) for name, pattern in _PATTERNS.items()}  # a line
_ANY_NAME = r"[A-Za-z_][\w.@/-]{0,60}"
_TOKEN = lazy(r"\d+|[A-Za-z]+|[\s\S]")
_BLANKS = lazy(r"(?:\\ )+|(?:\\\t)+|[ \t]+")
_ONE_BLANK = lazy(r"\[ \\t\]\{1,20\}$")  # behind it the text begins, and a traceback's frame with blanks of its own

TIME, UPPER, LOWER, NUMBER, NAME, BEHIND, OTHER = "time", "LEVEL", "level", "number", "name", "behind", ""


class Part(NamedTuple):
    """A part of a header: what it is, and the patterns of what it matches: before a level or a number, and behind."""

    kind: str
    pattern: str
    behind: str = ""


def may_have_header(data: bytes) -> bool:
    """Tell from a few bytes of a text whether a longer sample is worth asking for its header."""
    return any(len(set(numbers)) > 1 for numbers in _by_manner(_numbered(data)).values())


def header_of(sample: bytes) -> Rewriting | None:
    """Yield the header of the lines in `sample` that says whose they are; None where none does for certain."""
    sample = normalise(sample).replace(b"\r", b"\n")
    numbered = [*_numbered(sample)]
    manners = {x for x, numbers in _by_manner(numbered).items() if _may_count(x, numbers)}
    groups: dict[tuple[Part, str], list[Head]] = defaultdict(list)
    for line in islice((line for line, manner, _ in numbered if manner in manners), MAX_LINES):
        if (head := _read_head(line.decode("utf-8", "replace"))) is not None:
            groups[next(p for p in head.parts if p.kind in (NUMBER, BEHIND)), head.name].append(head)
    lines = [x.decode("utf-8", "replace") for x in sample.split(b"\n") if x.strip()] if groups else []
    for _, heads in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if (tag := what_is_counted(heads, lines)) is not None:
            return _header(heads, tag)
    return None


def _numbered(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The lines with a number, each with the manner in which it stands, which is what stands before it, and the number."""
    pattern = _MAY_BEHIND if b" rank=" in data else _MAY
    for line in data.split(b"\n"):
        if (spot := _spot(line[:LINE_BYTES].translate(DIGITS), pattern)) is not None:
            yield line, line[spot[0]], line[spot[1]]


@lru_cache(MAX_SHAPES)
def _spot(shape: bytes, pattern: re.Pattern[bytes]) -> tuple[slice, slice] | None:
    """Where a line of a shape has manner and number: lines that differ in their digits only, and so do files, are alike."""
    if (match := pattern.match(shape)) is None:
        return None
    group = match.lastindex or 1
    return slice(*match.span(group - 1)), slice(*match.span(group))


def _by_manner(numbered: Iterable[tuple[bytes, bytes, bytes]]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for _, manner, number in numbered:
        found[manner].append(number)
    return found


def _may_count(manner: bytes, numbers: Sequence[bytes]) -> bool:
    """Whether there are enough and they do not only grow, as steps do; of those that are called ranks two will do."""
    if b"rank" in manner.lower():
        return len(set(numbers)) > 1
    return len(numbers) >= FEWEST_LINES and any(int(a) > int(b) for a, b in pairwise(numbers))


# --- one line ---------------------------------------------------------------------------------------------------


def _read_head(line: str) -> Head | None:
    """The head of a line with one number, where the tables know not all of it; None of any other line."""
    told = split_prefix(line)
    if (told.local_rank, told.task) != (None, None) or _IN["compiled"].search(told.origin or ""):
        return None  # told already; and what c10 and NCCL put into brackets is the rank in a group, or a device
    if (place := PLACE.match(line)) is not None and line.startswith("[rank", place.end()):
        return None  # torch's own label, behind that of a place, which `labels` takes off
    head = _walk(line)
    if head is not None and told.rank is not None and (told.rank != head.number or told.end >= len(line) - len(head.rest)):
        return None  # the tables know all of it
    return head


def _walk(line: str) -> Head | None:
    parts: list[Part] = []
    label: re.Match[str] | None = None
    at, place, known = 0, "", (-1, 0, 0)
    for _ in range(MAX_PARTS + 3):
        if at > MAX_HEAD:
            break
        if label is None and (found := _label_at(line, at)) is not None:
            label, place, number = found, line[:at], _group(found)
            of = r"/\d{1,5}" if found["of1"] or found["of2"] else ""
            parts.append(Part(NUMBER, _pattern(line[at : found.start(number)]), of + re.escape(found["close"] or "")))
            at = found.end()
            continue
        step = _part_at(line, at, behind_label=label is not None)
        if step is None or step[1] == at:
            break
        if label is not None and step[0].kind == TIME:
            known = (at + split_prefix(line[at:]).end, len(parts), at)
        parts.append(step[0])
        at = step[1]
    if label is None and at and (found := _IN["behind"].search(line, at, at + MAX_SAID)) is not None:
        return Head((*parts, Part(BEHIND, "")), int(found[1]), "rank", True, "", "", line[at : found.start()], True)
    if label is None or len(parts) > MAX_PARTS:
        return None
    if known[0] >= at:  # the tables know as much of what follows the label as was read here, or more
        _, count, at = known
        parts = parts[:count]
    name = re.sub(r"[_ -]", "", label["name1"] or label["name2"] or "").lower()
    of = label["of1"] or label["of2"] or ""
    return Head(tuple(parts), int(label[_group(label)]), name, label["framed"] is not None, of, place, line[at:], False)


def _label_at(line: str, at: int) -> re.Match[str] | None:
    """A number stands at the beginning, or behind what parts it from what is before it."""
    found = _IN["label"].match(line, at) if not line[at - 1 : at].isalnum() else None
    return None if found is None or (found["bare"] and at and line[at - 1] not in ":| ") else found


def _group(label: re.Match[str]) -> str:
    return next(name for name in ("n1", "n2", "n3") if label[name])


def _part_at(line: str, at: int, *, behind_label: bool) -> tuple[Part, int] | None:
    """The part that begins there, and where it ends; of what is said nothing is taken for one."""
    stamp = read_stamp(line, at) if not line[at : at + 1].isspace() else None
    if stamp is not None and stamp.end > at:
        return Part(TIME, _pattern(line[at : stamp.end])), stamp.end
    if found := _IN["level"].match(line, at):
        return Part(UPPER if found["upper"] else LOWER, re.escape(found["open"]), re.escape(found["close"])), found.end()
    found = _IN["source"].match(line, at)
    if found and not (behind_label and _IN["compiled"].search(found[0])):  # Gloo says where it failed
        opening, closing = (re.escape(x) if x in "[(])" else "" for x in (found[0][0], found[0][-1]))
        return Part(OTHER, rf"{opening}[\w./<>-]{{1,160}}:[\w:<>]{{1,90}}{closing}"), found.end()
    if behind_label:
        if line[at - 2 : at] == "| " and (found := _IN["name_behind"].match(line, at)):
            return Part(NAME, _pattern(found[0])), found.end()
        found = _IN["step_behind"].match(line, at) or _IN["between"].match(line, at)
        return (Part(OTHER, _pattern(found[0])), found.end()) if found else None
    if found := _IN["framed"].match(line, at):
        opening, closing = re.escape(found[0][0]), re.escape(found[0][-1])
        return Part(OTHER, rf"{opening}[^{opening}{closing}\n]{{1,80}}{closing}"), found.end()
    found = _IN["name"].match(line, at)
    kind = NAME if found else OTHER
    found = found or _IN["between"].match(line, at)
    return (Part(kind, _pattern(found[0])), found.end()) if found else None


def _pattern(text: str) -> str:
    """The pattern of a text whose digits and blanks may be others."""
    exact = "".join(r"\d{1,20}" if t.isdigit() else re.escape(t) for t in _TOKEN.findall(text))
    return _BLANKS.sub(r"[ \\t]{1,20}", exact)


# --- the forms of all lines ---------------------------------------------------------------------------------------


def _header(heads: Sequence[Head], tag: str) -> Rewriting | None:
    """The commonest forms. Behind a time any name may be a logger's: another one logs the error than the steps."""
    places: dict[tuple[Part, ...], str] = {}
    counts: Counter[tuple[Part, ...]] = Counter()
    for head in heads:
        timed = next((n for n, part in enumerate(head.parts) if part.kind == TIME), len(head.parts))
        parts = enumerate(head.parts)
        shape = tuple(Part(OTHER, _ANY_NAME) if part.kind == NAME and n > timed else part for n, part in parts)
        counts[shape] += 1
        places.setdefault(shape, head.place)
    common = sorted(counts, key=lambda shape: (-counts[shape], shape))[:MAX_FORMS]
    forms = Rewriting(tuple(_form(shape, tag, places[shape]) for shape in common)).readable()
    return forms if forms.forms else None


def _form(shape: Sequence[Part], tag: str, place: str) -> tuple[str, str]:
    """The pattern of one form of the header, and what is put in its place; `place`: what stood before a number in it. Group
    1 is the line end before it."""
    first = next(n for n, part in enumerate(shape) if part.kind not in (OTHER, NAME))
    pattern, put, level, said, groups = "".join(part.pattern for part in shape[:first]), "", "", "", 1
    if pattern and split_prefix(f"{place}[rank0]: x").rank == 0:
        pattern, put, groups = f"({pattern})", r"\g<2>", 2
    is_timed = any(part.kind == TIME for part in shape)
    for kind, before, behind in shape[first:]:
        if kind == TIME:  # a collector's, and the program's own
            pattern, groups = f"{pattern}({before})", groups + 1
            put += rf"\g<{groups}> "
        elif kind in (UPPER, LOWER):  # behind a time the tables know a level as it is; without one, capitals in brackets
            words = _TABLES["pieces"]["UPPER" if kind == UPPER else "LOWER"]
            pattern, groups = rf"{pattern}{before}({words}) {{0,8}}{behind}", groups + 1
            if not level and (kind == UPPER or is_timed):
                level = rf"\g<{groups}> " if kind == UPPER and is_timed else rf"[\g<{groups}>] "
        elif kind == NUMBER:
            pattern += rf"{before}(?P<number>\d{{1,5}}){behind}"
            groups += 1
        elif kind == BEHIND:
            pattern += rf"(?P<said>[^\n\r]{{0,{MAX_SAID}}}?) rank=(?P<number>\d{{1,5}})(?=[ \n\r]|$)"
            groups, said = groups + 2, r"\g<said>"
        else:
            pattern += before
    return _ONE_BLANK.sub(" ?", pattern), rf"{put}{level}[{tag}\g<number>]: {said}"
