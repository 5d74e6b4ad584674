"""Memory runs out: on the device, on the host with and without proof, in /dev/shm."""

from __future__ import annotations

from . import aftermath, names, slurm, tracebacks
from .fault import ANYWHERE, NO_RAY, Fault, blameless, guilty
from .job import Job, Truth
from .noise import kernel_noise

TOTALS = ["79.10 GiB", "79.25 GiB", "39.39 GiB", "79.33 GiB", "139.72 GiB", "23.65 GiB", "31.74 GiB"]


def oom_text(job: Job, rank: int) -> tuple[str, str]:
    """(the exception, what was asked for) in the words of the release."""
    rng, torch = job.rng, job.torch
    asked = rng.choice([f"{rng.uniform(1, 16):.2f} GiB", f"{rng.randrange(20, 990)}.00 MiB", f"{rng.randrange(2, 20) * 2}.00 MiB"])
    total = rng.choice(TOTALS)
    free = f"{rng.uniform(5, 900):.2f} MiB"
    held, spare = f"{float(total.split()[0]) - rng.uniform(2, 6):.2f} GiB", f"{rng.uniform(0.1, 3):.2f} GiB"
    gpu = job.local(rank)
    if not torch.since(2, 1):
        return (f"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked} (GPU {gpu}; {total} total capacity; {held} already allocated; {free} free; {held} reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF", asked)
    capacity = "capacity" if torch.since(2, 2) else "capacty"
    kind = "torch.OutOfMemoryError" if torch.since(2, 5) else "torch.cuda.OutOfMemoryError"
    others = f"Process {rng.randrange(2000, 900000)} has {rng.uniform(0.4, 4):.2f} GiB memory in use. " if rng.random() < 0.2 else ""
    advice = "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)" \
        if torch.since(2, 2) else "try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
    return (f"{kind}: CUDA out of memory. Tried to allocate {asked}. GPU {gpu} has a total {capacity} of {total} of which {free} is free. {others}Including non-PyTorch memory, this process has {held} memory in use. Of the allocated memory {held} is allocated by PyTorch, and {spare} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large {advice}", asked)


def cuda_oom(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    error, asked = oom_text(job, rank)
    place = job.rng.choice(["forward", "backward", "optimizer"])
    aftermath.rank_raises(job, time_s, rank, error, place, "CUDA out of memory")
    return guilty(job, "memory.cuda-oom", f"CUDA out of memory on rank {rank} in {place}", rank, "CUDA out of memory", f"Tried to allocate {asked}",
                  remedy="Lower the micro batch or sequence length, checkpoint activations.")


def cuda_oom_all(job: Job, time_s: float) -> Truth:
    """The model does not fit: every rank runs out at the same step."""
    errors = {rank: (oom_text(job, rank)[0], "CUDA out of memory") for rank in range(job.world)}
    aftermath.all_raise(job, time_s, errors, job.rng.choice(["forward", "backward", "optimizer"]))
    return blameless("memory.cuda-oom", "every rank runs out of device memory: the configuration does not fit", "CUDA out of memory",
                     remedy="Shard more, offload, or lower the micro batch.")


def oom_report(job: Job, time_s: float, rank: int) -> int:
    """The kernel's report about a cgroup (or the whole host) that is full; answers the victim's pid."""
    rng, host, pid = job.rng, job.host_of(rank), job.pid(rank)
    comm = rng.choice(["python", "python3", "pt_main_thread", "python3.10"])
    group = rng.choice([f"/slurm/uid_{rng.randrange(1000, 60000)}/job_{job.job_id}/step_0", f"/system.slice/slurmstepd.scope/job_{job.job_id}",
                        f"/kubepods/burstable/pod{names.uuid(rng)}/{names.hexes(rng, 64)}", f"/docker/{names.hexes(rng, 64)}"])
    whole = rng.random() < 0.3
    size = rng.randrange(60_000_000, 900_000_000)
    kernel_noise(job, host, time_s)
    def say(text: str, evidence: str = "") -> None:
        job.kernel_says(time_s, host, text, evidence)
    say(f"{rng.choice([comm, 'pt_data_worker', 'systemd-journal', 'cache_mgr_main'])} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj={rng.choice([0, 0, 936])}")
    say(f"CPU: {rng.randrange(96)} PID: {pid} Comm: {comm} Tainted: P           OE     5.15.0-1064-nvidia #65-Ubuntu")
    for line in ["Call Trace:", " <TASK>", " dump_stack_lvl+0x4a/0x63", " oom_kill_process.cold+0xb/0x10", " </TASK>"]:
        say(line)
    if not whole:
        say(f"memory: usage {size}kB, limit {size}kB, failcnt {rng.randrange(20, 90000)}")
    scope = f"CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg={group}" if whole else f"CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg={group},task_memcg={group}"
    say(f"oom-kill:constraint={scope},task={comm},pid={pid},uid={rng.randrange(1000, 60000)}")
    head = "Out of memory" if whole else "Memory cgroup out of memory"
    say(f"{head}: Killed process {pid} ({comm}) total-vm:{size + 30000000}kB, anon-rss:{size - 2000000}kB, file-rss:188502kB, shmem-rss:731934kB, UID:0 pgtables:773988kB oom_score_adj:0", "Killed process")
    say(f"oom_reaper: reaped process {pid} ({comm}), now anon-rss:0kB, file-rss:0kB, shmem-rss:59486kB")
    if rng.random() < 0.3:  # the driver cleans up after the dead process
        job.kernel_says(time_s + 0.6, host, f"NVRM: Xid (PCI:0000:{0x1b + job.local(rank) * 0x11:02x}:00): 45, pid={pid}, name={comm}, Ch 00000008")
    return pid


def host_oom_proof(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    pid = oom_report(job, time_s, rank)
    aftermath.ranks_died(job, time_s + 0.5, {rank: -9})
    if job.launcher == "srun" and job.rng.random() < 0.7:
        end = max(event.time_s for event in job.events) + 1
        words = job.rng.choice([f"Detected 1 oom_kill event in StepId={job.job_id}.0. Some of the step tasks have been OOM Killed.",
                                f"Detected 1 oom-kill event(s) in StepId={job.job_id}.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler."])
        job.slurm_says(end, f"slurmstepd: error: {words}", "Detected 1 oom")
    return guilty(job, "memory.host-oom", f"the kernel's OOM killer ends rank {rank}; its log is there", rank, f"Killed process {pid}",
                  remedy="Less host memory per rank (workers, prefetch, offload), or a higher limit.")


def host_oom_silent(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    aftermath.ranks_died(job, time_s, {rank: -9}, mark=True)
    if job.launcher == "ray":
        return guilty(job, "ray.actor-died", f"the worker of rank {rank} is gone, no log says why", rank, str(job.pid(rank)),
                      accept=("process.sigkill", "memory.host-oom"), remedy="Read dmesg and raylet.out of that node.")
    return guilty(job, "process.sigkill", f"rank {rank} is killed by SIGKILL and nothing says by whom", rank, "Killed" if job.launcher == "srun" else "-9",
                  accept=("memory.host-oom",), remedy="Look into dmesg of that host for the OOM killer.")


def host_oom_slurm(job: Job, time_s: float) -> Truth:
    """No kernel log, but Slurm counts the kill at the end of the step."""
    rank = job.any_rank()
    if job.rng.random() < 0.5:
        slurm.tasks_ended(job, time_s, [rank], -9)
    else:
        job.slurm_says(time_s, f"srun: error: {job.host_of(rank).name}: task {rank}: Out Of Memory", "Out Of Memory")
    slurm.step_aborted(job, time_s + 0.3, [other for other in range(job.world) if other != rank])
    words = job.rng.choice([f"Detected 1 oom_kill event in StepId={job.job_id}.0. Some of the step tasks have been OOM Killed.",
                            f"Detected {job.rng.randrange(1, 4)} oom-kill event(s) in StepId={job.job_id}.0. Some of your processes may have been killed by the cgroup out-of-memory handler."])
    job.slurm_says(time_s + 3, f"slurmstepd: error: {words}", "oom")
    return guilty(job, "memory.host-oom", f"Slurm reports an OOM kill in the step; task {rank} was killed", rank, "oom", remedy="Ask for more memory (--mem) or use less.")


def bus_error(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    worker = job.pid(rank) + job.rng.randrange(200, 4000)
    if job.rng.random() < 0.7:
        job.rank_says(time_s - 0.3, rank, "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\x07\n")
    aftermath.rank_raises(job, time_s, rank, f"RuntimeError: DataLoader worker (pid {worker}) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", "loader", "is killed by signal: Bus error")
    return guilty(job, "memory.shm-full", f"/dev/shm too small: a DataLoader worker of rank {rank} gets a bus error", rank, "Bus error", "shared memory",
                  remedy="Enlarge /dev/shm (--shm-size, --ipc=host, emptyDir medium Memory).")


def shm_no_space(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    worker = job.rng.randrange(8)
    error = f"RuntimeError: unable to {job.rng.choice(['allocate shared memory(shm) for file', 'write to file'])} </torch_{job.pid(rank)}_{job.rng.randrange(10**9)}_{job.rng.randrange(99)}>: No space left on device (28)"
    aftermath.rank_raises(job, time_s, rank, tracebacks.worker_error(job, error, "dataset", worker), "loader", "unable to")
    return guilty(job, "memory.shm-full", f"no room in /dev/shm for a batch of rank {rank}", rank, "No space left on device (28)", remedy="Enlarge /dev/shm.")


def worker_killed(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    worker = job.pid(rank) + job.rng.randrange(200, 4000)
    error = f"RuntimeError: DataLoader worker (pid {worker}) is killed by signal: Killed. "
    if job.rng.random() < 0.5:
        error = tracebacks.chained(job, error, f"RuntimeError: DataLoader worker (pid(s) {worker}) exited unexpectedly", "loader")
    aftermath.rank_raises(job, time_s, rank, error, "loader", "DataLoader worker (pid")
    return guilty(job, "data.worker-died", f"a DataLoader worker of rank {rank} dies, nothing says why", rank, str(worker),
                  accept=("memory.host-oom", "process.sigkill"), remedy="Fewer workers; look into dmesg.")


FAULTS = [
    Fault("cuda-oom", cuda_oom, ANYWHERE), Fault("cuda-oom-all", cuda_oom_all, NO_RAY),
    Fault("host-oom-dmesg", host_oom_proof, ("tree", "task", "node", "merged"), silent=True), Fault("sigkill-no-proof", host_oom_silent, ANYWHERE, silent=True),
    Fault("host-oom-slurm", host_oom_slurm, ("task",), silent=True), Fault("worker-bus-error", bus_error, ANYWHERE),
    Fault("shm-no-space", shm_no_space), Fault("worker-killed", worker_killed),
]
