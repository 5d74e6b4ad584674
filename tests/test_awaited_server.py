"""A trainer that asks for its generation server, and a server that never comes up."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources.source import Text

ASKS = "2025-03-26 05:53:{0:02} - INFO - trl.extras.vllm_client - Server is not up yet. Retrying in 2.0 seconds...\n"
UP = "2025-03-26 05:53:50 - INFO - trl.extras.vllm_client - Server is up!\n"
TIMED_OUT = (
    "[rank{0}]:[E326 06:03:12.123456789 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
)
RAISED = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/venv/lib/python3.11/site-packages/trl/extras/vllm_client.py", line 122, in check_server
[rank0]:     raise ConnectionError(
[rank0]: ConnectionError: The vLLM server can't be reached at http://0.0.0.0:8000 after 240.0 seconds. Make sure the server is running.
"""


def test_the_client_s_own_end_is_the_proof_where_it_gives_up() -> None:
    found = diagnose(Text("".join(ASKS.format(n) for n in range(10, 40, 2)) + RAISED, name="train.log")).diagnosis

    assert ("network.connection-refused", 19) == (found.cause, found.evidence[0].line)


def test_a_server_that_came_up_is_no_reason() -> None:
    found = diagnose(Text(ASKS.format(10) * 200 + UP + TIMED_OUT.format(1) + TIMED_OUT.format(2), name="train.log")).diagnosis

    assert found.cause.startswith("collective.")
