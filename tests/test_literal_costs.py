"""What `diagnose rules test --literals DIR` says of ordinary logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.catalogue.literal_costs import WIDTH, literal_costs
from diagnose.catalogue.load import load_rules
from diagnose.errors import SourceError


def test_a_literal_that_leads_to_nothing_shows_its_hits_and_none_verified(tmp_path: Path) -> None:
    (tmp_path / "minigo.log").write_text("".join(f"Finished training it {n}/16000 on rank 3\n" for n in range(300)))
    row = next(x for x in literal_costs(load_rules(), tmp_path) if x.startswith("Finished training"))
    assert row.split()[2:3] + row.split()[4:5] == ["300", "0"]


def test_a_folder_without_files_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file in it"):
        list(literal_costs(load_rules(), tmp_path))


def test_no_word_that_leads_to_nothing_stands_on_many_ordinary_lines() -> None:
    ordinary = Path(__file__).parent.parent / "fixtures" / "ordinary"
    lines = sum(path.read_bytes().count(b"\n") for path in ordinary.iterdir())
    rows = [row[WIDTH:].split() for row in list(literal_costs(load_rules(), ordinary))[2:]]
    assert [rule for hits, _, verified, _, rule in rows if verified == "0" and int(hits) > 0.025 * lines] == []
