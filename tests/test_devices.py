"""Whose GPU broke: what the kernel names is an address, seldom a rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.report.report import Report

from .told import alive, cause, culprits, told, watchdog

BUSES = ("1b", "3b", "5b", "9b")
NODES = ("gpu-a-01", "gpu-a-02")
OFF_BUS = "NVRM: Xid (PCI:0000:{bus}:00): 79, pid={pid}, name=python3, GPU has fallen off the bus."
GSP = "NVRM: Xid (PCI:0000:{bus}:00): 119, pid={pid}, name=python3, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x0)."
LINK_DOWN = "NVRM: Xid (PCI:0000:{bus}:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 00 (0x016415c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)"
LINK_FELT = "NVRM: Xid (PCI:0000:{bus}:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)"
ENDED_BY = "NVRM: Xid (PCI:0000:{bus}:00): 45, pid={pid}, name=python3, Ch 00000001 caused by previous Xid {code}"
SWITCH = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
UNKNOWN_PID = 3918822  # as the host counts, which a container does not know


def _pid(rank: int) -> int:
    return 4100 + rank * 7


def _init(rank: int) -> str:
    """NCCL ties the rank to its process and its GPU."""
    host, device, pid = NODES[rank // 4], rank % 4, _pid(rank)
    return (
        f"{host}:{pid}:{pid + 400} [{device}] NCCL INFO ncclCommInitRankConfig comm 0x55d76683{rank:02x}00 rank {rank} nranks 8 "
        f"cudaDev {device} nvmlDev {device} busId {BUSES[device]}000 commId 0xad7e8eb2489786e5 - Init COMPLETE\n"
    )


def _entry(number: int, rank: int, code: int, at: str) -> str:
    return (
        f"[{number}]:\n  time      : 2026-11-20_{at}\n  host      : {NODES[rank // 4]}\n  rank      : {rank} (local_rank: {rank % 4})\n"
        f"  exitcode  : {code} (pid: {_pid(rank)})\n"
    )


def _summary(*ranks: int, code: int = -6, at: str = "10:30:05") -> str:
    """The end of a node as torchrun's agent tells it; the first is the one that it found dead first."""
    box = f"train.py FAILED\n{'-' * 60}\nFailures:\n" + "".join(_entry(n, r, code, at) for n, r in enumerate(ranks[1:], 1))
    return f"{box}{'-' * 60}\nRoot Cause (first observed failure):\n{_entry(0, ranks[0], code, at)}{'=' * 60}\n"


def _kernel(*messages: str) -> dict[str, str]:
    lines = (f"Nov 20 10:19:05 {NODES[1]} kernel: [ 8121.{n:06d}] {message}\n" for n, message in enumerate(messages))
    return {f"{NODES[1]}/kern.log": "".join(lines)}


def _consoles(named: tuple[int, ...] = tuple(range(8)), waits: bool = True, ends: dict[int, str] | None = None) -> dict[str, str]:
    """Both nodes' consoles: NCCL tells of the ranks in `named`; each agent finds its local rank 0 dead first."""
    files = {}
    for node in range(2):
        ranks = range(4 * node, 4 * node + 4)
        text = "".join(_init(r) for r in ranks if r in named) + "".join(map(alive, ranks))
        text += "".join(map(watchdog, ranks)) if waits else ""
        files[f"{NODES[node]}/console.log"] = text + (ends[node] if ends and node in ends else _summary(*ranks))
    return files


def _blamed(report: Report) -> list[tuple[int | None, str | None]]:
    return [(c.rank, c.host) for c in report.diagnosis.culprits] if report.diagnosis else []


@pytest.mark.parametrize("message", [OFF_BUS, GSP, LINK_DOWN])
def test_rank_at_the_address_is_the_one_whichever_was_found_dead_first(tmp_path: Path, message: str) -> None:
    report = told(tmp_path, {**_consoles(), **_kernel(message.format(bus="9b", pid="'<unknown>'"))})
    assert [(7, NODES[1])] == _blamed(report)


@pytest.mark.parametrize("message", [OFF_BUS, GSP, LINK_DOWN, SWITCH])
@pytest.mark.parametrize("waits", [True, False])
def test_who_ends_with_all_others_is_not_the_one_whose_gpu_broke(tmp_path: Path, message: str, waits: bool) -> None:
    """No line ties the address to a rank; each watchdog ends its rank, and local rank 0 is found dead first."""
    report = told(tmp_path, {**_consoles((), waits), **_kernel(message.format(bus="9b", pid=UNKNOWN_PID))})
    assert [(None, NODES[1])] == _blamed(report)


def test_the_only_rank_to_die_as_soon_as_a_gpu_of_its_host_broke_is_the_one(tmp_path: Path) -> None:
    ends = {1: _summary(6, at="10:19:08")}
    report = told(tmp_path, {**_consoles((), False, ends), **_kernel(OFF_BUS.format(bus="9b", pid=UNKNOWN_PID))})
    assert [(6, NODES[1])] == _blamed(report)


def test_process_id_in_a_kernel_line_is_not_that_of_another_host(tmp_path: Path) -> None:
    """In a container processes are counted from 1 anew; the kernel counts those of the host."""
    report = told(tmp_path, {**_consoles((0, 1, 2, 3)), **_kernel(OFF_BUS.format(bus="5b", pid=_pid(1)))})
    assert [(6, NODES[1])] == _blamed(report)


def test_process_says_who_accessed_what_is_not_mapped_on_whatever_gpu(tmp_path: Path) -> None:
    fault = "NVRM: Xid (PCI:0000:1b:00): 31, pid={pid}, name=python3, Ch 0000000b, intr 10000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f1c_2a000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"
    report = told(tmp_path, {**_consoles(), **_kernel(fault.format(pid=_pid(5)))})
    assert ("gpu.illegal-access", [5]) == (cause(report), culprits(report))


def test_gpu_whose_link_went_down_is_told_from_its_peers(tmp_path: Path) -> None:
    """Each GPU that had mapped its memory prints Xid 145 and 45, and all ranks die."""
    first = [LINK_DOWN.format(bus="9b"), *(LINK_FELT.format(bus=bus) for bus in BUSES)]
    ended = [ENDED_BY.format(bus=bus, pid=_pid(4 + n), code=149 if bus == "9b" else 145) for n, bus in enumerate(BUSES)]
    report = told(tmp_path, {**_consoles(), **_kernel(*first, *ended)})
    assert ("gpu.nvlink", [7]) == (cause(report), culprits(report))


def test_switch_beside_one_gpu_is_that_gpus_link(tmp_path: Path) -> None:
    link = "NVRM: Xid (PCI:0000:9b:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 4(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
    assert [(7, NODES[1])] == _blamed(told(tmp_path, {**_consoles(), **_kernel(SWITCH, link)}))


def test_gpu_whose_peer_took_the_link_down_is_not_the_one_that_did(tmp_path: Path) -> None:
    """Bits 20 to 25 of the first number: 0x21 is a peer's doing, 0x16 this end's."""
    by_peer = LINK_DOWN.replace("0x016415c6", "0x021425c6")
    both = told(tmp_path / "both", {**_consoles(), **_kernel(by_peer.format(bus="3b"), LINK_DOWN.format(bus="9b"))})
    alone = told(tmp_path / "alone", {**_consoles(), **_kernel(by_peer.format(bus="3b"))})

    assert [7] == culprits(both)
    assert alone.diagnosis is not None and alone.diagnosis.certainty != "certain"


def test_gpu_of_a_node_is_not_the_rank_of_that_number_in_a_job_of_more_ranks_than_a_node_has(tmp_path: Path) -> None:
    listed = "".join(f"GPU {n}: 00000000:{bus.upper()}:00.0 NVIDIA H100 80GB HBM3\n" for n, bus in enumerate(BUSES))
    said = {"job.log": "".join(alive(r) + watchdog(r) for r in range(16)), f"{NODES[1]}/nvidia-smi.txt": listed}
    report = told(tmp_path, {**said, **_kernel(OFF_BUS.format(bus="9b", pid=UNKNOWN_PID))})
    assert [(None, NODES[1])] == _blamed(report)
