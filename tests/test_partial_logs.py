"""Logs as people have them: the end of a console, its middle left out, its summary without a head."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told

HEAD = """Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
"""
FIRST = "------------------------------------------------------------\nRoot Cause (first observed failure):\n"
RULE = "============================================================\n"
NO_CHECKPOINT = """Traceback (most recent call last):
    File "/job/train.py", line 32, in main
      trainer.train(resume_from_checkpoint=resume)
    File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 3657, in _load_from_checkpoint
      raise ValueError(f"Can't find a valid checkpoint at {resume_from_checkpoint}")
  ValueError: Can't find a valid checkpoint at /ckpt/checkpoint-500
"""


def entry(number: int, rank: int, code: str, words: str = "To enable traceback see: https://pytorch.org/docs\n") -> str:
    """What torchrun's summary says of one process."""
    return (
        f"[{number}]:\n  time      : 2026-11-20_17:43:17\n  host      : gpu-07\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {20963 + rank})\n  error_file: <N/A>\n  traceback : {words}"
    )


def test_a_summary_tells_of_each_rank_what_it_raised(tmp_path: Path) -> None:
    """A tail without the ranks' own lines: both entries hold the same exception, so that it is no rank's own."""
    summary = HEAD + entry(1, 0, "-15", NO_CHECKPOINT) + FIRST + entry(0, 1, "1", NO_CHECKPOINT) + RULE
    report = told(tmp_path, {"console.log": summary})

    assert (cause(report), culprits(report)) == ("storage.checkpoint-corrupt", [])


LOST = """Traceback (most recent call last):
    File "/job/train.py", line 58, in main
      dist.all_reduce(grad)
    File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in all_reduce
      work.wait()
  RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:32641
"""


def test_a_summary_that_names_an_error_file_tells_of_a_rank_that_had_a_reason(tmp_path: Path) -> None:
    """What the file holds was not copied: that the rank printed no reason is not said of it."""
    lost = "[rank1]: " + LOST.replace("\n  ", "\n[rank1]:   ").rstrip("\n") + "\n"
    filed = entry(0, 0, "1").replace("<N/A>", "/tmp/torchelastic_x/none_y/attempt_0/0/error.json")
    report = told(tmp_path, {"console.log": lost + HEAD + entry(1, 1, "-15") + FIRST + filed})

    assert "printed no reason" not in (report.diagnosis.summary if report.diagnosis else "")
