"""Did srun end a step because some of its tasks had ended long before?

With --wait (or WaitTime of slurm.conf) srun ends a step so many seconds after its first task has ended, and prints where
each task stands: `tasks 0,2-3: running`, `task 1: exited`. A few that had left with code 0 while most others still worked
are whom those waited for. An abnormal end has a line of its own above, and says more.
Source: Slurm, src/srun/signals.c, _forward_signal; src/srun/task_state.c, _task_state_print.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

ENDED = "process.terminated/slurm-step-ended"
STATES = "context.processes/srun-counts-its-tasks"
STATE_LINES = 12  # below the first one: five states, and as many for each part of a heterogeneous step


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the tasks that had ended when srun's patience was over."""
    over = [e for e in job.failures() if e.rule.id == ENDED and isinstance(e.fields.get("waited_s"), int)]
    if not over or any(e.role == "cause" and e.rule.tells is None for e in job.failures()):
        return
    shown = [e for e in job.events if e.rule.id == STATES and _is_below(e, over[-1])]
    left, running = _tasks(shown, "exited"), _tasks(shown, "running")
    if not left or len(left) >= len(running) or _tasks(shown, "exited abnormally"):
        return
    proof = sorted(shown, key=lambda e: e.fields.get("state") == "running")
    why = (
        f"Task{'s' if len(left) > 1 else ''} {rank_ranges(sorted(left))} had ended with code 0 while "
        f"tasks {rank_ranges(sorted(running))} still ran; srun ended the step {over[-1].fields['waited_s']} s later."
    )
    ranks = tuple(sorted(left)) if job.places.tasks_are_ranks else ()
    yield Finding("process.early-exit", why, exhibits(proof), ranks, question="step_wait")


def _is_below(event: Event, end: Event) -> bool:
    return event.source == end.source and 0 < (event.line or 0) - (end.line or 0) <= STATE_LINES


def _tasks(shown: list[Event], state: str) -> set[int]:
    told = (e.fields["ranks"] for e in shown if e.fields.get("state") == state)
    return {task for tasks in told if isinstance(tasks, list) for task in tasks}
