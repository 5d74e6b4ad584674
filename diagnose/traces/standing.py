"""Where a stack stands: in a collective, a save, the data loader, a lock, …, and the frame that says so.

In comes the frames of one thread, out comes a `Standing`. The table below is all the knowledge there is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .stack_forms import StackFrame

StandingKind = Literal[
    "collective", "save", "load", "data", "eval", "compile", "lock", "sleep", "io", "compute", "idle", "unknown"
]


@record
class Standing:
    """What a thread is doing, the frame that says so (None when none does), and why it is read that way."""

    kind: StandingKind
    frame: StackFrame | None
    reason: str


@record
class _Row:
    kind: StandingKind
    function: re.Pattern[str]
    file: re.Pattern[str]
    reason: str
    is_weak: bool = False  # says how it waits, not for what: a caller that says for what is preferred


def _row(kind: StandingKind, function: str, file: str, reason: str, *, is_weak: bool = False) -> _Row:
    return _Row(kind, lazy(function), lazy(file), reason, is_weak)


_DISTRIBUTED = r"distributed_c10d|torch/distributed/|deepspeed/comm|c10d|horovod|mpi4py|colossalai|megatron|accelerate/"
_ROWS: tuple[_Row, ...] = (
    # --- strong rows, the innermost frame that matches one decides
    _row("compile", r"^(?:FileBaton\.)?wait$", r"file_baton", "waits for another process's lock on a compiled extension"),
    _row(
        "collective",
        r"^(?:all_?reduce|all_?gather|_?all_?gather_base|reduce_scatter|_reduce_scatter_base|broadcast|barrier|"
        r"monitored_barrier|all_?to_?all|gather|scatter|reduce|i?send|i?recv|batch_isend_irecv|_store_based_barrier|_wait_for_everyone|"
        r"wait_for_everyone|wait_tensor)(?:_\w{1,40})?$",
        _DISTRIBUTED + r"|_functional_collectives",
        "waits in a collective operation",
    ),
    _row(
        "collective",
        r"^(?:init_process_group|_new_process_group_helper|new_group|rendezvous|_create_c10d_store|next_rendezvous|"
        r"init_distributed)$",
        r"torch/distributed|deepspeed/comm|distributed_c10d|rendezvous",
        "waits for the other ranks to join a process group",
    ),
    _row(
        "collective",
        r"(?:^|::)(?:nccl(?:AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|Send|Recv|GroupEnd|CommInit\w{0,20})|"
        r"P?MPI_\w{2,40}|rccl\w{1,40})|c10d::\w{0,60}(?:wait|barrier)|gloo::|ncclGroup\w{0,30}|^ncclKernel|^ncclDevKernel",
        r"",
        "waits in a collective library",
    ),
    _row(
        "save",
        r"(?:^|[._])(?:save|_save|async_save|write_record|_write_item|safe_serialize|serialize_file|save_file|"
        r"save_pretrained|save_model|dump_checkpoint)$|save_(?:\w{0,40}_)?(?:checkpoint|state_dict|model|weights|optimizer)|"
        r"_save_(?:checkpoint|zipfile)|^save_checkpoint",
        r"",
        "writes a checkpoint",
    ),
    _row(
        "load",
        r"load_(?:\w{0,40}_)?(?:checkpoint|state_dict|model|weights|optimizer)|^_?load_checkpoint|from_pretrained|"
        r"^_load_pretrained|snapshot_download|hf_hub_download|^(?:_get_checkpoint|read_record)",
        r"",
        "reads a checkpoint or a model",
    ),
    _row("load", r"^_?(?:legacy_)?load$", r"torch/serialization|safetensors", "reads a checkpoint or a model"),
    _row(
        "data",
        r"^(?:\w{1,60}\.)?(?:__next__|_next_data|_try_get_data|_get_data|_next_index|fetch|_reset|__getitem__|"
        r"__init__|collate\w{0,20}|default_collate)$",
        r"dataloader|_utils/(?:fetch|collate|worker|pin_memory)|datasets/|webdataset|streaming/|dataset\.py",
        "waits for the data loader",
    ),
    _row(
        "data",
        r"fetch_next|next_batch|get_batch|tokeni[sz]e|preprocess|load_shard|read_shard|load_dataset|_build_index|"
        r"build_\w{0,40}dataset|__getitem__",
        r"",
        "reads or prepares data",
    ),
    _row(
        "eval",
        r"^(?:\w{1,60}\.)?(?:evaluate|evaluation_loop|run_eval\w{0,20}|eval_\w{1,40}|validate|validation\w{0,20}|"
        r"do_eval|_maybe_log_save_evaluate|predict\w{0,20}|compute_metrics|test_step)$",
        r"",
        "evaluates",
    ),
    _row(
        "compile",
        r"^(?:compile_fx\w{0,20}|_compile\w{0,20}|compile_and_call\w{0,40}|codegen\w{0,20}|make_cubin|_build_kernel|"
        r"run_ninja_build|_run_ninja_build|_jit_compile|verify_ninja\w{0,40}|autotune\w{0,20}|benchmark\w{0,20}|ptxas)$",
        r"_inductor|_dynamo|triton|cpp_extension|torch/_functorch|flash_attn|deepspeed/ops",
        "compiles kernels",
    ),
    # --- weak rows
    _row("sleep", r"^(?:time\.)?(?:sleep|nanosleep|clock_nanosleep|usleep|__nanosleep)", r"", "sleeps", is_weak=True),
    _row(
        "lock",
        r"^(?:acquire|_?wait_for_tstate_lock|__?enter__|lock|flock|_acquire|pthread_mutex_lock|__lll_lock_wait|"
        r"pthread_cond_wait\S{0,20}|futex\S{0,30}|sem_wait|_acquire_restore)$",
        r"",
        "waits for a lock",
        is_weak=True,
    ),
    _row(
        "lock",
        r"^(?:\w{1,40}\.)?(?:wait|join|get|result)$",
        r"threading|queue|futures|subprocess|popen",
        "waits for another thread or process",
        is_weak=True,
    ),
    _row(
        "io",
        r"^(?:read|write|pread\w{0,4}|pwrite\w{0,4}|readinto|readline|open|fsync|recv\w{0,6}|send\w{0,6}|connect|poll|select|"
        r"_?communicate|epoll_wait|urlopen|request|getaddrinfo|do_handshake|stat|__read\w{0,20}|__write\w{0,20})$",
        r"",
        "waits for a file or a connection",
        is_weak=True,
    ),
    _row(
        "compute",
        r"_engine_run_backward|^backward$|run_backward",
        r"",
        "runs the backward pass, in which gradient collectives may be waited for",
        is_weak=True,
    ),
    _row(
        "compute",
        r"^(?:forward|_call_impl|_wrapped_call_impl|step|linear|scaled_dot_product_attention|item|synchronize|cpu|"
        r"cu(?:da)?(?:Stream|Event|Device|Ctx)Synchronize|cudaMemcpy\w{0,20})$",
        r"torch|cuda|optim|deepspeed|megatron|^$",
        "computes, or waits for the device",
        is_weak=True,
    ),
)
# A thread whose innermost frames look like this has nothing to do.
_IDLE_FUNCTIONS = lazy(
    r"^(?:_pin_memory_loop|do_one_step|_worker|_feed|_monitor|_serve|_watchdog\w{0,20}|_bootstrap_inner|"
    r"heartbeat\w{0,20}|_heartbeat\w{0,20}|run_forever|_run_once|poll_forever|_poll\w{0,20}|worker_main|"
    r"_handle_(?:workers|tasks|results)|_execution_engine_thread|monitor_loop|_flush_loop)$"
)
_IDLE_FILES = lazy(
    r"tqdm/_monitor|concurrent/futures/thread|multiprocessing/(?:queues|resource_sharer|pool)|selectors\.py|asyncio/|grpc|"
    r"ipykernel|traitlets|tornado|zmq|prometheus|wandb|watchdog|pin_memory|event_file_writer|tensorboard|inductor/compile_worker|"
    r"(?:^|/)threading\.py|(?:^|/)queue\.py|socketserver|ray/_private|mlflow|comet"
)
_IDLE_NAMES = lazy(
    r"tqdm|Monitor|ThreadPool|watchdog|grpc|IPython|QueueFeeder|pin_memory|wandb|asyncio|heartbeat|pt_nccl_\w+|pt_autograd|"
    r"cuda-EvtHandlr|cuda\d{6,}|jemalloc|iou-wrk|Dummy|ray_",
    re.IGNORECASE,
)


def classify(frames: Sequence[StackFrame]) -> Standing:
    """Say where a stack stands; frames are outermost first, and the innermost that names a purpose decides."""
    weak: Standing | None = None
    for frame in reversed(frames):
        row = _row_of(frame.function, frame.file)
        if row is None:
            continue
        if not row.is_weak:
            return Standing(row.kind, frame, row.reason)
        weak = weak or Standing(row.kind, frame, row.reason)
    return weak or Standing("unknown", frames[-1] if frames else None, "no frame of it is known")


@lru_cache(maxsize=8192)  # 10,000 ranks stand in a few hundred functions
def _row_of(function: str, file: str) -> _Row | None:
    name = function.rpartition(".")[2] if "<" not in function else function
    for row in _ROWS:
        if (row.function.search(name) or row.function.search(function)) and row.file.search(file):
            return row
    return None


def is_idle(name: str, frames: Sequence[StackFrame]) -> bool:
    """Say whether a thread other than the main one only waits for work, as monitors and pools do."""
    return not frames or _is_idle(name, tuple(frames[-3:]))


@lru_cache(maxsize=8192)
def _is_idle(name: str, innermost: tuple[StackFrame, ...]) -> bool:
    if _IDLE_NAMES.search(name) or any(_IDLE_FUNCTIONS.match(f.function.rpartition(".")[2]) for f in innermost):
        return True
    return all(_IDLE_FILES.search(f.file) for f in innermost[-2:])
