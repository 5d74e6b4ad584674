"""The GPU or its kernels fail: asserts, bad addresses, ECC, a lost device, NVLink, firmware."""

from __future__ import annotations

from dataclasses import replace

from . import aftermath, names
from .fault import ANYWHERE, Fault, guilty
from .job import Job, Truth
from .noise import kernel_noise
from .watchdog import PG, abort, pick_wait


def cuda_error(job: Job, text: str) -> str:
    """The exception around a CUDA error string, as the release prints it."""
    torch = job.torch
    kind = "torch.AcceleratorError" if torch.since(2, 9) else "RuntimeError"
    name = "\nSearch for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information." if torch.since(2, 9) else ""
    call = "API call,so" if not torch.since(2, 0) else "API call, so"
    tail = "\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n" if torch.since(2, 0) else ""
    return f"{kind}: CUDA error: {text}{name}\nCUDA kernel errors might be asynchronously reported at some other {call} the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.{tail}"


def falls(job: Job, time_s: float, rank: int, text: str, *, mark: bool = True) -> None:
    """A rank dies of a CUDA error: either its Python thread or its watchdog meets the error first."""
    evidence = f"CUDA error: {text}" if mark else ""
    if job.torch.since(2, 1) and job.rng.random() < 0.35 and job.launcher != "ray":
        wait = pick_wait(job, job.seq)
        what = cuda_error(job, text).split(": ", 1)[1].strip()
        abort(job, time_s, rank, wait, what, job.torch.lines[4], cpp="c10_cuda_check_implementation")
        if evidence:  # the line of the watchdog is the first that names it
            for index in range(len(job.events) - 1, -1, -1):
                event = job.events[index]
                if event.who == ("rank", rank) and evidence in event.text and PG in event.text:
                    job.events[index] = replace(event, evidence=evidence)
                    break
        aftermath.ranks_died(job, time_s + 0.8, {rank: -6})
        return
    where = job.rng.choice(["forward", "backward", "step"])
    aftermath.rank_raises(job, time_s, rank, cuda_error(job, text), where, evidence)


def device_assert(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    kernel = rng.choice(["/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex", "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d",
                         "/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu:145: operator()"])
    expression = rng.choice(["srcIndex < srcSelectDimSize", "t >= 0 && t < n_classes", "idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\""])
    block = rng.randrange(400)
    lines = [f"{kernel}: block: [{block},0,0], thread: [{thread},0,0] Assertion `{expression}` failed." for thread in range(rng.randrange(4, 33))]
    job.rank_says(time_s - 0.2, rank, "\n".join(lines), "Assertion `")
    falls(job, time_s, rank, "device-side assert triggered", mark=False)
    return guilty(job, "gpu.device-assert", f"device-side assert on rank {rank}", rank, "Assertion", expression[:18], remedy="An index is out of range: check labels and token ids of that batch.")


def illegal_access(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    falls(job, time_s, rank, "an illegal memory access was encountered")
    return guilty(job, "gpu.illegal-access", f"illegal memory access on rank {rank}", rank, "illegal memory access", remedy="Run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer.")


def address(job: Job, rank: int) -> str:
    return f"0000:{0x1b + job.local(rank) * 0x11:02x}:00"


def xid(job: Job, time_s: float, rank: int, code: int, text: str, evidence: str = "") -> None:
    """One line of the NVIDIA driver about the rank's GPU; the pid is the host's."""
    pid = f"pid={job.pid(rank)}, name=python, " if job.rng.random() < 0.7 else "pid='<unknown>', name=<unknown>, "
    job.kernel_says(time_s, job.host_of(rank), f"NVRM: Xid (PCI:{address(job, rank)}): {code}, {pid}{text}", evidence)


def with_kernel(job: Job, time_s: float, rank: int, lines: list[tuple[int, str]], evidence: str) -> None:
    """The driver's burst: the first line is the cause, the rest follow from it."""
    kernel_noise(job, job.host_of(rank), time_s)
    for index, (code, text) in enumerate(lines):
        xid(job, time_s + index * 0.7, rank, code, text, evidence if index == 0 else "")


def ecc(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    burst = rng.choice([
        [(48, f"An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x{names.hexes(rng, 9)} partition {rng.randrange(8)}, subpartition {rng.randrange(2)}."),
         (63, f"Row Remapper: New row (0x{names.hexes(rng, 12)}) marked for remapping, reset gpu to activate."), (45, "Ch 00000010")],
        [(94, "Contained: SM (0x1, 0x2). RST: No, D-RST: No"), (63, "Row Remapper: New row marked for remapping, reset gpu to activate.")],
        [(95, "Uncontained: FBHUB. RST: Yes, D-RST: No"), (154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")],
        [(64, "Row Remapper: Failed to activate row remapping"), (45, "Ch 00000008")]])
    with_kernel(job, time_s, rank, burst, f": {burst[0][0]}, ")
    falls(job, time_s + 1, rank, "uncorrectable ECC error encountered", mark=True)
    return guilty(job, "gpu.ecc", f"uncorrectable memory error on the GPU of rank {rank}", rank, str(burst[0][0]), remedy="Drain the node, reset the GPU, replace it when it recurs.")


def ecc_no_kernel(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    falls(job, time_s, rank, "uncorrectable ECC error encountered")
    return guilty(job, "gpu.ecc", f"uncorrectable ECC error on rank {rank}; no kernel log", rank, "uncorrectable ECC", remedy="Drain the node, reset the GPU.")


def off_bus(job: Job, time_s: float) -> Truth:
    rank = job.any_rank()
    with_kernel(job, time_s, rank, [(79, "GPU has fallen off the bus."), (154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)")], "fallen off the bus")
    falls(job, time_s + 1.5, rank, job.rng.choice(["unspecified launch failure", "unknown error", "CUDA-capable device(s) is/are busy or unavailable"]), mark=False)
    return guilty(job, "gpu.off-bus", f"the GPU of rank {rank} falls off the bus", rank, "fallen off the bus", remedy="Drain the node; reboot or power-cycle it.")


def nvlink(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    text = rng.choice([f"NVLink: fatal error detected on link {rng.randrange(18)}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
                       f"NVLink: fatal error detected on link {rng.randrange(12)}(0x0, 0x0, 0x20000, 0x0, 0x0, 0x0, 0x0)"])
    with_kernel(job, time_s, rank, [(74, text), (45, "Ch 00000010")], "NVLink: fatal error")
    falls(job, time_s + 1, rank, rng.choice(["uncorrectable NVLink error detected during the execution", "unspecified launch failure"]), mark=False)
    return guilty(job, "gpu.nvlink", f"fatal NVLink error on the GPU of rank {rank}", rank, "NVLink", remedy="Reset the GPUs of the node; check the fabric manager.")


def gsp(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    wait = rng.choice([6, 45])
    text = f"Timeout after {wait}s of waiting for RPC response from GPU{job.local(rank)} GSP! Expected function {rng.choice(['76 (GSP_RM_CONTROL)', '103 (GSP_RM_ALLOC)', '10 (FREE)'])} (0x{names.hexes(rng, 8)} 0x{names.hexes(rng, 4)})."
    with_kernel(job, time_s, rank, [(119, text), (119, text), (154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")], "RPC response from GPU")
    falls(job, time_s + 2, rank, rng.choice(["unspecified launch failure", "unknown error"]), mark=False)
    return guilty(job, "gpu.gsp", f"GSP firmware of the GPU of rank {rank} does not answer", rank, "GSP", remedy="Reset the GPU; update driver and firmware.")


KERNEL = ("tree", "task", "node", "merged")  # where a kernel log of the host can lie beside
FAULTS = [
    Fault("device-assert", device_assert, ANYWHERE), Fault("illegal-access", illegal_access, ANYWHERE),
    Fault("ecc-xid", ecc, KERNEL, silent=True), Fault("ecc-no-kernel", ecc_no_kernel), Fault("off-bus", off_bus, KERNEL, silent=True),
    Fault("nvlink", nvlink, KERNEL, silent=True), Fault("gsp", gsp, KERNEL, silent=True),
]
