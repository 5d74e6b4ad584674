"""The command line: which command is meant, and the one place where an error becomes a line and an exit code.

`diagnose PATH...` is the default; a first word is a command only if it is exactly a command's name. Plain calls of it,
and of `run` and `hook`, leave from here before typer is imported.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence

from .errors import DiagnoseError, SourceError, UsageError
from .report.written_files import drop_output

COMMANDS = ("case", "diff", "explain", "facts", "history", "hook", "mcp", "rules", "run", "scan", "schema", "watch")
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
        from .report.phrases import one_line
        from .report.redaction import without_secrets

        said = without_secrets(one_line(str(error)), privacy=False)  # a file's name may hold anything, a URL a password
        print(f"diagnose: {said}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # `diagnose rules list | head`
        drop_output()
        code = 0
    except Exception as error:  # a fault of ours: one line for the user, all of it for whoever asks
        if os.environ.get("DIAGNOSE_DEBUG"):
            raise
        drop_output()
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        said = f"a fault of its own ({what}); please report it, with what DIAGNOSE_DEBUG=1 shows"
        if isinstance(error, OSError) and error.filename is None:  # `diagnose logs > /dev/full`
            said = f"standard output cannot be written: {error.strerror or error}"
        print(f"diagnose: {said}", file=sys.stderr)
        code = DiagnoseError.exit_code
    sys.exit(code)


def _open_streams() -> None:
    """Let any text be printed: where the terminal's encoding lacks a character, it gets a `?`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # `diagnose logs >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the program
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "hook":
        from .commands.jobs import hook_whatever_happens

        return hook_whatever_happens(words[1:])
    if first != "run":  # a stream that is closed is closed for the job
        _open_streams()
    if first in COMMANDS:
        if len(words) == 1 and os.path.exists(first):
            print(f"diagnose: `{first}` is read as the command; ./{first} is the path", file=sys.stderr)
    elif first == "--show-completion" and len(words) == 2:
        return _show_completion(words[1])
    else:
        _refuse_near_miss(first, words)
    from .commands import options

    is_asked = "_DIAGNOSE_COMPLETE" in os.environ  # by a shell, for what may stand here
    if not is_asked and first not in COMMANDS and (plain := options.read_plainly(options.ReportOptions, words)):
        from .commands.report import run

        return run(plain)
    if first == "run" and (job := options.read_plainly(options.RunOptions, words[1:])):
        from .commands.jobs import run as run_job

        return run_job(job)
    from .commands.app import typed

    return typed(words)


def _show_completion(shell: str) -> int:
    """Print the script of a shell that is named; without a name typer finds out which one asks."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    shells = ("bash", "zsh", "fish", "powershell", "pwsh")
    if shell not in shells:
        raise UsageError(f"--show-completion {shell}: choose one of {', '.join(shells)}")
    print(get_completion_script(prog_name="diagnose", complete_var="_DIAGNOSE_COMPLETE", shell=shell))
    return 0


def _refuse_near_miss(first: str, words: list[str]) -> None:
    """`diagnose rulse`: a word that is no path and nearly a command."""
    if not first or first.startswith("-") or len(words) > 3 or os.path.exists(first) or set(first) & set("*?[/."):
        return
    from difflib import get_close_matches

    near = get_close_matches(first, COMMANDS, 1, 0.6)
    if near:
        raise SourceError(f"{first}: no such file; did you mean `{near[0]}`?")
