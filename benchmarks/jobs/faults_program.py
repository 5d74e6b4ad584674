"""The program fails: exceptions on one rank or all, crashes, wrong configuration, missing packages."""

from __future__ import annotations

from . import aftermath, chatter, clock, elastic, names, slurm, tracebacks
from .fault import ANYWHERE, NO_RAY, Fault, blameless, guilty
from .job import Job, Truth

WORDS = ["input_ids", "labels", "pixel_values", "attention_mask", "target", "reward", "mel", "caption", "logprobs"]


def draw_error(job: Job) -> tuple[str, str]:
    """(exception, where it is raised): plain program errors of many kinds."""
    rng = job.rng
    n = rng.randrange(2, 9000)
    word = rng.choice(WORDS)
    return rng.choice([
        (f"KeyError: '{word}'", "collate"), (f"KeyError: {n}", "step"),
        (f"ValueError: expected sequence of length {n} at dim 1 (got {n + 7})", "collate"),
        (f"ValueError: could not convert string to float: '{rng.choice(['n/a', '1,5', 'null', '--'])}'", "dataset"),
        (f"IndexError: list index out of range{rng.choice(['', ' '])}".rstrip(), "dataset"),
        (f"IndexError: index {n} is out of bounds for axis 0 with size {n - 1}", "dataset"),
        (f"TypeError: unsupported operand type(s) for *: 'NoneType' and '{rng.choice(['float', 'int', 'Tensor'])}'", "step"),
        (f"AttributeError: 'NoneType' object has no attribute '{rng.choice(['shape', 'size', 'to', 'grad'])}'", "step"),
        (f"AssertionError: {rng.choice(['labels and logits differ in length', f'expected {n} tokens, got {n + 1}', 'empty batch', 'mask must be boolean'])}", "forward"),
        (f"RuntimeError: The size of tensor a ({n}) must match the size of tensor b ({n + 3}) at non-singleton dimension 1", "forward"),
        (f"RuntimeError: mat1 and mat2 shapes cannot be multiplied ({n}x4096 and 1024x{n + 9})", "forward"),
        (f"ZeroDivisionError: {rng.choice(['division by zero', 'float division by zero', 'integer division or modulo by zero'])}", "step"),
        (f"{rng.choice(['trainer.errors', 'core.exceptions', 'pipeline'])}.{rng.choice(['ScheduleError', 'RouterError', 'PlanMismatch', 'CurriculumError'])}: {rng.choice(['no plan for', 'cannot place', 'unknown stage'])} {word}-{n}", "step"),
        (f"UnicodeDecodeError: 'utf-8' codec can't decode byte 0x{rng.randrange(128, 255):x} in position {n}: invalid start byte", "dataset"),
    ])


def one_rank_raises(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    error, where = draw_error(job)
    shown = error
    if where == "dataset" and job.rng.random() < 0.4:
        shown = tracebacks.worker_error(job, error, where, job.rng.randrange(8))
        aftermath.rank_raises(job, time_s, rank, shown, "loader", error)
    else:
        aftermath.rank_raises(job, time_s, rank, error, where, error)
    return guilty(job, "process.exception", f"{error.split(':')[0]} on rank {rank}", rank, error.split(":")[0].split(".")[-1],
                  accept=("data.bad-sample",), remedy="Mend the program or the data it met.")


def every_attempt(job: Job, time_s: float) -> Truth:
    """The same rank fails in the same way until no restart is left."""
    rank = job.any_rank()
    error, where = draw_error(job)
    host = job.host_of(rank)
    for _ in range(job.rng.randrange(1, 4)):
        tracebacks.raise_text(job, time_s, rank, error, where, error)
        elastic.stop_workers(job, time_s + 2, host, [other for other in job.ranks_on(host) if other != rank])
        elastic.failed_line(job, time_s + 3, host, rank, 1)
        for other in job.hosts:
            if other is not host:
                elastic.stop_workers(job, time_s + 7, other, job.ranks_on(other))
        job.attempt += 1
        job.redraw_pids()
        time_s = chatter.train(job, chatter.start(job, time_s + job.rng.uniform(15, 60)), 1)
    aftermath.rank_raises(job, time_s, rank, error, where, error)
    return guilty(job, "process.exception", f"{error.split(':')[0]} on rank {rank} in every attempt", rank, error.split(":")[0].rsplit(".", 1)[-1],
                  accept=("data.bad-sample",), remedy="A restart does not help: mend the program.")


def all_ranks_raise(job: Job, time_s: float) -> Truth:
    error, where = draw_error(job)
    aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, error)), where)
    return blameless("process.exception", f"{error.split(':')[0]} on every rank alike", error.split(":")[0].split(".")[-1], accept=("data.bad-sample",),
                     remedy="Mend the program: it fails everywhere at the same place.")


def segfault(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    host = job.host_of(rank)
    said, mention = False, "egmentation fault" if job.launcher == "srun" else "SIGSEGV"
    if rng.random() < 0.5:
        said = True
        mention = mention if job.launcher != "ray" else "Segmentation fault"
        job.rank_says(time_s - 0.1, rank, f"Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f{names.hexes(rng, 10)} (most recent call first):\n" + tracebacks.frames_text(job, "forward").replace("    ", "  "), "Segmentation fault")
    if rng.random() < 0.35 and job.layout != "k8s":
        mention = mention if said or job.launcher != "ray" else "segfault at"
        said = True
        library = rng.choice(["libnccl.so.2", "libtorch_cuda.so", "libcuda.so.535.161.08", "_C.cpython-310-x86_64-linux-gnu.so", "libc.so.6"])
        job.kernel_says(time_s, host, f"{rng.choice(['python', 'pt_main_thread', 'pt_autograd_0'])}[{job.pid(rank)}]: segfault at {rng.randrange(4096):x} ip 00007f{names.hexes(rng, 10)} sp 00007f{names.hexes(rng, 10)} error {rng.choice([4, 6])} in {library}[7f{names.hexes(rng, 10)}+1b000]", "segfault at")
    aftermath.ranks_died(job, time_s + 0.4, {rank: -11}, mark=not said or job.launcher != "ray")
    if job.launcher == "ray" and not said:
        return guilty(job, "ray.actor-died", f"the worker of rank {rank} is gone, no log says why", rank, str(job.pid(rank)), accept=("process.segfault", "process.sigkill"))
    return guilty(job, "process.segfault", f"rank {rank} dies of SIGSEGV", rank, mention,
                  remedy="Get a core dump or faulthandler stack; look at the library named.")


def batch_mismatch(job: Job, time_s: float) -> Truth:
    rng = job.rng
    micro, steps = rng.choice([1, 2, 3, 4, 6, 8]), rng.choice([1, 2, 4, 8, 16])
    true = micro * steps * job.world
    given = true + rng.choice([micro, 8, job.world // 2, 32, -micro])
    forms = {
        "zero3": [f"AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size {given} != {micro} * {steps} * {job.world}",
                  "AssertionError: Micro batch size per gpu: 0 has to be greater than 0"],
        "megatron": [f"AssertionError: global batch size ({given}) is not divisible by micro batch size ({micro}) times data parallel size ({job.world // 4})"],
        "hf": ["ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:\n"
               f"- ds train_micro_batch_size_per_gpu={micro + 1} vs hf per_device_train_batch_size={micro}\nThe easiest method is to set these DeepSpeed config values to 'auto'."],
    }
    error = rng.choice(forms[job.framework])
    first = error.split("\n")[0]
    aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, first)), "config", joined=True)
    mention = f"{given}" if f"{given}" in first else "atch size" if "atch size" in first else "train_micro_batch_size_per_gpu"
    return blameless("config.batch-size-mismatch", "batch sizes do not multiply", mention, remedy="Make train batch = micro batch x accumulation x world size.")


def bad_argument(job: Job, time_s: float) -> Truth:
    rng = job.rng
    flag = rng.choice(["--learning-rat", "--warmup_ratio_", "--fsdp-sharding", "--pp-size", "--save_everysteps"])
    script = job.notes["script"]
    forms = [(f"usage: {script} [-h] [--config CONFIG] [--lr LR]\n{script}: error: unrecognized arguments: {flag}", "error: unrecognized arguments", 2),
             (f"usage: {script} [-h] [--config CONFIG] [--lr LR]\n{script}: error: argument --lr: invalid float value: '3e-4x'", "error: argument --lr", 2)]
    text, evidence, code = rng.choice(forms)
    for rank in range(job.world):
        job.rank_says(time_s + rng.uniform(0, 1), rank, text, evidence)
    if job.launcher == "srun":
        slurm.tasks_ended(job, time_s + 2, list(range(job.world)), code)
    else:
        for host in job.hosts:
            aftermath.host_down(job, time_s + 2, host, {rank: (code, time_s + 1 + rank / 1e3) for rank in job.ranks_on(host)})
    return blameless("config.invalid-argument", "a flag that the script does not know", evidence, remedy="Correct the command line.")


def import_error(job: Job, time_s: float) -> Truth:
    rng = job.rng
    module = rng.choice(["flash_attn", "apex", "xformers", "bitsandbytes", "transformer_engine", "deepspeed", "sentencepiece", "decord", "einops"])
    error = rng.choice([
        f"ModuleNotFoundError: No module named '{module}'",
        f"ImportError: {job.site}/{module}_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda14ExchangeDeviceE{names.hexes(rng, 1)}",
        f"ImportError: lib{rng.choice(['cudart.so.11.0', 'nccl.so.2', 'GL.so.1', 'cublas.so.12'])}: cannot open shared object file: No such file or directory",
        f"ImportError: cannot import name '{rng.choice(['LlamaFlashAttention2', 'is_torch_fx_available', 'top_k_top_p_filtering'])}' from 'transformers' ({job.site}/transformers/__init__.py)"])
    aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, error)), "import", joined=False)
    accept = ("software.version-incompatible",) if "cannot import name" in error else ()  # another version has the name
    return blameless("software.import-error", "an import fails on every rank", error.split(":")[0].split(".")[-1], error.split(": ", 1)[1][:60], accept=accept, remedy="Install or rebuild the package for this torch.")


def nan_guard(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    host, gpu = job.host_of(rank), job.local(rank)
    layer = f"layers.{rng.randrange(80)}.{rng.choice(['mlp.down_proj', 'attn.qkv', 'norm1'])}.weight"
    forms = [f"RuntimeError: non-finite gradient in {layer} at step {job.step} (rank {rank}): aborting",
             f"ValueError: The loss returned in `training_step` is {rng.choice(['nan', 'inf'])}.",
             f"FloatingPointError: loss is nan on rank {rank} at step {job.step}",
             f"RuntimeError: Function '{rng.choice(['SoftmaxBackward0', 'MulBackward0', 'LogBackward0'])}' returned nan values in its 0th output.",
             "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."]
    if job.framework == "megatron":
        forms = [f"RuntimeError: Rank {rank}, node {host.name}, device {gpu}, iteration {job.step}: Unexpected result nan (message='found NaN in local grad norm for bucket #{rng.randrange(9)} in backward pass before data-parallel communication collective')",
                 f"AssertionError: Rank {rank}: found NaN in local grad norm in backward pass before data-parallel communication collective. Device: {gpu}, node: {host.name}"]
    error = rng.choice(forms)
    if job.rng.random() < 0.5:
        job.rank_says(time_s - 2, rank, f"{clock.comma(job.at(rank, time_s - 2))} WARNING rank {rank}: loss jumped from {rng.uniform(1, 3):.3f} to {rng.uniform(50, 9000):.1f}")
    aftermath.rank_raises(job, time_s, rank, error, "guard", error)
    return guilty(job, "numerics.nan", f"NaN on rank {rank}, a guard raises", rank, error[error.index(": ") + 2:][:40],
                  accept=("process.exception",) if "Error: loss" not in error and "returned nan" in error else (), remedy="Look at the batch and the GPU of that rank; lower the learning rate.")


def unused_parameters(job: Job, time_s: float) -> Truth:
    """DDP finds parameters without gradient, on every rank alike."""
    def text(rank: int) -> str:
        return ("RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate in calculating loss. \n"
                f"Parameter indices which did not receive grad for rank {rank}: 12 13 40 41\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out information about which particular parameters did not receive gradient on this rank as part of this error")
    aftermath.all_raise(job, time_s, {rank: (text(rank), "Expected to have finished reduction") for rank in range(job.world)}, "forward")
    return blameless("config.unused-parameters", "DDP: parameters took no part in the loss", "Expected to have finished reduction", remedy="find_unused_parameters=True, or use them.")


FAULTS = [
    Fault("exception-one", one_rank_raises, ANYWHERE), Fault("exception-every-attempt", every_attempt, ("tree", "node", "k8s"), silent=True), Fault("exception-all", all_ranks_raise, ANYWHERE),
    Fault("segfault", segfault, ANYWHERE, silent=True), Fault("batch-mismatch", batch_mismatch, phase="start", frameworks=("zero3", "megatron", "hf")),
    Fault("bad-argument", bad_argument, phase="launch", layouts=NO_RAY, silent=True), Fault("import-error", import_error, phase="launch"),
    Fault("nan", nan_guard), Fault("unused-parameters", unused_parameters, frameworks=("ddp",), phase="start"),
]
