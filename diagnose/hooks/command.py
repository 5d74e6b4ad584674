"""`diagnose hook PATH…`: the form for epilogs, traps, sidecars and CI steps. It always exits 0.

A Slurm epilog that exits non-zero drains the node, a sidecar restarts for ever, a `trap … EXIT` replaces the job's
status: so wrong usage, a broken configuration and a killed reporter are lines on stderr and nothing more.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..run.options import absolute, read_config, seconds
from .ask import ask, deadline_after, say
from .config import Config
from .environment import JobFacts, read_environment
from .request import HookRequest

_WHO = "diagnose hook"
_SIGNALLED = range(129, 128 + 65)  # a shell's `$?` of a command that a signal ended
_EPILOG = """\
Exits 0 whatever happens, within --budget. With --exit-code 0 it does nothing. Without PATH it reads what Slurm's
environment names. Of several nodes each leaves its scan in --shared DIR, and one of them reports for all.

examples:
  trap 'diagnose hook --exit-code $? -o report.md logs/' EXIT
  srun bash -c 'torchrun train.py; s=$?; diagnose hook --exit-code $s --shared /shared/diag logs/; exit $s'
"""


def main(argv: Sequence[str]) -> int:
    """Runs the hook; returns 0."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _stop)
        given = make_parser().parse_args(list(argv))
        facts = read_environment()
        code, number_of_signal = _exit_of(given.exit_code, facts)
        if code == 0 and number_of_signal is None and not given.always:
            return 0
        ask(_request(given, facts, read_config(_WHO), code, number_of_signal))
    except SystemExit:
        return 0  # --help, or wrong usage, which argparse has explained
    except BaseException as error:
        say(_WHO, f"no report: {type(error).__name__}: {error}")
    return 0


def _request(
    given: argparse.Namespace, facts: JobFacts, config: Config, code: int | None, signal_number: int | None
) -> HookRequest:
    budget_s = given.budget or config.hook.budget_s
    shared = given.shared or config.hook.shared
    return HookRequest(
        reason=_reason(code, signal_number), deadline=deadline_after(budget_s), budget_s=budget_s,
        inputs=tuple(absolute(path) for path in given.paths or facts.logs),
        outputs=tuple(absolute(path) for path in given.output or config.hook.output),
        webhook=given.webhook or os.environ.get("DIAGNOSE_WEBHOOK") or config.hook.webhook,
        shared=absolute(shared) if shared else None,
        nodes=given.nodes or facts.tasks or (facts.all_nodes if shared else facts.nodes),
        node=given.node or facts.part, label=given.job or facts.label,
        rules=tuple(absolute(path) for path in given.rules or config.rules),
        tz=given.tz or config.tz, rank_from=given.rank_from or config.rank_from,
        redact=config.redact is not False and not given.no_redact, lang=config.lang, templates=config.templates,
        exit_code=code, signal=signal_number, world_size=given.world_size or facts.world_size,
        stack_pids=tuple(given.stacks or ()), who=_WHO,
    )  # fmt: skip


def _exit_of(given: int | None, facts: JobFacts) -> tuple[int | None, int | None]:
    if given is None:
        return facts.exit_code, facts.signal
    if given in _SIGNALLED:
        return None, given - 128
    return given, None


def _reason(code: int | None, signal_number: int | None) -> str:
    if signal_number is not None:
        return f"ended by signal {signal_number}"
    return "asked for" if code is None else f"exit code {code}"


def _stop(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def make_parser() -> argparse.ArgumentParser:
    """The options of `diagnose hook`; completion reads them too."""
    parser = argparse.ArgumentParser(
        prog="diagnose hook",
        description="Reports on a job from where its failure is noticed, and never makes it worse.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="logs, folders, archives, globs")
    add("-o", "--output", action="append", metavar="FILE", help="write the report here; .md .html .json .txt .xml")
    add("--exit-code", type=int, metavar="N", help="the job's exit code; above 128 as a shell's $? means a signal")
    add("--always", action="store_true", help="report on a success too")
    add("--budget", type=seconds, metavar="TIME", help="the most that all may take (default 30 s)")
    add("--webhook", metavar="URL", help="post the report (Slack-compatible); better by DIAGNOSE_WEBHOOK")
    add("--shared", metavar="DIR", help="where the nodes of one job leave their scans")
    add("--nodes", type=int, metavar="N", help="how many nodes the job has")
    add("--node", metavar="NAME", help="this node's name")
    add("--job", metavar="NAME", help="the job's name and attempt in --shared (default: from the environment)")
    add("--world-size", type=int, metavar="N", help="how many ranks the job had")
    add("--stacks", type=int, action="append", metavar="PID", help="take stacks of the processes below this one")
    add("--rules", action="append", metavar="DIR", help="a folder of rules laid over the shipped ones")
    add("--tz", metavar="ZONE", help="zone of clocks that print none")
    add("--rank-from", metavar="REGEX", help="its first group in a file's name is the rank")
    add("--no-redact", action="store_true", help="leave secrets and private data in the report")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
