"""Facts about the job: from prints, commands and files; each with its line; contradictions named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.advice.settings import command_facts, file_facts, looks_like_command, typed, variable_facts

from .command_line import tell
from .incident_pipe import FIXTURES, look, write


def _file(text: str) -> dict[str, object]:
    lines = list(enumerate(text.splitlines(), 1))
    return {s.name: s.value for s in file_facts(lines, "given")}


def _command(text: str) -> dict[str, object]:
    return dict(command_facts(text))


# --- commands -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        ("torchrun --nnodes=2 --nproc-per-node 8 train.py", "gpus_per_node", 8),
        ("deepspeed --num_gpus 4 train.py --deepspeed ds.json", "gpus_per_node", 4),
        ("python -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2", "actor_nodes", 2),
        ("python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=2", "gpus_per_node", 8),
        ("python -m verl.trainer.main_ppo actor_rollout_ref.nccl_timeout=1200", "nccl_timeout_s", 1200),
        ("python pretrain_gpt.py --distributed-timeout-minutes 60", "nccl_timeout_s", 3600),
        ("NCCL_P2P_DISABLE=1 torchrun train.py", "nccl_p2p_disable", 1),
        ("accelerate launch orpo.py --packing False", "packing", False),
        ("accelerate launch trl/scripts/orpo.py --bf16", "trainer", "orpo"),
        ("['/usr/bin/python', '-u', 'train.py', '--per_device_train_batch_size=4']", "micro_batch_size", 4),
    ],
)
def test_a_flag_states_a_fact(command: str, name: str, value: object) -> None:
    assert value == _command(command)[name]


@pytest.mark.parametrize(
    ("command", "launcher", "framework"),
    [
        ("srun torchrun --nproc_per_node 8 pretrain_gpt.py", "torchrun", "megatron"),
        ("accelerate launch src/open_r1/grpo.py", "accelerate", "open-r1"),
        ("deepspeed --module openrlhf.cli.train_sft", "deepspeed", "openrlhf"),
        ("ray job submit -- python3 -m openrlhf.cli.train_ppo_ray", "ray", "openrlhf"),
        ("llamafactory-cli train sft.yaml", None, "llamafactory"),
    ],
)
def test_launcher_and_framework_are_told_from_the_command(command: str, launcher: str | None, framework: str) -> None:
    assert (launcher, framework) == (_command(command).get("launcher"), _command(command).get("framework"))


def test_a_data_folder_is_no_trainer() -> None:
    assert "trainer" not in _command("python -m openrlhf.cli.train_sft --dataset /data/sft --zero_stage 2")


def test_a_variable_that_may_be_a_secret_is_never_kept() -> None:
    assert list(variable_facts("HF_TOKEN", "hf_abc")) == []
    assert {k: v for k, v in _command("HF_TOKEN=hf_abc WANDB_API_KEY=1 python train.py").items() if "token" in k} == {}


# --- files --------------------------------------------------------------------------------------------------------


def test_a_launch_script_is_read_through_its_continued_lines() -> None:
    facts = _file(
        "#!/bin/bash\n#SBATCH --nodes=4 --gpus-per-node=8\nexport NCCL_SOCKET_IFNAME=ib0\nexport HF_TOKEN=hf_secret\n"
        "torchrun \\\n  --nproc_per_node 8 \\\n  train.py --ddp_timeout 7200\n"
    )
    assert tuple(facts[n] for n in ("gpus_per_node", "ddp_timeout_s", "socket_ifname", "launcher")) == (8, 7200, "ib0", "torchrun")
    assert "hf_secret" not in str(facts)


def test_a_deepspeed_file_states_its_batch_sizes_but_not_auto() -> None:
    facts = _file(
        '{\n  "train_batch_size": 256,\n  "gradient_accumulation_steps": "auto",\n  "bf16": {"enabled": true}\n}'
    )
    assert facts["train_batch_size"] == 256
    assert "gradient_accumulation" not in facts


def test_an_accelerate_file_states_processes_and_machines() -> None:
    facts = _file(
        "compute_environment: LOCAL_MACHINE\nnum_machines: 2\nnum_processes: 16\nzero3_save_16bit_model: true\n"
    )
    assert tuple(facts[n] for n in ("nnodes", "processes_asked", "zero3_gathers_on_save", "launcher")) == (2, 16, True, "accelerate")


def test_a_models_own_configuration_is_no_fact_about_the_job() -> None:
    text = '{\n "architectures": ["LlamaForCausalLM"],\n "model_type": "llama",\n "hidden_size": 4096,\n "transformers_version": "4.30.0"\n}'
    assert _file(text) == {}


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("torch==2.5.1+cu124", "torch_version", "2.5.1+cu124"),
        ("trl                       0.15.0", "trl_version", "0.15.0"),
        ("[pip3] nvidia-nccl-cu12==2.21.5", "nccl_version", "2.21.5"),
        ("pytorch-lightning   2.1.2     pypi_0    pypi", "lightning_version", "2.1.2"),
    ],
)
def test_a_package_line_states_a_version(line: str, name: str, value: str) -> None:
    assert {name: value} == _file(line)


def test_every_fact_keeps_its_line(tmp_path: Path) -> None:
    (path,) = write(tmp_path, pip__freeze_txt="accelerate==1.3.0\ntorch==2.5.1\n")
    known = look(path).facts.all("torch_version")[0]
    assert f"{path}:2" == known.place


# --- the store ----------------------------------------------------------------------------------------------------


def test_what_a_process_printed_beats_what_a_file_asks_for(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        console_log="[rank0]: [INFO] start\nNCCL version 2.21.5+cuda12.4\n",
        pip__freeze_txt="nvidia-nccl-cu12==2.18.3\n",
    )
    found = look(*paths)
    assert found.facts.get("nccl_version") == "2.21.5"
    assert any("2.21.5" in n.text and "2.18.3" in n.text for n in found.notices)


def test_hosts_with_different_nccl_versions_are_a_notice(tmp_path: Path) -> None:
    text = "".join(
        f"node-{h}:{100 + r}:{200 + r} [{r % 2}] NCCL INFO NCCL version {v}+cuda12.4\n"
        for h, r, v in (("a", 0, "2.20.5"), ("a", 1, "2.20.5"), ("b", 2, "2.21.5"), ("b", 3, "2.21.5"))
    )
    found = look(*write(tmp_path, nccl_log=text))
    (notice,) = [n for n in found.notices if n.topic == "NCCL version differs"]
    assert "node-a" in notice.text and "node-b" in notice.text


def test_versions_of_one_host_say_nothing_about_others(tmp_path: Path) -> None:
    found = look(
        *write(tmp_path, console_log="NCCL version 2.21.5+cuda12.4\nsome line\nNCCL version 2.21.5+cuda12.4\n")
    )
    assert found.notices == ()


def test_more_processes_asked_than_started_is_a_notice(tmp_path: Path) -> None:
    lines = "".join(f"RANK={r} WORLD_SIZE=4 LOCAL_RANK={r} MASTER_ADDR=n1\n" for r in range(4))
    found = look(*write(tmp_path, console_log=lines, launch_sh="accelerate launch --num_processes 8 train.py\n"))
    assert any("asks for 8 processes" in n.text for n in found.notices)


@pytest.mark.parametrize("text", ["auto", "null", "$WORLD_SIZE", "", "None"])
def test_a_placeholder_states_nothing(text: str) -> None:
    assert typed(text) is None


def test_the_longest_whole_save_is_a_fact(tmp_path: Path) -> None:
    text = "".join(
        f"2026-11-20 {start} | INFO | rank 0 | saving checkpoint to /srv/ckpt/step_{n}.pt\n"
        f"2026-11-20 {end} | INFO | rank 0 | saved checkpoint /srv/ckpt/step_{n}.pt\n"
        for n, start, end in ((10, "17:00:00,000", "17:04:00,000"), (20, "18:00:00,000", "18:21:30,000"))
    )
    assert look(*write(tmp_path, console_log=text)).facts.get("longest_save_s") == 1290.0


# --- the command --------------------------------------------------------------------------------------------------


def test_facts_name_value_and_line() -> None:
    text = tell("facts", FIXTURES / "incidents-5-trl-hang" / "logs").out
    (line,) = [x for x in text.splitlines() if x.startswith("trl_version")]
    assert line.split()[1] == "0.15.0" and line.endswith("pip-freeze.txt:5")


def test_facts_that_are_printed_hold_no_secret(tmp_path: Path) -> None:
    (tmp_path / "launch.sh").write_text(
        "torchrun --nproc_per_node 8 train.py --hf_token hf_abcdefghijABCDEFGHIJ0123456789abcd --password hunter2x\n"
    )
    as_json = tell("facts", tmp_path, "--json").out
    shown = tell("facts", tmp_path).out + as_json
    assert set(json.loads(as_json)) == {"facts", "notices"}
    assert ("torchrun" in shown, "hf_abc" in shown, "hunter2x" in shown) == (True, False, False)


# --- nothing raises -----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_no_line_of_a_file_or_command_is_an_error(text: str) -> None:
    list(file_facts(list(enumerate(text.splitlines(), 1)), "x"))
    list(command_facts(text))
    looks_like_command(text)


def test_rank_zero_heard_alone_is_no_world_of_one(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("[rank0]: ValueError: x\n")
    assert "world_size" not in tell("facts", tmp_path).out
