"""Shell completion: each shell's script is accepted by that shell, and completes what a user begins to type."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from diagnose.commands.completion import SHELLS, completion_script

from diagnose.errors import UsageError

from .command_line import tell


def completed(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    script = f"{completion_script('bash')}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n_diagnose\n"
    done = subprocess.run(
        ["bash", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["diagnose", "sch"], ["schema"]),
        (["diagnose", "--form"], ["--format"]),
        (["diagnose", "logs", "--world"], ["--world-size"]),
        (["diagnose", "logs", "--format", "ju"], ["junit"]),
        (["diagnose", "rules", "li"], ["list"]),
        (["diagnose", "rules", "test", "--on"], ["--only"]),
        (["diagnose", "explain", "memory.cu"], ["memory.cuda-oom"]),
        (["diagnose", "run", "--hang"], ["--hang-after"]),
        (["diagnose", "hook", "--exit"], ["--exit-code"]),
        (["diagnose", "et"], ["etc"]),
    ],
)
def test_bash_completes(words, offered):
    assert offered == completed(*words)


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_accepts_its_script(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", "/dev/stdin"], input=completion_script(shell), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_is_offered_values():
    assert "-l lang -x -a 'en zh'" in completion_script("fish")


def test_unknown_shell_is_told_which_there_are():
    with pytest.raises(UsageError, match="choose one of bash, zsh, fish"):
        completion_script("tcsh")


def test_command_line_prints_it():
    assert tell("--show-completion", "bash").out == completion_script("bash")
