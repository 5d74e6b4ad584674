"""The sentences of rules, causes, questions and advice, filled: Jinja in a sandbox, with the few filters they need."""

from __future__ import annotations

import atexit
import hashlib
import marshal
import sys
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from shlex import quote
from typing import Any

import jinja2
from jinja2 import ChainableUndefined, DictLoader, Template, TemplateError, Undefined
from jinja2.bccache import Bucket, BytecodeCache
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..lines.cache import can_tell_owner, read_own, write_own
from ..lines.rank_ranges import named_ranks, rank_ranges
from ..lines.record import record


@record
class Sentence:
    """What a question or a piece of advice says: the key of a row of `sentences.yaml`, and what fills its slots.

    A field may be a sentence itself, or a list of them.
    """

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def filled(self, texts: Mapping[str, Mapping[str, str]], language: str = "en") -> str:
        """Yield the sentence in a language, `en` or `zh`. Raises `ValueError` for a key that has no row."""
        if self.key not in texts:
            raise ValueError(f"no sentence is called {self.key}")
        values = {k: _inner(v, texts, language) for k, v in self.fields.items()}
        return sentence(texts[self.key][language], values)


def _inner(value: Any, texts: Mapping[str, Mapping[str, str]], language: str) -> Any:
    if isinstance(value, list):
        return [_inner(each, texts, language) for each in value]
    return value.filled(texts, language) if isinstance(value, Sentence) else value


def sentence(template: str, values: dict[str, Any]) -> str:
    """Yield `template` with `values` filled in, on one line. Raises `ValueError` when it names what it cannot have."""
    return template if "{" not in template else " ".join(_filled(template, values).split())


def _filled(template: str, values: dict[str, Any]) -> str:
    try:
        return _template(template).render(values)
    except (TemplateError, TypeError, ZeroDivisionError, ArithmeticError) as error:
        raise ValueError(f"{template[:60]!r}: {error}") from error


def shell_command(template: str, values: dict[str, Any]) -> str:
    """Yield a command with `values` filled in as the shell's own words: what a log says never runs when it is pasted."""
    if "{" not in template:
        return template
    words = {name: _as_words(value) for name, value in values.items()}
    return " ".join(_filled(template, words).splitlines())  # blanks stay: they part a command from a remark


def _as_words(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_words(each) for each in value]
    return shell_word(value) if isinstance(value, str) else value


def shell_word(text: str) -> str:
    """Yield the text as one word of a command to paste; one that begins with `-` is a name there, never an option."""
    return quote(f"./{text}" if text.startswith("-") else text)


def holds(condition: str, values: dict[str, Any]) -> bool:
    """Whether a Jinja expression is true of `values`; what is unknown makes it false."""
    try:
        return bool(_template(f"{{% if {condition} %}}1{{% endif %}}").render(values))
    except (TemplateError, TypeError, ValueError, ArithmeticError):
        return False


def fault_in(template: str) -> str | None:
    """Yield what is wrong with a template's form; None where nothing is."""
    try:
        _environment().parse(template)
    except TemplateError as error:
        return f"{template[:60]!r}: {error}"
    return None


def names_in(template: str) -> set[str]:
    """Yield the names of the values that a template asks for; none of a broken one, which `sentence` refuses."""
    from jinja2 import meta

    return set() if fault_in(template) else set(meta.find_undeclared_variables(_environment().parse(template)))


class KeptTemplates(BytecodeCache):
    """What Jinja made of our templates, in one file of the user's cache: to make it anew takes a fifth of a small run.

    Byte code is trusted, so none is kept where the system does not tell whose a file is.
    """

    NAME = f"templates-{jinja2.__version__}-{sys.implementation.cache_tag}"
    MOST = 500

    def __init__(self) -> None:
        self._made: dict[str, bytes] = {}  # by this process

    @cached_property
    def _kept(self) -> dict[str, bytes]:
        kept = read_own(self.NAME) if can_tell_owner() else None
        return marshal.loads(kept) if kept else {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give the bucket what is kept of its template."""
        if code := self._made.get(bucket.key) or self._kept.get(bucket.key):
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what the bucket holds, when this process ends."""
        if not self._made and can_tell_owner():
            atexit.register(self._keep)
        self._made[bucket.key] = bucket.bytecode_to_string()

    def _keep(self) -> None:
        both = self._kept | self._made
        if len(self._made) <= self.MOST:  # more are those of a whole catalogue that is tested
            write_own(self.NAME, marshal.dumps(both if len(both) <= self.MOST else self._made))


KEPT_TEMPLATES = KeptTemplates()
_TEXTS: dict[str, str] = {}  # by the names under which templates are kept


@lru_cache(maxsize=256)
def _template(text: str) -> Template:
    name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    _TEXTS[name] = text
    return _environment().get_template(name)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    settings: dict[str, Any] = {"loader": DictLoader(_TEXTS), "bytecode_cache": KEPT_TEMPLATES}
    env = ImmutableSandboxedEnvironment(undefined=ChainableUndefined, autoescape=False, **settings)
    env.filters.update(duration=duration, size=size, ranks=_ranks, number=number, named=named_ranks)
    env.globals.clear()
    return env


def duration(seconds: Any) -> str:
    """Yield seconds as people say them: `600 s`, `30 min`, `2 h 5 min`."""
    if seconds is None or isinstance(seconds, Undefined):
        return str("" if seconds is None else seconds) or "an unknown time"
    left = float(seconds)
    if left < 120:
        return f"{left:.0f} s" if left >= 10 or left == int(left) else f"{left:.1f} s"
    minutes = round(left / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{minutes} min" if not hours else f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(count: Any) -> str:
    """Yield bytes with a binary unit: `1.5 GiB`."""
    if count is None or isinstance(count, Undefined):
        return str("" if count is None else count) or "an unknown size"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def number(value: Any) -> str:
    """Yield a whole number with its thousands apart: `28,000,000`."""
    return f"{int(value):,}" if value is not None and not isinstance(value, Undefined) else "?"


def _ranks(ranks: Any) -> str:
    return rank_ranges(ranks) if ranks and not isinstance(ranks, Undefined) else "none"
