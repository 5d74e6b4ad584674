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


def test_the_rule_that_names_a_cause_is_heard_in_a_summary_where_another_one_speaks_of_the_same_line(tmp_path):
    empty = (
        '    File "/opt/torch/serialization.py", line 1886, in _legacy_load\n      magic_number = pickle_module.load(f)\n'
        '    File "/opt/torch/_weights_only_unpickler.py", line 327, in load\n      raise EOFError\n  EOFError\n'
    )
    report = told(tmp_path, {"console.log": LOST + raised_by(1, empty)})
    assert ("storage.checkpoint-corrupt", [1]) == (cause(report), culprits(report))


def test_a_rank_that_the_launcher_was_ending_is_not_blamed_where_the_first_one_dead_is_not_heard(tmp_path):
    log = (
        "[rank1]:     raise AssertionError(parts)\n"
        "[rank1]: AssertionError: metadata is None; global metadata read failed: [Errno 2] No such file or directory: 'dcp/.metadata'\n"
        "W1123 08:50:41.347000 3162 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 19137 closing signal SIGTERM\n"
        "E1123 08:50:41.464000 3162 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 0"
        " (pid: 19136) of binary: /usr/bin/python3\n"
        f"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{RULE}\ntrain.py FAILED\n{'-' * 60}\nFailures:\n[1]:\n"
        + entry(1, "Signal 15 (SIGTERM) received by PID 19137\n", "-15").replace("(pid: 19137)", "(pid: 19137)  (SIGTERM)")
        + f"{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n"
        + entry(0, f"To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n{RULE}\n")
    )
    report = told(tmp_path, {"console.log": log})
    assert ("storage.checkpoint-corrupt", []) == (cause(report), culprits(report))
