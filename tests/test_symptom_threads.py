"""What users paste by symptom, whatever the project: one fact each, in the words of the libraries."""

from __future__ import annotations

import pytest

from .told import cause, culprits, told

HEAD = 'Traceback (most recent call last):\n  File "/app/train.py", line 9, in main\n    run()\n'
WANDB_WELL = "wandb: Waiting for W&B process to finish... (success).\n"


def test_a_rank_tag_behind_the_blanks_of_a_wiped_bar_still_names_the_rank(tmp_path):
    log = (
        "          [rank6]: ValueError: Image features and image tokens do not match: tokens: 2456, features 3360\n"
        "W0910 09:51:07.601000 1722592 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 1722677 closing "
        "signal SIGTERM\n"
    )

    report = told(tmp_path, {"train.log": log})

    assert ("data.bad-sample", [6]) == (cause(report), culprits(report))


def test_a_reader_that_gave_up_on_a_local_file_is_no_failed_download(tmp_path):
    log = HEAD + "RuntimeError: Failed to fetch video idx 168596 from /data/k400/train/EY6MSW3zkr8.avi; after 99 trials\n"

    assert "data.bad-sample" == cause(told(tmp_path, {"train.log": log}))


def test_a_request_to_another_part_of_the_job_is_no_failed_download(tmp_path):
    log = HEAD + "RuntimeError: Failed to fetch SGLang server info from http://10.0.0.3:30000: no answer\n"

    assert "hub.download" != cause(told(tmp_path, {"train.log": log}))


def test_tensorrt_llm_names_the_rank_whose_loop_crashed_behind_the_level(tmp_path):
    log = (
        "[TRT-LLM] [E] [_torch][RANK 7] Executor loop crashed on this rank; hard-killing all 8 ranks in 10s (peers cannot make "
        "progress without this rank).\n[TRT-LLM] [I] HTTP server shutting down\n"
    )

    assert [7] == culprits(told(tmp_path, {"serve.log": log}))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("AssertionError: False is not true : Expected zero exit code but got -11", "process.segfault"),
        ("RuntimeError: vLLM server died (exit code: -11)", "process.segfault"),
        ("RuntimeError: Scheduler process (pid=3) is dead. Exit code: -9", "process.sigkill"),
    ],
)
def test_the_code_with_which_a_child_ended_is_read_in_its_parent_s_words(tmp_path, message, expected):
    assert expected == cause(told(tmp_path, {"train.log": f"{HEAD}{message}\n"}))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("ConnectionResetError: [WinError 10054] 远程主机强迫关闭了一个现有的连接。", "network.connection-reset"),
        ("ConnectionRefusedError: [WinError 10061] No connection could be made", "network.connection-refused"),
        ("OSError: [WinError 10048] Only one usage of each socket address is normally permitted", "network.port-in-use"),
        ("socket.gaierror: [Errno 11001] getaddrinfo failed", "network.dns"),
        ("OSError: [WinError 1455] The paging file is too small for this operation to complete", "memory.host-alloc"),
        ('OSError: [WinError 126] The specified module could not be found. Error loading "fbgemm.dll"', "software.import-error"),
        ("OSError: [WinError 112] There is not enough space on the disk", "storage.disk-full"),
    ],
)
def test_the_errors_of_windows_are_known_by_their_number(tmp_path, message, expected):
    assert expected == cause(told(tmp_path, {"train.log": f"{HEAD}{message}\n"}))


def test_an_access_violation_of_windows_is_a_segmentation_fault(tmp_path):
    assert "process.segfault" == cause(told(tmp_path, {"serve.log": "loading\nException Code: 0xC0000005\n"}))


def test_a_run_that_wandb_saw_succeed_did_not_fail_by_what_its_threads_lost_then(tmp_path):
    lost = (
        'Exception in thread NetStatThr:\nTraceback (most recent call last):\n  File "/usr/lib/python3.8/threading.py", line '
        "870, in run\n    self._target(*self._args, **self._kwargs)\n"
        '  File "/venv/lib/python3.8/site-packages/wandb/sdk/wandb_run.py", line 258, in check_network_status\n'
        "    self._loop_check_status(\nBrokenPipeError: [Errno 32] Broken pipe\n"
    )

    assert "healthy" == told(tmp_path, {"train.log": WANDB_WELL + lost}).outcome


def test_what_fails_after_wandb_was_ended_is_still_heard(tmp_path):
    log = f"{WANDB_WELL}{HEAD}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.25 GiB. GPU 7 has a total\n"

    assert "memory.cuda-oom" == cause(told(tmp_path, {"train.log": log}))


def test_a_package_that_a_check_of_the_program_s_own_misses_is_missing(tmp_path):
    log = HEAD + "AssertionError: Ulysses Attention and Ring Attention requires xfuser package.\n"

    assert "software.import-error" == cause(told(tmp_path, {"train.log": log}))


def test_what_a_test_threw_in_c_is_read_behind_gtest_s_words(tmp_path):
    log = (
        "[ RUN      ] ProcessGroupNCCLErrorsTest.testNCCLErrorsBlocking\nunknown file: Failure\n"
        'C++ exception with description "CUDA error: CUDA driver version is insufficient for CUDA runtime version\n'
    )

    assert "gpu.driver-mismatch" == cause(told(tmp_path, {"ci.log": log}))


def test_the_head_s_note_of_a_worker_killed_for_memory_is_enough(tmp_path):
    log = (
        "[2023-10-23 03:15:21,685 W 921 921] (gcs_server) gcs_worker_manager.cc:55: Reporting worker exit, worker id = 6c4001f8, "
        "node id = ffffffff, address = , exit_type = NODE_OUT_OF_MEMORY, exit_detail = Task was killed due to the node running "
        "low on memory.\n"
    )

    assert "memory.ray-oom" == cause(told(tmp_path, {"gcs_server.out": log}))


def test_an_exception_is_read_behind_pytest_s_deep_margin(tmp_path):
    log = "E                   RuntimeError: CUDA error: an illegal memory access was encountered\n"

    assert "gpu.illegal-access" == cause(told(tmp_path, {"test.log": log}))


def test_hugectr_names_nccl_s_error_in_its_own_words(tmp_path):
    log = f"{HEAD}RuntimeError: Runtime error: unhandled system error\n        ncclGroupEnd() at ResourceManagerCore(core.cpp:176)\n"

    assert "nccl.system-error" == cause(told(tmp_path, {"train.log": log}))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("nixl._bindings.nixlBackendError: NIXL_ERR_BACKEND", "nccl.ib-error"),
        ("nixl._bindings.nixlUnknownError: NIXL_ERR_UNKNOWN", "process.exception"),
        ("socket.timeout: timed out", "network.connect-timeout"),
        ("TimeoutError: The read operation timed out", "network.connect-timeout"),
    ],
)
def test_classes_that_python_2_and_c_named_are_exceptions_too(tmp_path, message, expected):
    assert expected == cause(told(tmp_path, {"train.log": f"{HEAD}{message}\n"}))
    assert expected == cause(told(tmp_path, {"tail.log": f"ERROR 06-13 08:28:11 [core.py:517] {message}\n"}))


def test_ray_s_answer_is_heard_where_the_advice_is_cut_off(tmp_path):
    log = "Error: No available node types can fulfill resource request {'node:192.0.2.27': 0.001, 'GPU': 1.0}\n"

    assert "ray.unschedulable" == cause(told(tmp_path, {"serve.log": log}))


def test_torchrun_s_line_is_heard_where_the_paste_begins_in_its_path(tmp_path):
    log = "site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 93) of fn: f\n"
    report = told(tmp_path, {"train.log": log + HEAD})

    assert ("process.sigkill", [3]) == (cause(report), culprits(report))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("['ninja', '-v']", "software.version-incompatible"),
        ("['which', 'c++']", "software.missing-tool"),
        ("['python', 'prepare.py']", "process.exit-code"),
    ],
)
def test_a_build_tool_that_failed_says_more_than_that_a_command_did(tmp_path, command, expected):
    log = f"{HEAD}subprocess.CalledProcessError: Command '{command}' returned non-zero exit status 1.\n"

    assert expected == cause(told(tmp_path, {"train.log": log}))
