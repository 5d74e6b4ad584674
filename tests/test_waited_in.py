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
    assert found is not None
    return found.cause, [c.rank for c in found.culprits]


def call(name: str) -> str:
    return CALL.replace("{name}", name)


def test_rank_in_a_barrier_while_the_others_reduce_gradients_left_the_common_order() -> None:
    assert ("collective.desync", [1]) == verdict(BACKWARD, call("barrier"), BACKWARD)


def test_all_in_one_call_blames_no_rank() -> None:
    assert ("collective.timeout", []) == verdict(BACKWARD, BACKWARD, BACKWARD)


def test_of_two_ranks_neither_is_the_odd_one() -> None:
    assert ("collective.desync", []) == verdict(BACKWARD, call("barrier"))


def test_rank_that_waits_in_a_broadcast_need_not_be_the_wrong_one() -> None:
    assert ("collective.desync", []) == verdict(BACKWARD, call("broadcast"), BACKWARD)


@pytest.mark.parametrize("name", ["send", "batch_isend_irecv"])
def test_stages_of_a_pipeline_are_in_other_calls_by_right(name: str) -> None:
    assert "collective.desync" != verdict(BACKWARD, call(name), BACKWARD)[0]


def test_who_timed_out_behind_the_call_that_the_others_still_wait_in_left_the_common_order() -> None:
    """Gloo pairs buffers by their order: a rank that passes another size comes through, and its next call finds nobody."""
    lost = "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:1\n"
    head = "[rank{rank}]: Traceback (most recent call last):\n"
    other = call("all_reduce").replace("line 33", "line 75")
    text = (head + other + TIMED_OUT).format(rank=2)
    text += "".join((head + call("all_reduce") + lost).format(rank=rank) for rank in (0, 1))
    found = diagnose(Text("world_size=3\n" + text, name="console.log")).diagnosis

    assert found is not None
    assert ("collective.desync", []) == (found.cause, [c.rank for c in found.culprits])


def test_a_rank_that_comes_late_to_the_call_of_the_others_is_in_the_same_order() -> None:
    lost = "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:1\n"
    head = "[rank{rank}]: Traceback (most recent call last):\n"
    text = "".join((head + call("all_reduce") + TIMED_OUT).format(rank=rank) for rank in (0, 1))
    text += (head + call("all_reduce") + lost).format(rank=2)
    found = diagnose(Text("world_size=3\n" + text, name="console.log")).diagnosis

    assert found is not None
    assert "collective.desync" != found.cause


def test_main_under_torchrun_s_record_lost_a_connection_of_its_own():
    record = (
        '[rank1]:   File "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/multiprocessing/errors/__init__.py", '
        "line 367, in wrapper\n[rank1]:     return f(*args, **kwargs)\n"
    )
    text = (
        "world_size=3\n[rank1]: Traceback (most recent call last):\n"
        + record
        + '[rank1]:   File "/job/train.py", line 61, in main\n[rank1]:     shard = read(url)\n'
        "[rank1]: ConnectionResetError: [Errno 104] Connection reset by peer while reading s3://corpus/shard-00007\n"
    )
    for rank in (0, 2):
        text += (
            f"[rank{rank}]: Traceback (most recent call last):\n"
            f'[rank{rank}]:   File "/job/train.py", line 70, in main\n[rank{rank}]:     dist.all_reduce(x)\n'
            f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] "
            "Connection closed by peer [127.0.0.1]:4173\n"
        )
    found = diagnose(Text(text, name="console.log")).diagnosis

    assert found is not None
    assert [1] == [culprit.rank for culprit in found.culprits]
