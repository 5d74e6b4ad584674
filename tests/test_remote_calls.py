"""torch.distributed.rpc: the caller raises anew what its callee raised, and names the callee."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import alive, cause, culprits, told

REMOTE = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/data/jobs/ps_train.py", line 61, in main
[rank0]:     grads = rpc.rpc_sync("worker2", fetch, args=(step,))
[rank0]: {name}: On WorkerInfo(id=2, name=worker2):
[rank0]: {shown}
[rank0]: Traceback (most recent call last):
[rank0]:   File "/opt/conda/lib/python3.11/site-packages/torch/distributed/rpc/internal.py", line 212, in _run_function
[rank0]:     result = python_udf.func(*python_udf.args, **python_udf.kwargs)
[rank0]:   File "/data/jobs/ps_train.py", line 44, in fetch
[rank0]:     return table[key]
[rank0]: {raised}
"""


@pytest.mark.parametrize(
    ("name", "shown", "raised", "reason"),
    [
        ("KeyError", "KeyError('emb.17')", "KeyError: 'emb.17'", "process.exception"),
        (
            "torch.OutOfMemoryError",
            "OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            "memory.cuda-oom",
        ),
    ],
)
def test_the_callee_of_a_remote_call_raised_and_not_the_caller(
    tmp_path: Path, name: str, shown: str, raised: str, reason: str
) -> None:
    steps = "".join(alive(rank) for rank in range(3))
    report = told(tmp_path, {"console.log": steps + REMOTE.format(name=name, shown=shown, raised=raised)})

    assert (reason, [2]) == (cause(report), culprits(report))
