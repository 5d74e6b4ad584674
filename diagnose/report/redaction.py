"""A `Report` in, the same `Report` out without secrets (and, where asked, without private items), before any renderer.

The same item gets the same placeholder everywhere (`<ip-1>`), so that the story still reads; marked spans move along.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from ..advice.statement import Evidence, Fact, FactValue, Span
from ..lines.lazy_pattern import lazy
from .parts import InputRow
from .report import Report
from .secrets import Found, find_private, find_secrets, secret_kind

# Words of the contract and of the catalogue: never log text.
_OURS = frozenset(
    {"cause", "certainty", "explained_by", "from_", "kind", "layer", "outcome", "owner", "restart", "rule"}
    | {"schema_version", "state", "to", "verdict", "when"}
)
_TOGETHER = frozenset({"before", "text", "after", "spans", "fields"})  # of an evidence, what is not redacted on its own
_SEQUENCE = lazy(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]")
_PRIVATE = ("user", "email", "ip")
_MAX_DONE = 10_000  # texts whose redacted form is remembered
_LEAST_KNOWN = 6  # characters; shorter values are not looked for elsewhere
_BOUNDARY = lazy(r"(?<![A-Za-z0-9])")
_INSIDE_WORD = lazy(r"[A-Za-z0-9]")
_FOLDER = lazy(r"(?<=/)(?P<x>[\w.-]{1,64})(?=/|$)")
_PLACEHOLDER = lazy(r"<[a-z][a-z-]{1,30}-\d{1,6}>")

Edit = tuple[int, int, str]
T = TypeVar("T")


def redact(report: Report, *, privacy: bool) -> tuple[Report, str]:
    """Yield the redacted report, and how many different items of each kind were replaced: `2 ip, 1 password`."""
    shown, numbers = _redacted(report, privacy)
    return shown, ", ".join(f"{n} {kind}" for kind, n in sorted(numbers.items()))


def without_secrets(value: T, *, privacy: bool = False) -> T:
    """Yield a text, or JSON values, without secrets. Of several that are read together each would number its own."""
    return _redacted(value, privacy)[0]


def _redacted(value: T, privacy: bool) -> tuple[T, Counter[str]]:
    redactor = _Redactor(privacy)
    shown: T = redactor.walk(value)  # learns every item: a value named once is then found where no name stands by it
    return redactor.walk(value) if redactor.learn() else shown, redactor.numbers


class _Redactor:
    """Remembers which item has which placeholder."""

    def __init__(self, privacy: bool) -> None:
        self._privacy = privacy
        self._placeholders: dict[tuple[str, str], str] = {}  # by kind and value
        self.numbers: Counter[str] = Counter()
        self._by_value: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}  # of the values to look for by their first characters, the longest first
        self._users: frozenset[str] = frozenset()
        self.text = lru_cache(_MAX_DONE)(self._text)  # hosts and times repeat on thousands of ranks

    def learn(self) -> bool:
        """Have the values seen so far be found anywhere; tell whether there are any."""
        self.text.cache_clear()
        self._by_value = {v: p for (kind, v), p in self._placeholders.items() if kind not in _PRIVATE and v}
        lengths: dict[str, set[int]] = defaultdict(set)
        for value in self._by_value:
            # A password that is a plain word or number would take that out of every sentence.
            if len(value) >= _LEAST_KNOWN and not ((value.isalpha() and value.islower()) or value.isdigit()):
                lengths[value[:_LEAST_KNOWN]].add(len(value))
        self._lengths = {begin: sorted(found, reverse=True) for begin, found in lengths.items()}
        self._users = frozenset(v for (kind, v) in self._placeholders if kind == "user" and len(v) > 2)
        return bool(self._placeholders)

    def walk(self, value: Any, name: str = "") -> Any:
        """Yield the value with every text in it redacted."""
        if isinstance(value, str):
            return value if name in _OURS else self.text(value)
        if isinstance(value, Evidence):
            return self._evidence(value)
        if isinstance(value, (Fact, FactValue)) and name and isinstance(value.value, str):
            value = replace(value, value=self._named(name, value.value))
        if is_dataclass(value) and not isinstance(value, type):
            fact = name if isinstance(value, Fact) else ""  # its other values are named as it is
            names = {f.name: fact if f.name == "others" else f.name for f in fields(value)}
            new = {f: self.walk(old, n) for f, n in names.items() if (old := getattr(value, f)) is not None}
            changes = {f: part for f, part in new.items() if part is not getattr(value, f)}
            return replace(value, **changes) if changes else value  # one without secrets is no second time in memory
        if isinstance(value, dict):
            return {k: self._field(k, v) for k, v in value.items()}
        if isinstance(value, tuple) and value and isinstance(value[0], InputRow):
            told = "\n".join(f"{row.file}\n{row.skipped or ''}" for row in value)
            if not self._edits(told):  # all at once: 20,000 members of an archive take 10 % longer one by one
                return value
        if isinstance(value, tuple) and value and not isinstance(value[0], int):
            parts = tuple(self.walk(v, name) for v in value)
            return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
        if isinstance(value, list):
            is_lines = all(isinstance(x, list) and [*map(type, x)] == [int, str] and "\n" not in x[1] for x in value)
            return self._lines(value) if value and is_lines else [self.walk(v, name) for v in value]
        return value

    def _lines(self, rows: list[Any]) -> list[Any]:
        """Yield numbered lines of a written scan, redacted together: a key block runs over many."""
        texts = self.text("\n".join(text for _, text in rows)).split("\n")
        return [[number, text] for (number, _), text in zip(rows, texts, strict=True)]

    def _text(self, text: str) -> str:
        edits = self._edits(text)
        return _apply(text, edits) if edits else text

    def _field(self, name: str, value: Any) -> Any:
        return self._named(name, value) if isinstance(value, str) else self.walk(value, name)

    def _named(self, name: str, value: str) -> str:
        kind = secret_kind(name, value) if not _PLACEHOLDER.fullmatch(value) else None
        return self._placeholder(kind, value) if kind else self.text(value)

    def _evidence(self, e: Evidence) -> Evidence:
        # Together, since a key block may begin above the line that is shown as proof.
        parts = [*e.before, e.text, *e.after]
        edits, start, n = self._edits("\n".join(parts)), 0, len(e.before)
        shown: list[str] = []
        spans: tuple[Span, ...] = ()
        for i, part in enumerate(parts):
            mine = [(a - start, b - start, p) for a, b, p in edits if start <= a and b <= start + len(part)]
            shown.append(_apply(part, mine))
            if i == n:
                spans = tuple(Span(*_move(s.start, s.end, mine), s.field) for s in e.spans)
            start += len(part) + 1
        return replace(
            e,
            text=shown[n],
            before=tuple(shown[:n]),
            after=tuple(shown[n + 1 :]),
            spans=spans,
            fields={k: self._field(k, v) for k, v in e.fields.items()},
            **{f.name: self.walk(getattr(e, f.name), f.name) for f in fields(e) if f.name not in _TOGETHER},
        )

    def _edits(self, text: str) -> list[Edit]:
        """Yield the replacements, in order, without overlaps, none of them across a line end."""
        masked = _SEQUENCE.sub(lambda m: "\x00" * len(m[0]), text)
        done = (Found(*m.span(), "") for m in _PLACEHOLDER.finditer(masked))  # redacting twice changes nothing
        found = [*done, *find_secrets(masked), *self._find_known(masked)]
        if self._privacy:
            found += find_private(masked)
            folders = _FOLDER.finditer(masked) if self._users else ()
            found += [Found(*m.span("x"), "user") for m in folders if m["x"] in self._users]
        taken: list[Edit] = []
        covered = bytearray(len(text))  # by character: a case has thousands of items in one text
        for item in found:  # the more specific come first
            if item.start < item.end and covered.find(1, item.start, item.end) < 0:
                covered[item.start : item.end] = b"\x01" * (item.end - item.start)
                if item.kind:
                    taken.append((item.start, item.end, self._placeholder(item.kind, text[item.start : item.end])))
        return sorted(taken)

    def _find_known(self, text: str) -> Iterator[Found]:
        """Yield where values that were learnt stand: looked up, since a pattern of thousands tries each everywhere."""
        done = 0
        for boundary in _BOUNDARY.finditer(text) if self._lengths else ():
            start = boundary.start()
            for length in self._lengths.get(text[start : start + _LEAST_KNOWN], ()) if start >= done else ():
                end = start + length
                if text[start:end] in self._by_value and not _INSIDE_WORD.match(text, end):
                    yield Found(start, end, "known")
                    done = end
                    break

    def _placeholder(self, kind: str, value: str) -> str:
        if kind == "known" or (value in self._by_value and kind not in _PRIVATE):
            return self._by_value[value]
        if kind == "private-key":
            value = ""  # one placeholder for all lines of all keys: which is which helps nobody
        if (kind, value) not in self._placeholders:
            self.numbers[kind] += 1
            self._placeholders[kind, value] = f"<{kind}-{self.numbers[kind]}>"
        return self._placeholders[kind, value]


def _apply(text: str, edits: Sequence[Edit]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end, placeholder in edits:
        pieces += [text[done:start], placeholder]
        done = end
    return "".join([*pieces, text[done:]])


def _move(start: int, end: int, edits: Sequence[Edit]) -> tuple[int, int]:
    """Where a marked part stands after the edits; one that an edit touches covers its placeholder."""
    before, behind = start, end
    for a, b, placeholder in edits:
        grown = len(placeholder) - (b - a)
        before += grown if b <= start else min(0, a - start)
        behind += grown if b <= end else min(0, a - end) + (len(placeholder) if a < end else 0)
    return max(0, before), max(0, behind)
