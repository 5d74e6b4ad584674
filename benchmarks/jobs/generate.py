"""Draws a job for a fault, lets it start, train, perhaps fail and restart once for another reason, and then fail."""

from __future__ import annotations

from pathlib import Path
from random import Random

from . import chatter, names, raytext, slurm
from .catalogue import FAULTS, Fault
from .job import Host, Job, Truth
from .restarts import earlier_attempt
from .versions import TORCHES
from .write import write_case

SIZES = [8, 8, 16, 16, 24, 32, 32, 48, 64, 96, 128, 256, 512, 1024]
SCRIPTS = {"ddp": "train.py", "fsdp": "train_fsdp.py", "hf": "train_sft.py", "zero3": "train_ds.py", "megatron": "pretrain_gpt.py",
           "lightning": "fit.py", "verl": "launch_ray.py", "openrlhf": "launch_ray.py"}
TIMEOUTS = {"hf": [1800000], "zero3": [1800000], "megatron": [600000], "verl": [600000], "openrlhf": [1800000]}


def generate(out: Path, seed: int, count: int, ranks: tuple[int, int], only: str = "", layout: str = "") -> list[Path]:
    """Writes `count` cases; with `only`, all of that fault. Answers their folders."""
    order = [name for name in FAULTS if name == only or not only]
    if not order:
        raise ValueError(f"no fault {only!r}; known: {', '.join(FAULTS)}")
    Random(f"order {seed}").shuffle(order)
    folders = []
    for index in range(count):
        rng = Random(f"{seed} {index}")
        name = order[index % len(order)]
        folder = out / f"sim-{seed}-{index:04d}"
        job, truth = play(rng, FAULTS[name], ranks, layout or (FAULTS[name].layouts[(index // len(order) + index) % len(FAULTS[name].layouts)]))
        write_case(folder, job, truth, name)
        folders.append(folder)
    return folders


def play(rng: Random, fault: Fault, ranks: tuple[int, int], layout: str) -> tuple[Job, Truth]:
    """One job from its first line to its last."""
    job = draw_job(rng, fault, ranks, layout)
    moment = job.start_s
    if fault.phase == "launch":
        if job.launcher == "srun" or job.notes.get("batch"):
            slurm.opening(job, moment)
        return job, fault.play(job, moment + rng.uniform(3, 9))
    restarts = fault.phase == "train" and job.launcher in {"torchrun", "srun"} and rng.random() < 0.14
    moment = chatter.start(job, moment)
    if restarts:
        moment = earlier_attempt(job, chatter.train(job, moment, rng.uniform(1, 8)))
        moment = chatter.start(job, moment)
    if fault.phase == "train":
        moment = chatter.train(job, moment, rng.uniform(3, 60))
    truth = fault.play(job, moment + rng.uniform(0.2, job.step_s))
    chatter.harmless_kernel(job, moment)
    return job, truth


def draw_job(rng: Random, fault: Fault, ranks: tuple[int, int], layout: str) -> Job:
    """Machines, versions, names; whatever the fault does not need is left to chance."""
    per_host = rng.choice([8, 8, 8, 4])
    fits = [size for size in SIZES if ranks[0] <= size <= ranks[1] and size % per_host == 0 and size // per_host >= fault.min_hosts]
    world = rng.choice(fits or [max(ranks[0], per_host * fault.min_hosts)])
    launcher = {"task": "srun", "ray": "ray"}.get(layout, "torchrun")
    style = ""
    if layout == "merged":
        style = rng.choice(["srunl", "srunl", "tee", "tee", "pdsh", "plain"] if world > per_host else ["srunl", "plain", "tee"])
        style = "tee" if style == "pdsh" and (fault.silent or fault.frameworks) else style
        launcher = {"srunl": "srun", "pdsh": "deepspeed"}.get(style, "torchrun")
    by_deepspeed = launcher == "deepspeed" or (layout in {"node", "k8s"} and not fault.silent and not fault.frameworks and rng.random() < 0.25)
    framework = "zero3" if by_deepspeed else rng.choice(fault.frameworks or (["verl", "openrlhf", "fsdp", "hf"] if layout == "ray" else ["ddp", "hf", "fsdp", "zero3", "megatron", "lightning"]))
    torch = rng.choice([t for t in TORCHES if t.since(*fault.since) and (t.since(2, 3) or not (by_deepspeed or (style == "plain" and world > per_host))) and (layout != "ray" or t.since(2, 0)) and (framework != "fsdp" or t.since(2, 1))])
    launcher = "deepspeed" if by_deepspeed else launcher
    user, name = rng.choice(names.USERS), rng.choice(names.PROJECTS)
    timeouts = TIMEOUTS.get(framework, [600000, 1800000] if torch.since(2, 2) else [1800000])
    job = Job(rng, world, per_host, draw_hosts(rng, world // per_host, per_host, layout, name), torch, framework, layout, launcher, style,
              name, rng.randrange(200000, 9999999), user, names.fill(rng, names.ROOTS, user, name),
              names.fill(rng, names.SITES, user, name), rng.uniform(20, 330) * 86400, round(rng.uniform(0.4, 9), 2), rng.choice(timeouts))
    if launcher == "torchrun" and rng.random() < 0.2:  # the c10d rendezvous numbers hosts as they come
        rng.shuffle(job.hosts)
        for index, host in enumerate(job.hosts):
            host.index = index
    job.step = rng.choice([0, 0, rng.randrange(100, 9000)])
    job.notes |= {"script": SCRIPTS[framework], "interface": rng.choice(["eth0", "ens32", "bond0", "ib0", "enp65s0f0"]),
                  "total": job.step + rng.choice([20000, 100000, 50000]), "nccl_debug": rng.random() < 0.4,
                  "kill_on_bad_exit": launcher == "srun" and rng.random() < 0.5, "actor": raytext.actor(job),
                  "batch": launcher == "torchrun" and layout in {"tree", "node"} and (fault.slurm or rng.random() < 0.3),
                  "cancel_words": rng.choice(["", "DUE TO TASK FAILURE", "DUE to SIGNAL Terminated"]),
                  "container_restarts": rng.random() < 0.5, "open_bars": rng.random() < 0.6,
                  "record": launcher == "torchrun" and rng.random() < 0.3, "raised": {}}
    return job


def draw_hosts(rng: Random, count: int, per_host: int, layout: str, name: str) -> list[Host]:
    """Hosts with their clocks: mostly right, sometimes minutes off, rarely in another zone."""
    found = names.hosts(rng, count)
    if layout == "k8s":
        suffix = rng.choice(["", f"-{rng.choice('abcxyz')}", f"-run{rng.randrange(9)}"])
        pods = [f"{name}{suffix}-worker-{i}" for i in range(count)]
        if rng.random() < 0.5:
            pods = [f"{name}{suffix}-master-0", *pods[: count - 1]]
        found = [(pod, ip) for pod, (_, ip) in zip(pods, found, strict=True)]
    zone = rng.choice([0, 0, 1, 2, -7, 8])
    bad_clocks, bad_zone = rng.random() < 0.35, rng.random() < 0.12
    hosts = []
    for index, (host, ip) in enumerate(found):
        skew = rng.uniform(-140, 140) if bad_clocks and rng.random() < 0.3 else rng.uniform(-0.4, 0.4)
        here = zone + rng.choice([-8, 1, 8]) if bad_zone and index and rng.random() < 1.5 / count else zone
        agent = rng.randrange(60, 200) if layout == "k8s" else rng.randrange(3000, 4000000)
        hosts.append(Host(index, host, ip, skew, here, agent, names.pids(rng, per_host, agent + rng.randrange(40, 4000)), -rng.uniform(1, 60) * 86400))
    return hosts
