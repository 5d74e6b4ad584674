"""What ended a thread or a child of a program that went on with its steps is weaker than what ended the program."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told, watchdog

STEP = "{{'loss': 0.6{n}, 'grad_norm': 0.41, 'learning_rate': 1e-06, 'epoch': 0.{n}}}\n"
UPLOAD = """Exception in thread Thread-11 (_push):
Traceback (most recent call last):
  File "/opt/env/lib/python3.11/site-packages/huggingface_hub/utils/_http.py", line 409, in hf_raise_for_status
    response.raise_for_status()
huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/x/y
"""
RAISED = """[rank1]: Traceback (most recent call last):
[rank1]:   File "/opt/job/rewards.py", line 31, in code_reward
[rank1]:     assert len(completions) == len(tests)
[rank1]: AssertionError
"""


def steps() -> str:
    return "".join(STEP.format(n=n) for n in range(1, 4))


def test_an_upload_that_failed_behind_the_trainer_s_back_is_not_why_a_rank_raised(tmp_path: Path) -> None:
    report = told(tmp_path, {"run.log": UPLOAD + steps() + RAISED + watchdog(0) + watchdog(2)})

    assert ("process.exception", [1]) == (cause(report), culprits(report))


def test_a_thread_after_which_no_step_is_seen_may_be_why_the_others_wait(tmp_path: Path) -> None:
    report = told(tmp_path, {"run.log": steps() + UPLOAD + watchdog(0) + watchdog(2)})

    assert "hub.download" == cause(report)
