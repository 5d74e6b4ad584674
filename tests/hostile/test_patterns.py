"""Text that keeps patterns busy: none of ours takes long on it, one that ran out of time is off, a rule that is slow is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from diagnose.catalogue.checks import ADVERSARIAL_LIMIT_S
from diagnose.catalogue.matcher import Matcher, PatternTimeout
from diagnose.catalogue.pattern_facts import adversarial_texts, neighbours
from diagnose.catalogue.rule import Form

from ..command_line import tell

BLOCK_BYTES = 256 << 10
# What is asked of our own patterns, of names of at most 512 characters, and of 2,000 characters of a message.
OF_OTHER_TEXTS = ("diagnose.lines.shapes.", "diagnose.lines.path_", "diagnose.sources.own_headers, of", "diagnose.sources.labels._BEGINS")
PER_BLOCK_S = 0.5  # of a block of a file, which is 32 times the longest message
# All patterns that modules and their tables hold, and how each is asked: `match`, `fullmatch`, or anywhere in a text. A
# room whose extra is not installed is left out.
RECORDER = """
import gc, inspect, json, pkgutil, re, sys
from contextlib import suppress
from importlib import import_module
import diagnose
from diagnose.errors import MissingExtra
from diagnose.lines import lazy_pattern
METHODS = "match|fullmatch|search|finditer|findall|sub|split"
of_tables, seen = [], set()
lazy = lazy_pattern.lazy
def recorded(source, flags=0):
    of_tables.append((source, flags, sys._getframe(1).f_globals["__name__"]))
    return lazy(source, flags)
lazy_pattern.lazy = recorded
names = [m.name for m in pkgutil.walk_packages(diagnose.__path__, "diagnose.", onerror=lambda name: None) if not m.name.endswith(("__main__", "integrations"))]
modules = []
for name in names:
    with suppress(MissingExtra, ModuleNotFoundError):
        modules.append(import_module(name))
sources = {m.__name__: inspect.getsource(m) for m in modules}
def say(source, flags, how, where):
    is_bytes = isinstance(source, bytes)
    seen.add(source)
    print(json.dumps([source.decode("latin-1") if is_bytes else source, int(flags), is_bytes, how or ["search"], where]))
for module in modules:
    for name, value in vars(module).items():
        value = re.compile(*value._given) if isinstance(value, lazy_pattern._Lazy) else value
        if isinstance(value, re.Pattern):
            source = sources[module.__name__] if name.startswith("_") else "".join(sources.values())
            how = sorted(set(re.findall(rf"\\b{name}\\.({METHODS})\\b", source)))
            say(value.pattern, value.flags & ~re.UNICODE, how, f"{module.__name__}.{name}")
for source, flags, module in (row for row in of_tables if row[0] not in seen):
    say(source, flags, sorted(set(re.findall(rf"\\.({METHODS})\\(", sources[module]))), f"{module}, of a table")
for row in gc.get_objects():
    if type(row).__name__ == "Row" and hasattr(row, "needs"):
        say(row.pattern.pattern, re.ASCII, ["match"], f"prefix {row.name}")
"""


class Held(NamedTuple):
    """A pattern that a module holds."""

    text: str
    flags: int
    is_bytes: bool
    how: list[str]  # it is asked
    where: str

    def worst_s(self, size: int) -> tuple[float, str]:
        """The most CPU seconds that it takes on texts made from it, and on which."""
        asked, worst = re.compile(self.text.encode("latin-1") if self.is_bytes else self.text, self.flags), (0.0, "")
        for text in adversarial_texts(self.text, size, self.flags):
            given = text.encode("latin-1", "replace") if self.is_bytes else text
            for search in {getattr(asked, how if how in ("match", "fullmatch") else "search") for how in self.how}:
                took_s = min(cpu_s(search, given) for _ in range(2)) if cpu_s(search, given) > worst[0] else 0.0
                worst = max(worst, (took_s, text[:60]))
        return worst


def cpu_s(search: Callable[[str | bytes], object], text: str | bytes) -> float:
    began = time.process_time()
    search(text)
    return time.process_time() - began


@lru_cache(maxsize=1)
def patterns_of_the_program() -> list[Held]:
    done = subprocess.run([sys.executable, "-c", RECORDER], capture_output=True, text=True, check=True)
    return [Held(*json.loads(line)) for line in done.stdout.splitlines()]


def slow_ones(held: Iterable[Held], size: int, limit_s: float) -> list[str]:
    found = ((pattern, *pattern.worst_s(size)) for pattern in held)
    return [f"{p.where}: {seconds:.2f} s on {text!r}: {p.text}" for p, seconds, text in found if seconds > limit_s]


def test_no_pattern_of_the_program_takes_long() -> None:
    asked = (p for p in patterns_of_the_program() if not p.where.startswith(OF_OTHER_TEXTS))
    assert slow_ones(asked, 8192, ADVERSARIAL_LIMIT_S) == []


def test_no_pattern_that_sees_whole_blocks_takes_long_on_one() -> None:
    """Those of bytes: a message is cut to 8 Ki characters before any pattern of text is asked."""
    asked = (p for p in patterns_of_the_program() if p.is_bytes and set(p.how) - {"match", "fullmatch"})
    assert slow_ones(asked, BLOCK_BYTES, PER_BLOCK_S) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\w+: Stage [^\n]*\s+is not supported", r"^(?:a+)+$", r"^step\s*\s*\d+ of", r"^(?P<a>.*)(?:[\w.]+)?: error", r"x(?:\d+|\w+)+!",
    ],
)  # fmt: skip
def test_neighbouring_repeats_of_the_same_characters_are_refused(pattern: str) -> None:
    assert neighbours(pattern)


@pytest.mark.parametrize("pattern", [r"^\w+: \d+ of \d+ failed", r"^[^:]+: [^,\n]{0,400}, \S+$", r"(?:, \w+)+;", r"^[^\n]{1,300}\s{1,30}at", r"\d+[^\n]{0,120}"])
def test_repeats_that_something_parts_or_bounds_are_fine(pattern: str) -> None:
    assert neighbours(pattern) == []


RULE = """\
title: Stage is not supported
role: harmless
match: line
why: a test
forms:
  - literals: [is not supported]
    pattern: '{pattern}'
    examples:
      - text: 'AutoEP: Stage 3 is not supported'
says: not supported
counter_examples:
  - text: 'AutoEP: Stage 3 is supported'
    because: it is
"""


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"^\w+: Stage [^\n]*\s+is not supported", "neighbouring repeats"),
        (r"\w+: [^\n]+ [^\n]+ [^\n]+ is not supported", "takes more than"),
        (r"^\w+: Stage {9,1}is not supported", "not a pattern that can be used"),
    ],
)
def test_a_rule_of_a_user_that_can_be_kept_busy_is_refused(tmp_path: Path, pattern: str, said: str) -> None:
    (tmp_path / "harmless" / "mine").mkdir(parents=True)
    (tmp_path / "harmless" / "mine" / "stage.yaml").write_text(RULE.format(pattern=pattern))
    answer = tell("rules", "test", tmp_path, "--only", "harmless.mine")
    assert answer.code != 0
    assert said in answer.out + answer.err


def test_a_pattern_that_ran_out_of_time_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def search(text: str, timeout: float) -> None:
        asked.append(text)
        raise TimeoutError

    form = Form(("is not supported",), "is not supported", is_timed=True)
    matcher = Matcher(())
    monkeypatch.setattr(matcher, "_compiled_pattern", lambda *_: SimpleNamespace(search=search))
    for text in ("one", "two"):
        with pytest.raises(PatternTimeout):
            matcher.verify(form, text)

    assert asked == ["one"]
