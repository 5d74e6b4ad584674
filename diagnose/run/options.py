"""The options of `diagnose run`: the command line over the configuration file over the defaults."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ..hooks.config import DEFAULT_BUDGET_S, Config, load_config
from ..lines.record import record
from .keep import TAIL_BYTES

_EPILOG = """\
stdin, stdout, stderr, signals, the terminal and the exit code pass through untouched; the job is never killed, slowed
or replaced by what diagnose does. While the job runs, a bounded copy of its output is kept in a temporary folder
(40 MiB at most for each stream), and the logs that the launcher's own flags name (--log-dir, --output-filename, -o of
srun) are remembered. When the job fails, is ended by a signal, or stays silent for --hang-after seconds, the report is
written and its summary is printed on stderr, within --budget seconds.

exit status: the job's own; death by a signal is passed on as the same signal; 127 and 126 as in a shell; 2 for wrong
usage of diagnose run itself, before anything is started.

examples:
  diagnose run -- torchrun --nproc-per-node 8 train.py
  diagnose run -o report.md -o report.html --hang-after 1800 --stacks -- srun python train.py
"""


@record
class RunOptions:
    """What `diagnose run` was asked to do."""

    command: tuple[str, ...]
    outputs: tuple[str, ...]
    logs: tuple[str, ...]  # more places that the job writes to
    hang_after_s: float | None
    stacks: bool
    budget_s: float
    keep: str | None
    tail_bytes: int
    webhook: str | None
    shared: str | None
    nodes: int | None
    redact: bool
    config: Config


def parse_options(argv: Sequence[str]) -> RunOptions:
    """Reads the words after `diagnose run`; leaves with 2 on wrong usage."""
    parser = make_parser()
    given = parser.parse_args(list(argv))
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not command:
        parser.error("no command to run; write it after `--`: diagnose run -- torchrun train.py")
    config = read_config("diagnose run")
    hook = config.hook
    shared = given.shared or hook.shared
    return RunOptions(
        command=tuple(command),
        outputs=tuple(absolute(path) for path in given.output or hook.output),
        logs=tuple(absolute(path) for path in given.logs or ()),
        hang_after_s=given.hang_after or hook.hang_after_s,
        stacks=given.stacks,
        budget_s=given.budget or hook.budget_s,
        keep=absolute(given.keep) if given.keep else None,
        tail_bytes=int(given.keep_mib * (1 << 20)) if given.keep_mib else TAIL_BYTES,
        webhook=given.webhook or os.environ.get("DIAGNOSE_WEBHOOK") or hook.webhook,
        shared=absolute(shared) if shared else None,
        nodes=given.nodes,
        redact=config.redact is not False and not given.no_redact,
        config=config,
    )


def read_config(who: str) -> Config:
    """The configuration, or the defaults and one line on stderr when it is wrong: a job must not fail for that."""
    try:
        config = load_config()
        if config.note:
            print(f"{who}: {config.note}", file=sys.stderr)
        return config
    except Exception as error:
        if not isinstance(error, FileNotFoundError):  # where the working folder was removed there is none
            print(f"{who}: {error}; going on with the defaults", file=sys.stderr)
        return Config()


def seconds(text: str) -> float:
    """Reads `90`, `90s`, `15m`, `1.5h` as seconds above 0."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:].lower())
    try:
        value = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no length of time above 0; write 90, 90s, 15m or 1.5h")
    return value


def absolute(path: str) -> str:
    """The path from the root; as it is where the working folder was removed: a job must not fail for that."""
    try:
        return os.path.abspath(path)
    except OSError:
        return path


def _mebibytes(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1 << 20:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def make_parser() -> argparse.ArgumentParser:
    """The options of `diagnose run`; completion reads them too."""
    parser = argparse.ArgumentParser(
        prog="diagnose run",
        usage="diagnose run [options] -- COMMAND [ARGUMENT...]",
        description="Runs a job, passes everything through, and names the root cause when it fails.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("-o", "--output", action="append", metavar="FILE", help="write the report here; .md .html .json .txt .xml")
    add("--logs", action="append", metavar="PATH", help="more logs of the job: a file, folder or glob")
    add("--hang-after", type=seconds, metavar="TIME", help="report when nothing is printed for so long (900, 15m, 1h)")
    add("--stacks", action="store_true", help="then also take the stacks of the job's Python processes, by py-spy")
    add(
        "--budget",
        type=seconds,
        metavar="TIME",
        help=f"the most that a report may take (default {DEFAULT_BUDGET_S:g} s)",
    )
    add("--keep", metavar="DIR", help="keep the copy of the output here, also when the job succeeds")
    add("--keep-mib", type=_mebibytes, metavar="N", help="size of the copy's tail (default 32)")
    add("--webhook", metavar="URL", help="post the report (Slack-compatible); better by DIAGNOSE_WEBHOOK")
    add("--shared", metavar="DIR", help="where the nodes of one job leave their scans; one of them reports for all")
    add("--nodes", type=int, metavar="N", help="how many nodes the job has (default: from the launcher)")
    add("--no-redact", action="store_true", help="leave secrets and private data in the report")
    add("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the job")
    return parser
