"""Approved texts: a test compares with what is committed; `UPDATE_SNAPSHOTS=1 pytest` approves what is there now."""

from __future__ import annotations

import os
from pathlib import Path

from diagnose import __version__

FOLDER = Path(__file__).parent / "snapshots"


def is_updating() -> bool:
    """Whether differences are approved instead of reported."""
    return bool(os.environ.get("UPDATE_SNAPSHOTS"))


def assert_approved(name: str, text: str, folder: Path = FOLDER) -> None:
    """Compare with the approved text of this name; a new version changes none."""
    path, text = folder / name, text.replace(f"diagnose {__version__}", "diagnose VERSION")
    if is_updating():
        folder.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"look at the difference; UPDATE_SNAPSHOTS=1 approves {path.name}"
