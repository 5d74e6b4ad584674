"""Jobs of many hosts: which host or rank it was, where clocks, names and launchers of several hosts meet."""

from __future__ import annotations

from pathlib import Path

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


GUARD = """Traceback (most recent call last):
  File "/srv/ml/train.py", line 61, in step
    check(norm)
ValueError: rank 16 step 491: gradient norm is nan, refusing to go on
"""


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


def _ninja(times: int) -> str:
    return "".join(f'Traceback (most recent call last):\n  File "/srv/ml/k{n}.py", line 9, in <module>\n    load()\nRuntimeError: Ninja is required to load C++ extensions\n' for n in range(times))


def test_what_all_processes_of_one_host_meet_and_none_elsewhere_is_that_hosts(tmp_path: Path) -> None:
    logs = {f"gpu-node-{n:02}/out.log": "NCCL version 2.21.5+cuda12.4\n" for n in range(1, 5)}
    report = told(tmp_path, {**logs, "gpu-node-07/out.log": _ninja(8)})
    assert ["gpu-node-07"] == [c.host for c in report.diagnosis.culprits]


NOT_READY = """Traceback (most recent call last):
  File "/srv/ml/train.py", line 9, in main
    torch._C._cuda_init()
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
"""


def test_all_ranks_of_a_node_are_no_culprits_though_its_name_is_unknown(tmp_path: Path) -> None:
    started = "".join(f"{task:>2}: NCCL version 2.21.5+cuda12.4\n" for task in range(32))
    lines = (f"{task:>2}: {line}\n" for task in range(8, 16) for line in NOT_READY.splitlines())
    assert [] == culprits(told(tmp_path, {"slurm-77.out": started + "".join(lines)}))
