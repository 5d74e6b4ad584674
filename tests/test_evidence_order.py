"""Of the lines that tell of a cause the one is shown first that an expert would point at."""

from __future__ import annotations

from pathlib import Path

from .told import alive, told


def shown_first(folder: Path, files: dict[str, str]) -> str:
    found = told(folder, files).diagnosis
    return f"{Path(found.evidence[0].file).relative_to(folder)}:{found.evidence[0].line}"


def test_a_warning_of_nccl_comes_before_the_exception_that_quotes_it(tmp_path: Path) -> None:
    quoting = (
        "[rank10]: Traceback (most recent call last):\n"
        '[rank10]:   File "/app/train.py", line 37, in main\n'
        "[rank10]:     work.wait()\n"
        "[rank10]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled "
        "system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n"
        "[rank10]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \n"
        "[rank10]: Last error:\n"
        "[rank10]: socketStartConnect: Connect to 10.36.1.16<43929> failed : Connection timed out\n"
    )
    warning = (
        "dgx-42:3160317:3160969 [2] misc/socket.cc:538 NCCL WARN socketStartConnect: Connect to 10.36.1.16<43929> failed : "
        "Connection timed out\n"
    )
    folder = "dgx-42/elastic/none_a0a16543/attempt_0/2"

    assert f"{folder}/stdout.log:1" == shown_first(
        tmp_path, {f"{folder}/stderr.log": quoting, f"{folder}/stdout.log": warning}
    )


def test_what_the_kernel_says_of_a_gpu_comes_before_the_exception_that_felt_it(tmp_path: Path) -> None:
    """The exception has no clock, and seems as old as the last line above it that has one."""
    raised = (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/app/train.py", line 37, in main\n'
        "[rank1]: RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution\n"
    )
    kernel = (
        "2026-11-20T10:58:30+00:00 n1 kernel: NVRM: Xid (PCI:0000:4e:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal "
        "error detected on link 9(0x0, 0x0, 0x20000, 0x0, 0x0, 0x0, 0x0)\n"
    )

    assert "n1/dmesg.log:1" == shown_first(tmp_path, {"n1/console.log": alive(0) + alive(1) + raised, "n1/dmesg.log": kernel})


def test_a_line_that_states_the_cause_comes_before_an_earlier_symptom_of_it(tmp_path: Path) -> None:
    symptom = (
        "Traceback (most recent call last):\n"
        '  File "/opt/conda/lib/python3.10/site-packages/torch/distributed/elastic/multiprocessing/api.py", line 68, in '
        "_terminate_process_handler\n"
        '    raise SignalException(f"Process {os.getpid()} got signal: {sigval}", sigval=sigval)\n'
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process {pid} got signal: 15\n"
    )
    told_of = "Received 15 death signal, shutting down workers\n"
    agent = "W1120 21:31:20.221000 140008901615616 torch/distributed/elastic/agent/server/api.py:704] "
    files = {"train.n50.out": agent + told_of + symptom.replace("{pid}", "305"), "train.n40.out": symptom.replace("{pid}", "304")}

    assert "train.n50.out:1" == shown_first(tmp_path, files)


def test_a_value_is_marked_in_the_message_and_not_in_the_date_before_it(tmp_path: Path) -> None:
    line = "2026-11-20 17:31:53,665 | INFO | rank {} | step {} loss 1.2345\n"
    found = told(tmp_path, {f"rank_{r}.log": line.format(r, 11 if r == 2 else 12) for r in range(4)}).diagnosis
    marked = [found.evidence[0].text[s.start - 5 : s.end] for s in found.evidence[0].spans if s.field == "step"]
    assert marked == ["step 11"]


def test_a_late_rank_is_shown_with_what_it_said_last_and_not_with_the_step_before(tmp_path: Path) -> None:
    def step(rank: int) -> str:
        return f"[2026-11-20 17:35:53,655][train][INFO] [rank{rank}] step 10 loss 1.2733\n"

    def waited(rank: int) -> str:
        return (
            f"[rank{rank}]: Traceback (most recent call last):\n"
            f'[rank{rank}]:   File "/app/train.py", line 88, in main\n'
            f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting "
            "8000ms for recv operation to complete\n"
        )

    last = "[2026-11-20 17:35:53,798][train][INFO] [rank2] doing a long extended thing on the validation set\n"
    library = "vm:18305:18399 [0] NCCL INFO Channel 00/0 : 2[0] -> 3[0] via SHM\n"
    files = {f"rank_{rank}.log": step(rank) + waited(rank) for rank in (0, 1, 3)}

    assert "rank_2.log:2" == shown_first(tmp_path, {**files, "rank_2.log": step(2) + last + library})
