"""What a job went on after, in a log that names no rank."""

from __future__ import annotations

from pathlib import Path

from diagnose.engine import diagnose
from diagnose.sources.source import Text
from tests.told import told


def said(lines: list[str], name: str = "train.log") -> str:
    report = diagnose(Text("\n".join(lines) + "\n", name=name))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def step(number: int, norm: str) -> str:
    return (
        f" [2026-11-10 10:00:{number:02d}] iteration {number:8d}/  250000 | consumed samples: 43408 | elapsed time per"
        f" iteration (ms): 4247.9 | learning rate: 2.999E-04 | loss scale: 1.0 | grad norm: {norm} | number of nan iterations:   0 |"
    )


def test_norms_that_stay_not_finite_are_named() -> None:
    assert said([step(1, "1.02"), *(step(n, "nan") for n in range(2, 30))]) == "numerics.nan"


def test_steps_above_an_error_are_not_what_the_job_went_on_with_though_their_clock_is_hours_ahead() -> None:
    assert "gpu.ecc" == said([
        *(step(n, "1.02") for n in range(1, 20)),
        "Traceback (most recent call last):",
        '  File "/data/mei/pretrain_gpt.py", line 224, in <module>',
        "    pretrain(model)",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 113884 closing signal SIGTERM",
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 1 (pid: 113886) of binary: python",
        "============================================================",
        "pretrain_gpt.py FAILED",
        "------------------------------------------------------------",
        "Failures:",
        "[1]:",
        "  time      : 2026-11-10_02:00:40",
        "  host      : gpu-node-07",
        "  rank      : 0 (local_rank: 0)",
        "  exitcode  : -15 (pid: 113884)",
        "  error_file: <N/A>",
        "  traceback : Signal 15 (SIGTERM) received by PID 113884",
        "------------------------------------------------------------",
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : 2026-11-10_02:00:38",
        "  host      : gpu-node-07",
        "  rank      : 1 (local_rank: 1)",
        "  exitcode  : 1 (pid: 113886)",
        "  error_file: <N/A>",
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        "============================================================",
    ], name="gpu-node-07/train.log")  # fmt: skip


STALL = (
    "[2020-12-30 16:35:15.181832: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced,"
    " gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may"
    " indicate that different ranks are trying to submit different tensors.\nMissing ranks:\n"
    "1: [DistributedOptimizer_Allreduce/grad_1, DistributedOptimizer_Allreduce/grad_2]\n"
)


def test_a_stall_that_horovod_warns_of_is_over_once_steps_go_on(tmp_path: Path) -> None:
    """No rank can go on while it waits for another's tensor, so all have come; the warning is no verdict then."""
    steps = "".join(f"step {n} loss 2.{n}\n" for n in range(100, 260))
    report = told(tmp_path, {"console.log": STALL + steps})
    assert "recovered" == report.outcome
