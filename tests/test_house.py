"""How large the house is: it may get smaller, never larger. The aim is 25,500 lines in 190 modules."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "diagnose"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES, MOST_MODULES, MOST_AT_THE_TOP = 26_875, 183, 8
MOST_IN_A_MODULE, MOST_IN_A_FUNCTION, MOST_QUESTIONS = 300, 40, 16
ONE_CONSTRUCTION = {"build_view"}  # a single call with one argument a line


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_the_package_does_not_grow(capsys: pytest.CaptureFixture[str]) -> None:
    total = sum(map(lines_of, MODULES))
    rooms = {room.name: sum(map(lines_of, room.glob("*.py"))) for room in sorted(PACKAGE.iterdir()) if room.is_dir()}
    with capsys.disabled():
        print(f"\n{total:,} lines in {len(MODULES)} modules:", *(f"{name} {n:,}" for name, n in rooms.items() if n))

    assert total <= MOST_LINES
    assert len(MODULES) <= MOST_MODULES


def test_few_modules_stand_at_the_top() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_AT_THE_TOP


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    assert [p.name for p in MODULES if lines_of(p) > MOST_IN_A_MODULE] == []


def test_no_function_is_longer_than_a_screen() -> None:
    long = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = (node.end_lineno or 0) - node.body[0].lineno + 1
                long += [f"{path.name}: {node.name}"] if body > MOST_IN_A_FUNCTION and node.name not in ONE_CONSTRUCTION else []

    assert long == []


def test_the_questions_do_not_become_more() -> None:
    from diagnose.questions import QUESTIONS
    assert len(QUESTIONS) <= MOST_QUESTIONS


def test_no_rule_is_named_in_python() -> None:
    """What a rule's line tells is a kind or a field, which any rule may have."""
    from diagnose.catalogue.load import load_rules
    named = {(path.name, word) for path in MODULES for word in re.findall(r"[\w.-]+/[\w-]+", path.read_text(encoding="utf-8"))}
    assert sorted(pair for pair in named if pair[1] in load_rules().rules) == []


def test_every_constant_is_used() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    words = Counter(re.findall(r"\w+", "".join(texts.values())))
    of_modules = (node.targets[0] for text in texts.values() for node in ast.parse(text).body if isinstance(node, ast.Assign))
    names = {target.id for target in of_modules if isinstance(target, ast.Name)} - {"SCHEMA_PATH"}  # asked by a test
    assert sorted(name for name in names if words[name] == 1) == []
