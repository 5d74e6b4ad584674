"""Reports made by hand, as an engine would fill them: what the tests of the views read."""

from __future__ import annotations

from diagnose.advice.statement import Evidence, Fact, FactValue, Notice, RemedyStep, Span
from diagnose.report.parts import (
    Alternative,
    Attempt,
    CollectiveRow,
    Culprit,
    Diagnosis,
    FirstFailure,
    Gap,
    InputRow,
    Link,
    RankRow,
    StackGroup,
    Stats,
    Symptom,
    TimelineEntry,
)
from diagnose.report.report import Report

OOM_LINE = (
    "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of "
    "79.10 GiB of which 1.06 GiB is free. Process 48211 has 78.03 GiB memory in use. Of the allocated memory 74.52 GiB "
    "is allocated by PyTorch, and 1.87 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory "
    "is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
WATCHDOG_LINE = (
    "[rank{rank}]:[E514 10:22:04.123456789 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=8123, OpType=ALLREDUCE, NumelIn=16777216, NumelOut=16777216, Timeout(ms)=600000) ran for "
    "600021 milliseconds before timing out."
)


def spans(text: str, **parts: str) -> tuple[Span, ...]:
    """Yield where the captured parts stand in a text."""
    return tuple(Span(text.index(part), text.index(part) + len(part), name) for name, part in parts.items())


def cuda_oom() -> Report:
    """Rank 2 of 8 runs out of GPU memory; seven wait ten minutes and time out; the launcher ends them."""
    others = (0, 1, 3, 4, 5, 6, 7)
    oom = Evidence(
        file="logs/rank2.log",
        line=4031,
        end_line=4031,
        rank=2,
        host="gpu-node-07",
        time="2024-05-14T10:12:03Z",
        text=OOM_LINE,
        rule="memory.cuda-oom/allocator-out-of-memory",
        fields={"tried_mib": 2048, "gpu": 2, "total_gib": 79.1, "free_gib": 1.06},
        before=(
            "[rank2]:   File \"/home/mei/train/model.py\", line 88, in forward",
            "[rank2]:     scores = torch.matmul(q, k.transpose(-1, -2))",
            "[rank2]:              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        after=("W0514 10:22:09.911000 139872 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 48209 closing signal SIGTERM",),
        spans=spans(OOM_LINE, tried_mib="2.00 GiB", gpu="GPU 2", total_gib="79.10 GiB", free_gib="1.06 GiB"),
    )
    watchdog = Evidence(
        file="logs/rank0.log",
        line=3990,
        rank=0,
        host="gpu-node-07",
        time="2024-05-14T10:22:04Z",
        text=WATCHDOG_LINE.format(rank=0),
        rule="collective.timeout/watchdog-timeout",
        fields={"seq": 8123, "op": "ALLREDUCE"},
        spans=spans(WATCHDOG_LINE.format(rank=0), seq="8123", op="ALLREDUCE", ran_ms="600021"),
    )
    agent = Evidence(
        file="logs/torchrun.log",
        line=52,
        host="gpu-node-07",
        time="2024-05-14T10:22:10Z",
        text="E0514 10:22:10.020000 139872 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
        "local_rank: 2 (pid: 48211) of binary: /opt/conda/bin/python",
        rule="process.exit-code/elastic-failed",
    )
    return Report(
        outcome="failed",
        diagnosis=Diagnosis(
            cause="memory.cuda-oom",
            title="CUDA out of memory",
            summary="Rank 2 asked for 2.00 GiB on GPU 2 of gpu-node-07, where 1.06 GiB of 79.10 GiB was free.",
            confidence=0.97,
            certainty="certain",
            culprits=(Culprit(2, "gpu-node-07", 2, 2, 48211, "the only rank that ran out of memory, 601 s before any other error"),),
            evidence=(oom, agent),
            remedy=(
                RemedyStep("now", "Lower the micro batch from 8 to 6 (75.3 GiB by the numbers of this run), and raise gradient accumulation to keep the global batch."),
                RemedyStep("fix", "Let the allocator grow its segments: 1.87 GiB was reserved but unused.", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
                RemedyStep("prevent", "Sort or pack samples by length: the longest sequence decides the peak."),
                RemedyStep("collect", "Record a memory snapshot of the step before.", "torch.cuda.memory._record_memory_history(max_entries=100000)"),
            ),
            owner="user code",
            restart="no",
            references=("https://pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf",),
        ),
        chain=(
            Link("memory.cuda-oom", "collective.timeout", "seven ranks waited in ALLREDUCE 8123 for rank 2, which had died", others, 601.0),
            Link("collective.timeout", "process.abort", "the watchdog takes its process down with SIGABRT", others, 602.0),
            Link("memory.cuda-oom", "process.terminated", "the launcher ends the rest once one process has failed", (0, 1, 3), 606.0),
        ),
        alternatives=(
            Alternative(
                "collective.timeout",
                "A collective ran past its time-out",
                (Culprit(0, "gpu-node-07"),),
                "began 601 s after rank 2 died, and rank 2 is the one that is missing from it",
                (watchdog,),
            ),
        ),
        symptoms=(
            Symptom("collective.timeout", "NCCL watchdog time-out", "collective.timeout/watchdog-timeout", others, 7, False, watchdog, "memory.cuda-oom"),
            Symptom("process.abort", "Process ended by SIGABRT", "process.abort/signal-6", others, 7, False, None, "collective.timeout"),
            Symptom("process.terminated", "Launcher sent SIGTERM", "process.terminated/closing-signal", (0, 1, 3), 3, False, agent, "memory.cuda-oom"),
        ),
        survived=(
            Symptom("storage.io-error", "A checkpoint could not be written at once", None, (5,), 2, False, None, None),
        ),
        timeline=(
            TimelineEntry("2024-05-14T09:58:11Z", tuple(range(8)), "gpu-node-07", "", None, "context/init", "process group of 8 ranks formed", "logs/rank0.log:12"),
            TimelineEntry("2024-05-14T10:12:03Z", (2,), "gpu-node-07", "memory", "memory.cuda-oom", "memory.cuda-oom/allocator-out-of-memory", "CUDA out of memory: 2.00 GiB asked, 1.06 GiB free", "logs/rank2.log:4031"),
            TimelineEntry("2024-05-14T10:22:04Z", others, "gpu-node-07", "collective", "collective.timeout", "collective.timeout/watchdog-timeout", "NCCL watchdog time-out in ALLREDUCE 8123", "logs/rank0.log:3990"),
            TimelineEntry("2024-05-14T10:22:09Z", (0, 1, 3), "gpu-node-07", "process", "process.terminated", None, "SIGTERM from the launcher", "logs/torchrun.log:48"),
            TimelineEntry("2024-05-14T10:22:10Z", (2,), "gpu-node-07", "process", "process.exit-code", None, "exit code 1", "logs/torchrun.log:52"),
        ),
        ranks=tuple(
            RankRow(r, "gpu-node-07", r, 48209 + r, "failed" if r == 2 else "waiting", 8122, "2024-05-14T09:58:11Z",
                    "2024-05-14T10:12:03Z" if r == 2 else "2024-05-14T10:22:09Z",
                    FirstFailure("memory.cuda-oom", None, "2024-05-14T10:12:03Z", "logs/rank2.log:4031") if r == 2
                    else FirstFailure("collective.timeout", None, "2024-05-14T10:22:04Z", f"logs/rank{r}.log:3990"), "prefix", "file name")
            for r in range(8)
        ),
        collectives=tuple(
            CollectiveRow("0", r, None if r == 2 else 8123, 8122 if r == 2 else 8123, 8122, "ALLREDUCE", (16777216, 16777216), "absent" if r == 2 else "waiting")
            for r in range(8)
        ),
        stacks=(
            StackGroup(others, ("train.py:210 main", "engine.py:77 backward", "distributed_c10d.py:2501 all_reduce", "libnccl.so ncclAllReduce"), 7),
            StackGroup((2,), ("train.py:210 main", "model.py:88 forward", "matmul"), 1),
        ),
        facts={
            "world_size": Fact(8, "logs/rank0.log:12"),
            "torch": Fact("2.3.0+cu121", "logs/rank0.log:3"),
            "nccl": Fact("2.20.5", "logs/rank0.log:4"),
            "collective_timeout_s": Fact(600, "logs/rank0.log:3990", others),
            "driver": Fact("550.54.15", "logs/rank0.log:5", (0, 1, 2, 3, 4, 5, 6), (FactValue("535.161.08", "logs/rank7.log:5", (7,)),)),
        },
        notices=(Notice("versions", "Rank 7 runs driver 535.161.08, the others 550.54.15."),),
        gaps=(Gap("No kernel log was given, so a driver error could not be ruled out.", "Add the output of dmesg of each node.", "dmesg -T > dmesg-$(hostname).txt"),),
        inputs=(*(InputRow(f"logs/rank{r}.log", 400_000 + r, 4100, "rank log", (r,)) for r in range(8)),
                InputRow("logs/torchrun.log", 9_120, 60, "launcher log"), InputRow("logs/model.safetensors", 1 << 30, None, "", (), "binary")),
        stats=Stats(3_210_028, 41, 0.31),
        time_basis="UTC, as printed by the logs",
    )


def straggler(world: int = 1024, slow: int = 517) -> Report:
    """One rank of many saves a checkpoint while all the others wait for it."""
    others = tuple(r for r in range(world) if r != slow)
    host = f"node-{slow // 8:03d}"
    saving = "2024-06-02 03:14:07,201 INFO trainer.checkpoint: saving shard to /lustre/run42/step-12000 (rank 517)"
    line = WATCHDOG_LINE.format(rank=0)
    waiting = Evidence("console.log", 99120, None, 0, "node-000", "2024-06-02T03:44:11Z", line, "collective.timeout/watchdog-timeout",
                       {"seq": 8123}, spans=spans(line, seq="8123", op="ALLREDUCE"))
    return Report(
        outcome="hung",
        diagnosis=Diagnosis(
            cause="collective.straggler",
            title="A few ranks came late to a collective",
            summary=f"{len(others):,} of {world:,} ranks timed out in ALLREDUCE 8123; rank {slow} on {host} never entered it: it was still saving a checkpoint.",
            confidence=0.86,
            certainty="likely",
            culprits=(Culprit(slow, host, slow % 8, slow % 8, 71234, "alive until 03:44, absent from the time-outs of all others"),),
            evidence=(
                Evidence("console.log", 88210, None, slow, host, "2024-06-02T03:14:07Z", saving, "storage.slow-save/saving", {"path": "/lustre/run42/step-12000"},
                         before=("2024-06-02 03:14:05,020 INFO trainer: step 12000 loss 1.934",), spans=spans(saving, path="/lustre/run42/step-12000")),
                waiting,
            ),
            remedy=(
                RemedyStep("now", "Restart from step 12000; the checkpoint of this step is incomplete on rank 517.", "torchrun --nnodes 128 train.py --resume step-11000"),
                RemedyStep("fix", "Save asynchronously, or raise the time-out above the slowest save.", "init_process_group(timeout=timedelta(minutes=60))"),
                RemedyStep("collect", "Have the recorder on next time.", "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000"),
            ),
            owner="platform",
            restart="yes",
        ),
        chain=(Link("collective.straggler", "collective.timeout", f"all others waited for rank {slow}", others, 1804.0),),
        symptoms=(Symptom("collective.timeout", "NCCL watchdog time-out", "collective.timeout/watchdog-timeout", others, len(others), False, waiting, "collective.straggler"),
                  Symptom("process.abort", "Process ended by SIGABRT", None, others[::2], len(others[::2]), True, None, "collective.timeout")),
        timeline=(
            TimelineEntry("2024-06-02T03:14:07Z", (slow,), host, "storage", "storage.slow-save", None, "saving shard to /lustre/run42/step-12000", "console.log:88210"),
            *(TimelineEntry(f"2024-06-02T03:44:{11 + i % 40:02d}Z", tuple(r for r in range(i * 64, i * 64 + 64) if r != slow and r < world), None, "collective", "collective.timeout", None,
                            "NCCL watchdog time-out in ALLREDUCE 8123", f"console.log:{99120 + i}") for i in range(max(1, world // 64))),
        ),
        ranks=tuple(
            RankRow(r, f"node-{r // 8:03d}", r % 8, None, "silent" if r == slow else "waiting", 12000, "2024-06-02T01:00:00Z",
                    "2024-06-02T03:14:07Z" if r == slow else "2024-06-02T03:44:55Z",
                    None if r == slow else FirstFailure("collective.timeout", None, f"2024-06-02T03:44:{11 + r % 40:02d}Z", f"console.log:{99120 + r}"), "prefix", "prefix")
            for r in range(world)
        ),
        collectives=tuple(CollectiveRow("0 (default_pg)", r, None if r == slow else 8123, 8122 if r == slow else 8123, 8122, "ALLREDUCE", (16777216, 16777216),
                                        "behind" if r == slow else "waiting") for r in range(world)),
        stacks=(StackGroup(others, ("train.py:88 step", "all_reduce"), len(others)), StackGroup((slow,), ("train.py:120 save", "write (libc)"), 1)),
        facts={"world_size": Fact(world, "console.log:3"), "torch": Fact("2.4.1", "console.log:1")},
        gaps=(Gap("No flight recorder dump was found.", "Set TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1."),),
        inputs=(InputRow("console.log", 2_400_000_000, None, "console"),),
        stats=Stats(2_400_000_000, 2100, 4.2),
        time_basis="UTC; the logs name no zone",
    )


def healthy() -> Report:
    """A run that ended well after one error that did not matter."""
    return Report(
        outcome="healthy",
        survived=(Symptom("network.connection-reset", "Connection reset while downloading", None, (0,), 1, False,
                          Evidence("train.log", 40, rank=0, text="requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))")),),
        ranks=tuple(RankRow(r, "localhost", r, None, "finished", 5000) for r in range(4)),
        inputs=(InputRow("train.log", 90_000, 2000, "console", (0, 1, 2, 3)),),
        stats=Stats(90_000, 4, 0.05),
    )


def unknown() -> Report:
    """A process that ended with code 1 and printed no reason; a second attempt did the same."""
    exit_line = "srun: error: gpu-node-03: task 3: Exited with exit code 1"
    exit_evidence = Evidence("slurm-4711.out", 812, None, 3, "gpu-node-03", None, exit_line, "process.exit-code/srun", {"exit_code": 1}, spans=spans(exit_line, exit_code="1"))
    return Report(
        outcome="failed",
        diagnosis=Diagnosis(
            cause="unknown",
            title="No line of the logs names a cause",
            summary="Task 3 on gpu-node-03 ended with exit code 1 and printed no reason.",
            confidence=0.2,
            certainty="possible",
            evidence=(exit_evidence,),
            remedy=(RemedyStep("collect", "Keep each rank's standard error.", "srun --output=logs/rank%t.log --label python train.py"),),
        ),
        attempts=(Attempt(0, None, None, "failed", "unknown", (), (exit_evidence,)), Attempt(1, None, None, "failed", "unknown")),
        gaps=(Gap("The log of rank 3 is not among the inputs.", "Pass the folder that torchrun --log-dir wrote."),),
        inputs=(InputRow("slurm-4711.out", 60_000, 812, "slurm"),),
        stats=Stats(60_000, 3, 0.04),
    )


def all_samples() -> dict[str, Report]:
    """Yield every sample by name."""
    return {"cuda-oom": cuda_oom(), "straggler-1024": straggler(), "healthy": healthy(), "unknown": unknown()}
