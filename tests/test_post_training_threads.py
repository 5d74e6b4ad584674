"""What users paste of post-training and inference runs: one fact each, in the words of the libraries."""

from __future__ import annotations

from .told import cause, told


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
