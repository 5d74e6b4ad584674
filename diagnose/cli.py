"""The command line: which command is meant, and the one place where an error becomes a line and an exit code.

Only this module and its `cli_*` parts print. `diagnose PATH...` is the default; a first word is a command only if it
is exactly a command's name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import DiagnoseError, SourceError, UsageError

COMMANDS = ("case", "explain", "facts", "hook", "rules", "run", "scan", "schema")
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
    except DiagnoseError as error:
        print(f"diagnose: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # `diagnose logs | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _run(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "run":
        from .run_command import main as run_job  # noqa: PLC0415 - waits with the standard library alone

        return run_job(words[1:])
    if first == "hook":
        from .hook_command import main as hook  # noqa: PLC0415 - leaves with 0 whatever happens, a failed import too

        return hook(words[1:])
    if first in COMMANDS:
        if os.path.exists(first):
            print(f"diagnose: `{first}` is read as the command; ./{first} is the path", file=sys.stderr)
        return _typer("cli_commands", words)
    _refuse_near_miss(first, words)
    plain = _plain(words)
    if plain is not None:
        from .reporting import Options, run  # noqa: PLC0415

        return run(Options(**plain))
    return _typer("cli_report", words)


PLAIN_FLAGS = {"--exit-zero": "exit_zero", "--full": "full", "-q": "quiet", "--no-redact": "no_redact"}


def _plain(words: list[str]) -> dict[str, Any] | None:
    """The commonest calls (paths, a format, an output) without the price of typer; None: let typer read them."""
    given: dict[str, Any] = {"paths": [], "output": []}
    rest = iter(words)
    for word in rest:
        if word in ("-o", "--output", "--format"):
            value = next(rest, None)
            if value is None or value.startswith("-"):
                return None
            if word == "--format":
                given["format"] = value
            else:
                given["output"].append(Path(value))
        elif word in PLAIN_FLAGS:
            given[PLAIN_FLAGS[word]] = True
        elif word.startswith("-") and word != "-":
            return None
        else:
            given["paths"].append(word)
    if given.pop("no_redact", False):
        given["redact"] = False
    return given


def _typer(module: str, words: list[str]) -> int:
    from importlib import import_module  # noqa: PLC0415

    import typer  # noqa: PLC0415

    command = typer.main.get_command(import_module(f".{module}", __package__).app)
    try:
        result = command.main(args=words, prog_name="diagnose", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not typer's own wording of a usage error
            raise
        raise UsageError(f"{error.format_message()} (see `diagnose --help`)") from None
    return result if isinstance(result, int) else 0


def _refuse_near_miss(first: str, words: list[str]) -> None:
    """`diagnose rulse`: a word that is no path and nearly a command."""
    if not first or first.startswith("-") or len(words) > 3 or os.path.exists(first) or set(first) & set("*?[/."):
        return
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(first, COMMANDS, 1, 0.6)
    if near:
        raise SourceError(f"{first}: no such file; did you mean `{near[0]}`?")
