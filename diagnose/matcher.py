"""Finds which rules' literals stand in a block of bytes, and verifies a rule's pattern on one message.

The only file that knows the multi-pattern library. Literals find, patterns decide: a literal never changes a result,
because each one is proven necessary for its pattern (`diagnose rules test`).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .lazy_pattern import lazy
from .own_cache import can_tell_owner, read_sealed, write_sealed
from .record import record
from .rule import Form, Rule
from .stored_patterns import PATTERNS

if TYPE_CHECKING:
    import regex

MAX_MESSAGE_CHARS = 8 * 1024  # a pattern reads this much of a message, whatever the line's length
TIMEOUT_S = 5.0  # the last guard: rules keep to patterns of linear time; wall time, so a busy machine must not fire it
WORTH_CACHING = 500  # literals: a smaller automaton is built as quickly as it is read
MAX_ANSWERS = 4096  # of rules about texts, kept for the next rank that says the same
NCCL_GOES_ON = "NCCL INFO "
TASK = lazy(r"/replica:\d{1,6}/task:(\d{1,7})")


class Literal(NamedTuple):
    """Bytes to find; `folded`: in any case (given in lower case); `once`: one report per block is enough."""

    text: bytes
    folded: bool
    once: bool = False


@record
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
        self._answers: dict[tuple[str, str], dict[str, Any] | None] = {}

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

    def verify_line(self, candidate: Candidate, message: str, prefix: str) -> regex.Match[str] | None:
        """As `verify`; what NCCL logs as INFO it went on after, so a failure is seen in it only by a form that asks for it.

        `NCCL INFO Call to ibv_modify_qp failed with 110 Connection timed out, retrying 1/3` (as a WARN it is the end).
        """
        form, rule = candidate.form, candidate.rule
        if form.prefix is None and rule.role in ("cause", "symptom") and prefix.endswith(NCCL_GOES_ON):
            return None
        return self.verify(form, message, prefix)

    def first_form(self, rule: Rule, text: str) -> dict[str, Any] | None:
        """Yield what the first form of `rule` that matches captures; remembered, for thousands of ranks say the same."""
        key = (rule.id, text)
        if key not in self._answers:
            if len(self._answers) >= MAX_ANSWERS:
                self._answers.clear()
            found = (self.captures(rule, form, text) for form in rule.forms)
            self._answers[key] = next((fields for fields in found if fields is not None), None)
        answer = self._answers[key]
        return None if answer is None else dict(answer)

    def captures(self, rule: Rule, form: Form, text: str) -> dict[str, Any] | None:
        """Yield what a form captures of `text`; None where it does not match, or not in time."""
        if not form.ignore_case and form.prefix is None and not any(map(text.__contains__, form.literals)):
            return None  # no pattern matches without one of its literals, and to look for these costs a tenth
        try:
            match = self.verify(form, text)
        except PatternTimeout:
            return None
        return None if match is None else read_fields(rule, match.groupdict())

    def compiled(self, pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
        """Yield the compiled pattern; compiled on first use, since most rules never meet a candidate."""
        key = (pattern, ignore_case)
        if key not in self._compiled:
            self._compiled[key] = PATTERNS.regex(pattern, ignore_case=ignore_case)
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
    """Yield the ranks that a list such as `0, 3-5`, `4 5 6` or JAX's `/job:w/replica:0/task:3` names, sorted."""
    ranks = {int(task) for task in TASK.findall(text)}
    for part in text.replace(",", " ").replace(";", " ").split():
        first, _, last = part.strip("[](){}.").partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            ranks.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return sorted(ranks)


# --- the native library -----------------------------------------------------------------------------------------


def automaton(literals: Sequence[Literal], *, is_lasting: bool = False) -> Find:
    """Yield a function from bytes to (end, literal) pairs: hyperscan where installed, else pure Python (slow).

    `is_lasting`: the next run will ask for the same; it is kept in the user's cache.
    """
    if not literals:
        return lambda data: []
    try:
        import hyperscan
    except ImportError:
        import logging

        slow = "hyperscan is not installed: scanning with pure Python, about 50 times slower"
        logging.getLogger("diagnose").warning(slow)
        return PurePython(literals).find
    return _Hyperscan(hyperscan, literals, is_lasting=is_lasting).find


class _Hyperscan:
    def __init__(self, hyperscan: Any, literals: Sequence[Literal], *, is_lasting: bool) -> None:
        is_worth = is_lasting and len(literals) >= WORTH_CACHING and can_tell_owner()
        name = _cache_name(hyperscan, literals) if is_worth else None
        self._db: Any = _loaded(hyperscan, name) if name else None
        if self._db is None:
            self._db = _compiled(hyperscan, literals)
            if name:
                write_sealed(name, hyperscan.dumpb(self._db))

    def find(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        keep = found.append

        def on_match(literal: int, _start: int, end: int, _flags: int, _context: object) -> None:
            keep((end, literal))

        self._db.scan(data, match_event_handler=on_match)
        return found


def _compiled(hyperscan: Any, literals: Sequence[Literal]) -> Any:
    folded, once = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[literal.text for literal in literals],
        ids=list(range(len(literals))),
        flags=[(folded if x.folded else 0) | (once if x.once else 0) for x in literals],
        literal=True,
    )
    return database


def _loaded(hyperscan: Any, name: str) -> Any | None:
    """The database of an earlier run. The library trusts what it loads, so a file that others could have written, or
    that is not to the byte what was stored, never reaches it."""
    stored = read_sealed(name)
    if stored is None:
        return None
    try:
        database = hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
        database.scratch = hyperscan.Scratch(database)
    except hyperscan.error:  # built by another version, or for a processor that this one is not
        return None
    return database


def _cache_name(hyperscan: Any, literals: Sequence[Literal]) -> str:
    """What the database depends on: the literals, the library, and the processor that it is built for."""
    return name_in_cache("automaton", literals, hyperscan.__version__, _processor())


def name_in_cache(kind: str, literals: Sequence[Literal], *more: object) -> str:
    """Yield the name of what is kept in the user's cache for these literals, and for whatever else it depends on."""
    texts = b"\0".join([x.text for x in literals])  # none holds that byte
    flags = bytes([x.folded + 2 * x.once for x in literals])
    return f"{kind}-{hashlib.sha256(repr((texts, flags, more)).encode()).hexdigest()[:24]}"


def _processor() -> str:
    """What this machine's processor can do, as far as the system says; a home folder may be shared by several."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            start = file.read(8 << 10)
    except OSError:
        start = b""
    flags = next((line for line in start.split(b"\n") if line.startswith((b"flags", b"Features"))), b"")
    return f"{sys.platform} {os.uname().machine if hasattr(os, 'uname') else ''} {flags.decode('ascii', 'replace')}"


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
