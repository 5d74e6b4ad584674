"""Jobs of many processes: whom the lines of one launcher, or of several, point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose

from .told import alive, cause, culprits, told, watchdog

JAX = """F0603 11:02:00.314417 90311 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details. absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
/job:jax_worker/replica:0/task:3
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.
"""
BARRIER = """jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0.
# of tasks that reached the barrier: 1/2.
The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names:
/job:jax_worker/replica:0/task:1
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [(JAX, ("network.connection-reset", [3])), (BARRIER, ("rendezvous.timeout", [1]))],
    ids=["heartbeat", "barrier"],
)
def test_a_process_that_jax_lost_or_never_met_is_no_straggler(
    log: str, expected: tuple[str, list[int]], tmp_path: Path
) -> None:
    report = told(tmp_path, {"worker.log": log})
    assert expected == (cause(report), culprits(report))
    assert "torchrun" not in " ".join(f"{s.text} {s.command}" for s in report.diagnosis.remedy)


def hosts(folder: Path, files: dict[str, str]) -> tuple[str, list[int], list[str | None]]:
    report = told(folder, files)
    return cause(report), culprits(report), [c.host for c in report.diagnosis.culprits] if report.diagnosis else []


UNDEFINED = """[default{lr}]:Traceback (most recent call last):
[default{lr}]:  File "/ws/train.py", line 3, in <module>
[default{lr}]:    import flash_attn_2_cuda as flash_attn_gpu
[default{lr}]:ImportError: /opt/conda/lib/python3.10/site-packages/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E
"""
WAITS = """[default{lr}]:Traceback (most recent call last):
[default{lr}]:  File "/ws/train.py", line 20, in main
[default{lr}]:    dist.init_process_group("nccl")
[default{lr}]:torch.distributed.DistNetworkError: Connection reset by peer
"""
ENDED = """E1120 10:00:2{n}.100000 300 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 500) of binary: /usr/bin/python3
[0]:
  time      : 2026-11-20_10:00:2{n}
  host      : gpu-node-0{n}
  rank      : {first} (local_rank: 0)
  exitcode  : 1 (pid: 500)
[1]:
  time      : 2026-11-20_10:00:2{n}
  host      : gpu-node-0{n}
  rank      : {second} (local_rank: 1)
  exitcode  : 1 (pid: 501)
"""


def test_an_import_that_fails_on_all_ranks_of_one_host_only_is_that_host_s(tmp_path: Path) -> None:
    logs = {
        f"gpu-node-0{n}.log": "".join(text.format(lr=lr) for lr in (0, 1))
        + ENDED.format(n=n, first=2 * n, second=2 * n + 1)
        for n, text in enumerate((WAITS, UNDEFINED))
    }

    assert ("software.import-error", [], ["gpu-node-01"]) == hosts(tmp_path, logs)


LOST = """[rank{r}]:[E1120 10:06:40.104231877 ProcessGroupNCCL.cpp:542] [Rank {r}] Collective WorkNCCL(SeqNum=512, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5
ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
Last error:
socketProgress: Connection closed by remote peer w-2.svc<40001>
"""


def test_the_one_whose_log_just_stops_is_the_one_that_the_others_lost(tmp_path: Path) -> None:
    """What NCCL said last stands on a line without a rank, below that of the rank which quotes it."""
    steps = "".join(f"[rank{{r}}]: step {n} loss 2.1\n" for n in range(0, 200, 10))
    logs = {f"pods/job-worker-{r}.log": (steps + (LOST if r != 2 else "")).replace("{r}", str(r)) for r in range(4)}
    report = told(tmp_path, logs)
    assert ("network.connection-reset", [2]) == (cause(report), culprits(report))


def test_an_exception_after_which_the_file_goes_on_with_losses_was_survived(tmp_path: Path) -> None:
    """Nobody takes steps without the others; the GPU's number alone says whose exception it was."""
    steps = [f"[2026-11-20 10:{m:02}:00,001][train][INFO] step {m * 10} loss 9.{60 - m}\n" for m in range(20)]
    caught = (
        "Traceback (most recent call last):\n"
        '  File "/ws/eval.py", line 30, in evaluate\n'
        "    out = model(**b)\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 2 has a total capacity of 79.11 GiB of "
        "which 1.35 GiB is free.\n"
    )
    died = "[rank5]: Traceback (most recent call last):\n[rank5]: KeyError: 'labels'\n"
    early, late = "".join([*steps[:4], caught, *steps[4:], died]), "".join([*steps, caught])

    survived, fatal = told(tmp_path / "a", {"job.log": early}), told(tmp_path / "b", {"job.log": late})

    assert ("process.exception", [5]) == (cause(survived), culprits(survived))
    assert "memory.cuda-oom" == cause(fatal)


def _tree(reports: dict[int, str], stderr_of: set[int]) -> dict[str, str]:
    """As torchrun --log-dir leaves it: one file of each stream a rank."""
    logs = {}
    for r in range(8):
        logs[f"logs/none_k2v9q0zt/attempt_0/{r}/stdout.log"] = alive(r)
        if r in stderr_of:
            logs[f"logs/none_k2v9q0zt/attempt_0/{r}/stderr.log"] = reports.get(r, "")
    return logs


def test_a_rank_whose_standard_error_was_not_given_is_not_silent(tmp_path: Path) -> None:
    """The others report there; an empty file is silence, a missing one is a gap."""
    reports = {r: watchdog(r) for r in range(8) if r != 5}

    empty = told(tmp_path / "empty", _tree(reports, set(range(8))))
    missing = told(tmp_path / "missing", _tree(reports, set(range(8)) - {5}))

    assert ("collective.straggler", [5]) == (cause(empty), culprits(empty))
    assert [] == culprits(missing)


OLD_KILL = (
    "[Thu Nov 19 05:12:44 2026] Memory cgroup out of memory: Killed process 90412 (java) total-vm:81234567kB, "
    "anon-rss:64123456kB, file-rss:1234kB, shmem-rss:0kB, UID:1001 pgtables:131232kB oom_score_adj:0\n"
)
RAISED = "[rank2]: Traceback (most recent call last):\n[rank2]: KeyError: 'caption'\n"
OF_2 = LOST.replace("w-2.svc", "gpu-08")


@pytest.mark.parametrize(
    "stamp", ["", "[2026-11-20 10:00:00,001][train][INFO] step 1 loss 9.1\n"], ids=["untimed", "timed"]
)
def test_a_kill_of_another_process_does_not_explain_what_a_rank_raised(stamp: str, tmp_path: Path) -> None:
    """The kernel's log goes back to other jobs of the host; here each rank says what it failed of."""
    logs = {f"rank{r}.log": stamp + (RAISED if r == 2 else OF_2.replace("{r}", str(r))) for r in range(4)}
    report = told(tmp_path, {**logs, "dmesg-gpu-08.txt": OLD_KILL})
    assert ("process.exception", [2]) == (cause(report), culprits(report))


# --- one rank of many is interrupted ------------------------------------------------------------------------------

INTERRUPTED = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/data/jobs/train/ddp.py", line 92, in train\n[rank1]:     loss = (model(x) - y).pow(2).mean()\n'
    "[rank1]: KeyboardInterrupt\n"
)
LOST_AN_INTERRUPTED = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/data/jobs/train/ddp.py", line 97, in train\n[rank0]:     loss.backward()\n'
    "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.80.0.1]:11144.\n"
    "W1123 08:37:02.793000 8489 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 8592 closing signal SIGTERM\n"
)


def test_the_rank_that_lost_an_interrupted_one_is_not_at_fault(tmp_path):
    report = told(tmp_path, {"console.log": INTERRUPTED + LOST_AN_INTERRUPTED})
    assert 0 not in culprits(report)


# --- two ranks on one GPU: whose fault it is, where NCCL's lone message names a pair ------------------------------

SHARED = (
    "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run "
    "with NCCL_DEBUG=WARN for details), NCCL version 2.20.5\n"
    "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
    "Last error:\n"
    "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10\n"
)


def test_both_ranks_that_one_message_names_are_named(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": SHARED})
    assert ("nccl.invalid-usage", [0, 1]) == (cause(report), culprits(report))


# --- A kernel log tells of all processes of its host: those of other jobs and users are not why this job is dead ---

NOTEBOOK = (
    "[6695204.635126] Memory cgroup out of memory: Killed process 846 (jupyter-lab) total-vm:8412345kB, anon-rss:7712345kB, "
    "file-rss:0kB, shmem-rss:0kB, UID:1010 pgtables:16000kB oom_score_adj:968\n"
)
PYTHON = NOTEBOOK.replace("jupyter-lab", "python3")
BORN_OF_STRANGERS = "[rank {0}] init done host=n7 local_rank={0} pid={1} world=4\n"
RAISED_BESIDE = "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File \"train.py\", line 7, in <module>\n[rank{0}]: {1}\n"


def _ranks(*last: str) -> dict[str, str]:
    return {f"n7/rank{r}.log": BORN_OF_STRANGERS.format(r, 5000 + r) + alive(r) + text for r, text in enumerate(last)}


def test_notebook_that_the_kernel_killed_is_no_rank(tmp_path):
    report = told(tmp_path, {"n7.dmesg": NOTEBOOK, **_ranks(RAISED_BESIDE.format(0, "KeyError: 'labels'"), "")})
    assert "process.exception" == cause(report)
    assert culprits(report) in ([], [0])


def test_rank_that_ended_by_another_signal_was_not_killed_by_the_kernel(tmp_path):
    """The first that ended on the host had printed a time-out: whoever is killed prints nothing."""
    ends = "srun: error: n7: task 1: Aborted (core dumped)\n"
    report = told(tmp_path, {"n7.dmesg": PYTHON, "slurm-7.out": ends, **_ranks("", watchdog(1))})
    assert [1] != culprits(report)


# --- ranks in several process groups: who took another turn, and what a lost peer of which nothing is known does not unsay ---

STUCK = (
    "[rank{rank}]:[E1120 10:30:00.104231877 ProcessGroupNCCL.cpp:616] [Rank {number}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
    "[rank{rank}]:[E1120 10:30:00.104331877 ProcessGroupNCCL.cpp:1785] [PG ID {pg} PG GUID {pg}({name}) Rank {number}] Exception (either "
    "an error or timeout) detected by watchdog at work: {seq}, last enqueued NCCL work: {seq}, last completed NCCL work: {before}.\n"
)


def stuck(rank: int, number: int, pg: int, name: str, seq: int, op: str = "ALLTOALL_BASE") -> str:
    """A rank that waits in a group."""
    return alive(rank) + STUCK.format(rank=rank, number=number, pg=pg, name=name, seq=seq, op=op, before=seq - 1)


def test_of_two_whole_groups_neither_is_out_of_turn(tmp_path: Path) -> None:
    logs = {f"rank{r}.log": stuck(r, r // 2, 3, "mesh_dp", 40) for r in (0, 2, 4, 6)}
    logs.update({f"rank{r}.log": stuck(r, r // 2, 4, "mesh_dp", 41) for r in (1, 3, 5, 7)})
    assert [] == culprits(told(tmp_path, logs))


def test_a_rank_that_says_why_it_stops_early_has_left(tmp_path: Path) -> None:
    left = "2026-11-20 10:19:10,000 | INFO | rank 4 | Early stopping: val_loss did not improve for 5 evaluations, stopping at step 120\n"
    logs = {f"rank{r}.log": stuck(r, r, 0, "default_pg", 40) for r in range(8) if r != 4}
    report = told(tmp_path, {**logs, "rank4.log": alive(4) + left + "2026-11-20 10:19:11,000 | INFO | rank 4 | done\n"})
    assert ("process.early-exit", [4]) == (cause(report), culprits(report))


def test_a_stack_that_stands_at_a_lock_is_what_the_others_wait_for(tmp_path: Path) -> None:
    head = "Timeout (0:05:00)!\nThread 0x00007f1dd291eb80 (most recent call first):\n"
    torch = (
        '  File "/opt/conda/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2806 in all_reduce\n'
    )
    lock = '  File "/opt/conda/lib/python3.11/site-packages/filelock/_api.py", line 344 in acquire\n'
    own = '  File "/app/train.py", line 140 in main\n'
    report = told(tmp_path, {f"rank{r}.log": alive(r) + head + (lock if r == 5 else torch) + own for r in range(8)})

    assert ("software.stale-lock", "likely") == (cause(report), report.diagnosis.certainty)


# --- who has not come, where the others only say that they wait: Horovod's lists, the first barrier, a broadcast from rank 0 ---

TIMED_OUT_LATE = (
    "[E ProcessGroupNCCL.cpp:828] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=987156, "
    "OpType={op}, Timeout(ms)=1800000) ran for 180074{rank} milliseconds before timing out.\n"
)
EVALUATES = "10/26 11:27:48 - mmengine - INFO - Evaluating bbox...\nRunning per image evaluation...\n"


def timed_out(*ranks: int, op: str = "BROADCAST") -> str:
    """What the watchdogs of these ranks say."""
    return "".join(TIMED_OUT_LATE.format(rank=rank, op=op) for rank in ranks)


def test_an_evaluation_above_does_not_blame_rank_zero_where_it_waited_too(tmp_path: Path) -> None:
    """Rank 0 reports the time-out itself: it came."""
    assert [0] != culprits(told(tmp_path, {"console.log": EVALUATES + timed_out(6, 4, 0, 3)}))


# --- A pod and the node it is on: Kubernetes says which, and the kernel knows the node alone ----------------------

LOST_IN_A_POD = """[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/data/jobs/train.py", line 187, in main
[rank{rank}]:     loss.backward()
[rank{rank}]: {raised}
"""
REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2251, remote "
    "process exited or there was a network error, NCCL version 2.21.5"
)
FAILED = "torch.AcceleratorError: CUDA error: unspecified launch failure"
OFF_BUS = "[Fri Nov 20 10:19:05 2026] NVRM: Xid (PCI:0000:4e:00): 79, pid=4411, name=python, GPU has fallen off the bus.\n"
DESCRIBED = """Name:             llm-worker-{n}
Namespace:        ml
Priority:         0
Service Account:  default
Node:             {node}/10.0.3.12
"""


def _logs(**more: str) -> dict[str, str]:
    ranks = {"rank0/llm-worker-0.log": LOST_IN_A_POD.format(rank=0, raised=REMOTE), "rank1/llm-worker-1.log": LOST_IN_A_POD.format(rank=1, raised=FAILED)}
    return {**ranks, "gpu-node-12/dmesg.txt": OFF_BUS, **more}


def test_two_pods_on_one_node_stay_apart(tmp_path: Path) -> None:
    """Each counts its GPUs from 0, so that the node's name would make one process of two."""
    both = "".join(DESCRIBED.format(n=n, node="gpu-node-12") for n in range(2))
    report = told(tmp_path, _logs(**{"describe.txt": both}))
    assert {"llm-worker-0", "llm-worker-1"} >= {r.host for r in report.ranks if r.host}


# --- consoles of several nodes: what is known of a line by its node only, or by a local rank only -----------------

ENTRY = "[{0}]:\n  time      : 2026-11-20_10:20:03\n  host      : {1}\n  rank      : {2} (local_rank: {3})\n  exitcode  : {4} (pid: {5})\n"
DAMAGED = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"
TRACE = '[default1]:Traceback (most recent call last):\n[default1]:  File "train.py", line 7, in <module>\n[default1]:    torch.load(path)\n'


def _agent(host: str, first: int, failed: int, code: int, at: str = "10:20:03") -> str:
    """The end of a node of two ranks, as torchrun's agent tells it."""
    ended = f"E1120 {at}.001000 {first + 70} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) "
    ended += f"local_rank: {failed} (pid: {5000 + first + failed}) of binary: /usr/bin/python\n"
    box = f"train.py FAILED\n{'-' * 60}\nFailures:\n  <NO_OTHER_FAILURES>\n{'-' * 60}\nRoot Cause (first observed failure):\n"
    return ended + box + ENTRY.format(0, host, first + failed, failed, code, 5000 + first + failed) + "=" * 60 + "\n"


def test_local_rank_that_two_nodes_have_is_not_the_first_rank_that_has_it(tmp_path):
    """Two nodes write `[default1]:` into one console; a time-out makes rank 1 known, but the trace is rank 3's."""
    console = TRACE + f"[default1]:{DAMAGED}\n" + _agent("node-b", 2, 1, 1)
    console += f"[default1]:{watchdog(1)}" + _agent("node-a", 0, 1, -6, "10:30:03")
    assert [3] == culprits(told(tmp_path, {"console.log": console}))


def test_abort_over_a_lost_peer_is_no_earlier_crash(tmp_path):
    """The other node's clock is three seconds behind: its rank aborted since it had lost the one that left with code 3."""
    lost = "n2:77:78 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n1<40123>\n"
    lost += "terminate called after throwing an instance of 'c10::DistBackendError'\n"
    agents = {"agent_n1.log": _agent("n1", 0, 0, 3), "agent_n2.log": _agent("n2", 1, 0, -6, "10:20:00").replace("10:20:03", "10:20:00")}
    report = told(tmp_path, {**agents, "rank0.log": "step 7 loss 1.23\n", "rank1.log": "step 7 loss 1.23\n" + lost})

    assert ("process.exit-code", [0]) == (cause(report), culprits(report))


def test_rank_whose_monitor_ended_it_held_up_those_that_lost_it(tmp_path):
    stuck = "[rank1]:[E1120 10:30:00.104231877 ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID 0(default_pg) Rank 1] ProcessGroupNCCL's "
    stuck += "watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.\n"
    gone = "n{0}:7{0}:78 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n1<40123>\n"
    report = told(tmp_path, {"rank1.log": stuck, **{f"rank{r}.log": gone.format(r) for r in (0, 2, 3)}})

    assert "collective.api-hang" == cause(report)
    assert culprits(report) in ([], [1])


def test_what_an_unnamed_line_says_on_the_host_of_the_absent_rank_is_its_doing(tmp_path):
    evaluating = "***** Running Evaluation *****\n"
    born = "node-{1}:7{0}:7{0} [0] NCCL INFO comm 0x1 rank {0} nranks 4 cudaDev 0 busId 1b000 - Init COMPLETE\n"
    nodes = {f"node-{n}.log": born.format(r, n) + (evaluating if r == 3 else watchdog(r)) for r, n in enumerate((21, 22, 23, 24))}
    report = told(tmp_path, nodes)
    assert ([3], evaluating.strip()) == (culprits(report), report.diagnosis.evidence[0].text)


def test_summary_behind_the_names_of_hosts_that_no_table_knows_names_the_rank(tmp_path):
    """pdsh prints `lrdn1913: `, and torchrun's box has lines that begin with blanks, rulers and words."""
    node = TRACE.replace("[default1]:", "") + DAMAGED + "\n" + _agent("lrdn1913", 8, 5, 1)
    other = _agent("tg-a17", 0, 1, -6, "10:30:03")
    console = "".join(f"{host}: {line}\n" for host, text in (("lrdn1913", node), ("tg-a17", other)) for line in text.splitlines())
    assert [13] == culprits(told(tmp_path, {"console.log": console}))


# --- tracebacks of time-outs tell in which collective each rank waited --------------------------------------------

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
TIMED_OUT_IN = (
    "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    "Timed out waiting 8000ms for recv operation to complete\n"
)


def verdict(*frames: str) -> tuple[str, list[int | None]]:
    heads = "".join(
        f"[rank{rank}]: Traceback (most recent call last):\n"
        + text.format(rank=rank, name="x")
        + TIMED_OUT_IN.format(rank=rank)
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
    text = "".join((head + call("all_reduce") + TIMED_OUT_IN).format(rank=rank) for rank in (0, 1))
    text += (head + call("all_reduce") + lost).format(rank=2)
    found = diagnose(Text("world_size=3\n" + text, name="console.log")).diagnosis

    assert "collective.desync" != found.cause


# --- who did not come to the store, and who was told another number of ranks: real texts of torch 2.13 over Gloo ---

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


# --- A console that ends before all have printed a step: cut there, or hung? ------------------------------------------

CONSOLES = {  # one print of rank `r` at step `s`
    "a rank of its own": "2026-11-20 10:00:{s:02d},000 | INFO | rank {r} | step {s} loss 1.2345",
    "tags of mpirun": "[1,{r}]<stdout>:iter {s} time 0.41 loss 3.261",
    "labels of srun": "{r}: rank {r} nid005012 it {s} loss 1.390",
}


def _rounds(form: str, *last: int) -> list[str]:
    ranks = [[0, 1, 2, 3]] * 8 + [[*last]]
    return [CONSOLES[form].format(r=r, s=step) for step, printed in enumerate(ranks, 20) for r in printed]


@pytest.mark.parametrize("form", CONSOLES)
def test_a_console_that_may_be_cut_before_the_last_rank_prints_is_no_hang(form: str) -> None:
    report = diagnose(Text("\n".join(_rounds(form, 0, 1, 2)), "job.log"))
    assert ("unfinished", [3]) == (cause(report), [row.rank for row in report.ranks if row.last_step == 27])


@pytest.mark.parametrize("form", CONSOLES)
def test_a_rank_that_those_behind_it_have_passed_in_print_is_the_one_that_hangs(form: str) -> None:
    report = diagnose(Text("\n".join(_rounds(form, 0, 1, 3)), "job.log"))
    assert ("collective.straggler", [2]) == (cause(report), culprits(report))
