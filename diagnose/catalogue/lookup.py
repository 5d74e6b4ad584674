"""A text in, what the catalogue makes of it out: the rules that it fires, without a file, and the causes that it may mean,
by a code (`xid-79`), by the rules that read it, by its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ..errors import RuleError
from ..lines.prefix import split_prefix
from ..traces.traceback_lines import read_frame, told_frames
from .load import Catalogue
from .matcher import Candidate, Matcher, read_fields
from .rule import Rule

NEAR = 12  # names in one line; a layer has about as many
CONTINUATION_LINES = 40
EXIT = re.compile(r"(?:exit(?:ed with)?[\s_-]?(?:code|status)?)?[\s:=]*(-?\d+)")
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
    found = ((read_frame(line), below.strip()) for line, below in zip(lines, [*lines[1:], ""], strict=False))
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
            found[rule.id] = (candidate, catalogue.with_row(rule, read_fields(rule, match.groupdict())))
    return list(found.values())


def _matcher(catalogue: Catalogue) -> Matcher:
    if catalogue.key not in _MATCHERS:
        _MATCHERS.clear()
        _MATCHERS[catalogue.key] = Matcher(catalogue.rules.values())
    return _MATCHERS[catalogue.key]


# --- which causes a text may mean -------------------------------------------------------------------------------------


def causes_of(text: str, catalogue: Catalogue) -> list[str]:
    """Yield the causes that a text may mean, best first. Raises `RuleError` where there is none."""
    rule = catalogue.rules.get(text)
    if text in catalogue.causes or (rule is not None and rule.cause):
        return [rule.cause if rule is not None and rule.cause else text]
    if text == "unknown":
        raise RuleError("unknown is the answer where no line names a cause; the report says what to collect")
    if found := list(_of_code(text, catalogue)):
        return found
    hits = fire(catalogue, text)
    ordered = sorted(hits, key=lambda hit: (hit[0].generic, hit[0].frame is not None, hit[0].role != "cause"))
    said = [str(fields.get("cause") or rule.cause or "") for rule, fields in ordered]
    if found := [cause for cause in dict.fromkeys(said) if cause in catalogue.causes]:
        return found
    is_id = re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]*", text)
    if not is_id and (found := _of_words(text, catalogue)):
        return found
    raise RuleError(no_such_cause(text, catalogue.causes))


def _of_code(text: str, catalogue: Catalogue) -> Iterator[str]:
    """The cause of a row of a table: `xid-79`, `Xid 79`, `signal 9`; of that of exit codes `137`, `exit code 137`."""
    asked = text.strip().lower()
    named, code = re.fullmatch(r"([a-z]+)[\s:=-]*(\d+)", asked), EXIT.fullmatch(asked)
    for name, table in catalogue.tables.items():
        is_named = named and (name.endswith(f"/{named[1]}.table.yaml") or named[1] == table.key == "signal")
        match = named if is_named else code if table.key == "exit_code" else None
        row = next((row for row in table.rows if match and str(row.get(table.key)) == match[match.lastindex or 0]), {})
        cause = row.get("cause") or (".".join(name.split("/")[:2]) if match is code else None)  # a code of no row
        yield from (each for each in [str(cause)] if match and each in catalogue.causes)


def _of_words(text: str, catalogue: Catalogue) -> list[str]:
    """The causes in whose messages all these words stand."""
    wanted = set(re.findall(r"[a-z0-9_]{2,}", text.lower()))
    count: Counter[str] = Counter()
    for rule in catalogue.rules.values():
        if cause := catalogue.causes.get(rule.cause or ""):
            texts = (rule.title, cause.title, *(literal for form in rule.forms for literal in form.literals))
            count[cause.id] += bool(wanted) and wanted <= set(re.findall(r"[a-z0-9_]{2,}", " ".join(texts).lower()))
    return [cause for cause, times in count.most_common(NEAR) if times]


def no_such_cause(word: str, causes: Collection[str]) -> str:
    """Yield one line that names the causes that may be meant: those that hold the word, else the one spelt most alike."""
    from difflib import get_close_matches

    holding = sorted(c for c in causes if word in c) if word else []
    near = holding if 0 < len(holding) <= NEAR else get_close_matches(word, causes, 1, 0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "see `diagnose rules list`"
    return f"no cause {word or 'without a name'}; {hint}"
