"""A text in, the causes that it may mean out: by a code (`xid-79`), by the rules that read it, by its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from ..errors import RuleError
from .load import Catalogue

NEAR = 12  # names in one line; a layer has about as many


def causes_of(text: str, catalogue: Catalogue) -> list[str]:
    """Yield the causes that a text may mean, best first. Raises `RuleError` where there is none."""
    from .firing import fire

    if text in catalogue.causes:
        return [text]
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
    """The cause of a row of a table: `xid-79`, `Xid 79`, `sxid 12028`."""
    match = re.fullmatch(r"([a-z]+)[\s:=-]*(\d+)", text.strip().lower())
    for name, table in catalogue.tables.items():
        if match and name.endswith(f"/{match[1]}.table.yaml"):
            row = next((row for row in table.rows if str(row.get(table.key)) == match[2]), {})
            yield from (cause for cause in [str(row.get("cause"))] if cause in catalogue.causes)


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
    return f"no cause {word}" + (f"; did you mean {', '.join(near)}?" if near else "; see `diagnose rules list`")
