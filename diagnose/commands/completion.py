"""`--show-completion SHELL`: a script that lets bash, zsh or fish complete commands, options and their values.

The script holds all words, read off the commands themselves: completing starts no Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..catalogue.load import load_rules
from ..errors import UsageError
from ..hooks.config import LANGUAGES
from ..views import FORMATS

SHELLS = ("bash", "zsh", "fish")
VALUES = {"--format": FORMATS, "--lang": LANGUAGES, "--engine": ("local", "ray")}
_BASH = """\
_diagnose() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
    COMPREPLY=()
    case $before in
{values}    esac
    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
    case ${{COMP_WORDS[1]}}:${{COMP_WORDS[2]}} in
{options}        *) words="{own}" ;;
    esac
    if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
    case $COMP_CWORD:${{COMP_WORDS[1]}} in
        1:*) COMPREPLY=($(compgen -W "{commands}" -- "$cur")) ;;
{inner}    esac
    COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _diagnose diagnose
"""


def completion_script(shell: str) -> str:
    """Yield the script for a shell. Raises `UsageError` for a shell that we do not know."""
    if shell not in SHELLS:
        raise UsageError(f"--show-completion {shell}: choose one of {', '.join(SHELLS)}")
    own, commands = _command_tree()
    if shell == "fish":
        return "\n".join(_fish(own, commands)) + "\n"
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return head + _bash(own, commands)


def _command_tree() -> tuple[tuple[str, ...], dict[tuple[str, ...], tuple[str, ...]]]:
    """Yield our own options, and those of each named command (`("rules", "show")`)."""
    import typer

    from ..hooks import command as hook_command
    from ..run import options as run_options
    from . import named, report_options

    group: Any = typer.main.get_command(named.app)
    own = ("--show-completion", *_options(typer.main.get_command(report_options.app)))
    commands = dict(_walk(group, ()))
    commands["run",] = _printed(run_options.make_parser().format_help())
    commands["hook",] = _printed(hook_command.make_parser().format_help())
    return own, commands


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    if path:
        yield path, _options(command)
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _walk(inner, (*path, name))


def _options(command: Any) -> tuple[str, ...]:
    named = [o for p in command.params for o in (*p.opts, *p.secondary_opts) if o.startswith("-")]
    return (*dict.fromkeys(o for o in named if "completion" not in o), "--help")


def _printed(shown: str) -> tuple[str, ...]:
    """The options of what is no typer command, as its help lists them: `  -o FILE, --output FILE  write …`."""
    heads = [line.strip().partition("  ")[0] for line in shown.splitlines() if re.match(" {2,4}-", line)]
    return tuple(dict.fromkeys(option for head in heads for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", head)))


def _bash(own: tuple[str, ...], commands: Mapping[tuple[str, ...], tuple[str, ...]]) -> str:
    values = "".join(f'        {name}) words="{" ".join(words)}" ;;\n' for name, words in VALUES.items())
    ordered = sorted(commands.items(), key=lambda item: -len(item[0]))
    options = "".join(f'        {_case(path)}) words="{" ".join(words)}" ;;\n' for path, words in ordered)
    groups: dict[str, list[str]] = {}
    for path in commands:
        if len(path) == 2:
            groups.setdefault(path[0], []).append(path[1])
    inner = "".join(
        f'        2:{name}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur")); return ;;\n'
        for name, words in groups.items()
    )
    inner += f'        2:explain) COMPREPLY=($(compgen -W "{" ".join(load_rules().causes)}" -- "$cur")); return ;;\n'
    top = " ".join(path[0] for path in commands if len(path) == 1)
    return _BASH.format(values=values, options=options, own=" ".join(own), commands=top, inner=inner)


def _case(path: tuple[str, ...]) -> str:
    return f"{path[0]}:{path[1]}" if len(path) == 2 else f"{path[0]}:*"


def _fish(own: tuple[str, ...], commands: Mapping[tuple[str, ...], tuple[str, ...]]) -> Iterator[str]:
    top = [path[0] for path in commands if len(path) == 1]
    yield f"complete -c diagnose -n __fish_use_subcommand -a '{' '.join(top)}'"
    for path in commands:
        if len(path) == 2:
            yield f"complete -c diagnose -f -n '__fish_seen_subcommand_from {path[0]}' -a {path[1]}"
    for words, condition in ((own, f"not __fish_seen_subcommand_from {' '.join(top)}"), *_fish_conditions(commands)):
        for word in words:
            flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            given = f" -x -a '{' '.join(VALUES[word])}'" if word in VALUES else ""
            yield f"complete -c diagnose -n '{condition}' {flag}{given}"


def _fish_conditions(commands: Mapping[tuple[str, ...], tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], str]]:
    for path, words in commands.items():
        yield words, "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path)
