"""Lines that look alarming and mean nothing; sprinkled over every job."""

from __future__ import annotations

from . import clock, names
from .job import Host, Job


def rank_noise(job: Job, rank: int, time_s: float) -> str:
    """One harmless line of a rank's stderr."""
    rng, now = job.rng, job.at(rank, time_s)
    master = job.hosts[0].name
    forms = [
        f"{job.site}/torch/optim/lr_scheduler.py:216: UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.\n  warnings.warn(",
        f"{job.site}/torch/utils/checkpoint.py:464: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n  warnings.warn(",
        f"{job.site}/torch/utils/data/dataloader.py:557: UserWarning: This DataLoader will create 12 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.\n  warnings.warn(",
        "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...\nTo disable this warning, you can either:\n\t- Avoid using `tokenizers` before the fork if possible\n\t- Explicitly set the environment variable TOKENIZERS_PARALLELISM=(true | false)",
        f"Token indices sequence length is longer than the specified maximum sequence length for this model ({rng.randrange(4100, 90000)} > 4096). Running this sequence through the model will result in indexing errors",
        "E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
        job.c10_bare(rank, time_s, "W", "socket.cpp:752") + f"[c10d] The IPv6 network addresses of ({master}, 29500) cannot be retrieved (gai error: -2 - Name or service not known).",
        job.c10_bare(rank, time_s, "W", "socket.cpp:464") + "[c10d] The hostname of the client socket cannot be retrieved. err=-3",
        job.c10_bare(rank, time_s, "W", "socket.cpp:601") + f"[c10d] The client socket has failed to connect to [{master}]:29500 (errno: 97 - Address family not supported by protocol).",
        "[WARNING]  async_io requires the dev libaio .so object and headers but these were not found.",
        "libibverbs: Warning: couldn't load driver 'libhfi1verbs-rdmav34.so': libhfi1verbs-rdmav34.so: cannot open shared object file: No such file or directory",
        "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
        f"{clock.comma(now)} WARNING urllib3.connectionpool: Retrying (Retry(total=2, connect=None, read=None, redirect=None, status=None)) after connection broken by 'RemoteDisconnected('Remote end closed connection without response')': /api/5288891/envelope/",
        "wandb: Network error (ReadTimeout), entering retry loop.",
        "FutureWarning: `torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda', args...)` instead.",
        f"'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. (read timeout=10)\"), '(Request ID: {names.uuid(rng)})')' thrown while requesting HEAD https://huggingface.co/{job.name}/resolve/main/config.json\nRetrying in 1s [Retry 1/5].",
        f"[deepspeed] OVERFLOW! Rank {rank} Skipping step. Attempted loss scale: 65536, reducing to 32768",
        "swig/python detected a memory leak of type 'int64_t *', no destructor found.",
        "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory",
    ]
    return rng.choice(forms)


def mid_noise(job: Job, rank: int, time_s: float) -> str:
    """A hiccup in the middle of training that the program itself survives."""
    rng = job.rng
    stamp = clock.comma(job.at(rank, time_s))
    return rng.choice([
        f"{stamp} WARNING rank {rank}: slow step, data loading took {rng.uniform(3, 20):.1f}s, possible straggler",
        f"{stamp} WARNING rank {rank}: gradient overflow detected (inf/nan in grads), skipping step, reducing loss scale to {2 ** rng.randrange(10, 16)}.0",
        f"{stamp} ERROR rank {rank}: could not decode sample {rng.randrange(10**7)} (bad jpeg header), skipped, {rng.randrange(2, 40)} skipped so far",
        f"{stamp} WARNING rank {rank}: read of {names.fill(rng, names.DATA, job.user, job.name)} failed (Connection reset by peer), retry 1 of 5",
        "wandb: ERROR Dropped streaming file chunk (see wandb/debug-internal.log)",
        f"{stamp} WARNING rank {rank}: checkpoint upload failed with 503 Slow Down, retrying in 2.0s (1/8)",
    ])


KERNEL = [
    "pcieport 0000:00:1c.4: AER: Corrected error received: 0000:00:1c.4",
    "perf: interrupt took too long (2512 > 2500), lowering kernel.perf_event_max_sample_rate to 79500",
    "nvidia-uvm: Loaded the UVM driver, major device number 510.",
    "mlx5_core 0000:86:00.1: mlx5_cmd_out_err:838:(pid 2211): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), syndrome (0x4d7cfa), err(-22)",
    "nvidia: loading out-of-tree module taints kernel.",
    "TCP: request_sock_TCP: Possible SYN flooding on port 29500. Sending cookies.",
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x2a1f3 offset:0x40 grain:32 syndrome:0x0)",
    "NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000001a2f40000) marked for remapping, reset gpu to activate.",
    "hrtimer: interrupt took 18231 ns",
    "loop3: detected capacity change from 0 to 130960",
    "mce: [Hardware Error]: Corrected error, no action required.",
    "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
]


def kernel_noise(job: Job, host: Host, before_s: float) -> None:
    """Some hours of an ordinary kernel log before the moment that matters."""
    moments = sorted(before_s - job.rng.uniform(60, 30000) for _ in range(job.rng.randrange(3, 9)))
    for moment, text in zip(moments, job.rng.sample(KERNEL, len(moments)), strict=True):
        job.kernel_says(moment, host, text)


def teardown_noise(job: Job, rank: int, time_s: float) -> None:
    """What ranks print while a job that went well goes away."""
    rng, torch = job.rng, job.torch
    master = job.hosts[0].name
    if torch.since(2, 6):
        text = "Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources. For more info, please see https://pytorch.org/docs/stable/distributed.html#shutdown (function operator())"
        job.rank_says(time_s, rank, job.c10(rank, time_s, "W", "ProcessGroupNCCL.cpp:1496") + text)
    elif torch.since(2, 4):
        text = "Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. On normal program exit, the application should call destroy_process_group to ensure that any pending NCCL operations have finished in this process. In rare cases this process can exit before this point and block the progress of another member of the process group. This constraint has always been present,  but this warning has only been added since PyTorch 2.4 (function operator())"
        job.rank_says(time_s, rank, job.c10(rank, time_s, "W", "ProcessGroupNCCL.cpp:1168") + text)
    if torch.since(2, 5) and rng.random() < 0.4:
        group = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
        lost = "failed to recv, got 0 bytes" if not torch.since(2, 9) else "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?"
        job.rank_says(time_s + 0.3, rank, job.c10(rank, time_s + 0.3, "W", "TCPStore.cpp:125") + f"[c10d] recvValue failed on SocketImpl(fd={rng.randrange(30, 99)}, addr=[{job.host_of(rank).name}]:{rng.randrange(30000, 60000)}, remote=[{master}]:29500): {lost}")
        job.rank_says(time_s + 0.31, rank, job.c10(rank, time_s + 0.31, "W", "ProcessGroupNCCL.cpp:1771") + f'{group}Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: {lost}')
    if rng.random() < 0.2:
        python = job.site.split("/site-packages")[0].replace("/dist-packages", "")
        job.rank_says(time_s + 0.5, rank, f"{python}/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be {rng.randrange(1, 30)} leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '")
    if rng.random() < 0.1:
        job.rank_says(time_s + 0.6, rank, f"Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f{names.hexes(rng, 10)}>\nTraceback (most recent call last):\n  File \"{job.site}/torch/utils/data/dataloader.py\", line 1582, in __del__\n    self._shutdown_workers()\nConnectionResetError: [Errno 104] Connection reset by peer")
