"""Which rules a text fires, without a file: what `diagnose rules test` and the tests of the catalogue ask."""

from __future__ import annotations

from typing import Any

from ..catalogue import Catalogue
from ..matcher import Candidate, Matcher, read_fields
from ..prefixes import split_prefix
from ..rule import Rule
from ..traces.traceback_lines import read_frame

CONTINUATION_LINES = 40
_MATCHERS: dict[str, Matcher] = {}  # the last catalogue asked about; built once for hundreds of texts


def fire(catalogue: Catalogue, text: str) -> list[tuple[Rule, dict[str, Any]]]:
    """Yield each rule that some line of `text` fires, with its fields; generic rules only where no other spoke."""
    matcher = _matcher(catalogue)
    lines = text.splitlines()
    ends = [split_prefix(line).end for line in lines]
    frames = [f"{f.file} in {f.function}" for line, end in zip(lines, ends, strict=True) if (f := read_frame(line[end:]))]
    hits: list[tuple[int, Rule, dict[str, Any]]] = []
    for number in range(len(lines)):
        found = _at(matcher, catalogue, lines, ends, number)
        hits += [(number, c.rule, fields) for c, fields in found if _allow(matcher, c.rule, frames)]
    specific = {n for n, rule, _ in hits if not rule.generic and rule.role != "context"}
    kept: dict[str, tuple[Rule, dict[str, Any]]] = {}
    for number, rule, fields in hits:
        if not (rule.generic and number in specific):
            kept.setdefault(rule.id, (rule, fields))
    return list(kept.values())


def _at(
    m: Matcher, catalogue: Catalogue, lines: list[str], ends: list[int], at: int
) -> list[tuple[Candidate, dict[str, Any]]]:
    found: dict[str, tuple[Candidate, dict[str, Any]]] = {}
    messages = [line[end:] for line, end in zip(lines[at:], ends[at : at + CONTINUATION_LINES], strict=False)]
    for candidate in m.candidates_in("\n".join(lines[at : at + CONTINUATION_LINES])):
        rule = candidate.rule
        count = 1 if rule.match in ("line", "exit") else rule.lines if rule.match == "block" else CONTINUATION_LINES
        scope = "\n".join(messages[:count])
        match = m.verify(candidate.form, scope, lines[at][: ends[at]])
        if match and "\n" not in scope[: match.start()] and rule.id not in found:
            found[rule.id] = (candidate, with_table(catalogue, rule, read_fields(rule, match.groupdict())))
    return list(found.values())


def _allow(matcher: Matcher, rule: Rule, frames: list[str]) -> bool:
    """Whether a frame that the rule asks for is there; a text that quotes no frame leaves it open."""
    return rule.frame is None or not frames or any(matcher.compiled(rule.frame).search(frame) for frame in frames)


def with_table(catalogue: Catalogue, rule: Rule, fields: dict[str, Any]) -> dict[str, Any]:
    """Yield `fields` joined with the columns of the table row that they name; captured values win."""
    if rule.table is None:
        return fields
    table = catalogue.tables.get(rule.table_name)
    return {**table.row(fields.get(rule.table.key)), **fields} if table else fields


def _matcher(catalogue: Catalogue) -> Matcher:
    if catalogue.key not in _MATCHERS:
        _MATCHERS.clear()
        _MATCHERS[catalogue.key] = Matcher(catalogue.rules.values())
    return _MATCHERS[catalogue.key]
