"""Texts read cause by cause: what a message of one cause's neighbour must not be taken for."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.sources.unwrap import as_typed

from .told import cause, told


def told_of(text: str) -> tuple[str, list[tuple[int | None, str | None]], str]:
    """The cause, the culprits' ranks and hosts, and the first line of evidence."""
    found = diagnose(Text(text, name="console.log")).diagnosis
    return found.cause, [(c.rank, c.host) for c in found.culprits], found.evidence[0].text


PRTERUN = """../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [949,0,0], thread: [62,0,0] \
Assertion `srcIndex < srcSelectDimSize` failed.
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: device-side assert triggered
[gpu0304:3411853] *** Process received signal ***
[gpu0304:3411853] Signal: Aborted (6)
--------------------------------------------------------------------------
prterun noticed that process rank 7 with PID 0 on node gpu0304 exited on
signal 6 (Aborted).
--------------------------------------------------------------------------
"""


def test_prterun_names_the_rank_over_two_lines() -> None:
    assert ("gpu.device-assert", 7) == (told_of(PRTERUN)[0], told_of(PRTERUN)[1][0][0])


LOCKED = "[_get_plugin()] Lock file exists in build directory: '/home/zq/.cache/torch_extensions/py39_cu118/nvdiffrast_plugin/lock'\n"


def test_a_log_that_stops_at_a_lock_in_the_build_folder_waits_for_it() -> None:
    assert "software.stale-lock" == told_of(LOCKED)[0]


def test_a_loss_scale_far_below_one_is_no_search_for_the_scale() -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}\n"
    assert "numerics.nan" == told_of("".join(line.format(f"{n}.16e-303") for n in (8, 4, 2)))[0]
    assert diagnose(Text("".join(line.format(n) for n in ("256.0", "128.0", "1.52587890625e-05")), name="console.log")).diagnosis is None


def test_a_bar_that_shows_nan_step_after_step() -> None:
    bar = "Steps:   1%|▋    | {n}/2000 [00:2{n}<1:02:00,  1.87s/it, lr=0.0001, step_loss=nan]\n"
    assert "numerics.nan" == told_of("".join(bar.format(n=n) for n in (4, 5, 6)))[0]


def test_an_exception_that_nobody_caught_is_not_why_the_watchdog_threw_it() -> None:
    """PyTorch 1.8 to 1.13 print the remark first, and without a rank."""
    text = (
        "[E ProcessGroupNCCL.cpp:485] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA"
        " kernels, subsequent GPU operations might run on corrupted/incomplete data. To avoid this inconsistency, we are taking"
        " the entire process down.\nterminate called after throwing an instance of 'std::runtime_error'\n"
        "  what():  [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for"
        " 1804582 milliseconds before timing out.\n"
    )
    assert "collective.timeout" == told_of(text)[0]


def test_the_status_in_the_dump_of_the_neuron_runtime_is_read_by_name() -> None:
    dump = "2024-Jul-30 14:22:31.305961 65191:69012 ERROR   NRT:nrt_infodump                            "
    assert "memory.cuda-oom" == told_of(dump + "Failure: NRT_RESOURCE in nrt_load()\n" + dump + "Visible cores: 0, 1\n")[0]
    assert "gpu.ecc" == told_of(dump + "Failure: NRT_EXEC_HW_ERR_HBM_UE in nrt_execute()\n")[0]


def test_what_slurm_puts_before_all_lines_of_a_file_is_no_label_of_a_collector() -> None:
    """What enroot says below `pyxis:` begins as a log does, so that the head looked like one that a viewer adds."""
    text = (
        "slurmstepd: error: pyxis: child 41232 failed with error code: 1\n"
        "slurmstepd: error: pyxis: failed to import docker image\n"
        "slurmstepd: error: pyxis: printing enroot log file:\n"
        "slurmstepd: error: pyxis:     [INFO] Querying registry for permission grant\n"
        "slurmstepd: error: pyxis:     [ERROR] URL https://auth.docker.io/token returned error code: 401 Unauthorized\n"
    )
    assert "process.not-started" == told_of(text)[0]


# --- texts of less common programs, read cause by cause: what was told wrongly, or not at all ---------------------


def test_a_record_in_json_keeps_its_curly_quotes() -> None:
    """A straight one would end the string that it stands in."""
    text = '{"severity": "ERROR", "message": "the file \u201ca.pt\u201d: CUDA out of memory. Tried to allocate 2.00 GiB"}\n'
    assert b"\xe2\x80\x9c" in as_typed(b"x\n  " + text.encode())


# --- what NCCL logs as INFO it went on after; the same words as a WARN are a failure ------------------------------

INFO = "gpu-node-07:41217:41388 [3] NCCL INFO "
WENT_ON = (
    "Could not find real path of /sys/class/net/eth0/device",
    "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0, retrying 1/3 after 100 msec of sleep",
    "Could not open XML topology file /var/run/nvidia-topologyd/virtualTopology.xml : No such file or directory",
    "Detected mixed local Net device counts across ranks (min 7, max 8). Ignoring due to NCCL_IGNORE_NET_MISMATCH.",
    "NET/IB: Ip address '10.0.0.300' is invalid for family AF_INET, ignoring address",
)


@pytest.mark.parametrize("text", WENT_ON)
def test_info_line_of_nccl_is_no_failure(tmp_path, text):
    assert "unfinished" == cause(told(tmp_path, {"rank3.log": f"{INFO}Using network Socket\n{INFO}{text}\n"}))


# --- what a process said last, and what only stands beside it: one fact each, in the words of Ray, vLLM, torch and Python ---

ABORTED = (
    "(RayTrainWorker pid=7315) [/pytorch/third_party/gloo/gloo/transport/uv/libuv.h:596] uv_accept: invalid argument\n"
    "(RayTrainWorker pid=7315) *** SIGABRT received at time=1734086759 ***\n"
    "(RayTrainWorker pid=7315) PC: @        0x19ea96600  (unknown)  __pthread_kill\n"
)
LOST = (
    "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, "
    "check the logs for the dead worker. RayTask ID: ffff Worker ID: 6b7a Node ID: 1d2f Worker IP address: 10.0.0.4 Worker "
    "port: 58312 Worker PID: {pid} Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a "
    "connection error code 2. End of file.\n"
)
NO_DRIVER = (
    "/opt/conda/lib/python3.9/site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: The NVIDIA driver on "
    "your system is too old (found version 10020). Please update your GPU driver\n  return torch._C._cuda_getDeviceCount() > 0\n"
)
NO_HUB = (
    'Traceback (most recent call last):\n  File "/app/train.py", line 17, in <module>\n    trainer = Trainer(opts)\n'
    '  File "/opt/conda/lib/python3.9/site-packages/requests/adapters.py", line 507, in send\n'
    "    raise ConnectTimeout(e, request=request)\n"
    "requests.exceptions.ConnectTimeout: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries "
    "exceeded with url: /timm/resnet50/resolve/main/model.bin (Caused by ConnectTimeoutError(<conn>, 'Connection to "
    "huggingface.co timed out. (connect timeout=None)'))\"), '(Request ID: dedf7ad6)')\n"
)


def test_the_worker_that_raylet_found_dead_has_said_itself_that_it_aborted(tmp_path):
    assert "process.abort" == cause(told(tmp_path, {"driver.log": ABORTED + LOST.format(pid=7315)}))


def test_a_warning_of_python_yields_to_what_ended_the_program_later(tmp_path):
    assert "hub.download" == cause(told(tmp_path, {"train.log": NO_DRIVER + NO_HUB}))


# --- kernels that wait for other ranks, say so when they waited in vain, and end themselves -----------------------

WAITED = "DeepEP dispatch NVL receiver timeout, channel: 6, RDMA: 0, nvl: 0, src NVL: 5, head: 315, tail: 315\n" * 2
FAILED = {
    "host": "  what():  Failed: CUDA error /workspace/DeepEP/csrc/deep_ep.cpp:83 'unspecified launch failure'\n",
    "torch": "[rank3]: RuntimeError: CUDA error: unspecified launch failure\n",
}


@pytest.mark.xfail(strict=True, reason="a kernel that traps after its wait is told as an illegal access")
@pytest.mark.parametrize("end", FAILED)
def test_a_kernel_that_waited_in_vain_traps_and_did_not_touch_foreign_memory(end: str) -> None:
    found = diagnose(Text(WAITED + FAILED[end], name="train.log")).diagnosis
    assert ("collective.timeout", 1) == (found.cause, found.evidence[0].line)


# --- what users paste of post-training and inference runs: one fact each, in the words of the libraries -----------


def raised(code: str, message: str = "AssertionError") -> str:
    """A traceback whose last frame shows this source line."""
    return f'Traceback (most recent call last):\n  File "/app/train.py", line 21, in main\n    {code}\n{message}\n'


def test_the_source_line_of_a_wordless_assertion_tells_what_was_checked(tmp_path):
    asked = {
        "assert config.data.train_batch_size >= config.actor.ppo_mini_batch_size": "config.batch-size-mismatch",
        "assert world_size % args.ulysses_degree == 0": "config.world-size-mismatch",
        "assert torch.isfinite(loss).all()": "numerics.nan",
        "assert len(tensors) == world_size": "process.exception",
        "assert x.shape[0] == batch_size": "process.exception",
    }

    found = {code: cause(told(tmp_path / str(n), {"a.log": raised(code)})) for n, code in enumerate(asked)}

    assert asked == found


def test_an_ipv6_address_in_brackets_never_resolves_and_the_advice_is_to_take_them_off(tmp_path) -> None:
    speaker = "(4l0bidWorkerDict_1:13 WorkerDict pid=204487, ip=[2001:db8::530e]) [W715 20:00:39.842901446 socket.cpp:752] "
    said = "[c10d] The IPv6 network addresses of ({}, 59699) cannot be retrieved (gai error: -2 - Name or service not known).\n"
    report = told(tmp_path, {"driver.log": speaker + said.format("[2001:db8::1540]")})
    assert cause(report) == "network.dns" and report.diagnosis is not None
    assert "without brackets" in report.diagnosis.remedy[0].text
    assert cause(told(tmp_path / "name", {"driver.log": speaker + said.format("trainer-0")})) != "network.dns"


# --- A trainer that asks for its generation server, and a server that never comes up ------------------------------

ASKS = "2025-03-26 05:53:{0:02} - INFO - trl.extras.vllm_client - Server is not up yet. Retrying in 2.0 seconds...\n"
UP = "2025-03-26 05:53:50 - INFO - trl.extras.vllm_client - Server is up!\n"
TIMED_OUT = (
    "[rank{0}]:[E326 06:03:12.123456789 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
)
RAISED = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/venv/lib/python3.11/site-packages/trl/extras/vllm_client.py", line 122, in check_server
[rank0]:     raise ConnectionError(
[rank0]: ConnectionError: The vLLM server can't be reached at http://0.0.0.0:8000 after 240.0 seconds. Make sure the server is running.
"""


def test_the_client_s_own_end_is_the_proof_where_it_gives_up() -> None:
    found = diagnose(Text("".join(ASKS.format(n) for n in range(10, 40, 2)) + RAISED, name="train.log")).diagnosis
    assert ("network.connection-refused", 19) == (found.cause, found.evidence[0].line)


def test_a_server_that_came_up_is_no_reason() -> None:
    found = diagnose(Text(ASKS.format(10) * 200 + UP + TIMED_OUT.format(1) + TIMED_OUT.format(2), name="train.log")).diagnosis
    assert found.cause.startswith("collective.")


# --- hosts that run different versions of what has to be one: a cause where set-up failed, a notice where all went well ---

NCCL = "node-{h}:{p}:{p} [0] NCCL INFO NCCL version {v}+cuda12.4\n"
MISMATCHED = (
    "node-a:100:200 [0] init.cc:1600 NCCL WARN Mismatched collective configuration\n"
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2251, "
    "internal error - please report this issue to the NCCL developers, NCCL version 2.20.5\n"
    "[rank0]: ncclInternalError: Internal check failed.\n"
)


def _log(a: str, b: str) -> str:
    return NCCL.format(h="a", p=100, v=a) + NCCL.format(h="b", p=101, v=b)


@pytest.mark.parametrize(("other", "expected"), [("2.21.5", True), ("2.20.5", False)])
def test_hosts_with_different_nccl_versions_are_why_set_up_failed(other: str, expected: bool) -> None:
    found = diagnose(Text(_log("2.20.5", other) + MISMATCHED, name="x.log")).diagnosis
    assert found is not None and expected is (found.cause == "nccl.version-mismatch")
    assert expected is ("2.20.5 on node-a, 2.21.5 on node-b" in found.summary + found.remedy[0].text)


def test_versions_that_differ_are_no_failure_of_a_run_that_has_none() -> None:
    report = diagnose(Text(_log("2.20.5", "2.21.5") + "step 1 loss 2.3\nstep 2 loss 2.2\n", name="x.log"))
    assert report.diagnosis is None
    assert [n.topic for n in report.notices] == ["NCCL version differs"]
