"""A launcher that ends all of its processes is no cause; what made it end them is."""

from __future__ import annotations

from pathlib import Path

from diagnose.engine import diagnose
from diagnose.sources.source import Text
from tests.told import cause as verdict_of
from tests.told import culprits, told


def cause(log: bytes) -> str:
    report = diagnose(Text(log.decode(), name="server.log"))
    return report.diagnosis.cause if report.diagnosis else report.outcome


RAY_LOSES_WAITING_WORKER = b"""2026-11-10 10:14:40,771	INFO worker.py:1673 -- Started a local Ray instance.
(RayWorker pid=4750) [E ProcessGroupNCCL.cpp:475] [Rank 0] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800171 milliseconds before timing out.
(RayWorker pid=4751) [E ProcessGroupNCCL.cpp:475] [Rank 1] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800108 milliseconds before timing out.
(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker exit type: SYSTEM_ERROR
"""


def test_a_worker_lost_after_the_waits_had_run_out_did_not_make_them_wait() -> None:
    assert cause(RAY_LOSES_WAITING_WORKER) == "collective.timeout"


BIND_FAILED = (
    b"[W socket.cpp:436] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n"
)
STEPS = b"{'loss': 1.2, 'grad_norm': 1.2, 'learning_rate': 1e-05, 'epoch': 0.1}\n" * 2


def test_a_port_that_was_taken_at_first_did_not_end_a_job_that_trained() -> None:
    assert cause(BIND_FAILED) == "network.port-in-use"
    assert cause(BIND_FAILED + STEPS + b"[rank0]: KeyError: 'labels'\n") == "process.exception"


SRUN_ENDS_THE_STEP = b"""srun: error: node-07: task 5: Exited with exit code 1
srun: launch/slurm: _step_signal: Terminating StepId=43575862.0
slurmstepd: error: *** STEP 43575862.0 ON node-07 CANCELLED AT 2026-07-14T08:00:36 ***
srun: error: node-07: task 1: Killed
srun: error: node-08: task 8: Killed
"""


def test_tasks_that_srun_killed_with_their_step_are_not_the_cause() -> None:
    report = diagnose(Text(SRUN_ENDS_THE_STEP.decode(), name="slurm-43575862.out"))
    assert report.diagnosis is not None
    assert ("process.exit-code", [5]) == (report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits])


def test_blanks_that_a_terminal_filled_its_rows_with_hide_nothing() -> None:
    """A copy out of a terminal has every row as wide as the window; the message ends where it ended."""
    text = (
        "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        "the job to be terminated. The first process to do so was:\n\n"
        "  Process name: [[29973,1],2]\n  Exit code:    1\n"
    )
    filled = "".join(f"{line.ljust(120)}\n" for line in text.splitlines())

    plain, copied = (diagnose(Text(pasted, name="console.log")).diagnosis for pasted in (text, filled))

    assert plain is not None
    assert copied is not None
    assert ("process.exit-code", 2) == (plain.cause, plain.culprits[0].rank) == (copied.cause, copied.culprits[0].rank)


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


def test_the_shell_says_that_its_child_was_told_to_end() -> None:
    bar = b"Epoch 1:  29%|#4   | 9413/32393 [3:28:18<8:28:33,  1.33s/it, loss=3.23, v_num=9]"
    assert cause(bar + b"Terminated \n") == "process.terminated"


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

    assert report.diagnosis is not None
    (culprit,) = report.diagnosis.culprits
    assert ("collective.straggler", 3, "node1") == (report.diagnosis.cause, culprit.rank, culprit.host)


SEVERAL_TASKS_ENDED = b"""OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 2 has a
total capacty of 15.78 GiB of which 27.19 MiB is free. Process 307065 has 15.75
GiB memory in use. Of the allocated memory 14.24 GiB is allocated by PyTorch,
and 177.74 MiB is reserved by PyTorch but unallocated.
srun: error: node-02: task 4: Exited with exit code 1
srun: error: node-01: tasks 0-1: Exited with exit code 1
srun: error: node-02: task 7: Exited with exit code 1
"""


def test_of_tasks_that_srun_reports_alike_none_is_known_to_be_the_one_that_raised() -> None:
    """srun collects what it reports by host and prints no time; its first line names no first task."""
    report = diagnose(Text(SEVERAL_TASKS_ENDED.decode(), name="slurm-77.out"))
    assert report.diagnosis is not None
    assert ("memory.cuda-oom", ()) == (report.diagnosis.cause, tuple(report.diagnosis.culprits))


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


def test_a_port_that_only_a_log_line_misses_is_never_certain_as_the_agent_of_torchrun_goes_on_without_it() -> None:
    log = """[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29400 (errno: 98 - Address already in use).
[W socket.cpp:426] [c10d] The server socket has failed to bind to ?UNKNOWN? (errno: 98 - Address already in use).
[E socket.cpp:462] [c10d] The server socket has failed to listen on any local network address.
[04/18/23 21:09:50] INFO     colossalai - colossalai - INFO: process rank 6 is bound to device 6
WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 1268776 closing signal SIGTERM
ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 6 (pid: 1268782) of binary: /usr/bin/python3
"""
    diagnosis = diagnose(Text(log, name="train.log")).diagnosis
    assert diagnosis is not None and diagnosis.certainty != "certain"
