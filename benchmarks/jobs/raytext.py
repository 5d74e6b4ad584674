"""Ray's words: the driver's view of workers, and the reasons it gives when an actor is gone."""

from __future__ import annotations

from . import clock, names
from .job import Host, Job

BOILERPLATE = [
    "Worker unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.",
    "Worker unexpectedly exits with a connection error code 2. End of file. Some common causes include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop --force was called, or (3) the worker crashed unexpectedly due to SIGSEGV or another unexpected error.",
]
ACTORS = {"verl": "WorkerDict", "openrlhf": "ActorModelRayActor"}


def actor(job: Job) -> str:
    return ACTORS.get(job.framework, "RayTrainWorker")


def driver_says(job: Job, time_s: float, text: str, evidence: str = "") -> None:
    job.say(time_s, ("driver", 0), text, evidence)


def where(host: Host) -> str:
    """The driver runs on the first host: lines of its own workers carry no address."""
    return "" if host.index == 0 else f", ip={host.ip}"


def echo(job: Job, time_s: float, rank: int, text: str) -> None:
    """A worker's line as the driver repeats it, coloured."""
    tag = f"\x1b[36m({actor(job)} pid={job.pid(rank)}{where(job.host_of(rank))})\x1b[0m"
    driver_says(job, time_s, "\n".join(f"{tag} {line}" for line in text.split("\n")))


def opening(job: Job, time_s: float) -> None:
    now = job.now(job.hosts[0], time_s)
    head = job.hosts[0].ip
    driver_says(job, time_s, f"{clock.comma(now)}\tINFO worker.py:1841 -- Connecting to existing Ray cluster at address: {head}:6379...\n"
                f"{clock.comma(now)}\tINFO worker.py:2003 -- Connected to Ray cluster. View the dashboard at \x1b[1m\x1b[32m{head}:8265 \x1b[39m\x1b[22m")


def worker_list(job: Job, time_s: float) -> None:
    """Ray Train's list that maps (ip, pid) to ranks."""
    pid = job.hosts[0].agent_pid
    lines = [f"\x1b[36m(TorchTrainer pid={pid})\x1b[0m Started distributed worker processes: "]
    nodes = {host.index: names.hexes(job.rng, 56) for host in job.hosts}
    for rank in range(job.world):
        host = job.host_of(rank)
        lines.append(f"\x1b[36m(TorchTrainer pid={pid})\x1b[0m - (node_id={nodes[host.index]}, ip={host.ip}, pid={job.pid(rank)}) "
                     f"world_rank={rank}, local_rank={job.local(rank)}, node_rank={host.index}")
    driver_says(job, time_s, "\n".join(lines))


def died(job: Job, time_s: float, rank: int, detail: str = "", evidence: str = "") -> None:
    """The driver learns that an actor's process is gone, and ends."""
    host = job.host_of(rank)
    actor_id = names.hexes(job.rng, 32)
    detail = detail or job.rng.choice(BOILERPLATE)
    if job.rng.random() < 0.6:
        driver_says(job, time_s, f"\x1b[33m(raylet{where(host)})\x1b[0m A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. RayTask ID: ffffffffffffffff{actor_id} Worker ID: {names.hexes(job.rng, 56)} Node ID: {names.hexes(job.rng, 56)} Worker IP address: {host.ip} Worker port: {job.rng.randrange(10002, 19999)} Worker PID: {job.pid(rank)} Worker exit type: SYSTEM_ERROR Worker exit detail: {detail}", evidence)
    driver_says(job, time_s + 1.1, f"Traceback (most recent call last):\n{frames(job)}\n"
                "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
                f"\tclass_name: {actor(job)}\n\tactor_id: {actor_id}\n\tpid: {job.pid(rank)}\n\tnamespace: {names.uuid(job.rng)}\n\tip: {host.ip}\n"
                f"The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: {detail}", evidence and f"pid: {job.pid(rank)}")


def raised(job: Job, time_s: float, rank: int, text: str) -> None:
    """The driver shows an exception of a worker: `text` is the worker's own traceback."""
    host = job.host_of(rank)
    lines = text.strip("\n").split("\n")
    last = next(line for line in lines if line and not line.startswith((" ", "Traceback")))
    kind = last.split(":", 1)[0].split(".")[-1]
    method = job.rng.choice(["update_actor", "fit", "train", "_RayTrainWorker__execute.get_next"])
    head = f"ray.exceptions.RayTaskError({kind}): \x1b[36mray::{actor(job)}.{method}()\x1b[39m (pid={job.pid(rank)}, ip={host.ip}, actor_id={names.hexes(job.rng, 32)}, repr=<{actor(job)} object at 0x7f{names.hexes(job.rng, 10)}>)"
    body = "\n".join(lines[1:])
    driver_says(job, time_s, f"Traceback (most recent call last):\n{frames(job)}\n{head}\n{body}")


def frames(job: Job) -> str:
    return (f'  File "{job.root}/launch_ray.py", line {job.rng.randrange(30, 200)}, in <module>\n    main()\n'
            f'  File "{job.site}/ray/_private/worker.py", line {job.rng.choice([2639, 2772, 2822])}, in get\n    values, debugger_breakpoint = worker.get_objects(object_refs, timeout=timeout)')


def raylet_says(job: Job, time_s: float, host: Host, level: str, text: str, evidence: str = "") -> None:
    pid = host.agent_pid - 50
    job.say(time_s, ("raylet", host.index), f"[{clock.comma(job.now(host, time_s))} {level} {pid} {pid}] (raylet) {text}", evidence)
