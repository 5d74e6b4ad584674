"""Jobs of many hosts: which host or rank it was, where clocks, names and launchers of several hosts meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import BOX, cause, culprits, told

QUOTA = """Traceback (most recent call last):
  File "/srv/ml/ckpt.py", line 120, in save
    torch.save(state, path)
OSError: [Errno 122] Disk quota exceeded: '/local/step_900/shard.pt'
"""


def test_a_folder_is_a_host_where_an_agents_summary_says_that_it_is_one(tmp_path: Path) -> None:
    boxes = {h: BOX.format(at="10:30:11", host=h, rank=r, local=1, pid=930, blank=" ") for h, r in (("lrdn1696", 9), ("lrdn1774", 17))}
    folder = "job_x3f9k2ab/attempt_0/1"
    lost = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.128.0.7]:41200\n"
    logs = {
        "lrdn1696/torchrun.log": boxes["lrdn1696"],
        "lrdn1774/torchrun.log": boxes["lrdn1774"],
        f"lrdn1696/{folder}/stderr.log": QUOTA,
        f"lrdn1774/{folder}/stderr.log": lost,
    }

    report = told(tmp_path, logs)

    assert ("storage.disk-full", [9]) == (cause(report), culprits(report))


LABEL = """{host}: Traceback (most recent call last):
{host}:   File "/srv/ml/data.py", line 77, in collate
{host}:     y = [b["label"] for b in batch]
{host}: KeyError: 'label'
"""
LOST = "{host}: [E ProcessGroupNCCL.cpp:916] [Rank {rank}] NCCL watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.18.1\n"
DEEPSPEED = "{host}: [2026-10-05 17:37:08,827] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = 1\n"


def test_ranks_that_only_a_process_group_numbers_leave_no_rank_over(tmp_path: Path) -> None:
    lost = "".join(LOST.format(host=f"dgx-{n:02d}", rank=8 * n + 3) for n in range(4, 9))
    step = "dgx-00: [2026-10-05 17:30:00,827] [INFO] [logging.py:128:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\n"
    logs = {"train.log": step + LABEL.format(host="dgx-22") + lost + DEEPSPEED.format(host="dgx-22")}

    report = told(tmp_path, logs)

    assert ("process.exception", []) == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert ["dgx-22"] == [c.host for c in report.diagnosis.culprits]


GUARD = """Traceback (most recent call last):
  File "/srv/ml/train.py", line 61, in step
    check(norm)
ValueError: rank 16 step 491: gradient norm is nan, refusing to go on
"""


def _steps(start: int, minute: int) -> str:
    numbers = range(start, start + 100, 10)
    line = '{{"time": "2026-05-04T05:{at:02}:07.516", "level": "info", "rank": 21, "step": {step}, "loss": 8.3, "grad_norm": 1.1}}\n'
    return "".join(line.format(at=minute + n, step=step) for n, step in enumerate(numbers))


def test_a_lost_node_is_history_where_steps_go_on_for_minutes_below(tmp_path: Path) -> None:
    lost = "srun: error: Node failure on dgx-b1-02\n"
    report = told(tmp_path, {"llama.log": _steps(10, 2) + lost + _steps(110, 30) + GUARD})

    assert "numerics.nan" == cause(report)


XID = "Feb 18 14:07:04 gpu-07-048 kernel: NVRM: Xid (PCI:0000:ba:00): 79, pid=519116, name=python, GPU has fallen off the bus.\n"
FAILED = "RuntimeError: CUDA error: unspecified launch failure"


def test_steps_by_a_clock_of_another_zone_do_not_make_history_of_what_its_host_felt_at_once(tmp_path: Path) -> None:
    steps = "".join(f"2026-02-18 14:{n}:59,000 | INFO | rank 0 | step {n} loss 1.2\n" for n in range(50, 59))
    raised = GUARD.replace("ValueError: rank 16 step 491: gradient norm is nan, refusing to go on", FAILED)
    box = BOX.format(at="14:07:10", host="gpu-07-048", rank=18, local=2, pid=519112, blank=" ")
    box = box.replace("2026-11-20", "2026-02-18").replace("E1120", "E0218")
    report = told(tmp_path, {"gpu-07-012.out": steps, "gpu-07-048/kern.log": XID, "gpu-07-048.out": raised + box})

    assert "gpu.off-bus" == cause(report)


JOINED = "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/srv/ml/train.py\", line 61, in step\n[rank{rank}]:     loss.backward()\n[rank{rank}]: RuntimeError: {says}\n"


def test_the_rank_that_ran_out_of_inputs_is_told_from_those_that_hear_of_it(tmp_path: Path) -> None:
    heard = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
    words = dict.fromkeys(range(4), heard) | {2: "Rank 2 exhausted all inputs."}
    report = told(tmp_path, {"console.log": "".join(JOINED.format(rank=r, says=says) for r, says in words.items())})

    assert "data.uneven-inputs" == cause(report)
    assert culprits(report) in ([], [2])


TOLD = "W1120 {at}.450000 {pid} torch/distributed/elastic/multiprocessing/api.py:753] Received 15 death signal, shutting down workers\n"


@pytest.mark.xfail(strict=True, reason="agents that name no rank were told to stop: their order is not explained by an exit elsewhere")
def test_launchers_are_told_to_stop_because_of_a_death_that_another_one_found_untold(tmp_path: Path) -> None:
    """Hosts without a shared moment: the clock of the one that failed may be late."""
    box = BOX.format(at="10:31:02", host="gpu-09", rank=9, local=1, pid=930, blank=" ").replace("exitcode: 1)", "exitcode: 3)")
    told_at = {f"gpu-0{n}/torchrun.log": TOLD.format(at="10:30:11", pid=700 + n) for n in (1, 2, 3)}

    report = told(tmp_path, {"gpu-09/torchrun.log": box, **told_at})

    assert ("process.exit-code", [9]) == (cause(report), culprits(report))


def _ninja(times: int) -> str:
    return "".join(f'Traceback (most recent call last):\n  File "/srv/ml/k{n}.py", line 9, in <module>\n    load()\nRuntimeError: Ninja is required to load C++ extensions\n' for n in range(times))


def test_what_all_processes_of_one_host_meet_and_none_elsewhere_is_that_hosts(tmp_path: Path) -> None:
    logs = {f"gpu-node-{n:02}/out.log": "NCCL version 2.21.5+cuda12.4\n" for n in range(1, 5)}
    report = told(tmp_path, {**logs, "gpu-node-07/out.log": _ninja(8)})

    assert report.diagnosis is not None
    assert ["gpu-node-07"] == [c.host for c in report.diagnosis.culprits]


OOM = """Traceback (most recent call last):
  File "/srv/ml/model.py", line 301, in forward
    logits = self.lm_head(h)
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 5 has a total capacty of 79.10 GiB of which 1.20 GiB is free.
"""


def test_a_gpus_index_is_no_rank_where_the_consoles_of_many_nodes_lie(tmp_path: Path) -> None:
    """`a3-mega-3-60` is no form of host names that is known; that a launcher speaks in such a file tells what they are."""
    step = "[2026-07-04 19:50:23,085] [INFO] [logging.py:128:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\n"
    logs = {f"a3-mega-3-{n}.out": "NCCL version 2.18.1+cuda12.1\n" for n in range(61, 66)}
    failed = OOM + DEEPSPEED.format(host="").removeprefix(": ")

    report = told(tmp_path, {"a3-mega-3-59.out": step, "a3-mega-3-60.out": failed, **logs})

    assert ("memory.cuda-oom", []) == (cause(report), culprits(report))


def test_a_label_of_srun_says_more_of_the_rank_than_the_index_of_its_gpu(tmp_path: Path) -> None:
    labels = "".join(f"{task:>2}: NCCL version 2.14.3+cuda11.7\n" for task in range(16))
    raised = "".join(f"13: {line}\n" for line in OOM.splitlines())

    report = told(tmp_path, {"slurm-77.out": labels + raised})

    assert ("memory.cuda-oom", [13]) == (cause(report), culprits(report))


NOT_READY = """Traceback (most recent call last):
  File "/srv/ml/train.py", line 9, in main
    torch._C._cuda_init()
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
"""


def test_all_ranks_of_a_node_are_no_culprits_though_its_name_is_unknown(tmp_path: Path) -> None:
    started = "".join(f"{task:>2}: NCCL version 2.21.5+cuda12.4\n" for task in range(32))
    lines = (f"{task:>2}: {line}\n" for task in range(8, 16) for line in NOT_READY.splitlines())

    assert [] == culprits(told(tmp_path, {"slurm-77.out": started + "".join(lines)}))
