"""torch.distributed.rpc: the caller raises anew what its callee raised, and names the callee."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, told

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


FUTURE = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/ml/job/rpcjob.py", line 14, in main
[rank0]:     s = sum(f.wait() for f in fs); print(f"step {step} sum {s[0].item()}", flush=True)
[rank0]:             ^^^^^^^^
"""
IN_ONE_LINE = (
    r"""[rank0]: RuntimeError: KeyError: 'On WorkerInfo(id=2, name=worker2):\nKeyError("parameter \'embed.4\' is not here")\n"""
    r"""Traceback (most recent call last):\n  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/rpc/internal.py", """
    r"""line 209, in _run_function\n    result = python_udf.func(*python_udf.args, **python_udf.kwargs)\n"""
    r"""  File "/home/ml/job/rpcjob.py", line 4, in grad\n    raise KeyError(f"parameter \'embed.{step}\' is not here")\n"""
    r"""KeyError: "parameter \'embed.4\' is not here"\n'"""
)


RAN_OUT = """rank 0 ready
Traceback (most recent call last):
  File "/data/jobs/ps_train.py", line 10, in <module>
    rpc.rpc_sync("worker2", slow, args=(20,))
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/rpc/api.py", line 842, in rpc_sync
    return fut.wait()
RuntimeError: RPCErr:1:RPC ran for more than set timeout (5000 ms) and will now be marked with an error
"""
EOF = (
    "[W1124 14:29:01.554278618 tensorpipe_agent.cpp:723] RPC agent for worker{0} encountered error when reading incoming request "
    "from worker{1}: eof (this error originated at tensorpipe/transport/shm/connection_impl.cc:259)\n"
)
TOO_LATE = (
    "[W1124 14:29:15.499247774 tensorpipe_agent.cpp:675] RPC agent for worker2 encountered error when sending response to request #5 "
    "to worker0: eof (this error originated at tensorpipe/transport/shm/connection_impl.cc:259)\n"
)


def test_a_worker_that_is_lost_beside_the_caller_may_have_died_first(tmp_path: Path) -> None:
    logs = {"rank0.log": RAN_OUT, "rank1.log": "rank 1 ready\n" + EOF.format(1, 2) + EOF.format(1, 0)}

    assert "network.connection-reset" == cause(told(tmp_path, logs))
