"""The catalogue as text: the page of one cause (`diagnose explain`), and the table of all (`docs/catalogue.md`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from jinja2 import ChainableUndefined

from ..advice.remedy import with_shared
from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause, Remedy
from ..catalogue.sentences import names_in, sentence, shell_command
from ..report.phrases import words
from ..report.translation import ENGLISH, Translator
from .rendering import fill

# What stands in a command for what no job tells: of `culprit_host` and `peer_port` their last words.
NAMES = (
    "host", "culprit_host", "peer_host", "peer", "peer_port", "port", "pid", "pod", "namespace", "job_id", "file", "path",
    "device", "culprit_gpu", "rank", "module", "package", "other_pid", "holder_pid", "tool",
)  # fmt: skip
UNKNOWN = {name: name.rpartition("_")[2].upper() for name in NAMES}


class Blank(ChainableUndefined):
    """What only a job has: false in a condition, and its name in capitals where it is printed."""

    def __str__(self) -> str:
        return str(self._undefined_name).upper()

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Blank]:
        yield self

    def __call__(self, *_: Any, **__: Any) -> Blank:  # type: ignore[override]
        return self

    __add__ = __sub__ = __floordiv__ = __truediv__ = __call__  # type: ignore[assignment]


def cause_page(catalogue: Catalogue, cause: Cause, translator: Translator = ENGLISH) -> str:
    """Yield the page of a cause as plain text."""
    rules = [r for r in catalogue.rules.values() if r.cause == cause.id]
    shown, say = translator.cause(cause), words(translator.language)
    known = {"cause": cause, "shown": shown, "rules": rules, "translator": translator, "say": say}
    return fill("cause.txt.j2", {"unfilled": unfilled, "of_no_job": of_no_job}, **known).rstrip("\n")


def catalogue_table(catalogue: Catalogue) -> str:
    """Yield the Markdown page of all causes, with their messages and first remedies."""
    by_layer = groupby(catalogue.causes.values(), key=lambda cause: cause.id.partition(".")[0])
    layers = [(layer, list(causes)) for layer, causes in by_layer]
    filters: dict[str, Callable[..., object]] = {f.__name__: f for f in (unfilled, first_step, page_cell)}
    return fill("catalogue.md.j2", filters, catalogue=catalogue, layers=layers)


def first_step(cause: Cause) -> Remedy:
    """Yield the first step that holds as a rule: where some messages ask for another, a condition names these."""
    steps = [r for r in cause.remedy if r.when == "now"]
    return min(steps, key=lambda r: 0 if r.condition is None else 1 if "not" in r.condition else 2)


def unfilled(command: str | None) -> str:
    """Yield a command as it stands where nothing is known of a job: `nodename=HOST`."""
    try:
        filled = shell_command(command, _blanks(command) | with_shared(dict(UNKNOWN), command)).strip() if command else ""
        return "" if filled.isupper() else filled  # names alone are no command
    except ValueError:
        return ""  # it is made of a place in the program, which only a job has


def of_no_job(text: str) -> str:
    """Yield a step's text as a report says it of which nothing is known."""
    try:
        return sentence(text, _blanks(text) | UNKNOWN)
    except ValueError:
        return text


def _blanks(text: str) -> dict[str, Any]:
    return {name: Blank(name=name) for name in names_in(text)}


def page_cell(text: str) -> str:
    """Yield a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
