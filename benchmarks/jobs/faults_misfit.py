"""Things that do not fit together: versions, drivers, devices, limits, sizes of the world; and ends without a word."""

from __future__ import annotations

from . import aftermath, names, tracebacks
from .fault import ANYWHERE, Fault, blameless, guilty
from .faults_network import ends_one, nccl_raises
from .job import Job, Truth
from .watchdog import nccl_warn


def nccl_shm(job: Job, time_s: float) -> Truth:
    """/dev/shm is too small for NCCL, on every rank of one host."""
    rng, host = job.rng, job.rng.choice(job.hosts)
    for rank in job.ranks_on(host):
        moment = time_s + rng.uniform(0, 1)
        segment, size = "/dev/shm/nccl-" + names.hexes(rng, 6), rng.choice([9637888, 33030144, 4194660])
        first = f"Error: failed to extend {segment} to {size} bytes" + (", error: No space left on device (28)" if job.torch.nccl_number >= (2, 22) else "")
        last = f"Error while creating shared memory segment {segment} (size {size})"
        job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"misc/shmutils.cc:{rng.choice([72, 87])}", first), "failed to extend", out=True)
        job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"misc/shmutils.cc:{rng.choice([113, 134])}", last), out=True)
        nccl_raises(job, moment + 0.2, rank, last, init=True)
    ends_one(job, time_s + 3, job.ranks_on(host))
    return blameless("nccl.shm-exhausted", f"/dev/shm of {host.name} is too small for NCCL", "/dev/shm/nccl-", hosts=[host.name], remedy="--shm-size, --ipc=host or an emptyDir of medium Memory.")


def duplicate_gpu(job: Job, time_s: float) -> Truth:
    """The launcher gave every rank of a host the same device."""
    rng = job.rng
    bus = f"{rng.randrange(16, 250):x}000"
    for rank in range(job.world):
        first = job.ranks_on(job.host_of(rank))[0]
        peer = first if rank != first else first + 1
        text = f"Duplicate GPU detected : rank {rank} and rank {peer} both on CUDA device {bus}"
        error = f"{'invalid usage (run with NCCL_DEBUG=WARN for details)' if job.torch.nccl_number >= (2, 18) else 'invalid usage'}, NCCL version {job.torch.nccl}\nncclInvalidUsage: This usually reflects invalid usage of NCCL library."
        moment = time_s + rng.uniform(0, 1)
        if job.notes.get("nccl_debug"):
            job.rank_says(moment, rank, nccl_warn(job, moment, rank, f"init.cc:{rng.choice([795, 888])}", text), "Duplicate GPU", out=True)
        nccl_raises(job, moment + 0.2, rank, text, error, init=True)
        event = job.events.pop()
        job.rank_says(event.time_s, rank, event.text, text)
    ends_one(job, time_s + 3, list(range(job.world)))
    return blameless("nccl.invalid-usage", "several ranks of a host use one GPU", "Duplicate GPU", accept=("config.world-size-mismatch",), remedy="torch.cuda.set_device(local_rank) before the first collective.")


def open_files(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    path = names.fill(job.rng, names.DATA, job.user, job.name)
    error = job.rng.choice([f"OSError: [Errno 24] Too many open files: '{path}'", "RuntimeError: can't start new thread", "BlockingIOError: [Errno 11] Resource temporarily unavailable"])
    aftermath.rank_raises(job, time_s, rank, error, "dataset", error)
    return guilty(job, "process.resource-limit", f"rank {rank} meets a limit of its processes", rank, error.split(": ", 1)[1][:24], accept=("process.exception",), remedy="Raise ulimit -n / -u.")


def world_size(job: Job, time_s: float) -> Truth:
    rng = job.rng
    split = rng.choice([3, 5, 6, 7, 12])
    split = split if job.world % split else 7
    error = rng.choice([f"AssertionError: world size ({job.world}) is not divisible by total_model_size (total_model_size={split})",
                        f"RuntimeError: world_size ({job.world}) is not divisible by {split}"])
    aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, error)), "args")
    return blameless("config.world-size-mismatch", "the world does not divide by the model's parallel sizes", "is not divisible by", accept=("config.invalid-argument",), remedy="Choose tp x pp that divides the world.")


def device_ordinal(job: Job, time_s: float) -> Truth:
    """More ranks on a host than it shows GPUs."""
    error = "CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect."
    dead = [rank for rank in range(job.world) if job.local(rank) >= job.per_host // 2]
    for rank in dead:
        tracebacks.raise_text(job, time_s + job.rng.uniform(0, 1), rank, f"RuntimeError: {error}", "args", "invalid device ordinal", joined=False)
    ends_one(job, time_s + 2, dead)
    return blameless("config.world-size-mismatch", "more ranks for each host than GPUs", "invalid device ordinal", remedy="As many processes as GPUs; --gpus-per-node.")


def driver(job: Job, time_s: float) -> Truth:
    rng, host = job.rng, job.rng.choice(job.hosts)
    text = rng.choice(["RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx",
                       "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination",
                       "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx"])
    for rank in job.ranks_on(host):
        tracebacks.raise_text(job, time_s + rng.uniform(0, 1), rank, text, "args", text[14:50], joined=False)
    ends_one(job, time_s + 2, job.ranks_on(host))
    return blameless("gpu.driver-mismatch", f"the driver of {host.name} does not fit", "river", hosts=[host.name], remedy="Update or reload the driver of that host.")


def import_one_host(job: Job, time_s: float) -> Truth:
    """The environment of one host differs: no process of it comes as far as the others, which wait for them."""
    rng, host = job.rng, job.rng.choice(job.hosts)
    text = rng.choice(["ModuleNotFoundError: No module named 'flash_attn'", "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
                       "ImportError: /opt/venv/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs"])
    for rank in job.ranks_on(host):
        tracebacks.raise_text(job, time_s + rng.uniform(0, 1), rank, text, "args", text.partition(": ")[2][:40], joined=False)
    ends_one(job, time_s + 2, job.ranks_on(host))
    return blameless("software.import-error", f"an import fails on {host.name} only", text.partition(": ")[2][:20], hosts=[host.name], remedy="Install on that host what the others have.")


def silent_exit(job: Job, time_s: float) -> Truth:
    """sys.exit(3) somewhere deep, and no word."""
    rank, code = job.any_rank(), job.rng.choice([1, 3, 7, 13, 42, 255])
    aftermath.ranks_died(job, time_s, {rank: code}, mark=True)
    return guilty(job, "process.exit-code", f"rank {rank} ends with code {code} and says nothing", rank, str(code), accept=("unknown",), remedy="Find out which exit that is; decorate main with @record.")


FAULTS = [
    Fault("nccl-shm", nccl_shm, phase="start", silent=True), Fault("duplicate-gpu", duplicate_gpu, phase="start", silent=True),
    Fault("open-files", open_files, ANYWHERE), Fault("world-size", world_size, phase="start", frameworks=("megatron",)),
    Fault("device-ordinal", device_ordinal, phase="launch", silent=True), Fault("driver", driver, phase="launch", silent=True),
    Fault("import-one-host", import_one_host, phase="launch", min_hosts=2, silent=True),
    Fault("silent-exit", silent_exit, ("tree", "task", "node", "merged", "k8s"), silent=True),
]
