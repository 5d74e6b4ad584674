"""torchrun reports one failed worker in a line of its own, all of them in its summary: the one that left may stand there only."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources.source import Text

CONSOLE = """[init] rank 2/3 pid 13567
[init] rank 1/3 pid 13566
[init] rank 0/3 pid 13565
step 5 loss 8.5966 rank 1
step 5 loss 8.5966 rank 0
step 5 loss 8.5966 rank 2
{lost}W1124 00:08:07.011000 13560 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 13565 closing signal SIGTERM
W1124 00:08:07.011000 13560 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 13566 closing signal SIGTERM
E1124 00:08:07.132000 13560 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -15) local_rank: 0 \
(pid: 13565) of binary: /job/venv/bin/python3
Traceback (most recent call last):
  File "/job/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\x20
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[0]:
  time      : 2026-11-24_00:08:07
  host      : {host}
  rank      : 2 (local_rank: 2)
  exitcode  : 3 (pid: 13567)\x20
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
[2]:
  time      : 2026-11-24_00:08:06
  host      : {host}
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 13566)  (SIGTERM)
  error_file: /var/log/elastic/attempt_0/1/error.json
------------------------------------------------------------
Root Cause (first observed failure):
[1]:
  time      : 2026-11-24_00:08:06
  host      : {host}
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 13565)  (SIGTERM)
  error_file: /var/log/elastic/attempt_0/0/error.json
============================================================
"""
LOST = """[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/job/train.py", line 112, in main
[rank{rank}]:     loss.backward()
[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:45967: \
Connection reset by peer. This is typically caused by a remote worker hanging or bugs in the application.
"""


def verdict(above: str = "") -> tuple[str, list[int | None]]:
    lost = above + "".join(LOST.format(rank=rank) for rank in (1, 0))
    found = diagnose(Text(CONSOLE.format(lost=lost, host="localhost"), name="console.log")).diagnosis
    return found.cause, [c.rank for c in found.culprits]


def test_the_one_that_only_the_summary_shows_to_have_left_with_a_code_is_whom_the_others_lost() -> None:
    """`localhost` is the host of the summary alone, not of the lines of the closing: what follows them is no word of that rank."""
    assert verdict() == ("process.exit-code", [2])


def test_what_a_rank_without_a_name_said_before_the_closing_stays_the_reason() -> None:
    raised = 'Traceback (most recent call last):\n  File "/job/train.py", line 9, in main\n    f()\nValueError: bad shard\n'
    assert verdict(raised) == ("process.exception", [2])
