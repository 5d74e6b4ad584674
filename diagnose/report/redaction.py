"""A `Report` in, the same `Report` out without secrets (and, where asked, without private items), before any renderer.

The same item gets the same placeholder everywhere (`<ip-1>`), so that the story still reads; ranks, hosts and the shape
of paths keep their identity. Marked spans move with the text.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..advice.statement import Evidence, Fact, FactValue, Span
from ..lines.lazy_pattern import lazy
from .report import Report
from .secrets import Found, find_private, find_secrets, secret_kind

# Words of the contract and of the catalogue: never log text.
_OURS = frozenset(
    {"cause", "certainty", "explained_by", "from_", "kind", "layer", "outcome", "owner", "restart", "rule"}
    | {"schema_version", "state", "to", "verdict", "when"}
)
_TOGETHER = frozenset({"before", "text", "after", "spans", "fields"})  # of an evidence, what is not redacted on its own
_SEQUENCE = lazy(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]")
_KEY_BEGIN = lazy(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d")
_KEY_END = lazy(r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC")
_KEY_BODY = lazy(r"[A-Za-z0-9+/=]{20,4000}")
_PRIVATE = ("user", "email", "ip")
_MAX_DONE = 10_000  # texts whose redacted form is remembered
_LEAST_KNOWN = 6  # characters; shorter values are not looked for elsewhere
_BOUNDARY = lazy(r"(?<![A-Za-z0-9])")
_INSIDE_WORD = lazy(r"[A-Za-z0-9]")
_FOLDER = lazy(r"(?<=/)(?P<x>[\w.-]{1,64})(?=/|$)")
_PLACEHOLDER = lazy(r"<[a-z][a-z-]{1,30}-\d{1,6}>")

Edit = tuple[int, int, str]


def redact(report: Report, *, privacy: bool) -> tuple[Report, list[tuple[str, int]]]:
    """Yield the redacted report, and how many different items of each kind were replaced."""
    redactor = _Redactor(privacy)
    redacted = redactor.walk(report)  # learns every item: a value named once is then found where no name stands by it
    redacted = redactor.walk(report) if redactor.learn() else redacted
    assert isinstance(redacted, Report)
    return redacted, redactor.counts()


def redact_text(text: str, *, privacy: bool) -> str:
    """Yield one text without secrets; for what is shown before there is a report."""
    redactor = _Redactor(privacy)
    redactor.text(text)
    redactor.learn()
    return redactor.text(text)


def redact_plain(plain: dict[str, Any], *, privacy: bool = False) -> dict[str, Any]:
    """Yield JSON values without secrets. Of several that are read together each would number its own `<ip-1>`."""
    redactor = _Redactor(privacy)
    redacted = redactor.walk(plain)
    redacted = redactor.walk(plain) if redactor.learn() else redacted
    assert isinstance(redacted, dict)
    return redacted


def describe(counts: Iterable[tuple[str, int]]) -> str:
    """Yield `2 ip, 1 password`, for the foot of a report."""
    return ", ".join(f"{n} {kind}" for kind, n in counts)


class _Redactor:
    """Remembers which item has which placeholder."""

    def __init__(self, privacy: bool) -> None:
        self._privacy = privacy
        self._placeholders: dict[tuple[str, str], str] = {}  # by kind and value
        self._numbers: Counter[str] = Counter()
        self._by_value: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}  # of the values to look for by their first characters, the longest first
        self._users: frozenset[str] = frozenset()
        self._done: dict[str, str] = {}  # hosts and times repeat on thousands of ranks

    def counts(self) -> list[tuple[str, int]]:
        return sorted(self._numbers.items())

    def learn(self) -> bool:
        """Have the values seen so far be found anywhere; tell whether there are any."""
        self._done = {}
        secrets = {v: p for (kind, v), p in self._placeholders.items() if kind not in _PRIVATE and v}
        # A password that is a plain word or number would take that out of every sentence.
        telling = [v for v in secrets if len(v) >= _LEAST_KNOWN and not ((v.isalpha() and v.islower()) or v.isdigit())]
        self._by_value = secrets
        lengths: dict[str, set[int]] = defaultdict(set)
        for value in telling:
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
        if isinstance(value, tuple) and value and not isinstance(value[0], int):
            parts = tuple(self.walk(v, name) for v in value)
            return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
        if isinstance(value, list):
            return self._lines(value) if value and all(map(_is_line, value)) else [self.walk(v, name) for v in value]
        return value

    def _lines(self, rows: list[Any]) -> list[Any]:
        """Yield numbered lines of a written scan, redacted together: a key block runs over many."""
        texts = self.text("\n".join(text for _, text in rows)).split("\n")
        return [[number, text] for (number, _), text in zip(rows, texts, strict=True)]

    def text(self, text: str) -> str:
        """Yield one text, which may have several lines."""
        done = self._done.get(text)
        if done is None:
            if len(self._done) >= _MAX_DONE:
                self._done.clear()
            edits = self._edits(text)
            done = self._done[text] = _apply(text, edits) if edits else text
        return done

    def _field(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._named(name, value)
        return self.walk(value, name)

    def _named(self, name: str, value: str) -> str:
        kind = secret_kind(name, value) if not _PLACEHOLDER.fullmatch(value) else None
        return self._placeholder(kind, value) if kind else self.text(value)

    def _evidence(self, e: Evidence) -> Evidence:
        # Together, since a key block may begin above the line that is shown as proof.
        parts = [*e.before, e.text, *e.after]
        joined = "\n".join(parts)
        edits = self._edits(joined)
        shown: list[str] = []
        start = 0
        spans: tuple[Span, ...] = ()
        for i, part in enumerate(parts):
            end = start + len(part)
            mine = [(a - start, b - start, p) for a, b, p in edits if start <= a and b <= end]
            shown.append(_apply(part, mine))
            if i == len(e.before):
                spans = tuple(Span(*_move(s.start, s.end, mine), s.field) for s in e.spans)
            start = end + 1
        n = len(e.before)
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
        found = list(_key_blocks(masked))
        for m in _PLACEHOLDER.finditer(masked):  # done before: redacting twice changes nothing
            found.append(Found(m.start(), m.end(), ""))
        found += find_secrets(masked)
        found += self._find_known(masked)
        if self._privacy:
            found += find_private(masked)
            if self._users:
                found += [Found(*m.span("x"), "user") for m in _FOLDER.finditer(masked) if m["x"] in self._users]
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
            self._numbers[kind] += 1
            self._placeholders[kind, value] = f"<{kind}-{self._numbers[kind]}>"
        return self._placeholders[kind, value]


def _is_line(row: Any) -> bool:
    number_and_text = isinstance(row, list) and [type(part) for part in row] == [int, str]
    return number_and_text and "\n" not in row[1]


def _key_blocks(text: str) -> list[Found]:
    """Each line of a private key, also where the block's begin or end is not shown."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key" not in text:
        return []
    found: list[Found] = []
    begins = deque(m.start() for m in _KEY_BEGIN.finditer(text))
    done = 0
    for end in [*(m.end() for m in _KEY_END.finditer(text)), None]:
        stop = len(text) if end is None else end
        while begins and begins[0] < done:
            begins.popleft()
        if begins and begins[0] < stop:
            found += _lines_between(text, begins[0], stop)
        elif end is not None:
            found += [Found(m.start(), m.end(), "private-key") for m in _KEY_BODY.finditer(text, done, stop)]
        done = stop
    return found


def _lines_between(text: str, begin: int, end: int) -> list[Found]:
    found = []
    while begin < end:
        stop = text.find("\n", begin, end)
        stop = end if stop < 0 else stop
        found.append(Found(begin, stop, "private-key"))
        begin = stop + 1
    return found


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
