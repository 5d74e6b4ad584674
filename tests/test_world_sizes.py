"""Who did not come to the store, and who was told another number of ranks: real texts of torch 2.13 over Gloo."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, culprits, told

TRACEBACK = """Traceback (most recent call last):
  File "/app/train.py", line 6, in <module>
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2874, in _new_process_group_helper
    backend_result = creator_fn(dist_backend_opts, backend_options)
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 669, in _create_gloo_process_group
    backend_class = ProcessGroupGloo(
"""
KEY = "torch.distributed.DistStoreError: wait timeout after 8000ms, keys: {}\n"
IN_STEP = (
    "[rank{0}]: Traceback (most recent call last):\n"
    '[rank{0}]:   File "/app/train.py", line 10, in <module>\n'
    "[rank{0}]:     dist.all_reduce(x)\n"
    "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv "
    "operation to complete\n"
)


def waits(*ranks: int, key: str) -> dict[str, str]:
    """Logs of these ranks, which wait for one key."""
    return {f"rank{rank}.log": TRACEBACK + KEY.format(key) for rank in ranks}


@pytest.mark.parametrize(
    "key",
    [
        "/default_pg/0//cpu//0/3",
        "//worker/attempt_0/default_pg/0//cpu//0/3",
        "/default_pg/0//cpu//0/rank_3",
        "default_pg/0//cpu//1/3",
    ],
)
def test_the_key_of_the_store_names_whom_they_wait_for(tmp_path: Path, key: str) -> None:
    report = told(tmp_path, waits(0, 1, 2, key=key))

    assert ("rendezvous.timeout", [3]) == (cause(report), culprits(report))


@pytest.mark.parametrize(
    "key",
    [
        "/default_pg/0//cpu//0/0, /default_pg/0//cpu//0/1, /default_pg/0//cpu//0/2, /default_pg/0//cpu//0/3",
        "/default_pg/3//cpu//0/1",
        "/default_pg/0//cuda//0",
    ],
)
def test_a_key_that_names_no_rank_of_the_job_blames_none(tmp_path: Path, key: str) -> None:
    """Several keys at once, a rank within a later group, and NCCL's id."""
    assert [] == culprits(told(tmp_path, waits(0, 1, 2, key=key)))


def test_sizes_of_two_groups_are_no_sizes_of_two_worlds(tmp_path: Path) -> None:
    """A trainer and its rollout workers: rank 1 is in both."""
    stated = "RANK={} WORLD_SIZE={} LOCAL_RANK={} MASTER_ADDR=n1\n"
    logs = {f"rank{r}.log": stated.format(r, 4, r) + stated.format(r, 2, r) * (r < 2) + IN_STEP.format(r) for r in range(4)}

    assert "config.world-size-mismatch" != cause(told(tmp_path, logs))
