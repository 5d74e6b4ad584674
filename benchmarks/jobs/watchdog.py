"""What a rank prints when a collective never ends, and when NCCL loses a peer, in the words of its torch release."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .job import Host, Job
from .tracebacks import raise_text

PG = "ProcessGroupNCCL.cpp"


@dataclass(frozen=True)
class Wait:
    """The collective a rank is stuck in, and its place in that process group."""

    seq: int
    op: str
    numel_in: int
    numel_out: int
    group: int = 0  # index of the process group on the rank
    guid: str = "0"
    desc: str = "default_pg"
    inner: int = -1  # rank inside the group; -1 = the global rank
    ahead: int = 0  # works enqueued behind the stuck one


def pick_wait(job: Job, seq: int) -> Wait:
    """A collective that suits the framework of the job."""
    suited = {"fsdp": ["_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"], "zero3": ["_ALLGATHER_BASE", "ALLREDUCE", "_REDUCE_SCATTER_BASE"],
              "ddp": ["ALLREDUCE"], "hf": ["ALLREDUCE"], "lightning": ["ALLREDUCE"]}
    op = job.rng.choice(suited.get(job.framework, ["ALLREDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "BROADCAST"]))
    numel = job.rng.choice([1024, 4096, 6553600, 26310656, 33554432, 9050112, 13107200, 201326592]) + job.rng.randrange(512)
    if op == "_ALLGATHER_BASE":
        return Wait(seq, op, numel, numel * job.world)
    if op == "_REDUCE_SCATTER_BASE":
        return Wait(seq, op, numel * job.world, numel)
    return Wait(seq, op, numel, numel)


def work_text(job: Job, wait: Wait) -> str:
    sizes = f"NumelIn={wait.numel_in}, NumelOut={wait.numel_out}, " if job.torch.since(2, 1) else ""
    return f"WorkNCCL(SeqNum={wait.seq}, OpType={wait.op}, {sizes}Timeout(ms)={job.timeout_ms})"


def group_prefix(job: Job, rank: int, wait: Wait) -> str:
    inner = wait.inner if wait.inner >= 0 else rank
    if not job.torch.since(2, 3):
        return f"[Rank {inner}] "
    if not job.torch.since(2, 4):
        return f"[PG {wait.guid} Rank {inner}] "
    if not job.torch.since(2, 5):
        return f"[PG {wait.guid} ({wait.desc}) Rank {inner}] "
    return f"[PG ID {wait.group} PG GUID {wait.guid}({wait.desc}) Rank {inner}] "


def report_timeout(job: Job, time_s: float, rank: int, wait: Wait, *, evidence: str = "", brief: bool = False) -> float:
    """The lines of a rank whose watchdog gives up; answers when the process aborts."""
    rng, torch = job.rng, job.torch
    caught, status, some, inconsistent, ended = torch.lines
    inner = wait.inner if wait.inner >= 0 else rank
    ran_ms = job.timeout_ms + rng.randrange(3, 980)
    what = f"[Rank {inner}] Watchdog caught collective operation timeout: {work_text(job, wait)} ran for {ran_ms} milliseconds before timing out."

    def error(delay_s: float, line: int, text: str) -> None:
        job.rank_says(time_s + delay_s, rank, job.c10(rank, time_s + delay_s, "E", f"{PG}:{line}") + text)

    job.rank_says(time_s, rank, job.c10(rank, time_s, "E", f"{PG}:{caught}") + what, evidence)
    last = wait.seq + wait.ahead
    group = group_prefix(job, rank, wait)
    if torch.since(2, 6):
        error(0.001, status, f"{group} failure detected by watchdog at work sequence id: {wait.seq} PG status: last enqueued work: {last}, last completed work: {wait.seq - 1}")
        if not brief:
            error(0.002, status - 600 if status > 700 else 667, "Stack trace of the failed collective not found, potentially because FlightRecorder is disabled. You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value.")
    elif torch.since(2, 4):
        error(0.001, status, f"{group}Exception (either an error or timeout) detected by watchdog at work: {wait.seq}, last enqueued NCCL work: {last}, last completed NCCL work: {wait.seq - 1}.")
    elif torch.since(2, 3):
        error(0.001, status, f"{group}Timeout at NCCL work: {wait.seq}, last enqueued NCCL work: {last}, last completed NCCL work: {wait.seq - 1}.")
    if torch.since(2, 7) and not brief:
        error(0.003, 1685, f"{group}First PG on this rank to signal dumping. ")
    late = rng.uniform(0.2, 1.5)
    if brief:
        return time_s + late
    if not torch.since(2, 0):
        both = "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data. "
        error(late, some, both + "To avoid this inconsistency, we are taking the entire process down.")
    else:
        who = f"[Rank {inner}] " if torch.since(2, 3) else ""
        error(late, some, f"{who}Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.")
        error(late + 0.0001, inconsistent, f"{who}To avoid data inconsistency, we are taking the entire process down.")
    abort(job, time_s + late + 0.01, rank, wait, what, ended)
    return time_s + late + 0.1


def abort(job: Job, time_s: float, rank: int, wait: Wait, what: str, line: int, *, cpp: str = "checkTimeout") -> None:
    """The watchdog thread rethrows and the process ends by SIGABRT."""
    torch = job.torch
    if torch.since(2, 1):
        thread = "Process group watchdog thread" if torch.since(2, 3) else "NCCL watchdog thread"
        group = group_prefix(job, rank, wait)
        what = f"{group}{thread} terminated with exception: {what}"
        job.rank_says(time_s, rank, job.c10(rank, time_s, "E", f"{PG}:{line}") + what)
    kind = "c10::DistBackendError" if torch.since(2, 2) else "std::runtime_error"
    frames = ""
    if torch.since(2, 2) and job.world <= 64:
        tree = "/pytorch" if torch.since(2, 6) else ".."
        lib = f"{job.site}/torch/lib"
        frames = (f"\nException raised from {cpp} at {tree}/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:{torch.lines[0] + 2} (most recent call first):"
                  f"\nframe #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f{job.rng.randrange(16**9):09x} in {lib}/libc10.so)"
                  f"\nframe #1: c10d::ProcessGroupNCCL::watchdogHandler() + 0x1a0 (0x7f{job.rng.randrange(16**9):09x} in {lib}/libtorch_cuda.so)"
                  "\nframe #2: <unknown function> + 0x94ac3 (0x7ef79c89aac3 in /lib/x86_64-linux-gnu/libc.so.6)\n")
    job.rank_says(time_s + 0.001, rank, f"terminate called after throwing an instance of '{kind}'\n  what():  {what}{frames}")


def passive_dump(job: Job, time_s: float, rank: int, wait: Wait, first: int) -> None:
    """A live rank without a time-out of its own is told by another to dump and die (torch >= 2.5)."""
    group = group_prefix(job, rank, replace(wait, inner=-1) if wait.desc == "default_pg" else wait)
    lines = [("E", 1685, f"{group}Observed flight recorder dump signal from another rank via TCPStore."),
             ("E", 1746, f"{group}Received a dump signal due to a collective timeout from  rank {first} and we will try our best to dump the debug info. Last enqueued NCCL work: {wait.seq - 1}, last completed NCCL work: {wait.seq - 1}.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run. Additionally, this can be caused by GIL deadlock or other reasons such as network errors or bugs in the communications library (e.g. NCCL), etc. "),
             ("E", 1536, f"{group}ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1"),
             ("F", 1557, f"{group}[PG ID {wait.group} PG GUID {wait.guid}({wait.desc}) Rank {rank}] Terminating the process after attempting to dump debug info, due to collective timeout or exception.")]
    for index, (severity, line, text) in enumerate(lines):
        moment = time_s + index * (0.01 if index < 3 else 20.0)
        job.rank_says(moment, rank, job.c10(rank, moment, severity, f"{PG}:{line}") + text)


def nccl_warn(job: Job, time_s: float, rank: int, place: str, text: str) -> str:
    """One NCCL WARN line; since 2.26 with the time in front."""
    pid = job.pid(rank)
    stamp = f"[{job.at(rank, time_s):%Y-%m-%d %H:%M:%S}] " if job.torch.nccl_number >= (2, 26) else ""
    return f"\n{stamp}{job.host_of(rank).name.split('.')[0]}:{pid}:{pid + job.rng.randrange(40, 900)} [{job.local(rank)}] {place} NCCL WARN {text}"


def closed_by_peer(job: Job, peer: Host) -> tuple[str, str]:
    """(NCCL's text, its source) of a connection that a peer process closed by dying."""
    port = job.rng.randrange(32768, 60999)
    where = f"{peer.name}<{port}>" if job.rng.random() < 0.5 else f"{peer.ip}<{port}>"
    if job.torch.nccl_number < (2, 16):
        return f"Net : Connection closed by remote peer {where}", f"misc/socket.cc:{job.rng.choice([483, 493])}"
    return f"socketProgress: Connection closed by remote peer {where}", f"misc/socket.cc:{job.rng.choice([47, 49, 58])}"


def report_lost_peer(job: Job, time_s: float, rank: int, peer: Host) -> None:
    """A rank whose peer is gone: NCCL's WARN, then the Python exception it turns into."""
    rng, torch = job.rng, job.torch
    if rng.random() < 0.3:  # the store or a gloo group (data loading, checkpoint) notices first
        tree = "/pytorch" if torch.since(2, 6) else ".."
        text = rng.choice([f"Connection closed by peer [{peer.ip}]:{rng.randrange(10000, 60000)}",
                           f"Read error [{peer.ip}]:{rng.randrange(10000, 60000)}: Connection reset by peer"])
        raise_text(job, time_s, rank, f"RuntimeError: [{tree}/third_party/gloo/gloo/transport/tcp/pair.cc:{rng.choice([534, 598, 553])}] {text}", "barrier")
        return
    warn, place = closed_by_peer(job, peer)
    if job.notes.get("nccl_debug"):
        job.rank_says(time_s, rank, nccl_warn(job, time_s, rank, place, warn), out=True)
    error = "remote process exited or there was a network error" if torch.nccl_number >= (2, 18) else "unhandled system error"
    explain = "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely." \
        if torch.nccl_number >= (2, 18) else "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."
    tree = "/pytorch" if torch.since(2, 6) else ".."
    kind = "torch.distributed.DistBackendError" if torch.since(2, 0) else "RuntimeError"
    source = "NCCLUtils.cpp:77" if torch.since(2, 6) else "ProcessGroupNCCL.cpp:1970"
    raise_text(job, time_s + 0.02, rank, f"{kind}: NCCL error in: {tree}/torch/csrc/distributed/c10d/{source}, {error}, NCCL version {torch.nccl}\n{explain}\nLast error:\n{warn}", "collective")
