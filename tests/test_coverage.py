"""Every row of the tables of message formats has a rule, or a reason why not."""

from __future__ import annotations

import pytest

from benchmarks.coverage import FLOOR, TABLES, Row, files_unheard, is_known, raised_by, read_rows, unheard
from diagnose.catalogue.load import load_rules

ROWS = [row for name in TABLES for row in read_rows(name)]
SECTIONS = sorted({row.section for row in ROWS})
MOST_LEFT_OUT = 0.02


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_has_a_rule_or_a_reason(section: str) -> None:
    assert [] == [text for row in ROWS if row.section == section for text in unheard(load_rules(), row)]


def test_few_rows_are_left_out_and_each_says_why() -> None:
    left_out: list[Row] = [row for row in ROWS if row.left_out]
    assert all(len(row.left_out.split()) > 4 for row in left_out)
    assert len(left_out) <= MOST_LEFT_OUT * len(ROWS)


def test_every_source_file_of_nccl_is_heard_whatever_it_warns_of() -> None:
    assert [] == files_unheard(load_rules())


def test_most_of_what_a_library_raises_at_set_up_has_a_narrower_rule_than_the_catch_all() -> None:
    texts = raised_by()["huggingface_hub ee0a451 of 2026-08-20: 30 of 72"]
    known = [text for text in texts if is_known(load_rules(), text)]
    assert len(known) >= FLOOR * len(texts)
