"""The configuration file: found, checked, and its mistakes named."""

from __future__ import annotations

import pytest

from diagnose.errors import UsageError
from diagnose.hooks.config import Config, load_config

from .command_line import OOM, tell


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)


def write(folder, text, name="diagnose.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / ".git").mkdir(exist_ok=True)
    return folder


def test_no_file_means_defaults(tmp_path):
    assert load_config(write(tmp_path, "", "other.toml")) == Config()


def test_every_key_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(tmp_path / "diagnose.toml"))
    write(
        tmp_path,
        'rules = ["ops/rules"]\nformat = "markdown"\nredact = false\ntz = "Asia/Shanghai"\nrank-from = "r(\\\\d+)"\n'
        'lang = "zh"\nremember = true\ntemplates = "ops/templates"\n[hook]\noutput = "report.md"\nbudget = 20\nhang-after = 900\n'
        'webhook = "$SLACK"\nshared = "/shared"\n',
    )
    (tmp_path / "ops/templates").mkdir(parents=True)
    expected = Config(
        str(tmp_path / "diagnose.toml"), (str(tmp_path / "ops/rules"),), "markdown", False, "Asia/Shanghai", r"r(\d+)",
        "zh", str(tmp_path / "ops/templates"), 20.0, 900.0, (str(tmp_path / "report.md"),), "$SLACK", "/shared", True,
    )  # fmt: skip
    assert load_config(tmp_path) == expected


def test_table_of_pyproject_is_read(tmp_path):
    write(tmp_path, '[project]\nname = "x"\n[tool.diagnose]\ntz = "UTC"\n', "pyproject.toml")
    assert load_config(tmp_path).tz == "UTC"


def test_own_file_goes_before_pyproject(tmp_path):
    write(tmp_path, '[tool.diagnose]\ntz = "UTC"\n', "pyproject.toml")
    assert load_config(write(tmp_path, 'tz = "Asia/Tokyo"\n')).tz == "Asia/Tokyo"


def test_pyproject_without_our_table_does_not_end_the_search(tmp_path):
    write(tmp_path, 'tz = "UTC"\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").write_text("[project]\n")
    assert load_config(tmp_path / "sub").tz == "UTC"


def test_search_ends_at_the_top_of_the_repository(tmp_path):
    write(tmp_path, 'tz = "UTC"\n')
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert load_config(tmp_path / "repo").tz is None


def test_broken_pyproject_is_another_tools_business(tmp_path):
    assert load_config(write(tmp_path, "[broken", "pyproject.toml")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('redct = true', "unknown key redct; did you mean redact?"),
        ('[hook]\nbudgett = 3', "unknown key hook.budgett; did you mean budget?"),
        ('templates = "nowhere"', "nowhere, and no such folder is there"),
        ('redact = "yes"', "redact must be true or false"),
        ('format = "pdf"', "format must be one of terminal, markdown"),
        ('[hook]\nbudget = -1', "hook.budget must be a number of seconds above 0"),
        ('rules = [3]', "rules must be text"),
        ('hook = 3', "hook must be a table"),
        ('tz = ', "is not TOML"),
    ],
)  # fmt: skip
def test_mistake_is_named_with_file_and_key(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        load_config(write(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'diagnose.toml'}")
    assert message in str(caught.value)


def test_a_form_without_a_suffix_has_no_template_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(write(tmp_path, 'templates = "."') / "diagnose.toml"))
    (tmp_path / "report.j2").write_text("what others include")
    assert "what others include" not in tell(OOM, "--format", "slack").out


@pytest.mark.parametrize(
    ("line", "said"), [('tz = "Mars"', "tz Mars: no such time zone"), ('rank-from = "("', "rank-from (: not a regular")]
)
def test_a_value_that_only_the_engine_can_check_is_blamed_on_the_file(tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(write(tmp_path, line))
    assert f"diagnose: {tmp_path / 'diagnose.toml'}: {said}" in tell(OOM).err
