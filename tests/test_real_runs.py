"""What runs of real training scripts taught: the lines are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

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


GLOO_TIMEOUT = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:{}] Timed out waiting 8000ms for "
    "{} operation to complete"
)


def _summary(ranks: dict[int, int], first: int) -> str:
    """What torchrun's agent prints when it ends: each rank's exit code, and the one that it found dead first."""
    rule = "=" * 60 + "\n"
    entries = "".join(
        f"[{n}]:\n  time      : 2026-11-22_19:42:42\n  host      : localhost\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {5222 + rank})\n  error_file: <N/A>\n"
        for n, (rank, code) in enumerate(sorted(ranks.items(), key=lambda item: item[0] == first))
    )
    return "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + rule + "train.py FAILED\n" + entries + rule


def _closing(first: int, others: list[int]) -> str:
    head = "1122 19:42:42.{}000 5218 torch/distributed/elastic/multiprocessing/api.py:{}] "
    closed = "".join("W" + head.format(487, 1028) + f"Sending process {5222 + r} closing signal SIGTERM\n" for r in others)
    return closed + "E" + head.format(906, 1002) + f"failed (exitcode: 1) local_rank: {first} (pid: {5222 + first}) of binary: python3\n"


def test_the_one_rank_that_the_agent_had_to_end_is_whom_the_two_others_waited_for(tmp_path: Path) -> None:
    """No line of the program names its rank; all that rank 0 shares with the others is the console."""
    console = "starting, torch 2.13.0+cpu\n{'loss': 0.4419, 'learning_rate': 0.01, 'epoch': 0.17}\n"
    console += _raised(2, GLOO_TIMEOUT.format(78, "recv")) + _raised(1, GLOO_TIMEOUT.format(129, "send"))
    console += _closing(1, [0]) + _summary({0: -15, 1: 1, 2: 1}, first=1)

    report = told(tmp_path, {"console.log": console})

    assert ("collective.straggler", [0]) == (cause(report), culprits(report))


@pytest.mark.xfail(strict=True, reason="of two ranks the wrong one is possibly late")
def test_of_two_ranks_the_one_that_never_gave_up_waiting_is_only_possibly_late(tmp_path: Path) -> None:
    """It may have come to the same collective a moment later; without a step nobody knows whether lines were left out."""
    ending = _raised(0, GLOO_TIMEOUT.format(78, "recv")) + _closing(0, [1]) + _summary({0: 1, 1: -15}, first=0)

    at_work = told(tmp_path / "whole", {"console.log": "step 0 loss -1.3164\nstep 1 loss -1.0263\n" + ending})
    pasted = told(tmp_path / "paste", {"console.log": ending})

    assert ([1], "possible") == (culprits(at_work), at_work.diagnosis.certainty)
    assert [] == culprits(pasted)


def test_what_a_worker_of_ray_prints_is_shown_where_the_driver_repeats_it(tmp_path: Path) -> None:
    """The core worker's log goes on behind the message; the worker's own file has no more than the driver's."""
    head = 'Traceback (most recent call last):\n  File "/data/proj/ray_job.py", line 8, in __init__\n    self.shard = pick(index)\n'
    raised = head + "ValueError: shard index out of range for this worker"
    name = "7427900e5680b5d934ca233c5cd96f3bc7383a69017fecf449e1baf6"
    logs = {
        "driver.log": "".join(f"(TrainWorker pid=9551) {line}\n" for line in raised.splitlines()),
        f"logs/worker-{name}-ffffffff-9551.err": ":actor_name:TrainWorker\n" + raised + "\n",
        f"logs/python-core-worker-{name}_9551.log": raised + " (timeout: -1ms)\n",
    }

    report = told(tmp_path, logs)

    assert [("driver.log", 4)] == [(Path(e.file).name, e.line) for e in report.diagnosis.evidence]


def _py_spy(pid: int, *frames: str) -> str:
    """A live process as `py-spy dump` shows it."""
    stack = "".join(f"    {frame}\n" for frame in (*frames, "main (train.py:81)", "<module> (train.py:101)"))
    head = f"Process {pid}: /data/jobs/venv/bin/python3 -u /data/proj/train.py\nPython v3.11.7 (/opt/python3.11/bin/python3.11)\n\n"
    return head + f'Thread {pid} (idle): "MainThread"\n' + stack


BACKWARD = (
    "_engine_run_backward (torch/autograd/graph.py:979)", "backward (torch/autograd/__init__.py:395)",
    "Tensor.backward (torch/_tensor.py:623)",
)  # fmt: skip
IN_THE_LOADER = (
    "_MultiProcessingDataLoaderIter._try_get_data (torch/utils/data/dataloader.py:1291)",
    "_BaseDataLoaderIter.__next__ (torch/utils/data/dataloader.py:725)",
)
OF_THE_LOADER = (
    "TokenDataset.decode (data.py:29)", "_worker_loop (torch/utils/data/_utils/worker.py:374)",
    "BaseProcess.run (multiprocessing/process.py:108)",
)  # fmt: skip


def test_who_reads_a_lock_is_waited_for_by_those_who_stand_in_the_backward_pass(tmp_path: Path) -> None:
    """DDP reduces gradients there, and no Python frame says so."""
    dumps = {f"pyspy/rank{r}_pid{40 + r}.txt": _py_spy(40 + r, *BACKWARD) for r in (0, 1, 3)}
    report = told(tmp_path, dumps | {"pyspy/rank2_pid42.txt": _py_spy(42, "read_lock (steps.py:29)")})
    assert ("collective.straggler", [2]) == (cause(report), culprits(report))


def test_a_process_of_the_data_loader_does_not_stand_for_its_rank(tmp_path: Path) -> None:
    """It is forked, so that all its dumps bear the rank; the one of rank 0 has nothing to do."""
    dumps = {f"pyspy/rank{r}_pid{40 + r}.txt": _py_spy(40 + r, *BACKWARD) for r in (0, 2)}
    dumps["pyspy/rank1_pid41.txt"] = _py_spy(41, *IN_THE_LOADER)
    dumps |= {f"pyspy/rank{r}_pid{90 + r}.txt": _py_spy(90 + r, *OF_THE_LOADER) for r in range(3)}

    report = told(tmp_path, dumps)

    assert ("collective.straggler", [1]) == (cause(report), culprits(report))


def test_the_error_that_a_rank_logged_last_is_shown_for_the_code_it_left_with(tmp_path: Path) -> None:
    said = "[2026-11-22 20:16:18,663][trainer][ERROR] [rank1] Unrecoverable: no ids for document 1182; exiting\n"
    lost = {0: _raised(0, CLOSED.format("127.0.0.1")), 1: said, 2: _raised(2, CLOSED.format("127.0.0.1"))}
    logs = {f"elastic/none_x/attempt_0/{r}/stderr.log": text for r, text in lost.items()}
    console = _closing(1, [0, 2]) + _summary({0: -15, 1: 1, 2: -15}, first=1)

    report = told(tmp_path, logs | {"console.log": console})

    assert ("process.exit-code", [1]) == (cause(report), culprits(report))
    assert "document 1182" in report.diagnosis.evidence[0].text


def test_a_save_behind_a_logger_s_name_is_what_the_others_waited_for(tmp_path: Path) -> None:
    console = "[default0]:2026-11-22 20:14:25,424 INFO trainer: saving checkpoint to /data/ckpt/step_8.pt\n"
    console += "".join(
        f"[default{r}]:{line}\n" for r in (1, 2) for line in _raised(r, GLOO_TIMEOUT.format(78, "recv")).splitlines()
    )

    report = told(tmp_path, {"console.log": console + _closing(1, [0]) + _summary({0: -15, 1: 1, 2: 1}, first=1)})

    assert ("storage.slow-save", [0]) == (cause(report), culprits(report))
