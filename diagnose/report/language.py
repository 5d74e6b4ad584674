"""The words of the frame around a report, from `words.yaml`, and which language a reader wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ..catalogue.load import load_yaml
from ..errors import UsageError

Language = Literal["en", "zh"]
Say = Callable[..., str]
LANGUAGES = ("en", "zh")
WORDS = Path(__file__).with_name("words.yaml")


def language_of(environment: Mapping[str, str]) -> Language:
    """Yield the language of a locale as POSIX reads it: the first of these variables that says anything counts."""
    named = next((environment[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(n)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def choose_language(named: str | None, environment: Mapping[str, str]) -> Language:
    """Yield the language that `--lang` names, or that of the locale. Raises `UsageError`."""
    if named is None:
        return language_of(environment)
    if named not in LANGUAGES:
        raise UsageError(f"--lang {named}: choose en or zh")
    return "zh" if named == "zh" else "en"


def words(language: str) -> Say:
    """Yield a function from a key, and what its text needs, to the text; an unknown language reads English."""
    column = 1 if language.lower().startswith("zh") else 0
    texts = _texts()

    def say(key: str, **values: object) -> str:
        text = texts[key][column]
        return text.format(**values) if values else text

    return say


def known(say: Say, family: str, word: str) -> str:
    """Yield a word of the contract in the reader's language; a word that is not ours stays as it is."""
    key = f"{family}-{word}" if family else word
    return say(key) if key in _texts() else word


@lru_cache(maxsize=1)
def _texts() -> dict[str, list[str]]:
    return load_yaml(WORDS, WORDS.read_bytes())
