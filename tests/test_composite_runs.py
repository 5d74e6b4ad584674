"""Real runs in which the first failure hides behind another one, or leaves no word: the lines are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, culprits, told

CLOSED = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[127.0.0.1]:16805. This is typically caused by a remote worker crashing. Check the logs of the remote worker before "
    "reporting an error."
)
TIMED_OUT = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 10000ms "
    "for recv operation to complete"
)
STEPS = "iter 8: loss 4.3063, time 234.44ms, mfu 7.51%\niter 10: loss 4.3015, time 263.15ms, mfu 9.78%\n"


def _raised(rank: int, message: str, source: str = "loss.backward()", line: int = 109) -> str:
    """An uncaught exception as PyTorch's hook prints it."""
    lines = (
        "Traceback (most recent call last):", f'  File "/home/ml/proj/gpt.py", line {line}, in train', f"    {source}",
        '  File "/opt/venv/lib/python3.11/site-packages/torch/_tensor.py", line 623, in backward',
        "    torch.autograd.backward(", message,
    )  # fmt: skip
    return "".join(f"[rank{rank}]: {text}\n" for text in lines)


def _listed(codes: dict[int, int], first: int) -> str:
    """What torchrun prints when it ends: whom it ended, who failed first, and the list of both."""
    agent = "1122 22:34:45.371000 14143 torch/distributed/elastic/multiprocessing/api.py:"
    text = "".join(
        f"W{agent}1028] Sending process {14182 + r} closing signal SIGTERM\n" for r, code in codes.items() if code == -15
    )
    text += f"E{agent}1002] failed (exitcode: {codes[first]}) local_rank: {first} (pid: {14182 + first}) of binary: python3\n"
    text += "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ngpt.py FAILED\n"
    others = [rank for rank in codes if rank != first]
    text += "-" * 60 + "\nFailures:\n" + ("" if others else "  <NO_OTHER_FAILURES>\n")
    for n, rank in enumerate([*others, first], start=1):
        if rank == first:
            text += "-" * 60 + "\nRoot Cause (first observed failure):\n"
        text += f"[{n % len(codes)}]:\n  time      : 2026-11-22_22:34:45\n  host      : localhost\n"
        text += f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {codes[rank]} (pid: {14182 + rank})\n"
        text += "  error_file: <N/A>\n"
    return text + "=" * 60 + "\n"


def test_a_rank_whose_files_are_empty_left_with_the_code_that_the_launcher_tells_of(tmp_path: Path) -> None:
    files = {f"tr/none_8c/attempt_0/{r}/stderr.log": _raised(r, CLOSED) if r in (0, 2) else "" for r in range(4)}
    files["console.log"] = _listed({0: -15, 2: -15, 3: -15, 1: 12}, first=1)
    report = told(tmp_path, files)
    assert ("process.exit-code", [1]) == (cause(report), culprits(report))


def test_who_lost_a_peer_in_the_call_in_which_others_waited_in_vain_is_not_the_one_they_waited_for(tmp_path: Path) -> None:
    """Rank 2 printed nothing and was ended by the launcher; rank 0 saved two steps before."""
    console = "saving checkpoint to /scratch/run17\n" + STEPS
    console += _raised(0, CLOSED) + _raised(1, TIMED_OUT) + _raised(3, TIMED_OUT)
    console += _listed({0: 1, 1: 1, 2: -15, 3: -15}, first=0)

    report = told(tmp_path, {"console.log": console})

    assert ("collective.straggler", [2]) == (cause(report), culprits(report))


def test_a_rank_that_prints_its_number_in_words_is_the_one_that_left(tmp_path: Path) -> None:
    """Of two ranks one is listed, behind `<NO_OTHER_FAILURES>`."""
    console = STEPS + "rank 1: target loss reached, done\n" + _raised(0, CLOSED) + _listed({0: 1}, first=0)
    report = told(tmp_path, {"console.log": console})
    assert ("process.early-exit", [1]) == (cause(report), culprits(report))
    assert "target loss reached" in report.diagnosis.evidence[0].text


def test_a_loss_that_is_not_finite_is_told_behind_a_rank_in_words(tmp_path: Path) -> None:
    console = STEPS + "".join(f"rank {r}: loss is nan, stopping training\n" for r in range(3))
    console += _listed({0: 1, 1: -15, 2: -15}, first=0)
    report = told(tmp_path, {"console.log": console})
    assert ("numerics.nan", []) == (cause(report), culprits(report))


def _during(rank: int, first: str, last: str) -> str:
    """An exception that was raised while another one was handled."""
    head = f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/home/ml/proj/gpt.py", line 146, in faults\n'
    head += f"[rank{rank}]:     pinned = pool.take(batch)\n[rank{rank}]: {first}\n\n"
    return head + f"[rank{rank}]: During handling of the above exception, another exception occurred:\n\n" + last


def test_what_a_rank_raised_before_it_waited_where_no_other_did_is_the_reason(tmp_path: Path) -> None:
    """`finally: dist.barrier()`: the time-out is printed last, and by the one that failed."""
    waited = _raised(1, TIMED_OUT, "finally: dist.barrier()", line=147).replace("in backward", "in barrier")
    console = STEPS + _raised(0, CLOSED) + _raised(2, CLOSED) + _during(1, "MemoryError: pinned buffer pool exhausted", waited)
    console += _raised(3, TIMED_OUT) + _listed({0: 1, 1: -15, 2: -15, 3: -15}, first=0)

    report = told(tmp_path, {"console.log": console})

    assert ("process.exception", [1]) == (cause(report), culprits(report))
    assert "pinned buffer pool exhausted" in report.diagnosis.evidence[0].text


def test_the_exception_that_was_handled_is_shown_below_the_one_that_ended_the_program(tmp_path: Path) -> None:
    missing = _raised(1, "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/metrics/rank1.jsonl'", "stats.flush()", 131)
    first = "RuntimeError: shape '[5, 13]' is invalid for input of size 64"
    console = STEPS + _during(1, first, missing) + _raised(0, CLOSED) + _listed({1: 1, 0: -15}, first=1)
    report = told(tmp_path, {"console.log": console})
    assert [first] == [e.text for e in report.diagnosis.evidence if "invalid for input" in e.text]


def test_a_silent_rank_that_logged_an_error_last_is_shown_with_it(tmp_path: Path) -> None:
    """Started by a loop of the shell: no launcher tells how the rank ended."""
    head = "2026-11-22 23:18:48.695 | {} | __main__:main:90 - [r{}] {}\n"
    logs = {f"worker_{r}.log": head.format("INFO    ", r, "step=6 loss=0.5246") for r in range(3)}
    for rank in (0, 2):
        logs[f"worker_{rank}.log"] += _raised(rank, CLOSED)
    logs["worker_1.log"] += head.format("ERROR   ", 1, "fatal: IndexError: list index out of range in shard 000031")

    report = told(tmp_path, logs)

    assert ("process.exit-code", [1]) == (cause(report), culprits(report))
    assert "shard 000031" in report.diagnosis.evidence[0].text


def test_benchmarks_that_follow_one_another_in_one_file_are_no_attempts_of_one_job(tmp_path: Path) -> None:
    """Each of nccl-tests' programs introduces its ranks, by another process id than the one before."""
    console = "".join(
        f"# Collective test starting: {name}\n#  Rank  0 Group  0 Pid {pid} on n1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
        f"#  Rank  1 Group  0 Pid {pid + 9} on n2 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n# Out of bounds values : 0 OK\n"
        f"# Avg bus bandwidth    : 13.1842\n#\n# Collective test concluded: {name}\n"
        for name, pid in (("alltoall_perf", 440010), ("all_reduce_perf", 440090))
    )

    assert told(tmp_path, {"run.log": console}).outcome == "healthy"


@pytest.mark.xfail(strict=True, reason="what is raised after the agent was told to end is ranked before that signal")
def test_what_a_handler_of_sigterm_raised_is_not_why_the_agent_was_told_to_end(tmp_path: Path) -> None:
    agent = "W1122 22:38:27.280000 16582 torch/distributed/elastic/agent/server/api.py:753] "
    console = STEPS + agent + "Received 15 death signal, shutting down workers\n"
    console += _raised(0, "RuntimeError: Parent directory /mnt/ckpt-vol does not exist.", "torch.save(state, last)", 170)
    report = told(tmp_path, {"console.log": console})
    assert ("process.terminated", []) == (cause(report), culprits(report))
