"""Causes and messages in the reader's language, as `cause.zh.yaml` beside `cause.yaml` has them; else as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..catalogue.load import load_rules, load_yaml
from ..catalogue.rule import Cause, Remedy, Rule, When, strict
from ..catalogue.sentences import Sentence, names_in, sentence
from ..errors import RuleError

Sentences = Mapping[str, Mapping[str, str]]  # by key and language
FILE = "cause.zh.yaml"
WORDS = "values.zh.yaml"
_TABLE_FIELDS = ("action", "meaning", "way_round")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
PLACES = ("rank", "local_rank", "host", "pid")  # which a sentence may ask for, whether its line tells them or not
SHOWN = ("cause", "symptom", "confirmation")  # roles whose messages a report tells of
_TOLD = ("text", "reason", "error", "detail", "last_error", "status", "path", "host")  # of a line, the first that it has


@strict
class Step:
    """One step of the remedy in other words; its command and condition stay those of `cause.yaml`."""

    when: When
    text: str


@strict
class Translation:
    """What `cause.zh.yaml` says; `messages` holds the titles of the cause's rules by their names, `says` sentences."""

    title: str
    means: str
    remedy: tuple[Step, ...]
    collect_next_time: tuple[str, ...] = ()
    messages: dict[str, str] = field(default_factory=dict)
    says: dict[str, str] = field(default_factory=dict)

    def of(self, cause: Cause) -> Cause:
        """Yield the cause in these words; as it is where the steps are not the same (a page is never half of each)."""
        if [s.when for s in self.remedy] != [r.when for r in cause.remedy]:
            return cause
        remedy = tuple(replace(r, text=s.text) for r, s in zip(cause.remedy, self.remedy, strict=True))
        return replace(cause, title=self.title, means=self.means, remedy=remedy, collect_next_time=self.collect_next_time)


class Translator:
    """Translates for one report; reads each file once. Without a language it gives back what it gets."""

    def __init__(
        self, language: str | None = None, folders: Sequence[Path] = (), sentences: Sentences | None = None
    ) -> None:
        self._given = sentences
        self.is_chinese = (language or "").lower().startswith("zh")
        self.language = "zh" if self.is_chinese else "en"
        self._folders = tuple(folders) if self.is_chinese else ()
        self._read: dict[str, Translation | None] = {}

    def cause(self, cause: Cause) -> Cause:
        """Yield the cause with its texts translated."""
        known = self._of(cause.id)
        return known.of(cause) if known else cause

    def title(self, rule: Rule) -> str:
        """Yield what a rule's message says; the title of its cause where only that is translated."""
        if known := self._of(rule.cause):
            return known.messages.get(rule.id.rpartition("/")[2], known.title)
        if not (self.is_chinese and self.knows(f"tells.{rule.tells}")):
            return rule.title
        return self.say(f"tells.{rule.tells}", phase=self.say(f"doing.{rule.activity}") if rule.activity else "")

    def said(self, rule: Rule, fields: Mapping[str, Any]) -> str:
        """Yield what a rule's line says: its sentence, or its title with what was read. Raises `ValueError` if unfilled."""
        values = {**dict.fromkeys((*PLACES, *rule.fields)), **self.fields(dict(fields))}
        known = self._of(rule.cause)
        name = rule.id.rpartition("/")[2]
        if known is not None and name in known.says:
            return sentence(known.says[name], values)
        told = self.word(sentence(rule.says, values))
        if known is None or name not in known.messages or _CHINESE.search(told):
            return told
        title, read = known.messages[name], next((f for f in _TOLD if f in rule.fields), None)
        return sentence(f"{title}{{% if {read} %}}：{{{{ {read} }}}}{{% endif %}}。" if read else f"{title}。", values)

    def sentence(self, text: str | Sentence) -> str:
        """Yield what the engine says of its own."""
        return text.filled(self.sentences, self.language) if isinstance(text, Sentence) else self.word(text)

    def word(self, text: str) -> str:
        """Yield what one of our tables says; as it is where we have no other word for it."""
        return self._words.get(text, text)

    @cached_property
    def _words(self) -> dict[str, str]:
        return _read_words(self._folders)

    @cached_property
    def sentences(self) -> Sentences:
        """The rows of `sentences.yaml`: those of the catalogue in use, else the shipped ones."""
        return self._given if self._given is not None else load_rules().sentences

    def say(self, key: str, **fields: Any) -> str:
        """Yield a row of `sentences.yaml`, filled."""
        return Sentence(key, fields).filled(self.sentences, self.language)

    def knows(self, key: str) -> bool:
        """Whether there is such a row."""
        return key in self.sentences

    def fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Yield the fields with those translated that our tables state, not the log (`meaning: the GPU is off`)."""
        return {k: self.word(v) if k in _TABLE_FIELDS and isinstance(v, str) else v for k, v in fields.items()}

    def _of(self, cause: str | None) -> Translation | None:
        if cause and cause not in self._read:
            homes = [folder / cause.replace(".", "/", 1) for folder in reversed(self._folders)]
            # The last folder that speaks of it counts: what a user rewrote must not be shown in our words.
            home = next((x for x in homes if (x / FILE).is_file() or (x / "cause.yaml").is_file()), None)
            self._read[cause] = _read(home / FILE) if home is not None and (home / FILE).is_file() else None
        return self._read[cause] if cause else None


ENGLISH = Translator()


def _read(path: Path) -> Translation:
    """Pydantic would cost more than the whole report; `diagnose rules test` has it check these files."""
    loaded: dict[str, Any] = load_yaml(path, path.read_bytes())
    try:
        steps = tuple(Step(**step) for step in loaded.pop("remedy"))
        collect = tuple(loaded.pop("collect_next_time", ()))
        return Translation(**loaded, remedy=steps, collect_next_time=collect)
    except (TypeError, KeyError) as error:
        raise RuleError(f"{path}: {error}; see `diagnose rules test`") from error


def _read_words(folders: Sequence[Path]) -> dict[str, str]:
    """The words of all rule folders; a later one wins."""
    words: dict[str, str] = {}
    for path in (folder / WORDS for folder in folders if (folder / WORDS).is_file()):
        values = load_yaml(path, path.read_bytes()).get("values")
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise RuleError(f"{path}: expected `values`, with the Chinese of each English text")
        words |= values
    return words


_PLACEHOLDER = re.compile(r"\{\{[^}]{0,200}\}\}|\{%[^%]{0,200}%\}")


def translation_faults(cause: Cause, rules: Mapping[str, Rule], folders: Sequence[Path]) -> Iterator[str]:
    """Yield what is missing or too much in the translation of a cause that has (or ought to have) one."""
    from ..catalogue.load import check

    name = cause.id.replace(".", "/", 1)
    folder = next((f for f in reversed(folders) if (f / name / "cause.yaml").is_file()), None)
    if folder is None:
        return
    path, is_shipped = folder / name / FILE, folder == folders[0]  # users translate theirs if they like
    if not path.is_file():
        yield from [f"has no {FILE}"] if is_shipped else []
        return
    try:
        mine: Translation = check(Translation, load_yaml(path, path.read_bytes()), path)
    except RuleError as error:
        yield str(error)
        return
    yield from (f"{FILE}: {fault}" for fault in (*_differences(cause, mine), *_of_rules(cause, mine, rules)))
    for rule in rules.values() if is_shipped else ():
        last = rule.id.rpartition("/")[2]
        is_own = rule.cause == cause.id and rule.role in SHOWN and (folder / name / f"{last}.yaml").is_file()
        yield from [f"{FILE}: messages: {last} has no title"] if is_own and last not in mine.messages else []


def _of_rules(cause: Cause, mine: Translation, rules: Mapping[str, Rule]) -> Iterator[str]:
    """Titles and sentences of no rule, and sentences that name what their rule does not read."""
    for where, texts in (("messages", mine.messages), ("says", mine.says)):
        yield from (f"{where}: {name} is no rule of this cause" for name in texts if f"{cause.id}/{name}" not in rules)
    for name, said in mine.says.items():
        rule = rules.get(f"{cause.id}/{name}")
        if unknown := sorted(names_in(said) - names_in(rule.says) - set(rule.fields)) if rule else []:
            yield f"says: {name} names {', '.join(unknown)}, which the rule does not"


def _differences(cause: Cause, mine: Translation) -> Iterator[str]:
    wanted, there = _texts(cause), _texts(mine)
    for where in {**wanted, **there}:
        if where not in there or where not in wanted:
            yield f"{where} is {'missing' if where not in there else 'not in cause.yaml'}"
        elif not there[where].strip():
            yield f"{where} is empty"
        elif (expected := placeholders(wanted[where])) != placeholders(there[where]):
            yield f"{where} has other placeholders than cause.yaml: {', '.join(expected) or 'none'}"


def _texts(page: Cause | Translation) -> dict[str, str]:
    remedy: Sequence[Remedy | Step] = page.remedy
    steps = {f"step {i} of remedy ({step.when})": step.text for i, step in enumerate(remedy, 1)}
    items = {f"item {i} of collect_next_time": text for i, text in enumerate(page.collect_next_time, 1)}
    return {"title": page.title, "means": page.means, **steps, **items}


def placeholders(text: str) -> list[str]:
    """Yield the distinct Jinja parts of a text, sorted, without regard to blanks."""
    return sorted({re.sub(r"\s+", "", part) for part in _PLACEHOLDER.findall(text)})
