"""Who is who, learnt from all that the logs say together."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, culprits, told, watchdog

API = "E1120 10:20:0{second}.000000 400{second} torch/distributed/elastic/multiprocessing/api.py:869] "
PDSH = "{host}: "
SHARE = "RuntimeError: stack expects each tensor to be equal size, but got [1806] at entry 0 and [1811] at entry 6\n"
RAISED = (
    "Traceback (most recent call last):\n"
    '  File "/job/train.py", line 40, in <module>\n    main()\n'
    '  File "/usr/lib/python3/torch/utils/data/_utils/collate.py", line 217, in collate_tensor_fn\n'
    "    return torch.stack(batch, 0, out=out)\n" + SHARE
)


def started(rank: int, world: int, host: str, local: int, pid: int) -> str:
    """A rank says who it is."""
    return (
        f"2026-11-20 10:00:00,000 | INFO | rank {rank} | init done: world_size={world} local_rank={local} host={host} "
        f"pid={pid} torch=2.5.1\n"
    )


def found_dead(second: int, local: int, pid: int, code: int = 1) -> str:
    """An agent finds a worker dead."""
    return (
        API.format(second=second)
        + f"failed (exitcode: {code}) local_rank: {local} (pid: {pid}) of binary: /usr/bin/python\n"
    )


def test_task_of_slurm_is_a_node_where_an_agent_starts_the_ranks(tmp_path: Path) -> None:
    """`task 1: Exited` speaks of the agent of the second node, not of rank 1."""
    files = {
        "n1.log": "".join(started(r, 4, "n1", r, 100 + r) for r in (0, 1)),
        "n2.log": "".join(started(r, 4, "n2", r - 2, 200 + r) for r in (2, 3)) + RAISED + found_dead(2, 1, 203),
        "slurm-77.out": "srun: error: n2: task 1: Exited with exit code 1\n",
    }

    assert [3] == culprits(told(tmp_path, files))


def test_ranks_of_a_host_that_names_none_follow_from_those_of_the_others(tmp_path: Path) -> None:
    """Hosts hold blocks of ranks: what two hosts leave is the third's, local rank by local rank."""
    lines = [started(r, 6, host, r % 2, 100 + r) for r, host in ((0, "node-a1"), (2, "node-b1"))]
    hosts = ["node-a1", "node-b1", "node-c1"]
    text = "".join(f"{host}: {line}" for host, line in zip(hosts, lines, strict=False))
    text += "node-c1: " + found_dead(3, 1, 305, code=-11)

    report = told(tmp_path, {"console.log": text})

    assert ("process.segfault", [5]) == (cause(report), culprits(report))


def test_process_found_dead_on_another_host_is_not_the_one_that_raised(tmp_path: Path) -> None:
    """In one console for two hosts, each agent tells of its own processes."""
    text = "".join(f"node-a1: {line}\n" for line in RAISED.splitlines())
    text += "node-b1: " + started(3, 4, "node-b1", 1, 203) + "node-b1: " + found_dead(4, 1, 203)

    assert [] == culprits(told(tmp_path, {"console.log": text}))


def test_error_that_several_processes_print_is_the_fault_of_none(tmp_path: Path) -> None:
    """A broken checkpoint is read by all; whom the agent finds dead first tells nothing."""
    broken = RAISED.replace(SHARE, "_pickle.UnpicklingError: invalid load key, 'v'.\n")
    text = started(0, 2, "n1", 0, 100) + started(1, 2, "n1", 1, 101) + broken * 2 + found_dead(2, 1, 101)

    report = told(tmp_path, {"console.log": text})

    assert ("storage.checkpoint-corrupt", []) == (cause(report), culprits(report))


def test_lines_of_srun_tell_which_ranks_a_host_holds(tmp_path: Path) -> None:
    """All ranks of one host fail alike, none of the other's: the host is at fault."""
    error = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/device.cc:84] Unable to find address for: bond1\n"
    ranks = "".join(alive(r) for r in range(4)) + "".join(f"[rank{r}]: {error}" for r in (2, 3))
    slurm = "srun: error: n2: tasks 2-3: Exited with exit code 1\nsrun: error: n1: tasks 0-1: Terminated\n"

    report = told(tmp_path, {"console.log": ranks, "slurm-77.out": slurm}, world_size=4)

    assert report.diagnosis is not None
    assert [(None, "n2")] == [(c.rank, c.host) for c in report.diagnosis.culprits]


def test_group_smaller_than_the_ranks_seen_is_not_the_world(tmp_path: Path) -> None:
    """A reduce-scatter among two of four ranks tells the size of their group."""
    line = watchdog(0, op="_REDUCE_SCATTER_BASE").replace("NumelIn=4096", "NumelIn=8192")
    logs = {f"rank_{r}.log": alive(r) + (line if r == 0 else "") for r in range(4)}

    assert [0, 1, 2, 3] == [r.rank for r in told(tmp_path, logs).ranks]
    assert "rank 3" not in " ".join(g.text for g in told(tmp_path, logs).gaps)


def test_exception_without_a_message_is_read_behind_a_host(tmp_path: Path) -> None:
    """`pdsh` puts the host before every line, and an exception's name may be all there is."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/torch/distributed/elastic/rendezvous/dynamic_rendezvous.py", line 676, in _process\n'
        "    raise RendezvousTimeoutError\n"
        "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
    )
    console = "".join(f"h100-r1-n{n}: {line}\n" for n in (23, 37) for line in text.splitlines())

    assert "rendezvous.timeout" == cause(told(tmp_path, {"console.log": console}))


def test_number_of_a_gpu_in_a_kernel_log_alone_is_nobodys_rank(tmp_path: Path) -> None:
    """The driver counts GPUs, on a host of which nothing says that a job ran there."""
    kernel = "[   24.302465] NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 8127 heartbeat 18 diff 6070\n"
    report = told(tmp_path, {"dmesg.txt": kernel})

    assert ("gpu.gsp", []) == (cause(report), culprits(report))


def test_label_of_pdsh_that_is_surely_a_host_goes_before_whatever_is_said(tmp_path: Path) -> None:
    """Not only what looks like a log follows a host's name: a driver, a shell or a library speaks too."""
    text = "node-7: Memory access fault by GPU node-1 (Agent handle: 0x560f905a1640) on address 0x10044f0000. Reason: Page not present\n"
    report = told(tmp_path, {"console.log": "node-6: loading the model\n" + text})

    assert "gpu.illegal-access" == cause(report)
    assert "node-7" == report.diagnosis.evidence[0].host if report.diagnosis else False


def test_words_with_numbers_before_a_colon_are_no_hosts(tmp_path: Path) -> None:
    """`layer-3: ` and `checkpoint-500: ` belong to what is said."""
    text = "".join(f"{word}: grad norm 1.5\n" for word in ("layer-3", "checkpoint-500", "epoch-2", "expert-7", "stage-1"))

    assert [] == [r.host for r in told(tmp_path, {"console.log": text}).ranks if r.host]


def test_worker_whose_words_a_head_s_console_shows_is_not_on_the_head(tmp_path: Path) -> None:
    """Ray names the node of a worker by its address; what `kubectl logs` puts before the line is the driver's pod."""
    worker = "(RayWorkerWrapper pid=231877, ip=10.80.3.25) "
    raised = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 6 has a total capacity of 44.53 GiB"
    lines = [worker + "Traceback (most recent call last):", worker + '  File "/opt/w.py", line 1, in f', worker + raised]
    report = told(tmp_path, {"head.log": "".join(f"[pod/ray-head/ray] {line}\n" for line in lines)})

    assert report.diagnosis is not None
    assert ["10.80.3.25"] == [c.host for c in report.diagnosis.culprits]


def journal(*lines: str) -> str:
    """What a unit's processes print: journald names the one that opened the output, and not who wrote the line."""
    return "".join(f"Nov 20 17:01:{n:02d} gpu01 train.sh[4711]: {line}\n" for n, line in enumerate(lines))


def test_the_process_id_of_a_unit_is_no_rank(tmp_path: Path) -> None:
    """Several ranks name themselves behind it: what names nobody is not the first one's."""
    said = journal(
        "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2",
        "Initializing distributed: GLOBAL_RANK: 1, MEMBER: 2/2",
        "All distributed processes registered. Starting with 2 processes",
        "iter 0 step 0: loss 1.7060, train time: 913.56ms",
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 297, in <module>',
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.12 GiB is free.",
    )

    assert 0 not in culprits(told(tmp_path, {"journal.log": said}))


def test_the_process_id_of_a_unit_whose_launcher_tells_of_ends_is_no_rank(tmp_path: Path) -> None:
    said = journal(
        "[rank1]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:94",
        "[2026-11-20 17:41:15,760] [ERROR] [launch.py:259:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', "
        "'--local_rank=1'] exits with return code = -9",
    )

    assert [1] != culprits(told(tmp_path, {"journal.log": said}))


def test_a_gpu_of_a_host_is_not_that_of_another_host_at_the_same_address(tmp_path: Path) -> None:
    """Hosts of one kind have their GPUs at the same PCI addresses; the log of the rank on the broken one is not here."""
    init = "{host}:4711:4711 [0] NCCL INFO comm 0x55d0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x1 - Init COMPLETE\n"
    files = {
        "rank0.log": init.format(host="cn-303", rank=0) + watchdog(0),
        "system/cn-352.kern.log": "[12951485.418663] NVRM: Xid (PCI:0000:1b:00): 79, pid=3698333, name=python, GPU has fallen off the bus.\n",
    }
    report = told(tmp_path, files)

    assert "gpu.off-bus" == cause(report)
    assert 0 not in culprits(report)


def test_addresses_of_two_nodes_make_no_only_node(tmp_path: Path) -> None:
    """pdsh puts the node's address before each line: local rank 0 of the second node is not rank 0."""
    line = "10.0.1.{node}: [2023-12-15 18:09:{second:02d},510] [INFO] [launch.py:315:sigkill_handler] "
    console = line.format(node=11, second=1) + "Killing subprocess 4401\n"
    console += (
        "10.0.1.12: ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -11) local_rank: 0 (pid: 4088) of binary: "
        "/usr/bin/python3\n"
    )
    report = told(tmp_path, {"job.log": console})

    assert 0 not in culprits(report)


def test_rank_that_is_not_heard_in_the_consoles_of_all_hosts_is_the_one(tmp_path: Path) -> None:
    files = {f"node{host}.log": "".join(watchdog(4 * host + r) for r in range(4) if 4 * host + r != 5) for host in range(2)}
    report = told(tmp_path, files)
    assert ("collective.straggler", [5]) == (cause(report), culprits(report))


def test_rank_is_not_missed_where_the_console_of_a_host_is_not_there(tmp_path: Path) -> None:
    files = {f"node{host}.log": "".join(watchdog(4 * host + r) for r in range(4) if 4 * host + r != 5) for host in (1, 2)}
    assert [] == culprits(told(tmp_path, files))
