"""Which rules a text fires, without a file: what `diagnose rules test` and the tests of the catalogue ask."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..lines.prefix import split_prefix
from ..traces.traceback_lines import read_frame, told_frames
from .load import Catalogue
from .matcher import Candidate, Matcher, read_fields
from .rule import Rule

CONTINUATION_LINES = 40
_MATCHERS: dict[str, Matcher] = {}  # the last catalogue asked about; built once for hundreds of texts


def fire(catalogue: Catalogue, text: str) -> list[tuple[Rule, dict[str, Any]]]:
    """Yield each rule that some line of `text` fires, with its fields; generic rules only where no other spoke.

    A rule that asks for a frame is asked for it where the text has frames.
    """
    matcher = _matcher(catalogue)
    lines = text.splitlines()
    ends = [split_prefix(line).end for line in lines]
    frames = _frames(text)
    hits: list[tuple[int, Rule, dict[str, Any]]] = []
    for number in range(len(lines)):
        hits += [(number, c.rule, fields) for c, fields in _at(matcher, catalogue, lines, ends, number)]
    narrow = ((n, r) for n, r, _ in hits if not r.generic and r.role != "context")
    specific = {n for n, rule in narrow if rule.frame is None or _has(rule, frames)}
    kept: dict[str, tuple[Rule, dict[str, Any]]] = {}
    for number, rule, fields in hits:
        if not (rule.generic and number in specific) and _has(rule, frames) is not False:
            kept.setdefault(rule.id, (rule, fields))
    return list(kept.values())


def has_frame(rule: Rule, text: str) -> bool | None:
    """Whether a text has the frame that a rule asks for; None where it has no frames, or the rule asks for none."""
    return _has(rule, _frames(text))


def _has(rule: Rule, frames: list[str]) -> bool | None:
    if rule.frame is None or not frames:
        return None
    return any(re.search(rule.frame, frame) for frame in frames)


def _frames(text: str) -> list[str]:
    lines = [line[split_prefix(line).end :] for line in text.splitlines()]
    found = ((read_frame(line), below.strip()) for line, below in zip(lines, [*lines[1:], ""], strict=True))
    return [*told_frames([replace(frame, code=code) for frame, code in found if frame])]


def _at(
    m: Matcher, catalogue: Catalogue, lines: list[str], ends: list[int], at: int
) -> list[tuple[Candidate, dict[str, Any]]]:
    found: dict[str, tuple[Candidate, dict[str, Any]]] = {}
    messages = [line[end:] for line, end in zip(lines[at:], ends[at : at + CONTINUATION_LINES], strict=False)]
    for candidate in m.candidates_in("\n".join(lines[at : at + CONTINUATION_LINES])):
        rule = candidate.rule
        count = 1 if rule.match in ("line", "exit") else rule.lines if rule.match == "block" else CONTINUATION_LINES
        scope = "\n".join(messages[:count])
        before = lines[at][: ends[at]]
        match = m.verify_line(candidate, scope, before) if count == 1 else m.verify(candidate.form, scope, before)
        if match and "\n" not in scope[: match.start()] and rule.id not in found:
            found[rule.id] = (candidate, with_table(catalogue, rule, read_fields(rule, match.groupdict())))
    return list(found.values())


def with_table(catalogue: Catalogue, rule: Rule, fields: dict[str, Any]) -> dict[str, Any]:
    """Yield `fields` joined with the columns of the table row that they name; captured values win."""
    if rule.table is None:
        return fields
    return {**catalogue.row(rule.table_name, fields.get(rule.table.key)), **fields}


def _matcher(catalogue: Catalogue) -> Matcher:
    if catalogue.key not in _MATCHERS:
        _MATCHERS.clear()
        _MATCHERS[catalogue.key] = Matcher(catalogue.rules.values())
    return _MATCHERS[catalogue.key]
