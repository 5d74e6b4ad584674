"""What a job went on after, in a log that names no rank."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources import Text


def said(lines: list[str], name: str = "train.log") -> str:
    report = diagnose(Text("\n".join(lines) + "\n", name=name))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def step(number: int, norm: str) -> str:
    return (
        f" [2026-11-10 10:00:{number:02d}] iteration {number:8d}/  250000 | consumed samples: 43408 | elapsed time per"
        f" iteration (ms): 4247.9 | learning rate: 2.999E-04 | loss scale: 1.0 | grad norm: {norm} | number of nan iterations:   0 |"
    )


def test_a_step_without_a_finite_norm_is_survived_where_later_ones_are_finite() -> None:
    assert said([step(1, "nan"), *(step(n, "1.02") for n in range(2, 30))]) == "recovered"


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


def test_card_that_another_transport_replaced_does_not_explain_what_ends_the_job_later() -> None:
    """EFA's plug-in gave up at the start and NCCL took sockets; the job made its steps over them."""
    assert "process.exception" == said([
        "algo-1:52:52 [0] nccl_net_ofi_init:1483 NCCL WARN NET/OFI aws-ofi-nccl initialization failed",
        "algo-1:52:52 [0] NCCL INFO Using network Socket",
        *(step(n, "1.02") for n in range(1, 20)),
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/job/train.py", line 20, in main',
        '[rank1]:     x = batch["label"]',
        "[rank1]: KeyError: 'label'",
    ])  # fmt: skip
