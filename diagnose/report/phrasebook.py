"""Finished English sentences of the engine in, Chinese ones out: by templates, since many modules make them.

Reads `sentences.zh.yaml`. A template is taken apart at its slots; matching looks for its fixed parts from left to
right, so that its cost is linear in the text. What no template fits stays English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..catalogue.load import load_yaml
from ..errors import RuleError
from ..lines.record import record

FILE = "sentences.zh.yaml"
_SLOT = re.compile(r"\{(\w+)\}")  # "Rank {rank} died"
_QUOTED = frozenset(["cgroup", "error", "path", "process", "reason", "text"])  # a log's words, not ours
_GLUED = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")
_OPTIONAL_S = "~"  # "rank~ {ranks}": rank 3, ranks 0-3


@record
class Phrase:
    """One template: `fixed` has one part more than `slots` has names."""

    fixed: tuple[str, ...]
    slots: tuple[str, ...]
    chinese: str

    def read(self, text: str) -> dict[str, str] | None:
        """Yield what stands in the slots of `text`; None where it is another sentence."""
        if not text.startswith(self.fixed[0]) or not text.endswith(self.fixed[-1]):
            return None
        at, end = len(self.fixed[0]), len(text) - len(self.fixed[-1])
        found: dict[str, str] = {}
        for slot, following in zip(self.slots[:-1], self.fixed[1:-1], strict=True):
            stop = text.find(following, at + 1, end)
            if stop < 0:
                return None
            found[slot] = text[at:stop]
            at = stop + len(following)
        if self.slots:
            if at >= end:
                return None
            found[self.slots[-1]] = text[at:end]
        return found if self.slots or text == self.fixed[0] else None


class Phrasebook:
    """The sentences and values of one or more files, the fuller templates first."""

    def __init__(self, sentences: Mapping[str, str], values: Mapping[str, str]) -> None:
        self._sentences, self._values = _compile(sentences), _compile(values)

    def sentence(self, text: str) -> str:
        """Yield a sentence in Chinese, or as it is; a value that stands as a sentence of its own is one too."""
        return self._say(text, self._sentences) or self._say(text[:1].lower() + text[1:], self._values) or text

    def value(self, text: str) -> str:
        """Yield what stands in a slot, or in a field of a table, in Chinese; as it is where we do not know it."""
        return self._say(text, self._values) or text

    def _say(self, text: str, phrases: Sequence[Phrase]) -> str | None:
        for phrase in phrases:
            found = phrase.read(text)
            if found is not None:
                parts = _SLOT.split(phrase.chinese)  # text, slot, text, …; never format(): a value may hold braces
                parts[1::2] = [self._value(slot, found[slot]) for slot in parts[1::2]]
                return _join(parts)
        return None

    def _value(self, slot: str, value: str) -> str:
        if slot.endswith("_list"):
            return value.replace(" and ", " 或 ")
        return value if slot in _QUOTED else self.value(value)


def _join(parts: Sequence[str]) -> str:
    """A blank stands between Chinese and Latin, whatever a slot turned out to hold."""
    text = ""
    for part in parts:
        text += " " if _GLUED.match(text[-1:] + part[:1]) else ""
        text += part
    return text


def read_phrasebook(folders: Sequence[Path]) -> Phrasebook:
    """Yield the phrasebook of these rule folders; a later one wins."""
    sentences: dict[str, str] = {}
    values: dict[str, str] = {}
    for path in (folder / FILE for folder in folders if (folder / FILE).is_file()):
        loaded = load_yaml(path, path.read_bytes())
        try:
            sentences |= {pair["en"]: pair["zh"] for pair in loaded.get("sentences") or ()}
            values |= {pair["en"]: pair["zh"] for pair in loaded.get("values") or ()}
            phrases = (*_compile(sentences), *_compile(values))
        except (TypeError, KeyError, AttributeError) as error:
            raise RuleError(f"{path}: expected `sentences` and `values`, lists of `en` and `zh`") from error
        for phrase in phrases:
            if unknown := set(_SLOT.findall(phrase.chinese)) - set(phrase.slots):
                raise RuleError(f"{path}: {phrase.chinese}: the English has no {', '.join(sorted(unknown))}")
    return Phrasebook(sentences, values)


def _compile(templates: Mapping[str, str]) -> list[Phrase]:
    phrases = []
    for template, chinese in templates.items():
        for english in _variants(template):
            parts = _SLOT.split(english)
            phrases.append(Phrase(tuple(parts[::2]), tuple(parts[1::2]), chinese))
    # "… (a save took {took}): …" has to be tried before "…: …", which it fits as well
    return sorted(phrases, key=lambda p: -sum(map(len, p.fixed)))


def _variants(template: str) -> list[str]:
    head, mark, tail = template.partition(_OPTIONAL_S)
    if not mark or not head[-1:].isalpha():  # "~/.cache" is a path
        return [template]
    return [head + s + rest for s in ("", "s") for rest in _variants(tail)]
