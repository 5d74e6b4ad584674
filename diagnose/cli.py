"""The command line: which command is meant, and the one place where an error becomes a line and an exit code.

`diagnose PATH...` is the default; a first word is a command only if it is exactly a command's name. `run` and `hook`
leave from here before anything else is imported.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import DiagnoseError, SourceError, UsageError

COMMANDS = ("case", "explain", "facts", "hook", "rules", "run", "scan", "schema")
INTERRUPTED = 130
GC_OBJECTS = 200_000  # new ones before cycles are looked for: a small log makes fewer, and looking costs it a fifth


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    gc.set_threshold(GC_OBJECTS, 20, 100)
    atexit.register(gc.freeze)  # to look once more for cycles at the very end would cost a tenth of a small run
    try:
        code = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except DiagnoseError as error:
        from .report.printable import one_line
        from .report.redaction import redact_text

        said = redact_text(one_line(str(error)), privacy=False)  # a file's name may hold anything, a URL a password
        print(f"diagnose: {said}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # `diagnose logs | head`
        _drop_output()
        code = 0
    except Exception as error:  # a fault of ours: one line for the user, all of it for whoever asks
        if os.environ.get("DIAGNOSE_DEBUG"):
            raise
        _drop_output()
        print(f"diagnose: {_own_fault(error)}", file=sys.stderr)
        code = DiagnoseError.exit_code
    sys.exit(code)


def _own_fault(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is None:  # `diagnose logs > /dev/full`
        return f"standard output cannot be written: {error.strerror or error}"
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"a fault of its own ({what}); please report it, with what DIAGNOSE_DEBUG=1 shows"


def _drop_output() -> None:
    """Nobody can read what is left in the buffer: without this, Python says so once more when it ends."""
    with suppress(OSError):  # an output that is no file, as in a notebook
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Let any text be printed: where the terminal's encoding lacks a character, it gets a `?`."""
    if sys.stdout is None:  # `diagnose logs >&-`
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - lives as long as the program
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "run":
        from .run.command import main as run_job

        return run_job(words[1:])
    if first == "hook":
        from .hooks.command import main as hook

        return hook(words[1:])
    _open_streams()
    if first == "--show-completion":
        from .commands.completion import completion_script

        print(completion_script(words[1] if len(words) > 1 else ""), end="")
        return 0
    if first in COMMANDS:
        if os.path.exists(first):
            print(f"diagnose: `{first}` is read as the command; ./{first} is the path", file=sys.stderr)
        return _typer("commands.named", words)
    _refuse_near_miss(first, words)
    plain = _plain(words)
    if plain is not None:
        from .commands.reporting import Options, run

        return run(Options(**plain))
    return _typer("commands.report_options", words)


PLAIN_FLAGS = {"--exit-zero": "exit_zero", "-v": "verbose", "--full": "full", "-q": "quiet", "--no-redact": "no_redact"}


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
        elif word == "--workers":
            value = next(rest, "")
            if not (value.isascii() and value.isdigit()):
                return None
            given["workers"] = int(value)
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
    from importlib import import_module

    import typer

    command = typer.main.get_command(import_module(f".{module}", __package__).app)
    try:
        result = command.main(args=words, prog_name="diagnose", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not typer's own wording of a usage error
            raise
        said = error.format_message().rstrip(".")
        if not said:  # a command without arguments: its help was printed
            return DiagnoseError.exit_code
        raise UsageError(_hint(said, words)) from None
    return result if isinstance(result, int) else 0


def _hint(said: str, words: list[str]) -> str:
    """The wording of a usage error with what to do: `--json` is what other tools call `--format json`."""
    from .views import FORMATS

    command = f"{words[0]} " if words and words[0] in COMMANDS else ""
    form = next((form for form in FORMATS if said.startswith(f"No such option: --{form}")), None)
    if form and not command:
        return f"No such option: --{form}; did you mean --format {form}?"
    return f"{said} (see `diagnose {command}--help`)"


def _refuse_near_miss(first: str, words: list[str]) -> None:
    """`diagnose rulse`: a word that is no path and nearly a command."""
    if not first or first.startswith("-") or len(words) > 3 or os.path.exists(first) or set(first) & set("*?[/."):
        return
    from difflib import get_close_matches

    near = get_close_matches(first, COMMANDS, 1, 0.6)
    if near:
        raise SourceError(f"{first}: no such file; did you mean `{near[0]}`?")
