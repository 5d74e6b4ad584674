"""Small jobs as text, for tests that state what the verdict has to be."""

from __future__ import annotations

from pathlib import Path

from diagnose.engine import diagnose
from diagnose.job.job import JobContext
from diagnose.report.report import Report

# What torchrun prints of the one worker of its node that failed.
BOX = """E1120 {at}.100000 811 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: {local} (pid: {pid}) of binary: /usr/bin/python3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:{blank}
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-20_{at}
  host      : {host}
  rank      : {rank} (local_rank: {local})
  exitcode  : 1 (pid: {pid})
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


def told(folder: Path, files: dict[str, str], **job: int) -> Report:
    """Write the files into `folder` and diagnose it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return diagnose(folder, job=JobContext(**job))


def cause(report: Report) -> str:
    """The cause, or the outcome where there is none."""
    return report.diagnosis.cause if report.diagnosis else report.outcome


def culprits(report: Report) -> list[int]:
    """The ranks at fault."""
    return [c.rank for c in report.diagnosis.culprits if c.rank is not None] if report.diagnosis else []


def watchdog(rank: int, seq: int = 812, op: str = "ALLREDUCE", numel: int = 4096, at: str = "10:30:00") -> str:
    """A rank's time-out as PyTorch 2.4 and later print it."""
    return (
        f"[rank{rank}]:[E1120 {at}.104231877 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=600000) ran for "
        f"600012 milliseconds before timing out.\n"
    )


def alive(rank: int, step: int = 120, at: str = "10:19:00") -> str:
    """A sign of life."""
    return f"2026-11-20 {at},000 | INFO | rank {rank} | step {step} loss 1.2345\n"
