"""What `diagnose rules test --literals DIR` says of ordinary logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.catalogue.literal_costs import literal_costs
from diagnose.catalogue.load import load_rules
from diagnose.errors import SourceError


def test_a_literal_that_leads_to_nothing_shows_its_hits_and_none_verified(tmp_path: Path) -> None:
    (tmp_path / "minigo.log").write_text("".join(f"Finished training it {n}/16000 on rank 3\n" for n in range(300)))
    row = next(x for x in literal_costs(load_rules(), tmp_path) if x.startswith("Finished training"))
    assert row.split()[2:3] + row.split()[4:5] == ["300", "0"]


def test_a_folder_without_files_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file in it"):
        list(literal_costs(load_rules(), tmp_path))
