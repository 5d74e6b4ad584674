"""The page of all causes is what `diagnose rules page` prints."""

from __future__ import annotations

from pathlib import Path

from .command_line import tell
from .snapshots import is_updating

PAGE = Path(__file__).parent.parent / "docs" / "catalogue.md"


def test_the_catalogue_page_is_current(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tell("rules", "page").out

    if is_updating():
        PAGE.write_text(page, encoding="utf-8")

    assert page == PAGE.read_text(encoding="utf-8"), "run: diagnose rules page > docs/catalogue.md"
