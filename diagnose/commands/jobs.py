"""`diagnose run` and `diagnose hook`: from their options to what the runner and the reporter are asked."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..hooks.config import say
from ..hooks.environment import JobFacts, launcher_of, log_patterns, nodes_of_command, read_environment
from ..hooks.kept import TAIL_BYTES
from ..hooks.request import HookRequest, absolute, ask, prepare_request
from .options import HookOptions, RunOptions, read_plainly

RUN, HOOK = "diagnose run", "diagnose hook"
MOST_MIB = 1 << 20
_SIGNALLED = range(129, 128 + 65)  # a shell's `$?` of a command that a signal ended


def run(given: RunOptions) -> int:
    """Run the job; yield its exit code, or die by its signal."""
    from ..run.command import run_job

    if not given.command:
        raise UsageError("run: no command; write it behind `--`, as in `diagnose run -- torchrun train.py`")
    facts = read_environment()
    request = replace(
        _request(RUN, facts, given, hang_after_s=given.hang_after), launcher=launcher_of(given.command),
        patterns=(*map(absolute, given.logs), *log_patterns(given.command, absolute("."))),
        nodes=given.nodes or facts.tasks or nodes_of_command(given.command) or facts.nodes,
        once=facts.step if facts.tasks else None,
    )  # fmt: skip
    tail_bytes = int(min(max(1.0, given.keep_mib), MOST_MIB) * (1 << 20)) if given.keep_mib else TAIL_BYTES
    return run_job(given.command, request, given.stacks, absolute(given.keep) if given.keep else None, tail_bytes)


def _request(who: str, facts: JobFacts, given: RunOptions | HookOptions, **more: Any) -> HookRequest:
    return prepare_request(
        who, facts, output=given.output, budget_s=given.budget, webhook=given.webhook, shared=given.shared,
        redact=False if given.no_redact else None, **more,
    )  # fmt: skip


def hook(given: HookOptions) -> int:
    """Report on a job; yield 0."""
    facts = read_environment()
    code, number = given.exit_code, None
    if code is None:
        code, number = facts.exit_code, facts.signal
    elif code in _SIGNALLED:
        number, code = code - 128, None
    if code == 0 and number is None and not given.always:
        return 0
    request = _request(HOOK, facts, given, rules=given.rules, tz=given.tz, rank_from=given.rank_from)
    reason = f"ended by signal {number}" if number is not None else "asked for" if code is None else f"exit code {code}"
    ask(replace(
        request, reason=reason, inputs=tuple(map(absolute, given.paths or facts.logs)),
        nodes=given.nodes or request.nodes, node=given.node or request.node, label=given.job or request.label,
        exit_code=code, signal=number, world_size=given.world_size or request.world_size,
        stack_pids=tuple(given.stacks),
    ))  # fmt: skip
    return 0


def hook_whatever_happens(words: Sequence[str]) -> int:
    """Run `diagnose hook`; yield 0. A Slurm epilog that exits non-zero drains the node, a sidecar restarts for ever, a
    `trap … EXIT` replaces the job's status: so wrong usage, a broken configuration and a killed reporter are lines on
    stderr and nothing more."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: sys.exit(0))
        given = read_plainly(HookOptions, words)
        if given is None:
            from .app import typed

            typed(["hook", *words])
        else:
            hook(given)
    except SystemExit:
        pass
    except BaseException as error:
        what = str(error) if isinstance(error, UsageError) else f"no report: {type(error).__name__}: {error}"
        say(HOOK, what)
    return 0
