"""One rank of many is interrupted."""

from __future__ import annotations

from tests.told import culprits, told

INTERRUPTED = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/data/jobs/train/ddp.py", line 92, in train\n[rank1]:     loss = (model(x) - y).pow(2).mean()\n'
    "[rank1]: KeyboardInterrupt\n"
)
LOST = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/data/jobs/train/ddp.py", line 97, in train\n[rank0]:     loss.backward()\n'
    "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.80.0.1]:11144.\n"
    "W1123 08:37:02.793000 8489 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 8592 closing signal SIGTERM\n"
)


def test_the_rank_that_lost_an_interrupted_one_is_not_at_fault(tmp_path):
    report = told(tmp_path, {"console.log": INTERRUPTED + LOST})
    assert 0 not in culprits(report)
