"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from diagnose import diagnose, render

from .command_line import tell
from .snapshots import is_updating

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SHOWN = ("What to do next", "Other errors", "Ranks")
OUTPUT = re.compile(r"```text\n( FAILED .*?\n)```\n", re.DOTALL)


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's commands are typed where it lies."""
    monkeypatch.chdir(ROOT)


def shortened(text: str) -> str:
    """The verdict and the sections that the README has room for."""
    head, *sections = re.split(r"\n\n(?=\S)", text.rstrip("\n"))
    kept = [s for s in sections if s.split("\n")[0] in SHOWN or s.startswith(("Culprit", "Proof"))]
    return "\n\n".join([head, *kept, "…"]) + "\n"


def test_its_output_is_the_real_one():
    report = diagnose("fixtures/two-nodes-one-exception/logs")
    real = shortened(render(report, "terminal", width=100))
    readme = README.read_text(encoding="utf-8")

    if is_updating():
        README.write_text(OUTPUT.sub(lambda _: f"```text\n{real}```\n", readme), encoding="utf-8")
        readme = README.read_text(encoding="utf-8")

    found = OUTPUT.search(readme)
    assert found
    assert real == found[1], "UPDATE_SNAPSHOTS=1 pytest tests/test_readme.py writes it anew"


def test_its_python_runs(capsys):
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code
    exec(compile(code[1], "README.md", "exec"), {})
    assert "process.exception [3]" == capsys.readouterr().out.split("\n")[0]


def test_the_log_in_it_is_diagnosed_and_its_prose_is_not(tmp_path):
    prose = re.sub(r"(?s)```.*?```", "", README.read_text(encoding="utf-8"))
    (tmp_path / "README.md").write_text(prose, encoding="utf-8")
    assert 1 == tell("README.md").code
    assert 2 == tell(tmp_path / "README.md").code


def test_every_page_it_names_is_there():
    pages = re.findall(r"\]\(([\w/.]+\.md)\)", README.read_text(encoding="utf-8"))
    assert pages
    assert [] == [page for page in pages if not (ROOT / page).is_file()]
