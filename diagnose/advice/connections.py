"""Connections between ranks: what to check when a peer is gone or never answers, the likeliest first, by what is known.

Order by how often public threads end there: a rank that died, the wrong interface, a firewall, /dev/shm, P2P, versions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .fact_store import Facts
from .step import Advice
from .versions import in_range

ECHOES = ("nccl.remote-error", "network.connection-reset", "network.connection-refused")
NAMELESS = "network.dns"
LISTENERS = ("network.connect-timeout", "network.connection-refused")  # somebody should answer at a stated address
GROUPS = ("nccl.bootstrap", "nccl.system-error", "nccl.remote-error", "network.connection-reset")
SETUP = ("nccl.bootstrap", "nccl.system-error", "network.connect-timeout", "network.interface", "network.partition")
# What fails within one host, by the rules' names: memory, the GPU, segments; no question of the network.
OF_THE_HOST = ("memory-reg", "open-mpi-locked", "shared-memory", "cuda-failure", "nccl-cuda", "allocation", "gdrcopy")
LOCAL_ONLY = ("lo", "docker", "veth", "virbr", "br-")  # interfaces that reach no other host
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")
_NAME = re.compile(r"[\w.:\[\]-]{1,253}", re.ASCII)  # what may stand in a command that people paste into a shell
_ADDRESS = re.compile(r"(?:^|\s)([\w.:-]{3,60})<\d{1,5}>")
VERSIONS = 'python -c "import torch; print(torch.__version__, torch.cuda.nccl.version())"'
KERNEL_LOG = "dmesg -T | grep -iE 'oom|killed process|xid|segfault' | tail"
LAST_VLLM_WITH_NCCL_GROUPS = "0.4.2"  # vllm issue 5477: a second NCCL group fails in the workers of 0.4.3 and later


def connection_advice(cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield the checks in order, each with its command; nothing for causes that name their own reason."""
    if cause == NAMELESS:
        return _lookup(fields)
    if cause not in (*ECHOES, *SETUP) or fields.get("is_ascend"):  # HCCL has settings of its own: the cause names them
        return ()
    if cause == "nccl.system-error" and str(fields.get("rule_name") or "").startswith(OF_THE_HOST):
        return ()
    if fields.get("is_python"):
        return (*_listener(cause, fields), *_server(cause))
    steps = [*_listener(cause, fields), *_peer(cause, fields), *_weight_sync(facts), *_two_versions(facts)]
    if cause in ECHOES and fields.get("has_stepped"):
        return tuple(steps)  # the network carried whole steps: how it is set up is not what broke
    is_gloo = bool(fields.get("is_gloo"))  # NCCL had no part in it: its settings, and what it needs, change nothing
    if not (_peer_address(fields) or "").startswith(_LOOPBACK):
        steps += _gloo_interface() if is_gloo else _interface(facts)
        steps += [_firewall(cause, fields, is_gloo=is_gloo)] if cause != "network.interface" else []
    if cause in GROUPS and not is_gloo:  # a store or server that nobody reaches is asked before any of these matters
        steps += [*_shared_memory(facts), *_p2p(facts), _versions_and_cache()]
    return tuple(steps)


def _lookup(fields: Mapping[str, Any]) -> tuple[Advice, ...]:
    name = _peer_address(fields)
    if name is None or name.startswith("["):  # brackets are never looked up: the cause says what to do
        return ()
    text = f"Look {name} up on the host, and inside the container, that printed this."
    return (Advice("now", text, f"getent hosts {name}; cat /etc/resolv.conf /etc/hosts", replaces=True),)


def _listener(cause: str, fields: Mapping[str, Any]) -> list[Advice]:
    """Whether anybody listens at the address that the line states: asked from here, and there."""
    host, port = _peer_address(fields), fields.get("peer_port")
    if cause not in LISTENERS or host is None or not isinstance(port, int):
        return []
    there = f"ss -ltnp 'sport = :{port}'"
    if host.startswith(_LOOPBACK):
        text = f"See whether anything listens on port {port} of this host: what should is not up yet, or it has died."
        return [Advice("now", text, there, replaces=True)]
    text = f"See whether {host}:{port} resolves, is routed and answers from here, and there whether anything listens."
    return [Advice("now", text, f"getent hosts {host}; nc -vz {host} {port}   # on {host}: {there}", replaces=True)]


def _peer(cause: str, fields: Mapping[str, Any]) -> list[Advice]:
    if cause not in ECHOES:
        return []
    peer = fields.get("peer_rank")
    peer = fields.get("blamed_rank") if peer is None else peer
    address = _peer_address(fields)
    if (address or "").startswith(_LOOPBACK):
        address = None  # any rank of this very host
    place = f"rank {peer}" if isinstance(peer, int) else address
    whose = f"of {place}" if place else "of every rank, and look for the one that stops first or was never written"
    is_refused = cause == "network.connection-refused"
    seen = "a refusal says that nobody listens" if is_refused else "a reset says that a peer is gone"
    text = f"Read the log {whose}: {seen}, not why. Its host's kernel log names a kill."
    there = KERNEL_LOG if address is None or isinstance(peer, int) else f'ssh {address} "{KERNEL_LOG}"'
    return [Advice("now", text, there, replaces=True)]


def _server(cause: str) -> list[Advice]:
    """A connection of Python code, mostly by HTTP: neither NCCL nor Gloo had part in it, nor what they need."""
    which = "an inference server, Ray, a tracker, the hub, a helper process"
    if cause == "network.connection-reset":
        text = f"Read the log of the program at the other end of this connection ({which}): it closed it, or it has died."
        return [Advice("now", text, replaces=True)]
    what = "it is not up yet, has died, or listens elsewhere"
    text = f"Read the log of the program that should answer there ({which}): {what}."
    return [Advice("now", text)]


def _peer_address(fields: Mapping[str, Any]) -> str | None:
    """The peer as captured, or out of NCCL's own words: `Call to recv from 10.42.0.12<41870> failed`."""
    stated = str(fields.get("peer_host") or fields.get("peer_ip") or "")
    match = _ADDRESS.search(str(fields.get("last_error") or ""))
    return stated if _NAME.fullmatch(stated) else match[1] if match else None


def _interface(facts: Facts) -> list[Advice]:
    name, chosen = facts.get("socket_ifname"), facts.get("nccl_interface")
    text = "Pin the interface that carries the address of the other hosts (NCCL and gloo choose one by name order)"
    if chosen and not name:
        text = (
            f"See that {chosen}, which NCCL chose here, carries the network of the other hosts, and pin the right one "
            "on every host (NCCL and gloo choose by name order)"
        )
    if isinstance(name, str) and name.lstrip("=^").startswith(LOCAL_ONLY) and not name.startswith("^"):
        text = (
            f"NCCL_SOCKET_IFNAME={name} names an interface that reaches no other host; use the one with the host's address"
        )
    elif name:
        text = (
            f"NCCL_SOCKET_IFNAME={name} is set: check that every host has an interface of that name with a routed address"
        )
    pin = f"export NCCL_SOCKET_IFNAME={chosen or 'eth0'} GLOO_SOCKET_IFNAME={chosen or 'eth0'}"
    return [Advice("fix", f"{text}.", f"ip -o -4 addr; {pin}", replaces=True)]


def _gloo_interface() -> list[Advice]:
    text = "Pin the interface that carries the address of the other hosts (gloo takes the one of the host's own name)."
    return [Advice("fix", text, "ip -o -4 addr; export GLOO_SOCKET_IFNAME=eth0", replaces=True)]


def _firewall(cause: str, fields: Mapping[str, Any], *, is_gloo: bool = False) -> Advice:
    host = _peer_address(fields) or "OTHER_HOST"
    stated = fields.get("peer_port") if cause in LISTENERS else None  # of a lost peer it is its end of the connection
    port = stated if isinstance(stated, int) else 29500
    text = "Open all TCP ports between the hosts: beside the master port NCCL and gloo use ports that the kernel picks."
    if is_gloo:
        text = "Open all TCP ports between the hosts: beside the master port gloo uses ports that the kernel picks."
    return Advice("fix", text, f"nc -zv {host} {port}   # then any port: `nc -l 45123` there, `nc -zv {host} 45123` here")


def _shared_memory(facts: Facts) -> list[Advice]:
    if (facts.number("hosts") or 1) > 1 and facts.number("gpus_per_node") == 1:
        return []
    text = (
        "See that /dev/shm of each host is large enough (a container's default is 64 MiB, NCCL takes some 10 MiB for "
        "each pair of GPUs): a rank that finds it full leaves, and the others see a reset."
    )
    return [Advice("fix", text, "df -h /dev/shm   # docker run --shm-size=16g, or --ipc=host")]


def _p2p(facts: Facts) -> list[Advice]:
    if str(facts.get("nccl_p2p_disable", "0")) not in ("0", "False"):
        return []
    text = (
        "As a test, switch direct GPU-to-GPU transfers within a host off: if that helps, the topology (ACS, IOMMU) is "
        "at fault, not the job."
    )
    return [Advice("fix", text, "export NCCL_P2P_DISABLE=1   # slower; take it back once the topology is mended")]


def _two_versions(facts: Facts) -> list[Advice]:
    known = facts.all("nccl_version")
    if len(known) < 2:
        return []
    text = f"Two NCCL versions are in this job ({', '.join(str(k.value) for k in known[:3])}): make them one."
    return [Advice("now", text, VERSIONS)]


def _weight_sync(facts: Facts) -> list[Advice]:
    """Trainer and vLLM workers share a group of their own; its failures look like the network's."""
    has_vllm = facts.get("vllm_version") is not None or "vllm" in facts.libraries or facts.get("vllm_engines") is not None
    if facts.get("framework") != "openrlhf" or not has_vllm or facts.get("vllm_sync_backend") == "gloo":
        return []
    if in_range(facts.get("openrlhf_version"), ">=0.6.0"):
        return []
    affected = in_range(facts.get("vllm_version"), f">{LAST_VLLM_WITH_NCCL_GROUPS}")
    if affected is False:
        return []
    which = f"vLLM {facts.get('vllm_version')}" if affected else f"vLLM newer than {LAST_VLLM_WITH_NCCL_GROUPS}"
    text = (
        f"If it is the group between trainer and vLLM that fails: {which} breaks a second NCCL group in its workers "
        "with OpenRLHF before 0.6. Synchronise the weights over gloo; that goes through host memory and TCP without "
        "GPUDirect RDMA and takes several times longer for each update, training itself is as fast as before."
    )
    others = f"or: export NCCL_P2P_DISABLE=1; or vLLM {LAST_VLLM_WITH_NCCL_GROUPS}"
    return [Advice("now", text, f"--vllm_sync_backend gloo   # {others}")]


def _versions_and_cache() -> Advice:
    text = (
        "Compare PyTorch and NCCL on every host; they have to be the same. Clearing ~/.cache is seldom the cure: "
        "~/.cache/torch_extensions holds compiled extensions only, which matter where PyTorch, CUDA or the compiler "
        "changed since, or where a dead process left a lock."
    )
    return Advice("fix", text, VERSIONS)
