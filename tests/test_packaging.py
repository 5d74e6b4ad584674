"""What is published beside the code: versions, pages, the picture, workflows, the action, the image's examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import diagnose

ROOT = Path(__file__).parent.parent
FIXTURE = ROOT / "fixtures" / "cuda-oom-one-rank" / "logs"
YAML = [*ROOT.glob(".github/**/*.yml"), *ROOT.glob("examples/**/*.y*ml"), ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"]
VERSION = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


def test_the_changelog_tells_of_this_version_in_few_lines():
    assert VERSION
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert VERSION[1] == sections[0].split()[0]
    assert [] == [section.split()[0] for section in sections if len(section.rstrip().splitlines()) > 40]


def test_the_commands_for_a_newcomer_are_on_the_first_screen():
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:24])
    assert "make demo" in first and "make test" in first


def test_the_picture_is_small():
    assert (ROOT / "docs" / "report.png").stat().st_size < 200_000


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_workflows_and_examples_are_yaml(path):
    assert all(isinstance(page, dict | list) for page in yaml.safe_load_all(path.read_text()))


@pytest.mark.parametrize("name", ["job", "sidecar"])
def test_examples_run_the_image_as_nobody(name):
    pages = list(yaml.safe_load_all((ROOT / "examples" / "kubernetes" / f"{name}.yaml").read_text()))
    spec = pages[-1]["spec"]
    spec = spec.get("template", {}).get("spec", spec)
    ours = next(c for c in [*spec.get("initContainers", ()), *spec["containers"]] if "/diagnose:" in c["image"])

    assert VERSION and ours["image"].endswith(f":{VERSION[1]}")
    assert "USER 65532" in (ROOT / "Dockerfile").read_text()
    assert ours["securityContext"]["readOnlyRootFilesystem"]


@pytest.mark.parametrize(("fail", "code"), [("false", 0), ("true", 1)])
def test_the_action_annotates_and_puts_the_report_on_the_page(tmp_path, fail, code):
    tool = tmp_path / "diagnose"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m diagnose "$@"\n')
    tool.chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "INSTALL": "", "FAIL": fail,
        "PATHS": f"{FIXTURE}\n", "GITHUB_OUTPUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", str(ROOT / ".github" / "action.sh")], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert code == done.returncode
    assert done.stdout.startswith("::error file=")
    assert "cause=memory.cuda-oom" in (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "page.md").read_text().startswith("## Failed")


@pytest.mark.parametrize("folder", ["cases", "fixtures", "rules"])
def test_no_log_or_rule_shows_a_private_home(folder: str) -> None:
    """What was pasted by root names root's home folder; logs here stand under a neutral one."""
    private = re.compile(b"/(?:%s)/" % b"|".join((b"root", b"Users/runner/work")))
    texts = (p for p in (ROOT / folder).rglob("*") if p.is_file())
    assert [] == [str(p.relative_to(ROOT)) for p in texts if private.search(p.read_bytes())]


def test_what_the_package_shows_is_its_public_names() -> None:
    assert dir(diagnose) == diagnose.__all__ == sorted(diagnose.__all__)
    assert all(getattr(diagnose, name) is not None for name in diagnose.__all__)
    assert "from diagnose import" in (diagnose.__doc__ or "")


def test_importing_the_package_loads_none_of_its_stages() -> None:
    code = "import sys, diagnose; print([m for m in sys.modules if m.startswith('diagnose.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


def test_no_submodule_has_the_name_of_a_public_function() -> None:
    """Importing such a module would put it in the function's place."""
    from pathlib import Path
    modules = {path.stem for path in Path(diagnose.__path__[0]).iterdir()}
    assert set() == modules & set(diagnose.__all__)
