"""The last lines of a console: torchrun's summary, and what little was printed above it."""

from __future__ import annotations

from tests.told import cause, culprits, told

RULE = "=" * 60
LOST = """\
      loss.backward()
    File "/opt/torch/autograd/graph.py", line 979, in _engine_run_backward
      return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
  RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.80.0.1]:55020.
"""


def entry(rank: int, raised: str, code: str = "1") -> str:
    return (
        f"  time      : 2026-11-23_08:50:41\n  host      : gpu-node-07\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {19136 + rank})\n  error_file: /tmp/none/attempt_0/{rank}/error.json\n  traceback : {raised}"
    )


def raised_by(rank: int, lines: str) -> str:
    return f"{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n" + entry(rank, f"Traceback (most recent call last):\n{lines}  \n{RULE}\n")


def test_what_the_summary_says_was_raised_outweighs_a_lost_peer_above_it(tmp_path):
    quit_ = '    File "/data/jobs/train/ddp.py", line 87, in train\n      if self.quitting: raise BdbQuit\n  bdb.BdbQuit\n'
    report = told(tmp_path, {"console.log": LOST + raised_by(0, quit_)})
    assert "process.exception" == cause(report)
    assert culprits(report) in ([], [0])
