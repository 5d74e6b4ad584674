"""What several processes of a console say in the same words is no rank's own reason."""

from __future__ import annotations

import pytest

from tests.told import cause, culprits, told

CLOSING = (
    "W1123 08:22:24.640000 31835 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 31845 closing signal SIGTERM\n"
    "E1123 08:22:24.810000 31835 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 1 (pid: 31846)"
    " of binary: /data/jobs/venv/bin/python3.11\n"
)
BEGAN = "".join(
    f"2026-11-23 08:22:13,2{n} [INFO] [rank {n}] train: rank {n} of 2 on gpu-node-07, pid {31845 + n}\n" for n in range(2)
)
SAID = "train.py: unknown tokenizer 'en-33k' in config.yaml\n"


@pytest.mark.parametrize("times", [1, 2])
def test_a_rank_that_the_launcher_saw_leave_is_named_whoever_printed_its_words_too(tmp_path, times):
    report = told(tmp_path, {"console.log": BEGAN + SAID * times + CLOSING})
    assert ("process.exit-code", [1]) == (cause(report), culprits(report))
