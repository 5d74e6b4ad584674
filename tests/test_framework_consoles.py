"""Consoles of small runs on the CPU: what JAX, mpi4py, Ray and the like print around the one thing that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import culprits, told

GOES_FIRST = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/align.py", line 43, in <module>
[rank0]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 502, in __init__
[rank0]:     train_dataset = train_dataset.map(self.tokenize_row)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 750, in tokenize_row
[rank0]:     chosen = features["chosen"]
[rank0]: KeyError: 'chosen'
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/align.py", line 43, in <module>
[rank1]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line {line}, in __init__
[rank1]:     with PartialState().local_main_process_first():
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/accelerate/state.py", line 381, in wait_for_everyone
[rank1]:     torch.distributed.barrier()
[rank1]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:26300
"""


@pytest.mark.parametrize(("line", "blamed"), [(499, []), (520, [0])], ids=["before it", "behind it"])
def test_what_rank_zero_meets_is_its_own_only_where_the_others_are_past_it(tmp_path: Path, line: int, blamed: list[int]) -> None:
    assert culprits(told(tmp_path, {"console.log": GOES_FIRST.format(line=line)})) == blamed
