"""The network between hosts: a bad port, a split, wrong interfaces, names and ports; nodes that never meet."""

from __future__ import annotations

from . import aftermath, elastic, names, slurm, tracebacks
from .fault import NO_RAY, Fault, blameless
from .job import Host, Job, Truth
from .noise import kernel_noise
from .watchdog import nccl_warn

TIERED = ("tree", "task", "node", "merged")


def dist_error(job: Job, kind: str) -> str:
    """The class of store errors: RuntimeError before 2.1."""
    return f"torch.distributed.{kind}" if job.torch.since(2, 1) else "RuntimeError"


def nccl_raises(job: Job, time_s: float, rank: int, warn: str, error: str = "", *, init: bool = False) -> None:
    """The Python exception that carries NCCL's last words."""
    torch = job.torch
    kind = "torch.distributed.DistBackendError" if torch.since(2, 0) else "RuntimeError"
    hint = "unhandled system error (run with NCCL_DEBUG=INFO for details)" if torch.nccl_number >= (2, 18) else "unhandled system error"
    tree = "/pytorch" if torch.since(2, 6) else ".."
    error = error or f"{hint}, NCCL version {torch.nccl}\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. "
    tracebacks.raise_text(job, time_s, rank, f"{kind}: NCCL error in: {tree}/torch/csrc/distributed/c10d/NCCLUtils.hpp:{219 if init else 268}, {error}\nLast error:\n{warn}", "barrier" if init else "collective")


def ends_one(job: Job, time_s: float, dead: list[int], code: int = 1) -> None:
    """The launchers sum up ranks that failed on their own, host by host."""
    if job.launcher == "srun":
        slurm.tasks_ended(job, time_s, dead, code)
        rest = [rank for rank in range(job.world) if rank not in dead]
        if rest:
            slurm.step_aborted(job, time_s + 0.3, rest)
        return
    for host in job.hosts:
        mine = {rank: (code, time_s + rank / 1e3) for rank in job.ranks_on(host) if rank in dead}
        if mine:
            aftermath.host_down(job, time_s, host, mine)
        else:
            elastic.agent_signalled(job, time_s + 4, host, "SIGTERM")


def ib_texts(job: Job, host: Host, device: int) -> tuple[str, str]:
    """(completion error that the peers print, async event on the guilty host) in the words of this NCCL."""
    rng, version = job.rng, job.torch.nccl_number
    where = f"{host.ip}<{rng.randrange(32768, 60999)}>"
    gids = f"localGid fe80::{names.hexes(rng, 4)}:{names.hexes(rng, 4)} remoteGids"
    if version <= (2, 16):
        done = f"NET/IB : Got completion from peer {where} with error 12, opcode {rng.randrange(9)}, len {rng.randrange(40000)}, vendor err 129"
    elif version <= (2, 19):
        done = f"NET/IB : Got completion from peer {where} with error 12, opcode {rng.randrange(9)}, len 0, vendor err 129 (Recv) {gids} fe80::{names.hexes(rng, 4)}"
    elif version <= (2, 21):
        done = f"NET/IB : Got completion from peer {where} with status=12 opcode={rng.randrange(9)} len={rng.randrange(40000)} vendor err 129 (Recv) {gids}fe80::{names.hexes(rng, 4)}"
    else:
        done = f"NET/IB: Got completion from peer {where} with status=12 opcode={rng.randrange(9)} len={rng.randrange(40000)} vendor err 129 (Recv) {gids}fe80::{names.hexes(rng, 4)} hca mlx5_{device}"
    event = "NET/IB : Got async event : port error" if version <= (2, 19) else f"NET/IB : mlx5_{device}:1 Got async event : port error" \
        if version <= (2, 22) else f"NET/IB : mlx5_{device}:1 Got async error event: port error"
    return done, event


def ib_error(job: Job, time_s: float) -> Truth:
    rng = job.rng
    host = rng.choice(job.hosts)
    device = rng.randrange(8)
    first = job.ranks_on(host)[device % job.per_host]
    done, event = ib_texts(job, host, device)
    job.rank_says(time_s, first, nccl_warn(job, time_s, first, f"transport/net_ib.cc:{rng.choice([94, 97, 112])}", event), "port error", out=True)
    if rng.random() < 0.5 and job.layout != "k8s":
        kernel_noise(job, host, time_s)
        job.kernel_says(time_s - 0.2, host, rng.choice([f"mlx5_core 0000:{0x1a + device * 7:02x}:00.0 ib{device}: Link down", f"mlx5_core 0000:{0x1a + device * 7:02x}:00.0: Port module event: module 0, Cable unplugged"]), "mlx5_core")
    fallen = rng.sample([rank for rank in range(job.world) if job.host_of(rank) is not host], min(6, job.world - job.per_host))
    wait = rng.uniform(8, 25)
    for rank in sorted(fallen):
        moment = time_s + wait + rng.uniform(0, 2)
        job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"transport/net_ib.cc:{rng.choice([1270, 1295, 1554])}", done), out=True)
        nccl_raises(job, moment + 0.1, rank, done)
    aftermath.ranks_died(job, time_s + wait + 4, dict.fromkeys(fallen, 1), mode="reset")
    return blameless("nccl.ib-error", f"the InfiniBand port mlx5_{device} of {host.name} fails", "port error", "status=12" if "status=12" in done else "error 12", hosts=[host.name], remedy="Check cable and port of that host; drain it.")


def partition(job: Job, time_s: float) -> Truth:
    rng = job.rng
    cut = rng.randrange(1, len(job.hosts))
    sides = job.hosts[:cut], job.hosts[cut:]
    errno = rng.choice(["Connection timed out", "No route to host"])
    fallen = []
    for mine, theirs in (sides, sides[::-1]):
        for host in mine:
            for rank in rng.sample(job.ranks_on(host), min(3, job.per_host)):
                peer = rng.choice(theirs)
                moment = time_s + rng.uniform(60, 900 if errno[0] == "C" else 80)
                call = "socketProgressOpt: Call to recv from" if job.torch.nccl_number <= (2, 23) else "socketProgressOpt: Call to recv"
                text = f"{call} {peer.ip}<{rng.randrange(32768, 60999)}> failed : {errno}"
                job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"misc/socket.cc:{rng.choice([39, 45])}", text), errno, out=True)
                nccl_raises(job, moment + 0.1, rank, text)
                fallen.append(rank)
    ends_all(job, time_s + 905, fallen)
    truth = blameless("network.partition", f"{cut} and {len(job.hosts) - cut} hosts lose each other", errno, accept=("nccl.remote-error", "nccl.system-error", "network.connect-timeout"),
                      remedy="Look at the switch and link between the groups.")
    truth.keep_all = True
    return truth


def ends_all(job: Job, time_s: float, fallen: list[int]) -> None:
    if job.launcher == "srun":
        slurm.tasks_ended(job, time_s, fallen, 1)
        slurm.step_aborted(job, time_s + 1, [rank for rank in range(job.world) if rank not in fallen])
        return
    for host in job.hosts:
        mine = {rank: (1, time_s + rank / 1e3) for rank in job.ranks_on(host) if rank in fallen}
        aftermath.host_down(job, time_s, host, mine)


def interface(job: Job, time_s: float) -> Truth:
    """One host lacks the interface that the environment names."""
    rng = job.rng
    host = rng.choice(job.hosts)
    name = rng.choice(["ib0", "eth2", "enp94s0f0", "bond1"])
    by_nccl = rng.random() < 0.5
    for rank in job.ranks_on(host):
        moment = time_s + rng.uniform(0, 1)
        if by_nccl:
            text = "Bootstrap : no socket interface found"
            if job.torch.nccl_number >= (2, 24):
                text = f"no device found matching {name}, verify NCCL_OOB_NET_IFNAME"
            head = f"{host.name}:{job.pid(rank)}:{job.pid(rank)} [{job.local(rank)}] NCCL INFO NCCL_SOCKET_IFNAME set by environment to {name}"
            job.rank_says(moment, rank, head, out=True)
            job.rank_says(moment, rank, nccl_warn(job, moment, rank, "bootstrap.cc:45", text), text, out=True)
            nccl_raises(job, moment + 0.1, rank, text, init=True)
        else:
            tree = "/pytorch" if job.torch.since(2, 6) else ".."
            text = f"RuntimeError: [{tree}/third_party/gloo/gloo/transport/tcp/device.cc:{rng.choice([84, 102])}] Unable to find address for: {name}"
            tracebacks.raise_text(job, moment, rank, text, "init", "Unable to find address", joined=False)
    ends_one(job, time_s + 3, job.ranks_on(host))
    mention = name if not by_nccl or job.torch.nccl_number >= (2, 24) else "no socket interface found"
    return blameless("network.interface", f"{host.name} has no interface {name}", mention, accept=("nccl.bootstrap",), hosts=[host.name],
                     remedy="Set NCCL_SOCKET_IFNAME / GLOO_SOCKET_IFNAME to what every host has.")


def bootstrap(job: Job, time_s: float) -> Truth:
    """NCCL's own ports are closed between hosts: connections are refused until it gives up."""
    rng = job.rng
    root = job.hosts[0]
    port = rng.randrange(32768, 60999)
    version = job.torch.nccl_number
    text = f"Net : Connect to {root.ip}<{port}> failed : Connection timed out" if version <= (2, 14) else f"socketStartConnect: Connect to {root.ip}<{port}> failed : Connection timed out" \
        if version <= (2, 23) else f"socketPollConnect: connect to {root.ip}<{port}> returned Connection timed out, exceeded error retry count after 35 attempts"
    dead = [rank for rank in range(job.world) if job.host_of(rank) is not root]
    for rank in dead:
        moment = time_s + 130 + rng.uniform(0, 3)
        job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"misc/socket.cc:{rng.choice([456, 483, 538])}", text), "onnection timed out", out=True)
        nccl_raises(job, moment + 0.1, rank, text, init=True)
    ends_one(job, time_s + 136, dead)
    return blameless("nccl.bootstrap", "NCCL cannot connect to its root: a firewall between the hosts", "Connection timed out", root.ip, accept=("network.connect-timeout", "nccl.system-error"),
                     remedy="Open the ephemeral ports between the hosts, or name the right interface.")


def rendezvous(job: Job, time_s: float) -> Truth:
    """One node never comes; the others wait in vain."""
    rng = job.rng
    missing = rng.choice(job.hosts[1:])
    span = rng.choice([300, 600, 900])
    here = [host for host in job.hosts if host is not missing]
    if job.launcher == "srun":
        present = [rank for rank in range(job.world) if job.host_of(rank) is not missing]
        for rank in present:
            moment = time_s + span + rng.uniform(0, 1)
            if rank == 0:
                kind = dist_error(job, "DistStoreError")
                tracebacks.raise_text(job, moment, 0, f"{kind}: Timed out after {span + 1} seconds waiting for clients. {len(present)}/{job.world} clients joined.", "init", "clients joined", joined=False)
            else:
                kind = dist_error(job, "DistNetworkError")
                tracebacks.raise_text(job, moment + 0.5, rank, f"{kind}: {'failed to recv, got 0 bytes' if job.torch.since(2, 5) else 'Connection reset by peer'}", "init", joined=False)
        ends_one(job, time_s + span + 3, present)
        mention = "clients joined"
    else:
        for host in here:
            moment = time_s + span + rng.uniform(0, 3)
            elastic.banner(job, time_s, host)
            root = f"{job.site}/torch/distributed/elastic"
            job.agent_says(moment, host, f"Traceback (most recent call last):\n{elastic.launcher_frames(job)}\n"
                           f'  File "{root}/agent/server/api.py", line 554, in _rendezvous\n    rdzv_info = spec.rdzv_handler.next_rendezvous()\n'
                           f'  File "{root}/rendezvous/dynamic_rendezvous.py", line 676, in _process\n    raise RendezvousTimeoutError\n'
                           "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", "api.RendezvousTimeoutError")
        mention = "RendezvousTimeoutError"
    truth = blameless("rendezvous.timeout", f"{missing.name} never joins", mention, remedy="Find out why that node did not start; raise the join time-out.")
    truth.keep_all = True
    return truth


def port_in_use(job: Job, time_s: float) -> Truth:
    port = job.rng.choice([29500, 29400, 12345, 6000, 22, 23456])
    if job.torch.since(2, 4):
        text = f"The server socket has failed to listen on any local network address. port: {port}, useIpv6: {job.rng.choice(['0', 'false', '1'])}, code: -98, name: EADDRINUSE, message: address already in use"
    else:
        text = f"The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:{port} (errno: 98 - Address already in use). The server socket has failed to bind to ?UNKNOWN? (errno: 98 - Address already in use)."
    error = f"{dist_error(job, 'DistNetworkError')}: {text}"
    if job.launcher == "srun":
        tracebacks.raise_text(job, time_s, 0, error, "init", "failed to listen", joined=False)
        ends_one(job, time_s + 1, [0])
    else:
        host = job.hosts[0]
        job.agent_says(time_s, host, f"Traceback (most recent call last):\n{elastic.launcher_frames(job)}\n{error}", "failed to listen")
        for other in job.hosts[1:]:
            moment = time_s + 60 + job.rng.uniform(0, 2)
            job.agent_says(moment, other, f"Traceback (most recent call last):\n{elastic.launcher_frames(job)}\ntorch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.")
    return blameless("network.port-in-use", f"port {port} is taken on the first host", str(port), "ddress already in use", remedy="Choose another port; end the process that holds it.")


def dns(job: Job, time_s: float) -> Truth:
    rng = job.rng
    master = f"{job.hosts[0].name}.{rng.choice(['train.svc.cluster.local', 'cluster.internal', 'hpc.local'])}"
    for rank in range(job.world):
        moment = time_s + rng.uniform(0, 2)
        for family in ("IPv6", "IPv4"):
            job.rank_says(moment, rank, job.c10_bare(rank, moment, "W", "socket.cpp:697") + f"[c10d] The {family} network addresses of ({master}, 29500) cannot be retrieved (gai error: -2 - Name or service not known).", "gai error")
        moment += rng.uniform(30, 60)
        error = f"{dist_error(job, 'DistNetworkError')}: The client socket has failed to connect to any network address of ({master}, 29500). The IPv6 network addresses of ({master}, 29500) cannot be retrieved (gai error: -2 - Name or service not known). The IPv4 network addresses of ({master}, 29500) cannot be retrieved (gai error: -2 - Name or service not known)."
        tracebacks.raise_text(job, moment, rank, error, "init", "gai error", joined=False)
    ends_one(job, time_s + 64, list(range(job.world)))
    return blameless("network.dns", f"{master} does not resolve", master, "Name or service not known", remedy="Correct MASTER_ADDR or the DNS entry.")


def unreachable(job: Job, time_s: float) -> Truth:
    rng = job.rng
    span = rng.choice([60, 300, 600, 900])
    root = job.hosts[0]
    errno, text = rng.choice([(111, "Connection refused"), (110, "Connection timed out"), (113, "No route to host")])
    dead = [rank for rank in range(job.world) if job.host_of(rank) is not root]
    for rank in dead:
        moment = time_s + span + rng.uniform(0, 2)
        job.rank_says(time_s + 5, rank, job.c10_bare(rank, time_s + 5, "W", "socket.cpp:697") + f"[c10d] The client socket has failed to connect to [{root.name}]:29500 (errno: {errno} - {text}).")
        error = f"{dist_error(job, 'DistNetworkError')}: The client socket has timed out after {span}{rng.choice(['s', '000ms'])} while trying to connect to ({root.name}, 29500)."
        tracebacks.raise_text(job, moment, rank, error, "init", "client socket has timed out", joined=False)
    ends_one(job, time_s + span + 4, dead)
    return blameless("network.connect-timeout", f"{root.name} cannot be reached from the other hosts", root.name, "timed out", accept=("network.connection-refused", "rendezvous.timeout"),
                     remedy="Start the master first; open the port.")


FAULTS = [
    Fault("ib-error", ib_error, TIERED, min_hosts=2), Fault("partition", partition, TIERED, min_hosts=2, silent=True),
    Fault("wrong-interface", interface, NO_RAY, phase="start", min_hosts=2, silent=True), Fault("nccl-bootstrap", bootstrap, NO_RAY, phase="start", min_hosts=2, silent=True),
    Fault("rendezvous-timeout", rendezvous, NO_RAY, phase="launch", min_hosts=2, silent=True), Fault("port-in-use", port_in_use, NO_RAY, phase="launch", silent=True),
    Fault("dns", dns, NO_RAY, phase="launch", silent=True), Fault("master-unreachable", unreachable, NO_RAY, phase="launch", min_hosts=2, silent=True),
]
