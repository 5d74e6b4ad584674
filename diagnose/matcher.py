"""Finds which rules' literals stand in a block of bytes, and verifies a rule's pattern on one message.

The only file that knows the multi-pattern library. Literals find, patterns decide: a literal never changes a result,
because each one is proven necessary for its pattern (`diagnose rules test`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .rule import Form, Rule

if TYPE_CHECKING:
    import regex

MAX_MESSAGE_CHARS = 8 * 1024  # a pattern reads this much of a message, whatever the line's length
TIMEOUT_S = 5.0  # the last guard: rules keep to patterns of linear time; wall time, so a busy machine must not fire it
log = logging.getLogger("diagnose")


class Literal(NamedTuple):
    """Bytes to find; `folded`: in any case (given in lower case); `once`: one report per block is enough."""

    text: bytes
    folded: bool
    once: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form of a rule, as the matcher knows it."""

    rule: Rule
    form: Form
    index: int  # which form of the rule


class PatternTimeout(Exception):
    """A pattern ran past its limit; the rule is named in `gaps`."""


Find = Callable[["bytes | memoryview"], "list[tuple[int, int]]"]


class Matcher:
    """The literals of many rules in one native automaton, built when first asked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.candidates = [Candidate(r, f, i) for r in rules for i, f in enumerate(r.forms)]
        by_literal: dict[Literal, list[int]] = {}
        for number, candidate in enumerate(self.candidates):
            for literal in candidate.form.literals:
                folded = candidate.form.ignore_case
                key = Literal((literal.lower() if folded else literal).encode(), folded)
                by_literal.setdefault(key, []).append(number)
        self.literals = sorted(by_literal)
        self.owners = [tuple(by_literal[key]) for key in self.literals]
        self._compiled: dict[tuple[str, bool], regex.Pattern[str]] = {}

    @cached_property
    def _automaton(self) -> Find:
        return automaton(self.literals)

    def find(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        """Yield (offset just behind the literal, number of the literal) for all occurrences, in order of offset."""
        return self._automaton(data)

    def candidates_in(self, text: str) -> list[Candidate]:
        """Yield the forms with a literal in `text`, each once, in catalogue order."""
        found = {n for _, literal in self.find(text.encode("utf-8", "replace")) for n in self.owners[literal]}
        return [self.candidates[n] for n in sorted(found)]

    def verify(self, form: Form, message: str, prefix: str = "") -> regex.Match[str] | None:
        """Yield the match of `form` in the first 8 Ki characters of `message`. Raises `PatternTimeout`."""
        try:
            if form.prefix is not None and not self.compiled(form.prefix).search(prefix, timeout=TIMEOUT_S):
                return None
            return self.compiled(form.pattern, form.ignore_case).search(message[:MAX_MESSAGE_CHARS], timeout=TIMEOUT_S)
        except TimeoutError as error:
            raise PatternTimeout from error

    def compiled(self, pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
        """Yield the compiled pattern; compiled on first use, since most rules never meet a candidate."""
        key = (pattern, ignore_case)
        if key not in self._compiled:
            import regex

            self._compiled[key] = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
        return self._compiled[key]


def read_fields(rule: Rule, groups: dict[str, str | None]) -> dict[str, Any]:
    """Yield the captures in the types that the rule states; a capture that is absent or does not fit is left out."""
    fields: dict[str, Any] = {}
    for name, kind in rule.fields.items():
        text = groups.get(name)
        if text is None:
            continue
        try:
            fields[name] = _typed(kind, text)
        except ValueError:
            continue
    return fields


def _typed(kind: str, text: str) -> Any:
    if kind == "int":
        return int(text.replace(",", ""), 16 if text.startswith("0x") else 10)
    if kind == "float":
        return float(text.replace(",", ""))
    return read_ranks(text) if kind == "ranks" else text


def read_ranks(text: str) -> list[int]:
    """Yield the ranks that a list such as `0, 3-5` or `4 5 6` names, sorted."""
    ranks: set[int] = set()
    for part in text.replace(",", " ").replace(";", " ").split():
        first, _, last = part.strip("[](){}.").partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            ranks.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return sorted(ranks)


# --- the native library -----------------------------------------------------------------------------------------


def automaton(literals: Sequence[Literal]) -> Find:
    """Yield a function from bytes to (end, literal) pairs: hyperscan where installed, else pure Python (slow)."""
    if not literals:
        return lambda data: []
    try:
        import hyperscan
    except ImportError:
        log.warning("hyperscan is not installed: scanning with pure Python, about 50 times slower")
        return PurePython(literals).find
    return _Hyperscan(hyperscan, literals).find


class _Hyperscan:
    def __init__(self, hyperscan: Any, literals: Sequence[Literal]) -> None:
        folded, once = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
        self._db = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._db.compile(
            expressions=[literal.text for literal in literals],
            ids=list(range(len(literals))),
            flags=[(folded if x.folded else 0) | (once if x.once else 0) for x in literals],
            literal=True,
        )

    def find(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        keep = found.append

        def on_match(literal: int, _start: int, end: int, _flags: int, _context: object) -> None:
            keep((end, literal))

        self._db.scan(data, match_event_handler=on_match)
        return found


class PurePython:
    """The same answers without the native library, for machines that have no wheel of it."""

    def __init__(self, literals: Sequence[Literal]) -> None:
        self._literals = literals

    def find(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        """Yield (end, literal) pairs, in order of offset."""
        plain = bytes(data)
        folded = plain.lower()
        found = []
        for number, (text, is_folded, once) in enumerate(self._literals):
            haystack = folded if is_folded else plain
            at = haystack.find(text)
            while at >= 0:
                found.append((at + len(text), number))
                at = -1 if once else haystack.find(text, at + 1)
        return sorted(found)
