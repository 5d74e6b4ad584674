"""A launcher that ends all of its processes is no cause; what made it end them is."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause as verdict_of
from tests.told import culprits, told

SENT = "W1122 11:08:37.092000 79 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 8{rank} closing signal SIGTERM\n"
FAILED = "E1122 11:08:37.112000 79 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: {code}) local_rank: {rank} \
(pid: 8{rank}) of binary: /usr/bin/python3\n"
LISTED = """  time      : 2026-11-22_11:08:37
  host      : localhost
  rank      : {rank} (local_rank: {rank})
  exitcode  : {code} (pid: 8{rank})
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
"""


def test_size_of_the_job_is_read_from_the_agents_lists(tmp_path: Path) -> None:
    """Rank 3 hangs and prints steps only; that there is one is told by the list of its agent, which calls its host localhost."""
    waited = (
        "[rank{rank}]: Traceback (most recent call last):\n"
        "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
        "Timed out waiting 8000ms for recv operation to complete\n"
    )
    folder = "node{node}/elastic/job4711_f6vxjcp{node}/attempt_0/{local}/{stream}.log"
    files = {}
    for rank in range(4):
        node, local = divmod(rank, 2)
        step = f"2026-11-22 11:08:2{rank},180 [INFO] trainer: step 4 loss 0.8181\n"
        files[folder.format(node=node, local=local, stream="stdout")] = step
        files[folder.format(node=node, local=local, stream="stderr")] = waited.format(rank=rank) if rank != 3 else ""
    for node, code in ((0, 1), (1, -15)):
        listed = "".join(
            LISTED.replace("(local_rank: {rank})", f"(local_rank: {local})").format(rank=2 * node + local, code=code if local else 1)
            for local in (0, 1)
        )
        files[f"node{node}/agent.log"] = SENT.format(rank=2 * node + 1) + FAILED.format(rank=0, code=1) + listed
    report = told(tmp_path, files)

    (culprit,) = report.diagnosis.culprits
    assert ("collective.straggler", 3, "node1") == (report.diagnosis.cause, culprit.rank, culprit.host)


def test_rank_of_each_of_many_entries_of_summaries_is_read(tmp_path: Path) -> None:
    """Each entry has four lines that may begin what is left of one; they are not counted with the entries."""
    entry = (
        "[{n}]:\n  time      : 2026-04-09_05:33:19\n  host      : n{node}\n  rank      : {rank} (local_rank: {n})\n"
        "  exitcode  : {code} (pid: {pid})\n  error_file: <N/A>\n  traceback : Signal {signal} received by PID {pid}\n"
    )
    head = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60 + "\n"
    boxes = ""
    for node in range(8):
        boxes += head + "Failures:\n"
        for n in range(8):
            signal = 11 if (node, n) == (3, 5) else 15
            boxes += entry.format(n=n, node=node, rank=8 * node + n, code=-signal, pid=4000 + 8 * node + n, signal=signal)

    report = told(tmp_path, {"slurm.out": boxes})
    assert ("process.segfault", [29]) == (verdict_of(report), culprits(report))
