"""Collectives that never end: somebody is late, somebody does something else, or nobody knows why."""

from __future__ import annotations

from dataclasses import replace

from . import aftermath, clock, raytext, slurm, tracebacks
from .fault import ANYWHERE, NO_RAY, Fault, blameless, guilty
from .job import Job, Truth
from .watchdog import PG, Wait, group_prefix, pick_wait

WATCHDOG = "Watchdog caught"
BARRIERS = [("ALLREDUCE", 1, 1), ("ALLREDUCE", 1, 1), ("BROADCAST", 1, 1), ("_ALLGATHER_BASE", 1, 0)]


def barrier_wait(job: Job) -> Wait:
    job.seq += 1
    op, numel_in, numel_out = job.rng.choice(BARRIERS)
    return Wait(job.seq, op, numel_in, numel_out or job.world)


def others(job: Job, rank: int, wait: Wait) -> dict[int, Wait]:
    return {other: wait for other in range(job.world) if other != rank}


def info(job: Job, time_s: float, rank: int, text: str, evidence: str = "") -> None:
    job.rank_says(time_s, rank, f"{clock.comma(job.at(rank, time_s))} INFO rank {rank}: {text}", evidence)


def late(job: Job, time_s: float, rank: int, why: str, *more: str, cause: str = "collective.straggler") -> Truth:
    """`rank` says `why` it is busy (its first words are the evidence); the others give up on it."""
    info(job, time_s, rank, why, why)
    for index, text in enumerate(more):
        info(job, time_s + job.timeout_ms / 1000 * (index + 1) / (len(more) + 1), rank, text)
    aftermath.hang(job, time_s + 2, others(job, rank, barrier_wait(job)), dump=job.rng.random() < 0.4)
    truth = guilty(job, cause, f"rank {rank} is busy ({why}) while the others wait", rank, str(job.timeout_ms), remedy="Do that work before, on all ranks, or raise the time-out.")
    truth.keep_all = True
    truth.symptoms = ["time-outs of all ranks but one", "SIGABRT"]
    return truth


def tokenise(job: Job, time_s: float) -> Truth:
    rng = job.rng
    n = rng.randrange(2, 90) * 1_000_000
    job.seq = rng.randrange(0, 6)
    why = rng.choice([f"tokenizing {n:,} documents (rank 0 only, others wait)", f"building the index of {n:,} samples for split train", f"Running tokenizer on dataset: 0/{n}",
                      "compiling and loading fused kernels ...", f"packing {n:,} examples into sequences of 8192"])
    if rng.random() < 0.35:
        return store_wait(job, time_s, why)
    return late(job, time_s, 0, why, *[f"{share}% done" for share in rng.choice([(), (21, 48), (9, 30, 52)])])


def store_wait(job: Job, time_s: float, why: str) -> Truth:
    """The first collective is still to be set up: the others wait for rank 0's NCCL id in the store."""
    info(job, time_s, 0, why, why)
    fire = time_s + job.timeout_ms / 1000
    how = f"wait timeout after {job.timeout_ms}ms, keys: /default_pg/0//cuda//0" if job.torch.since(2, 5) else "Socket Timeout"
    word = "retrieving" if job.torch.since(2, 0) else "retreiving"
    tail = ". This may indicate a possible application crash on rank 0 or a network set up issue." if job.torch.since(2, 0) else ""
    kind = "torch.distributed.DistBackendError" if job.torch.since(2, 0) else "RuntimeError"
    for rank in range(1, job.world):
        error = f"{kind}: [{rank}] is setting up NCCL communicator and {word} ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: {how}{tail}"
        tracebacks.raise_text(job, fire + job.rng.uniform(0, 1), rank, error, "barrier")
    if job.launcher == "srun":
        slurm.tasks_ended(job, fire + 2, list(range(1, job.world)), 1)
        slurm.step_aborted(job, fire + 2.5, [0])
    elif job.launcher == "ray":
        raytext.died(job, fire + 2, 1, "Worker exits with an exit code 1.")
    else:
        for host in job.hosts:
            aftermath.host_down(job, fire + 2, host, {rank: (1, fire + 1 + rank / 1e3) for rank in job.ranks_on(host) if rank})
    truth = guilty(job, "collective.straggler", f"rank 0 is busy ({why}); the others wait for its NCCL id", 0, "ncclUniqueId", accept=("rendezvous.timeout",))
    truth.keep_all = True
    return truth


def slow_eval(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    n = rng.randrange(300, 4000)
    for other in rng.sample([r for r in range(job.world) if r != rank], 2):
        info(job, time_s - 5, other, f"evaluation done, {n} batches")
    why = rng.choice([f"evaluating batch 12/{n}", f"generating samples for evaluation, 3/{n}", f"Eval: 1%|          | 9/{n} [00:31<{n // 60}:10,  3.4s/it]"])
    return late(job, time_s, rank, why, f"evaluating batch {n // 3}/{n}", f"evaluating batch {n * 2 // 3}/{n}")


def silent_straggler(job: Job, time_s: float) -> Truth:
    """A rank just stops speaking; what the others print is all there is."""
    rank = job.other_rank(0)
    job.seq += 1
    wait = pick_wait(job, job.seq)
    info(job, time_s - 3, rank, f"fetching batch {job.step + 1}")
    waits = {other: aftermath.group_wait(job, other, rank, wait) for other in range(job.world) if other != rank}
    aftermath.hang(job, time_s, waits, dict.fromkeys(waits, WATCHDOG), dump=job.rng.random() < 0.5)
    truth = guilty(job, "collective.straggler", f"rank {rank} falls silent, all others time out", rank, wait.op if job.framework != "megatron" else str(job.timeout_ms), accept=("collective.timeout",))
    truth.keep_all = True
    return truth


def desync_op(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    job.seq += 1
    wait = pick_wait(job, job.seq)
    op = rng.choice([op for op in ("ALLREDUCE", "BROADCAST", "_ALLGATHER_BASE", "REDUCE") if op != wait.op])
    numel = rng.randrange(1, 5000)
    odd = Wait(wait.seq, op, numel, numel * job.world if op == "_ALLGATHER_BASE" else numel)
    waits = {other: replace(wait, ahead=rng.choice([0, 0, 1, 2])) for other in range(job.world)} | {rank: odd}
    aftermath.hang(job, time_s, waits, {rank: WATCHDOG})
    return guilty(job, "collective.desync", f"rank {rank} issues {op} where the others issue {wait.op}", rank, str(wait.seq), op, wait.op, remedy="All ranks must call the same collectives in the same order.")


def desync_skip(job: Job, time_s: float) -> Truth:
    """A rank skipped one collective: it is one number behind, in the next operation."""
    rank, rng = job.any_rank(), job.rng
    job.seq += 2
    wait = pick_wait(job, job.seq)
    odd = Wait(wait.seq - 1, wait.op, wait.numel_in * 3 + 256, wait.numel_out * 3 + 256)
    waits = {other: replace(wait, ahead=rng.choice([0, 0, 3])) for other in range(job.world)} | {rank: odd}
    aftermath.hang(job, time_s, waits, {rank: WATCHDOG})
    return guilty(job, "collective.desync", f"rank {rank} skipped a collective and is one behind", rank, str(wait.seq), str(wait.seq - 1), accept=("collective.straggler",))


def shape_mismatch(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    job.seq += 1
    wait = pick_wait(job, job.seq)
    change = rng.choice([1, 512, 4096, -256])
    odd = replace(wait, numel_in=wait.numel_in + change, numel_out=wait.numel_out + change * (job.world if wait.op == "_ALLGATHER_BASE" else 1))
    aftermath.hang(job, time_s, dict.fromkeys(range(job.world), wait) | {rank: odd}, {rank: WATCHDOG})
    return guilty(job, "collective.shape-mismatch", f"rank {rank} comes with {odd.numel_in} elements, the others with {wait.numel_in}", rank, str(odd.numel_in), str(wait.numel_in), accept=("collective.desync",))


def fingerprint(job: Job, time_s: float) -> Truth:
    """TORCH_DISTRIBUTED_DEBUG=DETAIL compares the calls before they hang."""
    rank, rng = job.other_rank(0), job.rng
    size, seq = rng.randrange(2, 5000), job.seq + 1
    shape = rng.random() < 0.5
    kinds = ("ALLREDUCE", "ALLREDUCE") if shape else ("ALLREDUCE", rng.choice(["BROADCAST", "ALLGATHER", "REDUCE"]))
    def call(odd: bool) -> str:
        n = size + 3 if odd and shape else size
        return f"CollectiveFingerPrint(SequenceNumber={seq}, OpType={kinds[odd]}, TensorShape=[{n}], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt)))"
    aspect = f"  Tensor Tensor shapes: {size}vs {size + 3}" if shape else f"  Op type: {kinds[0]}vs {kinds[1]}"
    tail = f"Collectives differ in the following aspects: {aspect}" if job.torch.since(2, 1) else ""
    errors = {}
    for other in range(job.world):
        mine, peer = other == rank, 0 if other == rank else rank
        text = f"RuntimeError: Detected mismatch between collectives on ranks. Rank {other} is running collective: {call(mine)}, but Rank {peer} is running collective: {call(not mine)}.{tail}"
        errors[other] = (text, "Detected mismatch between collectives")
    aftermath.all_raise(job, time_s, errors, "collective")
    cause = "collective.shape-mismatch" if shape else "collective.desync"
    return guilty(job, cause, f"rank {rank} differs: {'shape' if shape else 'operation'}", rank, "Detected mismatch", str(size + 3) if shape else kinds[1], accept=("collective.desync",) if shape else ())


def all_time_out(job: Job, time_s: float) -> Truth:
    job.seq += 1
    wait = pick_wait(job, job.seq)
    waits = {rank: replace(wait, ahead=job.rng.choice([0, 0, 0, 2])) for rank in range(job.world)}
    aftermath.hang(job, time_s, waits, dict.fromkeys(waits, WATCHDOG))
    truth = blameless("collective.timeout", "every rank times out in the same collective, no deeper reason", wait.op, str(wait.seq), remedy="Collect flight-recorder dumps and NCCL_DEBUG=INFO next time.")
    truth.keep_all = True
    return truth


def heartbeat(job: Job, time_s: float) -> Truth:
    """The watchdog thread itself is stuck in a CUDA or NCCL call."""
    rng, torch = job.rng, job.torch
    span = rng.choice([480, 600, 1200])
    wait = Wait(max(0, job.seq), "ALLREDUCE", 1, 1)
    for rank in range(job.world):
        moment = time_s + span + rng.uniform(0, 2)
        eg = " (e.g., CudaEventDestroy)" if torch.since(2, 5) else ""
        text = f"{group_prefix(job, rank, wait)}ProcessGroupNCCL's watchdog got stuck for {span} seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API{eg} hang blocking the watchdog, and could be triggered by another thread holding the GIL inside a CUDA api, or other deadlock-prone behaviors.If you suspect the watchdog is not actually stuck and a longer timeout would help, you can either increase the timeout (TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC) to a larger value or disable the heartbeat monitor (TORCH_NCCL_ENABLE_MONITORING=0).If either of aforementioned helps, feel free to file an issue to PyTorch about the short timeout or false positive abort; otherwise, please attempt to debug the hang. "
        severity = "E" if torch.since(2, 5) else "F"
        job.rank_says(moment, rank, job.c10(rank, moment, severity, f"{PG}:{torch.lines[0] + 868}") + text, "watchdog got stuck for")
    end = time_s + span + 4
    if job.launcher == "srun":
        slurm.tasks_ended(job, end, list(range(job.world)), -6)
    else:
        for host in job.hosts:
            aftermath.host_down(job, end, host, {rank: (-6, end + rank / 1e3) for rank in job.ranks_on(host)})
    return blameless("collective.api-hang", f"the watchdog of every rank is stuck for {span} s", "watchdog got stuck", str(span))


FAULTS = [
    Fault("tokenise", tokenise, ANYWHERE, phase="start"), Fault("slow-eval", slow_eval, ANYWHERE, silent=True), Fault("silent-straggler", silent_straggler, ANYWHERE, silent=True),
    Fault("desync-op", desync_op, silent=True, frameworks=("ddp", "hf", "fsdp", "zero3", "lightning")), Fault("desync-skip", desync_skip, silent=True, since=(2, 1), frameworks=("ddp", "hf", "fsdp", "zero3")),
    Fault("shape-mismatch", shape_mismatch, silent=True, since=(2, 1), frameworks=("ddp", "hf", "fsdp", "zero3")), Fault("detail-mismatch", fingerprint, frameworks=("ddp", "hf", "fsdp"), layouts=NO_RAY),
    Fault("all-time-out", all_time_out, silent=True), Fault("heartbeat", heartbeat, since=(2, 3)),
]
