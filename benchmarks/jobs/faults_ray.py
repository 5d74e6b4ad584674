"""What only Ray does: its memory monitor, its scheduler, its nodes and its object store."""

from __future__ import annotations

from . import clock, names, raytext, tracebacks
from .fault import Fault, blameless, guilty
from .job import Job, Truth


def actor_died(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    raytext.died(job, time_s, rank, evidence=f"PID: {job.pid(rank)}")
    return guilty(job, "ray.actor-died", f"the actor of rank {rank} dies, no log says why", rank, str(job.pid(rank)), accept=("process.sigkill", "memory.host-oom"), remedy="Read dmesg and raylet.out of that node.")


def monitor_kill(job: Job, time_s: float) -> Truth:
    """Ray ends a worker before the kernel would."""
    rank, rng = job.any_rank(), job.rng
    host = job.host_of(rank)
    limit = rng.choice([125.6, 251.7, 503.5, 1007.2])
    used = limit * rng.uniform(0.951, 0.99)
    node, worker = names.hexes(rng, 56), names.hexes(rng, 56)
    ip = raytext.where(host)
    raytext.raylet_says(job, time_s, host, "E", f"node_manager.cc:3065: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: {node}, IP: {host.ip}) over the last time period. To see more information about the Workers killed on this node, use `ray logs raylet.out -ip {host.ip}`", "killed due to memory pressure")
    raytext.driver_says(job, time_s + 0.5, f"\x1b[33m(raylet{ip})\x1b[0m [{clock.comma(job.now(host, time_s))} E {host.agent_pid} {host.agent_pid}] (raylet) node_manager.cc:3065: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: {node}, IP: {host.ip}) over the last time period. To see more information about the Workers killed on this node, use `ray logs raylet.out -ip {host.ip}`", "killed due to memory pressure")
    raytext.driver_says(job, time_s + 1.5, f"Traceback (most recent call last):\n{raytext.frames(job)}\nray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: {host.ip}, ID: {node}) where the task (actor ID: {names.hexes(rng, 32)}, name={raytext.actor(job)}.__init__, pid={job.pid(rank)}, memory used={used / 3:.2f}GB) was running was {used:.2f}GB / {limit:.2f}GB ({used / limit:.6f}), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: {worker}) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip {host.ip}`. To see the logs of the worker, use `ray logs worker-{worker}*out -ip {host.ip}. Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n{job.pid(rank)}\t{used / 3:.2f}\tray::{raytext.actor(job)}", "Task was killed due to the node running low on memory")
    return guilty(job, "memory.ray-oom", f"Ray's memory monitor ends the worker of rank {rank}", rank, "memory", host.ip, remedy="More memory per node, fewer actors.")


def unschedulable(job: Job, time_s: float) -> Truth:
    rng, head = job.rng, job.hosts[0]
    raytext.opening(job, time_s)
    shape = {"GPU": float(rng.choice([1, 4, 8])), "CPU": float(rng.choice([1, 8]))}
    if rng.random() < 0.6:
        text = f"Error: No available node types can fulfill resource request {shape}. Add suitable node types to this cluster to resolve this issue."
    else:
        text = f"Warning: The following resource request cannot be scheduled right now: {shape}. This is likely due to all cluster resources being claimed by actors. Consider creating fewer actors or adding more nodes to this Ray cluster."
    evidence = text[9:50]
    for index in range(rng.randrange(1, 5)):
        moment = time_s + 30 + index * 35
        raytext.driver_says(job, moment, f"\x1b[33m(autoscaler +{index}m{30 + index}s)\x1b[0m {text}", evidence)
        job.say(moment, ("monitor", 0), f"{clock.comma(job.now(head, moment))}\tINFO autoscaler.py:462 -- {text}", evidence)
    raytext.driver_says(job, time_s + 300, f"Traceback (most recent call last):\n{raytext.frames(job)}\nray.exceptions.GetTimeoutError: Get timed out: some object(s) not ready.")
    return blameless("ray.unschedulable", "no node can give what the placement group asks for", "GPU", remedy="Ask for less or add nodes.")


def node_died(job: Job, time_s: float) -> Truth:
    rng = job.rng
    host = rng.choice(job.hosts[1:])
    node = names.hexes(rng, 56)
    text = f"The node with node id: {node} and address: {host.ip} and node name: {host.ip} has been marked dead because the detector has missed too many heartbeats from it. This can happen when a \t(1) raylet crashes unexpectedly (OOM, etc.) \n\t(2) raylet has lagging heartbeats due to slow network or busy workload."
    raytext.driver_says(job, time_s, f"\x1b[33m(raylet, ip={host.ip})\x1b[0m {text}", "has been marked dead")
    job.say(time_s - 0.2, ("gcs", 0), f"[{clock.comma(job.now(job.hosts[0], time_s))} W 311 311] (gcs_server) gcs_health_check_manager.cc:108: Health check failed for node {node}, remaining checks 0, status 14, response status 0, status message failed to connect to all addresses", "Health check failed")
    raytext.driver_says(job, time_s + 3, f"Traceback (most recent call last):\n{raytext.frames(job)}\nray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: {raytext.actor(job)}\n\tactor_id: {names.hexes(rng, 32)}\n\tpid: {host.pids[0]}\n\tnamespace: {names.uuid(rng)}\n\tip: {host.ip}\nThe actor died because its node has died. Node Id: {node}\n\tthe actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats", "its node has died")
    return blameless("ray.node-died", f"the Ray node {host.ip} is marked dead", "marked dead", host.ip, accept=("process.node-failure",), remedy="Look into dmesg and the raylet log of that node.")


def object_store(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    size = rng.randrange(10**9, 10**11)
    text = tracebacks.traceback_text(job, f"ray.exceptions.ObjectStoreFullError: Failed to put object {names.hexes(rng, 56)} in object store because it is full. Object size is {size} bytes.\nThe local object store is full of objects that are still in scope and cannot be evicted. Tip: Use the `ray memory` command to list active objects in the cluster.", "step")
    job.rank_says(time_s, rank, text, "ObjectStoreFullError")
    raytext.driver_says(job, time_s + 1, text, "ObjectStoreFullError")
    return blameless("ray.object-store", "the object store is full", "ObjectStoreFullError", str(size), remedy="A larger object_store_memory.")


FAULTS = [
    Fault("ray-actor-died", actor_died, ("ray",)), Fault("ray-oom", monitor_kill, ("ray",)), Fault("ray-unschedulable", unschedulable, ("ray",), phase="launch"),
    Fault("ray-node-died", node_died, ("ray",), min_hosts=2), Fault("ray-object-store", object_store, ("ray",)),
]
