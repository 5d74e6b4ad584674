"""The simulated job: hosts with clocks, ranks with pids, and the list of everything that anybody says."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from . import clock, names
from .versions import Torch

EPOCH = datetime(2026, 1, 1)
OPEN = "\x00"  # ends a text that no line end follows: a progress bar, to which the next writer's line is glued


@dataclass
class Host:
    """One machine: its name and address, how wrong its clock is, and the host pids of its ranks."""

    index: int
    name: str
    ip: str
    skew_s: float
    zone_h: int
    agent_pid: int
    pids: list[int]
    boot_s: float


@dataclass(frozen=True)
class Event:
    """Something said at a true moment by `who`: ("rank", 3), ("agent", host), ("slurm", 0), ("kernel", host) ..."""

    time_s: float
    order: int
    who: tuple[str, int]
    text: str
    attempt: int
    evidence: str = ""  # part of the line an expert would point at
    out: bool = False  # stdout rather than stderr


@dataclass
class Truth:
    """What is really wrong, as `truth.yaml` states it; evidence places are filled in by the writer."""

    cause: str
    title: str
    ranks: list[int] | None = None
    hosts: list[str] | None = None
    mention: list[str] = field(default_factory=list)
    accept: list[str] = field(default_factory=list)
    symptoms: list[str] = field(default_factory=list)
    remedy: str = ""
    keep_all: bool = False  # a lost file would change what can honestly be told


@dataclass
class Job:
    """State of one simulated job; `say` is the only way in which text gets into its logs."""

    rng: Random
    world: int
    per_host: int
    hosts: list[Host]
    torch: Torch
    framework: str
    layout: str
    launcher: str  # torchrun, deepspeed, srun, ray
    style: str  # of a merged console: srunl, tee, pdsh, plain
    name: str
    job_id: int
    user: str
    root: str  # of the user's code
    site: str  # site-packages
    start_s: float
    step_s: float
    timeout_ms: int
    attempt: int = 0
    step: int = 0
    seq: int = 0
    notes: dict[str, object] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def host_of(self, rank: int) -> Host:
        return self.hosts[rank // self.per_host]

    def local(self, rank: int) -> int:
        return rank % self.per_host

    def pid(self, rank: int) -> int:
        return self.host_of(rank).pids[self.local(rank)]

    def ranks_on(self, host: Host) -> list[int]:
        return list(range(host.index * self.per_host, (host.index + 1) * self.per_host))

    def now(self, host: Host, time_s: float) -> datetime:
        """What the clock of that host shows (its zone, its error)."""
        zone_h = 0 if self.layout == "k8s" else host.zone_h
        return EPOCH + timedelta(seconds=time_s + host.skew_s, hours=zone_h)

    def at(self, rank: int, time_s: float) -> datetime:
        return self.now(self.host_of(rank), time_s)

    def say(self, time_s: float, who: tuple[str, int], text: str, evidence: str = "", *, out: bool = False) -> None:
        self.events.append(Event(time_s, len(self.events), who, text, self.attempt, evidence, out))

    def rank_says(self, time_s: float, rank: int, text: str, evidence: str = "", *, out: bool = False) -> None:
        self.say(time_s, ("rank", rank), text, evidence, out=out)

    def agent_says(self, time_s: float, host: Host, text: str, evidence: str = "") -> None:
        self.say(time_s, ("agent", host.index), text, evidence)

    def slurm_says(self, time_s: float, text: str, evidence: str = "") -> None:
        self.say(time_s, ("slurm", 0), text, evidence)

    def kernel_says(self, time_s: float, host: Host, text: str, evidence: str = "") -> None:
        """A kernel line; its file carries either syslog, `dmesg` or `dmesg -T` prefixes."""
        form = str(self.notes.setdefault("kernel", self.rng.choice(["syslog", "uptime", "wall", "iso"])))
        now = self.now(host, time_s)
        uptime = f"[{time_s - host.boot_s:.6f}]"
        prefix = {"syslog": f"{clock.syslog(now)} {host.name} kernel: {uptime}", "uptime": uptime,
                  "wall": clock.dmesg_t(now), "iso": f"{clock.iso(now)}+00:00 {host.name} kernel:"}[form]
        self.say(time_s, ("kernel", host.index), f"{prefix} {text}", evidence)

    def c10(self, rank: int, time_s: float, severity: str, place: str) -> str:
        """The prefix of a C++ log line of this torch, e.g. `[rank3]:[E515 12:14:18.597023854 ProcessGroupNCCL.cpp:616] `."""
        if not self.torch.since(2, 2):
            return f"[{severity} {place}] "
        if not self.torch.since(2, 4):
            return f"[rank{rank}]:[{severity} {place}] "
        return f"[rank{rank}]:[{severity}{clock.c10(self.at(rank, time_s), self.rng)} {place}] "

    def c10_bare(self, rank: int, time_s: float, severity: str, place: str) -> str:
        """The same before init_process_group, when the rank is not known."""
        prefix = self.c10(rank, time_s, severity, place)
        return prefix.split("]:", 1)[1] if prefix.startswith("[rank") else prefix

    def other_rank(self, *taken: int) -> int:
        return self.rng.choice([rank for rank in range(self.world) if rank not in taken])

    def any_rank(self) -> int:
        return self.rng.randrange(self.world)

    def redraw_pids(self) -> None:
        """New processes for a new attempt."""
        for host in self.hosts:
            host.pids = names.pids(self.rng, self.per_host, host.pids[-1] + self.rng.randrange(200, 9000))
