"""What runs of real training scripts taught: the lines are theirs."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, culprits, told

CLOSED = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[{}]:58596. This is typically caused by a remote worker crashing. Check the logs of the remote worker before "
    "reporting an error."
)


def _raised(rank: int, message: str, source: str = "loss.backward()") -> str:
    """An uncaught exception as PyTorch's hook prints it."""
    lines = (
        "Traceback (most recent call last):", '  File "/data/proj/train.py", line 101, in <module>', f"    {source}", message
    )  # fmt: skip
    return "".join(f"[rank{rank}]: {line}\n" for line in lines)


def _two_nodes(raised_by: tuple[int, ...]) -> dict[str, str]:
    """Each node's agent and its ranks' files, of which some close by an exception."""
    logs = {}
    for rank in range(4):
        host = f"gpu-node-0{7 + rank // 2}"
        said = f"[2026-11-22 19:34:59,000][trainer][INFO] [rank{rank}] world size 4, pg timeout 8s, host {host}, pid {251 + rank}\n"
        said += f"[2026-11-22 19:35:06,296][trainer][INFO] [rank{rank}] step 12 loss 0.2518\n"
        said += _raised(rank, CLOSED.format("10.88.0.2")) if rank in raised_by else ""
        logs[f"{host}/elastic/job4711_x/attempt_0/{rank % 2}/stderr.log"] = said
    return logs


def test_a_host_all_of_whose_ranks_stop_without_a_word_is_the_one_that_was_lost(tmp_path: Path) -> None:
    report = told(tmp_path, _two_nodes(raised_by=(0, 1)))

    assert ("network.connection-reset", []) == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert ["gpu-node-08"] == [c.host for c in report.diagnosis.culprits]


def test_ranks_of_two_hosts_that_stop_without_a_word_blame_no_host(tmp_path: Path) -> None:
    report = told(tmp_path, _two_nodes(raised_by=(0, 2)))

    assert report.diagnosis is not None
    assert [] == [c.host for c in report.diagnosis.culprits if c.rank is None]
