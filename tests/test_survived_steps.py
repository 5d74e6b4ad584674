"""What a job went on after, in a log that names no rank."""

from __future__ import annotations

from pathlib import Path

from diagnose.engine import diagnose
from diagnose.sources.source import Text
from tests.told import cause, culprits, told


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


STALL = (
    "[2020-12-30 16:35:15.181832: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced,"
    " gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may"
    " indicate that different ranks are trying to submit different tensors.\nMissing ranks:\n"
    "1: [DistributedOptimizer_Allreduce/grad_1, DistributedOptimizer_Allreduce/grad_2]\n"
)


def test_a_stall_that_horovod_warns_of_names_the_rank_that_has_not_come(tmp_path: Path) -> None:
    """The coordinator, rank 0, prints the warning, and the list has the ranks it waits for at its lines' heads."""
    tagged = "".join(f"[1,0]<stderr>:{line}\n" for line in STALL.splitlines())

    for text in (STALL, tagged):
        report = told(tmp_path, {"console.log": text})
        assert ("collective.straggler", [1]) == (cause(report), culprits(report))


def test_a_stall_that_horovod_warns_of_is_over_once_steps_go_on(tmp_path: Path) -> None:
    """No rank can go on while it waits for another's tensor, so all have come; the warning is no verdict then."""
    steps = "".join(f"step {n} loss 2.{n}\n" for n in range(100, 260))

    report = told(tmp_path, {"console.log": STALL + steps})

    assert "recovered" == report.outcome


TIMED_OUT = "[E1120 17:13:36.220790330 socket.cpp:1028] [c10d] The client socket has timed out after 15000ms while trying to connect \
to (gpu-node-07, 29555).\n"


def test_a_store_that_was_not_reached_at_first_is_no_root_once_steps_are_made() -> None:
    """Nobody takes a step before all have reached the store; the line names no rank, and need not."""
    steps = "".join(f"step {10 * n} loss 1.{n}\n" for n in range(1, 5))
    raised = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\nValueError: bad record\n'

    assert diagnose(Text(TIMED_OUT + steps, name="console.log")).diagnosis is None
    found = diagnose(Text(TIMED_OUT + steps + raised, name="console.log")).diagnosis
    assert found is not None
    assert "process.exception" == found.cause


THREAD = """Exception in thread metrics-uploader:
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 982, in run
    self._target(*self._args, **self._kwargs)
  File "/data/jobs/train/extras.py", line 84, in upload
    raise ConnectionError("metrics gateway 10.80.0.9:9091 refused the batch")
ConnectionError: metrics gateway 10.80.0.9:9091 refused the batch"""


def of_rank(rank: int, step: int, second: float) -> str:
    return f"2026-11-23 08:21:{second:06.3f}".replace(".", ",") + f" [INFO] [rank {rank}] train: step {step}/12 loss=0.88 lr=0.8"


def test_what_a_thread_raised_is_named_where_a_rank_takes_no_step_after_it() -> None:
    both = [[of_rank(r, n, 39 + n / 10) for r in (0, 1)] for n in range(1, 8)]
    assert said([*both[0], *both[1], THREAD, both[2][0], both[3][0]]) == "process.exception"
