"""Who is who, learnt from all that the logs say together."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, culprits, told, watchdog


def test_group_smaller_than_the_ranks_seen_is_not_the_world(tmp_path: Path) -> None:
    """A reduce-scatter among two of four ranks tells the size of their group."""
    line = watchdog(0, op="_REDUCE_SCATTER_BASE").replace("NumelIn=4096", "NumelIn=8192")
    logs = {f"rank_{r}.log": alive(r) + (line if r == 0 else "") for r in range(4)}

    assert [0, 1, 2, 3] == [r.rank for r in told(tmp_path, logs).ranks]
    assert "rank 3" not in " ".join(g.text for g in told(tmp_path, logs).gaps)


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
