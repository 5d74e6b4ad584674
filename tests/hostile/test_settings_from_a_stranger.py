"""A configuration or rules that came with somebody's logs show no more, send nothing, write nothing, and are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import load_rules
from diagnose.catalogue.load import RuleError
from diagnose.hooks.config import load_config

from ..command_line import tell

LOG = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 password=hunter2x\n"
SETTINGS = 'redact = false\ntemplates = "."\n[hook]\noutput = "stolen.md"\nwebhook = "http://h/x"\nshared = "s"\nbudget = 5\n'


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)
    (tmp_path / "diagnose.toml").write_text(SETTINGS)
    (tmp_path / "report.md.j2").write_text("<script>")
    (tmp_path / "rank0.log").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_sends_writes_or_shows_more_is_not_obeyed(unpacked: Path) -> None:
    config = load_config()
    assert (config.redact, config.templates, config.budget_s) == (None, None, 5.0)
    assert (config.output, config.webhook, config.shared) == ((), None, None)
    assert "can set redact, templates, hook.output, hook.webhook, hook.shared" in config.note


def test_a_file_that_the_user_names_is_obeyed(unpacked: Path, monkeypatch) -> None:
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(unpacked / "diagnose.toml"))
    assert (load_config().redact, load_config().webhook) == (False, "http://h/x")


@pytest.mark.parametrize("form", ["terminal", "markdown", "json", "github"])
def test_the_report_is_redacted_and_ours(unpacked: Path, form: str) -> None:
    shown = tell("rank0.log", "--format", form)
    assert ("hunter2x" in shown.out, "<script>" in shown.out) == (False, False)


def test_the_file_in_use_is_named(unpacked: Path) -> None:
    assert f"settings from {unpacked / 'diagnose.toml'}; only" in tell("rank0.log").err


def test_settings_among_the_logs_are_not_looked_for(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)
    (tmp_path / "here" / ".git").mkdir(parents=True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "diagnose.toml").write_text("nonsense = 1")
    (tmp_path / "logs" / "rank0.log").write_text(LOG)
    monkeypatch.chdir(tmp_path / "here")

    assert "settings from" not in tell(str(tmp_path / "logs")).err


def test_rules_whose_cause_is_nowhere_described_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "new-cause"
    folder.mkdir(parents=True)
    (folder / "rule.yaml").write_text(
        "title: t\nrole: cause\nmatch: line\nwhy: w\nsays: it happened\nforms:\n  - literals: [x happened]\n    pattern: '^x happened'\n"
        "    examples:\n      - text: x happened\ncounter_examples:\n  - text: 'y'\n    because: it did not\n"
    )

    with pytest.raises(RuleError, match=r"no cause\.yaml"):
        load_rules(tmp_path)
