"""Tracebacks of time-outs tell in which collective each rank waited."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose

BACKWARD = """[rank{rank}]:   File "/job/train.py", line 107, in main
[rank{rank}]:     loss.backward()
[rank{rank}]:   File "/opt/env/lib/python3.11/site-packages/torch/_tensor.py", line 623, in backward
[rank{rank}]:     torch.autograd.backward(
[rank{rank}]:   File "/opt/env/lib/python3.11/site-packages/torch/autograd/graph.py", line 979, in _engine_run_backward
[rank{rank}]:     return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
"""
CALL = """[rank{rank}]:   File "/job/train.py", line 33, in main
[rank{rank}]:     dist.{name}(x)
[rank{rank}]:   File "/opt/env/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 83, in wrapper
[rank{rank}]:     return func(*args, **kwargs)
[rank{rank}]:   File "/opt/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 5356, in {name}
[rank{rank}]:     work.wait()
"""
TIMED_OUT = (
    "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    "Timed out waiting 8000ms for recv operation to complete\n"
)


def verdict(*frames: str) -> tuple[str, list[int | None]]:
    heads = "".join(
        f"[rank{rank}]: Traceback (most recent call last):\n"
        + text.format(rank=rank, name="x")
        + TIMED_OUT.format(rank=rank)
        for rank, text in enumerate(frames)
    )
    found = diagnose(Text(f"world_size={len(frames)}\n" + heads, name="console.log")).diagnosis
    return found.cause, [c.rank for c in found.culprits]


def call(name: str) -> str:
    return CALL.replace("{name}", name)


@pytest.mark.parametrize("name", ["send", "batch_isend_irecv"])
def test_stages_of_a_pipeline_are_in_other_calls_by_right(name: str) -> None:
    assert "collective.desync" != verdict(BACKWARD, call(name), BACKWARD)[0]


def test_a_rank_that_comes_late_to_the_call_of_the_others_is_in_the_same_order() -> None:
    lost = "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:1\n"
    head = "[rank{rank}]: Traceback (most recent call last):\n"
    text = "".join((head + call("all_reduce") + TIMED_OUT).format(rank=rank) for rank in (0, 1))
    text += (head + call("all_reduce") + lost).format(rank=2)
    found = diagnose(Text("world_size=3\n" + text, name="console.log")).diagnosis

    assert "collective.desync" != found.cause
