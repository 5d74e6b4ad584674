"""The engine's own sentences in Chinese, and Chinese broken into lines."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from diagnose.catalogue.load import SHIPPED, load_rules, load_yaml
from diagnose.errors import RuleError
from diagnose.report.phrasebook import FILE, Phrasebook, read_phrasebook
from diagnose.views.paper import break_offsets

PACKAGE = SHIPPED.parent / "diagnose" if (SHIPPED.parent / "diagnose").is_dir() else SHIPPED.parent


@pytest.fixture(scope="module")
def book() -> Phrasebook:
    return read_phrasebook([SHIPPED])


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("CUDA reported: out of memory.", "CUDA 报告：out of memory。"),
    ],
)
def test_sentence_is_told_with_its_numbers(book: Phrasebook, english: str, chinese: str) -> None:
    assert book.sentence(english) == chinese


def test_unknown_sentence_stays_english(book: Phrasebook) -> None:
    assert book.sentence("KeyError: 'labels'") == "KeyError: 'labels'"


def test_words_of_a_log_are_not_translated() -> None:
    book = Phrasebook({"It failed: {error}.": "失败：{error}。"}, {"waiting": "等待"})
    assert book.sentence("It failed: waiting.") == "失败：waiting。"


@given(st.text(max_size=300))
def test_any_text_comes_back_as_text(text: str) -> None:
    book = Phrasebook({"{a} and {b}, {c}.": "{c}{b}{a}"}, {"{n} x {m}": "{n}×{m}"})
    assert isinstance(book.sentence(text), str)


def test_later_folder_wins(tmp_path: Path) -> None:
    text = 'sentences:\n  - {en: "CUDA reported: {error}.", zh: "CUDA 说：{error}。"}\n'
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert read_phrasebook([SHIPPED, tmp_path]).sentence("CUDA reported: no.") == "CUDA 说：no。"


def test_slot_that_the_english_lacks_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('sentences:\n  - {en: "Rank {a}.", zh: "rank {b}。"}\n', encoding="utf-8")
    with pytest.raises(RuleError, match="the English has no b"):
        read_phrasebook([tmp_path])


def test_every_sentence_is_one_that_the_engine_can_say() -> None:
    """A sentence reworded in the engine would silently stay English: then reword `rules/sentences.zh.yaml` too."""
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))
    rules = " ".join(re.sub(r"\{%.{0,200}?%\}", "", rule.says) for rule in load_rules().rules.values())
    tables = str([table.rows for table in load_rules().tables.values()])
    said = " ".join(re.findall(r"[a-z]+", re.sub(r"\"\s*\n\s*f?\"", "", sources).lower() + (rules + tables).lower()))
    pairs = load_yaml(SHIPPED / FILE, (SHIPPED / FILE).read_bytes())["sentences"]
    assert [pair["en"] for pair in pairs if _share_said(pair["en"], said) < 0.3] == []


def _share_said(template: str, said: str) -> float:
    """The share of runs of three words between slots that stand somewhere in the sources."""
    parts = [re.findall(r"[a-z]+", part.lower()) for part in re.split(r"\{\w+\}|~", template)]
    runs = [" ".join(words[i : i + 3]) for words in parts for i in range(max(len(words) - 2, 1)) if words]
    return sum(run in said for run in runs) / len(runs)


# --- lines -------------------------------------------------------------------------------------------------------


def lines(text: str, width: int) -> list[str]:
    at = [0, *break_offsets(text, width), len(text)]
    return [text[a:b].rstrip() for a, b in pairwise(at)]


def test_chinese_breaks_between_characters() -> None:
    assert lines("缩短序列或做 packing，切分参数", 16) == ["缩短序列或做", "packing，切分参", "数"]


@given(st.text("的在，。（）ab c-", max_size=80), st.integers(8, 40))
def test_no_line_is_wider_than_asked_and_nothing_is_lost(text: str, width: int) -> None:
    at = [0, *break_offsets(text, width), len(text)]
    parts = [text[a:b] for a, b in pairwise(at)]
    assert "".join(parts) == text
    assert all(cell_len(part.rstrip()) <= width for part in parts)
