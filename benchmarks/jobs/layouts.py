"""Where each thing said ends up, and under which prefix: the ways in which clusters keep logs."""

from __future__ import annotations

from . import clock, names
from .job import Event, Job

RAY_FILES = {"raylet": "raylet.out", "gcs": "gcs_server.out", "monitor": "monitor.log"}
LAYOUTS = ("tree", "task", "node", "merged", "k8s", "ray")


class Router:
    """Gives every event its file and its text there; names that a file carries are drawn once."""

    def __init__(self, job: Job) -> None:
        self.job = job
        rng = job.rng
        self.run = f"{rng.choice([str(job.job_id), job.name, 'none'])}_"
        self.trees = [self.run + names.hexes(rng, 8) for _ in job.hosts]
        self.uids = [names.uuid(rng) for _ in job.hosts]
        self.namespace = rng.choice(["ml", "train", "default", "research", "team-nlp"])
        self.container = rng.choice(["pytorch", "trainer", "main"])
        self.stdout = rng.random() < 0.5  # of containers: Python's loggers to stderr, prints to stdout
        self.workers = [names.hexes(rng, 56) for _ in range(job.world)]
        self.kernel = rng.choice(["dmesg-{h}.txt", "kern-{h}.log", "{h}/dmesg.log", "system/{h}.kern.log"])
        self.console = rng.choice([f"{job.name}-{job.job_id}.log", "console.log", f"train_{job.job_id}.out", "output.txt"])
        self.node_form = rng.choice(["{h}.log", "logs-{h}.txt", "{h}/console.log", "train.{h}.out"])
        self.pad = rng.choice([1, 1, 3, 4])

    def place(self, event: Event) -> tuple[str, str]:
        """(file, text) of one event."""
        who, index = event.who
        if who == "kernel":
            return self.kernel.format(h=self.job.hosts[index].name), event.text
        if who in {"slurmctld", "events"}:
            return {"slurmctld": "slurmctld.log", "events": "events.txt"}[who], event.text
        if who == "slurm" and self.job.layout != "merged":
            return f"slurm-{self.job.job_id}.out", event.text
        ways = {"tree": self.tree, "task": self.task, "node": self.node, "merged": self.merged, "k8s": self.k8s, "ray": self.ray}
        return ways[self.job.layout](event)

    def tree(self, event: Event) -> tuple[str, str]:
        job, (who, index) = self.job, event.who
        host = job.hosts[index] if who == "agent" else job.host_of(index)
        base = f"{host.name}/" if len(job.hosts) > 1 else ""
        if who == "agent":
            return f"{base}agent.log", event.text
        stream = "error.json" if who == "json" else "stdout.log" if event.out else "stderr.log"
        return f"{base}elastic/{self.trees[host.index]}/attempt_{event.attempt}/{job.local(index)}/{stream}", event.text

    def task(self, event: Event) -> tuple[str, str]:
        return f"{self.job.name}-{self.job.job_id}-{event.who[1]:0{self.pad}d}.out", event.text

    def node(self, event: Event) -> tuple[str, str]:
        job, (who, index) = self.job, event.who
        host = job.hosts[index] if who == "agent" else job.host_of(index)
        return self.node_form.format(h=host.name), event.text

    def merged(self, event: Event) -> tuple[str, str]:
        job, (who, index) = self.job, event.who
        if who == "slurm" or job.style == "plain":
            return self.console, event.text
        if job.style == "srunl":
            return self.console, prefixed(f"{index:>{len(str(job.world - 1))}}: ", event.text)
        host = job.hosts[index] if who == "agent" else job.host_of(index)
        front = f"{host.name}: " if len(job.hosts) > 1 else ""
        if who == "rank" and job.style == "tee":
            front += f"[default{job.local(index)}]:"
        return self.console, prefixed(front, event.text)

    def k8s(self, event: Event) -> tuple[str, str]:
        job, (who, index) = self.job, event.who
        host = job.hosts[index] if who == "agent" else job.host_of(index)
        restart = event.attempt if job.notes.get("container_restarts") else 0
        stream = "stdout" if event.out and self.stdout else "stderr"
        stamp = clock.cri(job.now(host, event.time_s), job.rng)
        head, nanos = stamp[:20], int(stamp[20:29])
        text = "\n".join(f"{head}{min(nanos + i * 4217, 999999999):09d}Z {stream} F {line}" for i, line in enumerate(event.text.split("\n")))
        return f"pods/{self.namespace}_{host.name}_{self.uids[host.index]}/{self.container}/{restart}.log", text

    def ray(self, event: Event) -> tuple[str, str]:
        job, (who, index) = self.job, event.who
        logs = f"{job.hosts[0 if who != 'raylet' else index].name}/session_latest/logs"
        if who == "driver":
            return "driver.log", event.text
        if who in {"raylet", "gcs", "monitor"}:
            return f"{logs}/{RAY_FILES[who]}", event.text
        suffix = "out" if event.out else "err"
        logs = f"{job.host_of(index).name}/session_latest/logs"
        return f"{logs}/worker-{self.workers[index]}-01000000-{job.pid(index)}.{suffix}", event.text


def prefixed(front: str, text: str) -> str:
    return "\n".join(front + line for line in text.split("\n"))
