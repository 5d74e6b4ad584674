"""The ordinary talk of frameworks: start-up of every rank, progress of the one that logs, checkpoints, evaluation."""

from __future__ import annotations

from collections.abc import Callable

from . import clock, elastic, names, raytext, slurm
from .job import OPEN, Job
from .noise import kernel_noise, mid_noise, rank_noise

MANY = 256  # ranks above which each says the least


def start(job: Job, time_s: float) -> float:
    """Launcher and ranks come up; answers when training begins."""
    if job.launcher == "srun" or (job.notes.get("batch") and not job.attempt):
        slurm.opening(job, time_s)
    if job.launcher == "torchrun" and not job.attempt:  # a restart is made by the same agent
        for host in job.hosts:
            elastic.banner(job, time_s + job.rng.uniform(0, 1), host)
    if job.launcher == "ray":
        raytext.opening(job, time_s)
        if job.framework not in raytext.ACTORS:  # only Ray Train lists its workers
            raytext.worker_list(job, time_s + 4)
    ready = time_s + 8
    for rank in range(job.world):
        moment = ready + job.rng.uniform(0, 3)
        if job.rng.random() < (0.15 if job.world < MANY else 0.02):
            job.rank_says(moment - 2, rank, rank_noise(job, rank, moment - 2))
        hello(job, moment, rank)
        if job.notes.get("nccl_debug") and job.world <= 64:
            nccl_init(job, moment + 2, rank)
    job.rank_says(ready + 4, 0, f"NCCL version {job.torch.nccl}+cuda{job.torch.cuda}", out=True)
    return ready + 6


def hello(job: Job, time_s: float, rank: int) -> None:
    """One line by which a rank shows that it lives, and who it is."""
    host, now = job.host_of(rank), job.at(rank, time_s)
    local = job.local(rank)
    lines = {
        "ddp": f"{clock.comma(now)} | INFO | rank {rank} | init done: world_size={job.world} local_rank={local} host={host.name} pid={job.pid(rank)} torch={job.torch.build}",
        "hf": f"{clock.slash(now)} - WARNING - __main__ - Process rank: {rank}, device: cuda:{local}, n_gpu: 1, distributed training: True, 16-bits training: False",
        "fsdp": f"[titan] {clock.comma(now)} - root - INFO - Starting job: {job.name}, rank {rank}/{job.world}, CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory",
        "zero3": f"[{clock.comma(now)}] [INFO] [comm.py:652:init_distributed] cdb=None\n[{clock.comma(now)}] [INFO] [train_ds.py:88:setup] [Rank {rank}] device cuda:{local} on {host.name}",
        "megatron": f"> rank {rank} (local {local}) on {host.name}: initialized tensor model parallel with size {min(4, job.per_host)}",
        "lightning": f"Initializing distributed: GLOBAL_RANK: {rank}, MEMBER: {rank + 1}/{job.world}",
        "verl": f"[{clock.plain(now)}] rank={rank} local_rank={local} Model config after override, FSDP wrap ready on {host.name}",
        "openrlhf": f"[{clock.comma(now)}] [INFO] [comm.py:637:init_distributed] cdb=None\nrank={rank} actor ready, pid={job.pid(rank)}",
    }
    job.rank_says(time_s, rank, lines[job.framework], out=job.framework in {"megatron", "verl", "openrlhf"})


def nccl_init(job: Job, time_s: float, rank: int) -> None:
    host, pid = job.host_of(rank), job.pid(rank)
    head = f"{host.name}:{pid}:{pid + 300} [{job.local(rank)}] NCCL INFO"
    interface = job.notes["interface"]
    space = "" if job.torch.nccl_number >= (2, 24) else " "
    job.rank_says(time_s, rank, f"{head} Bootstrap{space}: Using {interface}:{host.ip}<0>\n"
                  f"{head} NET/Plugin: No plugin found (libnccl-net.so), using internal implementation\n"
                  f"{head} comm 0x55d{pid:09x} rank {rank} nranks {job.world} cudaDev {job.local(rank)} nvmlDev {job.local(rank)} busId {0x1b000 + job.local(rank) * 0x10000:x} commId 0x{job.job_id:016x} - Init COMPLETE", out=True)


def progress(job: Job, time_s: float, step: int) -> str:
    """The line of one training step in the framework's form."""
    rng, now = job.rng, job.at(0, time_s)
    loss = 10.5 / (1 + step / 300) + rng.uniform(0, 0.3)
    norm, rate, total = rng.uniform(0.2, 2.0), 3e-4, job.notes["total"]
    done = int(str(total))
    spent, left = int(step * job.step_s), int((done - step) * job.step_s)
    forms: dict[str, Callable[[], str]] = {
        "ddp": lambda: f"{clock.comma(now)} | INFO | rank 0 | epoch 0 step {step}/{total} loss {loss:.4f} lr {rate:.2e} {1 / job.step_s:.2f} it/s",
        "hf": lambda: f"{step * 100 // done:3d}%|{'█' * (step * 10 // done):<10}| {step}/{total} [{spent // 60:02d}:{spent % 60:02d}<{left // 60}:{left % 60:02d},  {job.step_s:.2f}s/it]\r" + f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.3f}, 'learning_rate': {rate:.3e}, 'epoch': {step / done:.2f}}}",
        "fsdp": lambda: f"[titan] {clock.comma(now)} - root - INFO - step: {step:5d}  loss: {loss:7.4f}  grad_norm: {norm:.4f}  memory: 63.71GiB(80.54%)  tps: {rng.randrange(2000, 4500):,}  tflops: 178.26  mfu: 18.02%",
        "zero3": lambda: f"[{clock.comma(now)}] [INFO] [logging.py:107:log_dist] [Rank 0] step={step}, skipped=0, lr=[{rate}], mom=[(0.9, 0.95)]\nsteps: {step} loss: {loss:.4f} iter time (s): {job.step_s:.3f} samples/sec: {job.world / job.step_s:.3f}",
        "megatron": lambda: f" [{clock.plain(now)}] iteration {step:8d}/{done:8d} | consumed samples: {step * 512:12d} | elapsed time per iteration (ms): {job.step_s * 1000:.1f} | learning rate: {rate:.6E} | global batch size:   512 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {norm:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |",
        "lightning": lambda: f"Epoch 0: {step * 100 // done:3d}%|{'█' * (step * 10 // done):<10}| {step}/{total} [{spent // 60:02d}:{spent % 60:02d}<{left // 60:02d}:{left % 60:02d}, {1 / job.step_s:.2f}it/s, v_num=3, train_loss={loss:.3f}]",
        "verl": lambda: f"step:{step} - actor/pg_loss:{norm - 1:.3f} - actor/grad_norm:{norm:.3f} - critic/rewards/mean:{rng.random():.3f} - response_length/mean:{rng.uniform(200, 900):.1f} - timing_s/step:{job.step_s:.2f}",
        "openrlhf": lambda: f"Train epoch [1/1]: {step * 100 // done:3d}%| {step}/{total} [{spent // 60:02d}:{spent % 60:02d}<{left // 60:02d}:{left % 60:02d}, {job.step_s:.2f}s/it, pg={norm - 1:.4f}, ret={rng.random():.3f}, glen={rng.randrange(100, 900)}]",
    }
    return forms[job.framework]()


def speaker(job: Job) -> int:
    """Who logs progress: the last rank in Megatron, else the first."""
    return job.world - 1 if job.framework == "megatron" else 0


def train(job: Job, time_s: float, minutes: float) -> float:
    """Progress for about so long; answers when the last step shown ended."""
    steps = max(3, int(minutes * 60 / job.step_s))
    stride = max(1, steps // job.rng.randrange(8, 28))
    who = speaker(job)
    out = job.framework in {"megatron", "verl"}
    for done in range(stride, steps + 1, stride):
        moment = time_s + done * job.step_s
        bar = OPEN if job.notes["open_bars"] and job.framework in {"hf", "lightning"} else ""
        job.rank_says(moment, who, progress(job, moment, job.step + done) + bar, out=out)
        if job.rng.random() < 0.06:
            rank = job.any_rank()
            job.rank_says(moment + 0.5, rank, mid_noise(job, rank, moment))
        if job.launcher == "ray" and job.rng.random() < 0.3:
            raytext.echo(job, moment + 1, who, progress(job, moment, job.step + done).split("\r")[-1])
        if job.rng.random() < 0.08:
            saved(job, moment + 1, job.step + done)
    job.step += steps
    job.seq += steps * job.rng.choice([1, 2, 7, 40]) + job.rng.randrange(9)
    return time_s + steps * job.step_s


def saved(job: Job, time_s: float, step: int) -> None:
    path = names.fill(job.rng, names.CKPT, job.user, job.name, step)
    job.rank_says(time_s, 0, job.rng.choice([
        f"{clock.comma(job.at(0, time_s))} INFO saving checkpoint to {path}",
        f"Saving model checkpoint to {path}",
        f"  successfully saved checkpoint from iteration {step} to {path}"]))


def finish(job: Job, time_s: float) -> None:
    """The last words of a job that went well."""
    now = job.at(0, time_s)
    spent = time_s - job.start_s
    job.rank_says(time_s, speaker(job), job.rng.choice([
        f"{{'train_runtime': {spent:.4f}, 'train_samples_per_second': 84.973, 'train_loss': 1.8277, 'epoch': 1.0}}",
        f"{clock.comma(now)} INFO training finished after {job.step} steps, best val loss 1.9{job.rng.randrange(99)}",
        f"`Trainer.fit` stopped: `max_steps={job.step}` reached.",
        f"Training completed in {spent:.1f} s. Final checkpoint written."]))
    if job.launcher == "srun" or job.notes.get("batch"):
        job.slurm_says(time_s + 6, f"{clock.plain(job.now(job.hosts[0], time_s + 6))} job {job.job_id} finished, exit status 0")


def harmless_kernel(job: Job, time_s: float) -> None:
    """Sometimes a kernel log of a host lies beside, and says nothing of interest."""
    if job.layout != "ray" and job.rng.random() < 0.15:
        kernel_noise(job, job.rng.choice(job.hosts), time_s)
