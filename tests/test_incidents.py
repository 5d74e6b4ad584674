"""The six documented incidents and their twins: each verdict, and that it holds with other numbers, worlds and wordings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .incident_pipe import FIXTURES, Outcome, look, write

FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BUG, BATCH = "software.known-bug", "config.batch-size-mismatch"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("incidents-1-batch-size", ["252 = 2 x 18 x 7", "266 = 2 x 19 x 7", "256 = 2 x 16 x 8"]),
        ("incidents-2-reset-in-setup", ["10.42.0.12", "NCCL_SOCKET_IFNAME", "/dev/shm", "NCCL_P2P_DISABLE", "torch_extensions"]),
        ("incidents-3-vllm-weight-sync", ["vllm_sync_backend gloo", "NCCL_P2P_DISABLE", "0.4.2"]),
        ("incidents-4-slow-save", ["--ddp_timeout=1800 is the default", "--ddp_timeout 3600", "zero_to_fp32.py"]),
        ("incidents-5-trl-hang", ["trl>=0.15.1", "packing"]),
        ("incidents-6-one-gpu-too-many", ["4 x 8 = 32", "31 exist", "4 nodes x 7 GPUs = 28"]),
        ("incidents-6-one-node-idle", ["3 x 8 = 24", "8 are idle"]),
    ],
)  # fmt: skip
def test_the_advice_of_an_incident_is_more_useful_than_its_write_up(name: str, parts: list[str]) -> None:
    words = look(FIXTURES / name / "logs").words
    assert [p for p in parts if p not in words] == []


def test_a_configuration_beside_the_logs_sharpens_the_advice(tmp_path: Path) -> None:
    log = "[rank0]: AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 4 * 9 * 7\n"
    (console,) = write(tmp_path, console_log=log)
    (script,) = write(
        tmp_path, launch_sh="deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --train_batch_size 256\n"
    )
    assert "--train_batch_size" not in look(console).words
    words = look(console, script).words
    assert "the launch asks for 8 processes" in words and "--train_batch_size 252 --micro_train_batch_size 4" in words


WORDINGS = (
    "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size {t} != {m} * {a} * {w}",
    "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size \n{t} != {m} * {a} * {w}.0",
)  # fmt: skip


@FEW
@given(st.integers(1, 16), st.integers(1, 64), st.integers(2, 32), st.integers(1, 40), st.sampled_from(WORDINGS))
def test_any_batch_that_does_not_fit_gets_valid_settings(
    tmp_path: Path, micro: int, accumulation: int, ranks: int, more: int, wording: str
) -> None:
    train = micro * accumulation * ranks + more
    text = wording.format(t=train, m=micro, a=accumulation, w=ranks)
    lines = "".join(f"[rank{r}]: {line}\n" for r in range(ranks) for line in text.splitlines())
    found = look(*write(tmp_path, console_log=lines))
    assert (found.verdict.cause, found.verdict.culprits) == (BATCH, [])
    assert f"{micro * accumulation * ranks} = {micro} x {accumulation} x {ranks}, not {train}" in found.words


def _gathers(sizes: list[int], seq: int, minutes: int) -> str:
    ms = minutes * 60_000
    return "Launch command: accelerate launch trl/scripts/sft.py\n" + "".join(
        f"[rank{r}]:[E217 14:48:10.352109142 ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={seq}, OpType=ALLGATHER, NumelIn={n}, NumelOut={n * len(sizes)}, Timeout(ms)={ms}) "
        f"ran for {ms + 20 + r} milliseconds before timing out.\n"
        for r, n in enumerate(sizes)
    )


SIZES = st.lists(st.integers(1_000, 10_000_000), min_size=2, max_size=8, unique=True)


@FEW
@given(SIZES, st.integers(2, 5000), st.sampled_from([10, 30, 60]))
def test_the_trl_bug_needs_its_version_and_sizes_that_differ(
    tmp_path: Path, sizes: list[int], seq: int, minutes: int
) -> None:
    def verdict(trl: str, values: list[int]) -> Outcome:
        return look(*write(tmp_path, console_log=_gathers(values, seq, minutes), pip__freeze_txt=f"trl=={trl}\n"))

    assert verdict("0.15.0", sizes).verdict.cause == BUG
    assert verdict("0.15.1", sizes).verdict.cause != BUG
    assert verdict("0.15.0", [sizes[0]] * len(sizes)).verdict.cause != BUG


# Row 2: NCCL's set-up loses the other host. The words of `misc/socket.cc` over the versions.
LOST = (
    "Call to recv from {ip}<{port}> failed : Connection reset by peer",
    "socketProgressOpt: Call to recv from {ip}<{port}> failed : Connection reset by peer",
    "ncclSocketProgressOpt: Call to recv from {ip}<{port}> failed : Connection reset by peer",
)
IPS = st.builds("10.{}.{}.{}".format, st.integers(0, 99), st.integers(0, 255), st.integers(1, 254))


def _reset_in_setup(ranks: int, nodes: int, ip: str, version: str, wording: str) -> str:
    said = wording.format(ip=ip, port=40000 + ranks)
    lines = [f"[2025-01-14 18:20:00,413] [INFO] [launch.py:164:main] dist_world_size={ranks * nodes}"]
    for r in range(ranks):
        lines += [
            f"gpu-a:{52100 + r}:{52100 + r} [{r}] NCCL INFO Bootstrap : Using bond1:10.199.0.11<0>",
            f"gpu-a:{52100 + r}:{52500 + r} [{r}] misc/socket.cc:58 NCCL WARN {said}",
        ]
    for r in range(ranks):
        lines += [
            f"[rank{r}]: Traceback (most recent call last):",
            f'[rank{r}]:   File "/job/OpenRLHF/openrlhf/cli/train_sft.py", line 231, in <module>',
            f"[rank{r}]:     train(args)",
            f"[rank{r}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
            f"ProcessGroupNCCL.cpp:2006, remote process exited or there was a network error, NCCL version {version}",
            f"[rank{r}]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
            f"[rank{r}]: Last error:",
            f"[rank{r}]: {said}",
        ]
    return "\n".join(lines) + "\n"


@FEW
@given(
    st.integers(1, 8), st.integers(2, 16), IPS, st.sampled_from(["2.18.1", "2.20.5", "2.26.2"]), st.sampled_from(LOST)
)
def test_any_reset_in_setup_blames_no_witness_and_leads_to_the_peer(
    tmp_path: Path, ranks: int, nodes: int, ip: str, version: str, wording: str
) -> None:
    found = look(*write(tmp_path, gpu__a_log=_reset_in_setup(ranks, nodes, ip, version, wording)))
    assert found.verdict.cause in ("nccl.remote-error", "network.connection-reset", "nccl.system-error")
    assert (found.verdict.culprits, found.verdict.certainty == "certain") == ([], False)
    parts = [f"Read the log of {ip}", "bond1, which NCCL chose", f"nc -zv {ip}", "/dev/shm", "NCCL_P2P_DISABLE", "torch_extensions"]
    assert [p for p in parts if p not in found.words] == []


# Row 3: the weight update from the trainer to vLLM.
def _weight_sync(openrlhf: str, vllm: str, error: str, engines: int) -> tuple[str, str]:
    worker = "(RayWorkerWrapper pid=4183, ip=10.3.32.122) ERROR 06-03 23:13:39 worker_base.py:148] "
    log = (
        "Running entrypoint for job raysubmit_Xk21: python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2 "
        f"--actor_num_gpus_per_node 8 --vllm_num_engines {engines} --vllm_tensor_parallel_size 2\n"
        f"{worker}Error executing method start_worker_execution_loop. This might cause deadlock in distributed execution.\n"
        f"{worker}Traceback (most recent call last):\n"
        f'{worker}  File "/opt/conda/lib/python3.10/site-packages/openrlhf/trainer/ray/vllm_worker_wrap.py", line 43, in update_weight\n'
        f"{worker}    torch.distributed.broadcast(weight, 0, group=self._model_update_group)\n"
        f"{worker}torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, {error}, "
        "NCCL version 2.20.5\n"
    )
    return log, f"openrlhf=={openrlhf}\nvllm=={vllm}\n"


OWN = ["invalid argument (run with NCCL_DEBUG=WARN for details)", "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"]


@FEW
@given(
    st.sampled_from(["0.3.0", "0.4.1", "0.5.9"]), st.sampled_from(["0.4.3", "0.5.3", "0.6.2"]),
    st.sampled_from(OWN), st.integers(1, 16),
)  # fmt: skip
def test_the_weight_sync_bug_needs_both_its_versions_and_its_error(
    tmp_path: Path, openrlhf: str, vllm: str, error: str, engines: int
) -> None:
    def cause(openrlhf: str, vllm: str, error: str) -> str | None:
        log, freeze = _weight_sync(openrlhf, vllm, error, engines)
        return look(*write(tmp_path, driver_log=log, pip__freeze_txt=freeze)).verdict.cause

    assert cause(openrlhf, vllm, error) == BUG
    assert cause("0.6.0", vllm, error) != BUG
    assert cause(openrlhf, "0.4.2", error) != BUG
    assert cause(openrlhf, vllm, "unhandled system error (run with NCCL_DEBUG=INFO for details)") != BUG
