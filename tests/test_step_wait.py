"""srun ends a step some time after its first task has ended, and tells where each task stood then."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.source import Text

ENDS = """\
srun: Terminating StepId=608.0
slurmstepd: error: *** STEP 608.0 ON n7 CANCELLED AT 2026-07-10T15:58:32 ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: n7: tasks 0,2-3: Killed
"""
OVER = "srun: First task exited 60s ago\n"


@pytest.mark.parametrize(
    "states",
    [
        "srun: StepId=608.0 task 3: running\nsrun: StepId=608.0 tasks 0-2: exited\n",
        "srun: StepId=608.0 task 0: running\nsrun: StepId=608.0 task 1: exited\n",
        "srun: StepId=608.0 tasks 0-2: running\nsrun: StepId=608.0 task 3: exited abnormally\n",
    ],
    ids=["most had ended", "one of two", "it ended with an error"],
)
def test_who_still_runs_when_the_others_are_done_is_not_called_waiting(states: str) -> None:
    found = diagnose(Text(OVER + states + ENDS, name="slurm-608.out")).diagnosis

    assert found is not None
    assert found.cause != "process.early-exit"
