"""What users paste of post-training and inference runs: one fact each, in the words of the libraries."""

from __future__ import annotations

from .told import cause, culprits, told

REFUSED = (
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=18901): Max retries exceeded with url: "
    "/v1/models (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f0890>: Failed to establish a "
    "new connection: [Errno 111] Connection refused'))\n"
)
ANEW = (
    "\nThe above exception was the direct cause of the following exception:\n\n"
    'Traceback (most recent call last):\n  File "/app/main_ppo.py", line 170, in run\n    reward = load_reward(config)\n'
    "RuntimeError: Error loading module from '/app/reward.py'\n"
)
def test_what_was_refused_is_not_hidden_by_the_exception_it_was_raised_anew_as(tmp_path):
    head = 'Traceback (most recent call last):\n  File "/app/reward.py", line 16, in <module>\n    r = requests.get(url)\n'

    report = told(tmp_path, {"train.log": head + REFUSED + ANEW})

    assert "network.connection-refused" == cause(report)
    assert 4 == report.diagnosis.evidence[0].line


def test_an_exception_that_no_rule_knows_still_counts_where_nothing_was_raised_before(tmp_path):
    other = 'Traceback (most recent call last):\n  File "/app/a.py", line 1, in f\n    g()\nKeyError: 7\n'

    assert "process.exception" == cause(told(tmp_path, {"train.log": other + ANEW}))


def test_ray_train_s_own_sentence_about_a_dead_worker_is_no_reason(tmp_path):
    died = (
        "2023-01-17 17:21:35,472\tWARNING worker.py:1829 -- A worker died or was killed while executing a task by an unexpected "
        "system error. To troubleshoot the problem, check the logs for the dead worker. RayTask ID: ffff Worker ID: 0c62 Node "
        "ID: 3830 Worker IP address: 10.97.252.234 Worker port: 10016 Worker PID: 1942 Worker exit type: SYSTEM_ERROR Worker "
        "exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n"
    )
    train = (
        "ray.exceptions.RayTaskError(RuntimeError): ray::TrainTrainable.train() (pid=1876, ip=10.97.252.234)\n"
        '  File "/app/ray/train/_internal/backend_executor.py", line 505, in get_with_failure_handling\n'
        "    self._increment_failures()\nRuntimeError: Training has failed after 0 attempts.\n"
    )

    assert "ray.actor-died" == cause(told(tmp_path, {"train.log": died + train}))


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


def test_the_rank_of_an_actor_that_names_itself_is_read(tmp_path):
    text = (
        "(MegatronPolicyWorker[rank=8] pid=3294808, ip=10.109.19.209) Traceback (most recent call last):\n"
        '(MegatronPolicyWorker[rank=8] pid=3294808, ip=10.109.19.209)   File "/opt/a.py", line 126 in model_forward\n'
        "(MegatronPolicyWorker[rank=8] pid=3294808, ip=10.109.19.209) torch.OutOfMemoryError: CUDA out of memory. Tried to "
        "allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.10 GiB is free.\n"
    )

    report = told(tmp_path, {"ray.log": text})

    assert ("memory.cuda-oom", [8]) == (cause(report), culprits(report))


def test_an_actor_of_ray_data_may_have_brackets_in_its_name(tmp_path):
    who = "(MapWorker(MapBatches(Predictor)->MapBatches(Writer)) pid=8831)"
    text = (
        f"{who} *** SIGSEGV received at time=1680116320 on cpu 3 ***\n{who} Fatal Python error: Segmentation fault\n"
        "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n\tpid: 8831\n"
    )

    assert "process.segfault" == cause(told(tmp_path, {"ray.log": text}))


def test_an_environment_that_ray_could_not_set_up_is_not_for_certain_a_package(tmp_path):
    text = raised("workers = ray.get(refs)", "ray.exceptions.RuntimeEnvSetupError: Failed to set up runtime environment.")

    assert "certain" != told(tmp_path, {"ray.log": text}).diagnosis.certainty


def test_an_argument_that_a_library_passes_is_of_another_version_and_one_of_the_program_is_not(tmp_path):
    library = '  File "/opt/venv/lib/python3.12/site-packages/vllm/utils.py", line 39, in make\n    return cls(**kwargs)\n'
    own = '  File "/app/model.py", line 12, in build\n    return Head(siez=2)\n'
    error = "TypeError: Head.__init__() got an unexpected keyword argument 'siez'\n"
    head = "Traceback (most recent call last):\n"

    assert "software.version-incompatible" == cause(told(tmp_path / "a", {"a.log": head + own + library + error}))
    assert "process.exception" == cause(told(tmp_path / "b", {"a.log": head + library + own + error}))


def test_a_refusal_in_a_program_s_own_words_is_a_setting(tmp_path):
    said = {
        "ValueError: Unknown quantization method: fp6. Must be one of ['aqlm', 'awq'].": "config.invalid-argument",
        "NotImplementedError: Pipeline parallelism is not supported for this model.": "config.invalid-argument",
        "RuntimeError: Port 30000 is not available for the server": "network.port-in-use",
        "RuntimeError: one of the variables needed for gradient computation has been modified": "process.exception",
        "ValueError: the shard is supported but damaged": "process.exception",
    }

    found = {text: cause(told(tmp_path / str(n), {"a.log": raised("check()", text)})) for n, text in enumerate(said)}

    assert said == found


def test_an_ipv6_address_in_brackets_never_resolves_and_the_advice_is_to_take_them_off(tmp_path) -> None:
    speaker = "(4l0bidWorkerDict_1:13 WorkerDict pid=204487, ip=[2001:db8::530e]) [W715 20:00:39.842901446 socket.cpp:752] "
    said = "[c10d] The IPv6 network addresses of ({}, 59699) cannot be retrieved (gai error: -2 - Name or service not known).\n"
    report = told(tmp_path, {"driver.log": speaker + said.format("[2001:db8::1540]")})
    assert cause(report) == "network.dns" and report.diagnosis is not None
    assert "without brackets" in report.diagnosis.remedy[0].text
    assert cause(told(tmp_path / "name", {"driver.log": speaker + said.format("trainer-0")})) != "network.dns"


def test_a_first_dimension_that_does_not_divide_is_the_sequence_and_not_the_model(tmp_path) -> None:
    log = """Traceback (most recent call last):
  File "/opt/verl/workers/actor/megatron_actor.py", line 513, in forward_step
    output = forward_fn(
  File "/opt/megatron/core/tensor_parallel/mappings.py", line 62, in _split_along_first_dim
    dim_size % world_size == 0
AssertionError: First dimension of the tensor should be divisible by tensor parallel size
"""
    report = told(tmp_path, {"train.log": log})
    assert cause(report) == "config.invalid-argument" and report.diagnosis is not None
    assert "sequence" in report.diagnosis.summary and "Pad every batch" in report.diagnosis.remedy[0].text
