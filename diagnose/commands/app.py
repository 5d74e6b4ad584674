"""The command line as typer sees it: every command in one place, and what its help looks like.

`diagnose PATH...` is a command without a name, taken where the first word is no other command's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import DiagnoseError, UsageError
from ..lines.cache import tables
from ..views import FORMATS
from . import catalogue, jobs, pieces, report, watch
from .options import HELP, HookOptions, ReportOptions, RunOptions, command, described

DEFAULT = "PATH..."  # no word that a shell would hand over as it is, and what the usage line calls it
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def _texts(name: str) -> dict[str, Any]:
    """The texts of a command, of which its docstring may be one. A backspace keeps a paragraph's lines."""
    texts = tables(HELP)[name]
    below = "\n\n".join(f"\b\n{part}" for part in texts.get("below", "").strip().split("\n\n") if part)
    about = {"help": texts.get("about"), "short_help": texts.get("short"), "epilog": below}
    return {"cls": Grouped, "context_settings": SETTINGS, **about}


class Grouped(TyperCommand):
    """A command whose help lists its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each group."""
        rows: dict[str, list[Any]] = {}
        rest = "Other" if any(getattr(param, "rich_help_panel", None) for param in self.params) else "Options"
        for param in [*self.get_params(ctx), *(ctx.command.params if ctx.command is not self else [])]:
            if param.param_type_name == "argument":
                rows.setdefault("Arguments", []).append((param.metavar, param.help))
            elif row := param.get_help_record(ctx):
                rows.setdefault(getattr(param, "rich_help_panel", None) or rest, []).append(row)
        for heading, found in rows.items():
            with formatter.section(heading):
                formatter.write_dl(found)


class _Commands(TyperGroup):
    """All commands; words that begin with none of them are those of the default command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before its words; help on it is help on all."""
        if not args and ctx.resilient_parsing:
            return super().parse_args(ctx, args)  # a shell asks what may stand here
        if not (args and (args[0] in self.commands or args[0].endswith("-completion"))):
            asks_help = any(word in ("-h", "--help") for word in args) and not ctx.resilient_parsing
            args = ["--help"] if asks_help else [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options of the default command in their groups."""
        self.format_commands(ctx, formatter)
        self.commands[DEFAULT].format_options(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Yield commands and files, or the default command's options."""
        default = self.commands[DEFAULT]
        if incomplete.startswith("-"):
            return [*default.shell_complete(ctx, incomplete), *super().shell_complete(ctx, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *default.params[0].shell_complete(ctx, incomplete)]


def mcp(roots: list[str], *, port: int | None = None, rules: list[str] | None = None) -> int:
    """Serve the Model Context Protocol, so that an assistant can ask for verdicts on the logs below ROOT.

    Answers are bounded, and without secrets and private data. Nothing is written. Needs the extra `mcp`.
    """
    from ..mcp.roots import Roots
    from ..mcp.server import serve

    serve(Roots.of(roots), tuple(str(Path(folder).absolute()) for folder in rules or ()), port)
    return 0


app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, subcommand_metavar="[COMMAND] [PATH]...",
    options_metavar="[OPTIONS]", **{**_texts("main"), "cls": _Commands},
)  # fmt: skip
app.command(DEFAULT, hidden=True, **_texts("main"))(command(ReportOptions, report.run))
_RAW = {"allow_interspersed_args": False, **SETTINGS}  # from the job's first word on nothing is an option of ours
app.command("run", **{**_texts("run"), "context_settings": _RAW})(command(RunOptions, jobs.run))
app.command("hook", **_texts("hook"))(command(HookOptions, jobs.hook))
app.command("watch", **_texts("watch"))(command(watch.WatchOptions, watch.watch))
for work in (pieces.scan, pieces.case, pieces.facts, pieces.schema, catalogue.explain, mcp, pieces.history, pieces.diff):
    app.command(work.__name__, **_texts(work.__name__))(described(work.__name__, work))
rules = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for name in ("list", "show", "test", "new", "schema", "page"):
    rules.command(name)(described(f"rules {name}", getattr(catalogue, f"{name}_rules")))
app.add_typer(rules, name="rules", **{**_texts("rules"), "cls": TyperGroup})


def typed(words: Sequence[str]) -> int:
    """Run the command line as typer reads it; yield the exit code. Raises `UsageError` in one line."""
    main: Any = typer.main.get_command(app)
    try:
        result = main.main(args=list(words), prog_name="diagnose", standalone_mode=False)
    except SystemExit as left:  # what click makes of a reader that leaves
        return 0 if isinstance(left.__context__, BrokenPipeError) else int(left.code or 0)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not typer's own wording of a usage error
            raise
        said = error.format_message().rstrip(".").replace("Value error, ", "")  # typer's name for what a reader raised
        if said.startswith("Usage: "):  # a command without arguments: what is said is its help
            print(said)
            return DiagnoseError.exit_code
        raise UsageError(_hint(said, words, main.commands)) from None
    return result if isinstance(result, int) else 0


def _hint(said: str, words: Sequence[str], commands: Iterable[str]) -> str:
    """The wording of a usage error with what to do: `--json` is what other tools call `--format json`."""
    own = f"{words[0]} " if words and words[0] in commands else ""
    form = next((form for form in FORMATS if said.startswith(f"No such option: --{form}")), None)
    if form and not own:
        return f"No such option: --{form}; did you mean --format {form}?"
    return f"{said} (see `diagnose {own}--help`)"
