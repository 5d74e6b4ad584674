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


def test_a_run_that_wandb_saw_succeed_did_not_fail_by_what_its_threads_lost_then(tmp_path):
    lost = (
        'Exception in thread NetStatThr:\nTraceback (most recent call last):\n  File "/usr/lib/python3.8/threading.py", line '
        "870, in run\n    self._target(*self._args, **self._kwargs)\n"
        '  File "/venv/lib/python3.8/site-packages/wandb/sdk/wandb_run.py", line 258, in check_network_status\n'
        "    self._loop_check_status(\nBrokenPipeError: [Errno 32] Broken pipe\n"
    )

    assert told(tmp_path, {"train.log": WANDB_WELL + lost}).diagnosis is None


def test_what_fails_after_wandb_was_ended_is_still_heard(tmp_path):
    log = f"{WANDB_WELL}{HEAD}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.25 GiB. GPU 7 has a total\n"

    assert "memory.cuda-oom" == cause(told(tmp_path, {"train.log": log}))


def test_what_a_test_threw_in_c_is_read_behind_gtest_s_words(tmp_path):
    log = (
        "[ RUN      ] ProcessGroupNCCLErrorsTest.testNCCLErrorsBlocking\nunknown file: Failure\n"
        'C++ exception with description "CUDA error: CUDA driver version is insufficient for CUDA runtime version\n'
    )

    assert "gpu.driver-mismatch" == cause(told(tmp_path, {"ci.log": log}))


def test_an_exception_is_read_behind_pytest_s_deep_margin(tmp_path):
    log = "E                   RuntimeError: CUDA error: an illegal memory access was encountered\n"

    assert "gpu.illegal-access" == cause(told(tmp_path, {"test.log": log}))


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
