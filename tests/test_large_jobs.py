"""Jobs of many hosts: which host or rank it was, where clocks, names and launchers of several hosts meet."""

from __future__ import annotations

from pathlib import Path

from .told import BOX, cause, culprits, told

QUOTA = """Traceback (most recent call last):
  File "/work/ckpt.py", line 120, in save
    torch.save(state, path)
OSError: [Errno 122] Disk quota exceeded: '/local/step_900/shard.pt'
"""


def test_a_folder_is_a_host_where_an_agents_summary_says_that_it_is_one(tmp_path: Path) -> None:
    boxes = {h: BOX.format(at="10:30:11", host=h, rank=r, local=1, pid=930, blank=" ") for h, r in (("lrdn1696", 9), ("lrdn1774", 17))}
    folder = "job_x3f9k2ab/attempt_0/1"
    lost = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.128.0.7]:41200\n"
    logs = {
        "lrdn1696/torchrun.log": boxes["lrdn1696"],
        "lrdn1774/torchrun.log": boxes["lrdn1774"],
        f"lrdn1696/{folder}/stderr.log": QUOTA,
        f"lrdn1774/{folder}/stderr.log": lost,
    }

    report = told(tmp_path, logs)

    assert ("storage.disk-full", [9]) == (cause(report), culprits(report))
