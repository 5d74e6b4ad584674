"""What programs' own checks say of settings, sizes, files and versions is told by its wording and by who raised it."""

from __future__ import annotations

import pytest

from .test_exceptions import raised_in as raised

LIBRARY = "/opt/conda/lib/python3.10/site-packages"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            "ValueError: World size 6 does not equal the product of the specified parallelism degrees 8.",
            "config.world-size-mismatch",
        ),
        ("AssertionError: gpus_per_node should be divisible by tensor_model_parallel_size", "config.world-size-mismatch"),
        ("ValueError: global_batch_size must be >= `data_parallel_size * micro_batch_size`", "config.batch-size-mismatch"),
        ("FileNotFoundError: Expert checkpoint file not found: /ckpt/layer_6_expert_4.pt", "storage.checkpoint-corrupt"),
        ("AssertionError: HF token is required for importing checkpoint from HuggingFace", "config.authentication"),
        ("FileNotFoundError: Could not find CMake executable", "software.missing-tool"),
        ("ValueError: DeviceGPU cannot be created as torch.cuda is not available.", "gpu.driver-mismatch"),
        ("RuntimeError: Unable to fetch file https://dl.example.org/roberta.base.tar.gz", "hub.download"),
    ],
)
def test_a_check_names_its_cause_in_its_own_words(error: str, cause: str) -> None:
    assert cause == raised(f"{LIBRARY}/acme/setup.py", "run", "raise error", error)


@pytest.mark.parametrize(
    ("function", "code", "cause"),
    [
        ("__init__", "raise ValueError(", "config.invalid-argument"),
        ("_prepare_deepspeed", "raise ValueError(", "config.invalid-argument"),
        ("forward", "raise ValueError(", "process.exception"),
        ("__init__", "self.rows = parse(text)", "process.exception"),
    ],
)
def test_a_setting_is_refused_by_what_is_built_not_by_what_computes(function: str, code: str, cause: str) -> None:
    error = "ValueError: labels must be set in training"
    assert cause == raised(f"{LIBRARY}/trl/trainer/sft_trainer.py", function, code, error)


def test_what_the_loader_of_a_checkpoint_refuses_is_the_checkpoint() -> None:
    error = "KeyError: \"Missing pretrained Flux tensor 'blocks.3.q'.\""
    frame = ("/opt/peft/flux.py", "_load_reduced_flux_state", "raise KeyError(")
    assert "storage.checkpoint-corrupt" == raised(*frame, error)
    assert "process.exception" == raised(frame[0], "reduce_flux", frame[2], error)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("Exception: Your audio file /data/a/0012.wav could not be decoded. We tried using ['pydub'].", "data.bad-sample"),
        ("ValueError: columns ['labels'] are not in features ['text', 'input_ids']", "data.bad-sample"),
        (
            "ValueError: Failed to retrieve the dataset. You can avoid this issue by increasing `max_length`",
            "data.bad-sample",
        ),
        ("ValueError: sequence length 4096 is too long for this attention", "process.exception"),
        ("AssertionError: num_bytes must be non-negative, got -7", "process.exception"),
    ],
)
def test_a_refused_sample_is_one_that_is_named(error: str, cause: str) -> None:
    assert cause == raised("/job/data.py", "__getitem__", "raise error", error)
