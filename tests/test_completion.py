"""Shell completion: a shell takes its script, and is offered what completes the words that a user begins to type."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from .command_line import tell

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("sch", "schema"),
        ("--form", "--format"),
        ("logs --world", "--world-size"),
        ("logs --format ju", "junit"),
        ("rules li", "list"),
        ("explain memory.cuda-o", "memory.cuda-oom"),
        ("rules show memory.cuda-oom/torch-out", "memory.cuda-oom/torch-out-of-memory"),
        ("fo", "folder/"),
        ("run -o fo", "folder/"),
    ],
)
def test_bash_is_offered(words, offered, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("_DIAGNOSE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"diagnose {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    assert offered in tell().out.split()


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_accepts_its_script(shell):
    script = tell("--show-completion", shell).out
    assert "_DIAGNOSE_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
