"""One call of the command line in a forked process, under limits, with the faults told that guards would hide."""

from __future__ import annotations

import os
import resource
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from diagnose.catalogue.load import load_rules
from diagnose.cli import main
from diagnose.sources import bounds

GUARDED = "guarded: "
OURS = (TypeError, AttributeError, LookupError, UnboundLocalError, AssertionError, ArithmeticError, ValueError, RecursionError)
SECRET = b"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"
SECRET_LINE = b"\nhuggingface_hub.errors.HfHubHTTPError: 401, token " + SECRET + b" is not valid\n"


def warm_up() -> None:
    """Import and read what each call needs, once."""
    from diagnose import Text, diagnose, render

    load_rules()
    report = diagnose(Text("[rank1]: ValueError: x\n", "a.log"))
    for form in ("terminal", "markdown", "html", "json", "slack", "github", "junit"):
        render(report, form)
    _tell_what_guards_hide()


def _tell_what_guards_hide() -> None:
    """Have a fault of our own code that costs a source be printed too: the rest of the run goes on as it would."""
    whole = bounds.broken_off

    def telling(error: Exception) -> str:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        if isinstance(error, OURS) and last and "/diagnose/" in last[0].filename:
            where = f"{last[0].filename.rpartition('/diagnose/')[2]}:{last[0].lineno}"
            print(f"{GUARDED}{type(error).__name__}: {' '.join(str(error).split())[:100]} at {where}", file=sys.stderr, flush=True)
        return whole(error)

    for module in [m for name, m in sys.modules.items() if name.startswith("diagnose.")]:
        if getattr(module, "broken_off", None) is whole:
            module.broken_off = telling  # type: ignore[attr-defined]


def run(words: list[str], folder: Path, *, has_input: bool, cpu_s: int) -> NoReturn:
    """Become `diagnose WORDS` in a folder, with outputs in its files `out` and `err`. Does not return."""
    os.setsid()
    os.chdir(folder)
    os.environ["DIAGNOSE_DEBUG"] = "1"
    for name, descriptor, flags in (
        ("stdin" if has_input else os.devnull, 0, os.O_RDONLY),
        ("out", 1, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ("err", 2, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(name, flags, 0o600), descriptor)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s + 1, cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    code = 70
    try:
        main(words)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 71
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
