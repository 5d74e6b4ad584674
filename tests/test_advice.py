"""Advice that calculates: what it proposes is valid, fits the framework, and says when it would only hide something."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import Text, diagnose
from diagnose.advice.fact_store import Facts
from diagnose.advice.remedy import restart_of, solved, steps, with_shared
from diagnose.advice.settings import size_bytes, timeout_setting
from diagnose.advice.sizes import memory_numbers, nearest_with_micro, propose_s
from diagnose.advice.statement import RemedyStep

from .incident_pipe import catalogue, facts_of

BATCH = "config.batch-size-mismatch"
BATCHES = st.integers(1, 4096)
SMALL = st.integers(1, 64)


def advise(cause: str, fields: dict[str, object], facts: Facts) -> list[RemedyStep]:
    """Yield the steps of a cause for what its line captured and what is known of the job."""
    values = {**facts.values(), **fields, **solved(cause, fields, facts), "named_library": fields.get("library")}
    return list(steps(catalogue().causes[cause], values))


def words(found: list[RemedyStep]) -> str:
    """Yield the steps as one text."""
    return "\n".join(f"{a.text} {a.command or ''}" for a in found)


def _product(train: int, micro: int, accumulation: int, ranks: int, **facts: str | int) -> str:
    fields = {"train_batch": train, "micro_batch": micro, "accumulation": accumulation, "world_size": ranks}
    return "\n".join(f"{a.text} {a.command or ''}" for a in advise(BATCH, fields, facts_of(**facts)))


# --- batch sizes --------------------------------------------------------------------------------------------------


def test_seven_gpus_get_the_nearest_multiples_of_fourteen() -> None:
    text = _product(256, 2, 18, 7, framework="openrlhf")
    for part in (
        "252 = 2 x 18 x 7",
        "266 = 2 x 19 x 7",
        "256 is no multiple of 14",
        "256 = 2 x 16 x 8",
    ):
        assert part in text


def test_openrlhf_gets_flags_without_the_accumulation_that_it_derives() -> None:
    text = _product(256, 2, 18, 7, framework="openrlhf")
    assert "--train_batch_size 252 --micro_train_batch_size 2" in text
    assert "--gradient_accumulation" not in text


def test_the_newer_openrlhf_gets_its_dotted_flags() -> None:
    text = _product(256, 2, 18, 7, framework="openrlhf", command="openrlhf.cli.train_sft --train.batch_size 256")
    assert "--train.batch_size 252 --train.micro_batch_size 2" in text


@pytest.mark.parametrize(
    ("framework", "flags"),
    [
        ("", '"train_batch_size": 252, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 18'),
        ("trl", "--per_device_train_batch_size 2 --gradient_accumulation_steps 18"),
        ("megatron", "--global-batch-size 252 --micro-batch-size 2"),
        ("verl", "actor_rollout_ref.actor.ppo_mini_batch_size=252"),
        ("lightning", "accumulate_grad_batches=18"),
    ],
)
def test_each_framework_gets_its_own_flags(framework: str, flags: str) -> None:
    assert flags in _product(256, 2, 18, 7, framework=framework)


def test_a_world_of_one_is_the_surprise() -> None:
    first = advise(BATCH, {"train_batch": 64, "micro_batch": 4, "accumulation": 8, "world_size": 1}, facts_of())[0]
    assert "1 did" in first.text and "64 = 4 x 8 x 2" in first.text


def test_fewer_processes_than_asked_are_the_surprise() -> None:
    assert "asks for 8 processes" in _product(256, 4, 9, 7, gpus_per_node=8)


def test_a_line_without_numbers_gets_no_invented_ones() -> None:
    assert not re.search(r"\d", words(advise(BATCH, {}, facts_of())))


@given(BATCHES, SMALL, SMALL)
def test_a_setting_that_keeps_the_micro_batch_is_valid_and_nearest(train: int, micro: int, ranks: int) -> None:
    found = nearest_with_micro(train, micro, ranks)
    assert found
    for s in found:
        assert s.train == micro * s.accumulation * ranks and s.accumulation > 0
        assert abs(s.train - train) < micro * ranks or s.accumulation == 1


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 100_000), SMALL, st.integers(1, 512), st.integers(1, 1024))
def test_every_equation_in_the_advice_holds(train: int, micro: int, accumulation: int, ranks: int) -> None:
    if train == micro * accumulation * ranks:
        return
    text = _product(train, micro, accumulation, ranks)
    for equation in re.findall(r"(\d+) = (\d+) x (\d+) x (\d+)\b", text):
        product, a, b, c = map(int, equation)
        assert product == a * b * c
    for keys in re.findall(r'"train_batch_size": (\d+), \S+ (\d+), "gradient_accumulation_steps": (\d+)', text):
        batch, a, b = map(int, keys)
        assert batch % (a * b) == 0


# --- time-outs ----------------------------------------------------------------------------------------------------


def test_the_default_that_is_in_force_is_named_as_such() -> None:
    advice = advise("storage.slow-save", {"timeout_ms": 1_800_000}, facts_of(framework="open-r1"))
    assert "--ddp_timeout=1800 is the default and already in force; setting it changes nothing" in advice[0].text
    assert advice[0].command == "--ddp_timeout 3600"


@pytest.mark.parametrize(
    ("framework", "setting"),
    [
        ("trl", "--ddp_timeout 7200"),
        ("megatron", "--distributed-timeout-minutes 120"),
        ("verl", "actor_rollout_ref.nccl_timeout=7200"),
        ("deepspeed", "export DEEPSPEED_TIMEOUT=120"),
        ("lightning", "Trainer(strategy=DDPStrategy(timeout=timedelta(seconds=7200)))"),
        ("", "torch.distributed.init_process_group(timeout=timedelta(seconds=7200))"),
    ],
)
def test_each_framework_has_its_own_time_out(framework: str, setting: str) -> None:
    assert setting == timeout_setting(7200, None, framework, None)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_proposal_is_twice_what_was_not_enough(present: float, observed: float) -> None:
    seconds = propose_s(present, observed)
    assert seconds >= 2 * present and seconds >= 2 * observed and seconds % 1800 == 0


def test_a_save_that_was_seen_whole_sets_the_proposal() -> None:
    advice = advise("storage.slow-save", {"timeout_ms": 600_000}, facts_of(framework="trl", longest_save_s=4000.0))
    assert advice[0].command == "--ddp_timeout 9000"
    assert "what a save takes (it took 1 h 7 min)" in advice[0].text


@pytest.mark.parametrize("cause", ["collective.desync", "collective.shape-mismatch"])
def test_no_time_out_is_long_enough_for_a_desync(cause: str) -> None:
    said = words(advise(cause, {"timeout_ms": 600_000}, facts_of()))
    assert (
        "Don't raise the timeout (10 min now): these ranks would wait forever" in said and "init_process_group" not in said
    )


def test_a_stack_that_is_there_is_read_and_not_asked_for() -> None:
    known = {"culprit_ranks": (2,), "culprit_pid": 31562, "culprit_host": "n7", "is_hung": True, "is_python": True}
    with_stack = advise("collective.straggler", {**known, "has_stacks": True}, facts_of())[0]
    without = advise("collective.straggler", known, facts_of())[0]
    assert ("Stack traces, where rank 2 stopped" in with_stack.text, with_stack.command) == (True, None)
    assert without.command == "ssh n7 py-spy dump --pid 31562"


@pytest.mark.parametrize(("is_python", "tool"), [(True, "py-spy"), (False, "gdb")])
def test_a_program_without_python_gets_a_native_debugger(is_python: bool, tool: str) -> None:
    steps = advise("collective.timeout", {"all_wait": True, "is_hung": True, "is_python": is_python}, facts_of())
    assert tool in (steps[0].command or "")


# --- memory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("tensors", {"wanted": "2.32 GiB", "capacity": "79.15 GiB", "free": "1.12 GiB", "allocated": "74.51 GiB", "reserved_gib": 1.2}),
        ("fragmentation", {"wanted": "2.00 GiB", "capacity": "79.15 GiB", "free": "1.00 GiB", "allocated": "60.0 GiB", "reserved_gib": 16.5}),
        ("another-process", {"wanted": "4.27 GiB", "capacity": "79.15 GiB", "free": "1.08 GiB", "allocated": "33.20 GiB", "reserved_mib": 160.41}),
        ("another-library", {"wanted": "2.16 GiB", "capacity": "139.80 GiB", "free": "1.28 GiB", "in_use": "138.51 GiB", "allocated": "35.72 GiB", "reserved_gib": 20.92}),
        ("one-tensor", {"wanted": "30.0 GiB", "capacity": "79.15 GiB", "free": "20.0 GiB", "allocated": "57.0 GiB", "reserved_gib": 0.5}),
        ("fragmentation", {"wanted": "2.00 GiB", "capacity": "31.75 GiB", "free": "1.06 GiB", "allocated": "25.0 GiB", "held": "29.50 GiB"}),
    ],
)  # fmt: skip
def test_the_numbers_of_a_message_tell_what_took_the_memory(kind: str, fields: dict[str, object]) -> None:
    assert kind == memory_numbers(fields, facts_of())["taken_by"]


def test_what_a_message_does_not_say_is_not_counted() -> None:
    (step, *_) = advise("memory.cuda-oom", {"wanted": "2.00 GiB", "capacity": "79.15 GiB", "free": "1.00 GiB"}, facts_of())
    assert "does not say what held the rest" in step.text and "0 MiB" not in step.text


@pytest.mark.parametrize(
    ("framework", "flag"), [("openrlhf", "--gradient_checkpointing"), ("trl", "--gradient_checkpointing true")]
)
def test_each_framework_recomputes_activations_its_own_way(framework: str, flag: str) -> None:
    fields = {"wanted": "2 GiB", "capacity": "79 GiB", "free": "1 GiB", "allocated": "74 GiB", "reserved_mib": 100}
    assert flag in [a.command for a in advise("memory.cuda-oom", fields, facts_of(framework=framework))]


def test_half_the_micro_batch_keeps_the_result() -> None:
    fields = {
        "wanted": "2.32 GiB",
        "capacity": "79.15 GiB",
        "free": "1.12 GiB",
        "allocated": "74.51 GiB",
        "reserved_gib": 1.2,
    }
    facts = facts_of(micro_batch_size=4, gradient_accumulation=8, world_size=16, framework="trl")
    assert (
        advise("memory.cuda-oom", fields, facts)[0].command
        == "--per_device_train_batch_size 2 --gradient_accumulation_steps 16"
    )


def test_the_larger_stranger_is_named_beside_the_rank_itself() -> None:
    fields = {
        "wanted": "4.27 GiB", "capacity": "79.15 GiB", "free": "1.08 GiB", "allocated": "33.20 GiB", "reserved_mib": 160.41,
        "other_pid": 41203, "other_used": "34.15 GiB", "next_pid": 38801, "next_used": "43.90 GiB",
    }  # fmt: skip
    assert (
        "hold about 43.9 GiB of this GPU, such as process 38801." in advise("memory.cuda-oom", fields, facts_of())[0].text
    )


@pytest.mark.parametrize(
    ("text", "mib"), [("79.10 GiB", 79.10 * 1024), ("371.41 MiB", 371.41), ("2 GiB", 2048), ("448.00 KiB", 0.4375)]
)
def test_sizes_are_read_in_their_unit(text: str, mib: float) -> None:
    assert mib * (1 << 20) == pytest.approx(size_bytes(text))


# --- GPUs and nodes -----------------------------------------------------------------------------------------------


def test_fewer_gpus_come_with_flags_and_a_batch_that_fits() -> None:
    known = facts_of(
        framework="openrlhf", actor_nodes=4, actor_gpus_per_node=8, ray_gpus=31, train_batch_size=256, micro_batch_size=2
    )
    first = advise("ray.unschedulable", {}, known)[0]
    assert "256 is no multiple of 2 x 28; 280 = 2 x 5 x 28 fits" in first.text
    assert first.command == "--actor_num_nodes 4 --actor_num_gpus_per_node 7 --train_batch_size 280"


# --- connections --------------------------------------------------------------------------------------------------


def test_the_checks_of_a_reset_begin_with_the_peer_and_end_with_the_cache() -> None:
    advice = advise("network.connection-reset", {"peer_ip": "10.0.0.7"}, facts_of(hosts=2, toolkit="torch"))
    assert "10.0.0.7" in advice[0].text
    assert "torch_extensions" in [a for a in advice if a.when == "fix"][-1].text


def test_an_address_that_nobody_reaches_is_asked_for_its_listener() -> None:
    fields = {"peer_host": "10.0.0.7", "peer_port": 29500}
    advice = advise("network.connect-timeout", fields, facts_of())
    assert advice[0].command == "ip route get 10.0.0.7; nc -vz 10.0.0.7 29500; ssh 10.0.0.7 ss -ltnp"
    assert not any("/dev/shm" in a.text for a in advice)


def test_a_peer_on_this_host_is_not_asked_by_ssh() -> None:
    advice = advise("network.connection-reset", {"peer_ip": "127.0.0.1"}, facts_of())[0]
    assert ("every rank" in advice.text, "ssh" in (advice.command or "")) == (True, False)


def test_the_name_that_did_not_resolve_stands_in_the_command() -> None:
    advice = advise("network.dns", {"peer_host": "trainer-0"}, facts_of())[0]
    assert (advice.command or "").startswith("getent hosts trainer-0;")
    assert "rm -rf" not in words(advise("network.dns", {"peer_host": "x; rm -rf /"}, facts_of()))


def test_the_port_that_is_tried_is_the_one_that_somebody_should_listen_on() -> None:
    """Of a lost peer the port is its own end of the connection, which nobody can connect to again."""
    late = advise("network.connect-timeout", {"peer_host": "n1", "peer_port": 29555}, facts_of())
    lost = advise("nccl.remote-error", {"peer_host": "n1", "peer_port": 36138}, facts_of())
    assert "nc -vz n1 29555" in (late[0].command or "")
    assert any(a.command == "nc -zv n1 29500" for a in lost)


def test_a_host_named_by_digits_is_no_question_of_the_network() -> None:
    step = advise("network.connect-timeout", {"peer_host": "05", "peer_port": 40323}, facts_of(toolkit="torch"))[0]
    assert "Digits alone (05) resolve as a number" in step.text


def test_a_reset_after_whole_steps_is_no_question_of_set_up() -> None:
    said = words(advise("nccl.remote-error", {"has_stepped": True}, facts_of()))
    assert not any(word in said for word in ("IFNAME", "/dev/shm", "P2P", "nc -zv"))


# --- the platform -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", sorted(catalogue().causes))
@pytest.mark.parametrize(
    ("platform", "absent"),
    [
        ({"scheduler": "kubernetes", "stack": "cuda", "library": "nccl"}, r"srun|sbatch|scontrol|sacct|sinfo|SLURM|docker run"),
        ({"scheduler": "slurm", "stack": "cuda", "library": "nccl"}, r"kubectl|\bpod\b|docker run"),
        ({"scheduler": "none", "stack": "tpu", "library": "jax"}, r"NCCL_|nvidia-smi|dcgmi|TORCH_|kubectl|sbatch|scontrol|torchrun "),
        ({"scheduler": "none", "stack": "ascend", "library": "hccl"}, r"NCCL_|nvidia-smi|dcgmi|kubectl|sbatch|scontrol"),
    ],
)  # fmt: skip
def test_no_step_names_what_the_platform_does_not_have(cause: str, platform: dict[str, str], absent: str) -> None:
    causes_of_one_platform = cause.startswith("ray.") or (platform["stack"] != "cuda" and cause in OF_NVIDIA)
    said = words(
        [s for s in advise(cause, {"rule_name": "x", **platform}, facts_of(**platform)) if s.when in ("now", "fix")]
    )
    assert causes_of_one_platform or re.findall(absent, said) == []


OF_NVIDIA = (
    "config.unused-parameters",
    "gpu.gsp",
    "gpu.off-bus",
    "gpu.nvlink",
    "nccl.invalid-usage",
    "nccl.topology",
    "nccl.version-mismatch",
)


def test_one_host_gets_nothing_about_the_network_between_hosts() -> None:
    one, two = (words(advise("nccl.bootstrap", {}, facts_of(hosts=n, library="nccl", stack="cuda"))) for n in (1, 2))
    assert ("IFNAME" in two, "IFNAME" in one, "TCP ports" in one, "P2P" in one) == (True, False, False, True)


@pytest.mark.parametrize("cause", sorted(catalogue().causes))
@pytest.mark.parametrize("facts", [{}, {"scheduler": "slurm"}, {"scheduler": "kubernetes"}, {"system": "windows"}, {"library": "jax", "toolkit": "jax"}])  # fmt: skip
def test_there_is_always_something_to_do_now(cause: str, facts: dict[str, str]) -> None:
    first = advise(cause, {"rule_name": "x", "is_python": True, "culprit_gpu": None, **facts}, facts_of(**facts))[:1]
    assert ["now"] == [step.when for step in first]


def test_an_empty_piece_of_a_command_leaves_no_word_behind() -> None:
    known = with_shared({"culprit_host": "0123456789ab"}, "there run kernel_kill")
    assert ("there" in known, "run" in known, str(known["kernel_kill"])[:7]) == (False, False, "dmesg -")


def test_a_path_that_a_shell_would_read_goes_through_no_other_host() -> None:
    known = {"culprit_host": "n7", "rule_name": "os-error"}
    plain, odd = (advise("storage.io-error", {**known, "path": p}, facts_of())[0].command for p in ("/a/b", "/a/$(reboot)"))
    assert (str(plain)[:8], str(odd)[:8]) == ("ssh n7 s", "stat '/a")


@pytest.mark.parametrize(("type_", "restart"), [("KeyError", "no"), ("ConnectionError", "")])
def test_a_restart_is_spoken_of_only_where_the_evidence_decides(type_: str, restart: str) -> None:
    assert restart == restart_of(catalogue().causes["process.exception"], None, {"type": type_})


def test_what_the_job_has_already_is_not_asked_for() -> None:
    known = {"library": "nccl", "stack": "cuda", "launcher": "torchrun"}
    desync = words(advise("collective.desync", {"has_recorder": True}, facts_of(**known)))
    exited = words(advise("process.exit-code", {"has_error_files": True}, facts_of(**known)))
    assert ("TRACE_BUFFER" in desync, "errors.record" in exited) == (False, False)


def test_the_node_of_a_pod_is_cordoned_and_the_host_of_slurm_left_out() -> None:
    pod = advise(
        "gpu.ecc", {"culprit_host": "w-1", "culprit_hosts": "w-1", "culprit_pod": "w-1"}, facts_of(scheduler="kubernetes")
    )
    host = advise("gpu.ecc", {"culprit_host": "gpu-7", "culprit_hosts": "gpu-7"}, facts_of(scheduler="slurm"))
    assert pod[0].command == "kubectl cordon $(kubectl get pod w-1 -o jsonpath='{.spec.nodeName}')"
    assert host[0].command == "sbatch -x gpu-7 job.sh"


def test_a_worker_of_ray_is_looked_for_under_its_own_name() -> None:
    step = advise("ray.actor-died", {"worker_id": "5f0a", "pid": 4183, "ip": "10.0.0.7"}, facts_of(scheduler="ray"))[0]
    assert step.command == "ssh 10.0.0.7 tail -n 100 /tmp/ray/session_latest/logs/worker-5f0a-*-4183.err"


def test_the_kernel_log_is_asked_for_the_minutes_around_the_failure() -> None:
    fields = {"culprit_host": "n7", "since": "2026-11-20 22:06:15", "until": "2026-11-20 22:16:15"}
    command = advise("process.sigkill", fields, facts_of(scheduler="none"))[0].command or ""
    assert command.startswith("ssh n7 \"journalctl -k --since '2026-11-20 22:06:15' --until '2026-11-20 22:16:15' |")


def test_a_reset_that_gloo_alone_saw_gets_no_advice_on_nccl() -> None:
    log = (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/job/train.py", line 30, in <module>\n[rank1]:     dist.all_reduce(t)\n'
        "[rank1]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:23456\n"
    )
    nccl = "gpu-01:41:41 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\ngpu-01:41:41 [0] NCCL INFO cudaDriverVersion 12020\n"

    def steps(text: str) -> str:
        report = diagnose(Text(text, name="x.log"))
        assert report.diagnosis is not None
        return " ".join(f"{r.text} {r.command}" for r in report.diagnosis.remedy)

    assert "GLOO_SOCKET_IFNAME" in steps(log)
    assert "NCCL" not in steps(log)
    assert "NCCL_SOCKET_IFNAME" in steps(nccl + log)


def test_a_server_that_closed_an_http_connection_is_no_question_of_nccl() -> None:
    log = (
        '[rank0]:   File "/venv/lib/python3.11/site-packages/trl/extras/vllm_client.py", line 250, in update_named_param\n'
        "[rank0]:     response = self.session.post(url, json=data)\n"
        "[rank0]: requests.exceptions.ConnectionError: ('Connection aborted.', "
        "RemoteDisconnected('Remote end closed connection without response'))\n"
    )

    report = diagnose(Text(log, name="x.log"))

    assert report.diagnosis is not None
    said = " ".join(f"{r.text} {r.command}" for r in report.diagnosis.remedy)
    assert ("network.connection-reset", True) == (report.diagnosis.cause, "the other end of this connection" in said)
    assert not any(word in said for word in ("NCCL", "/dev/shm", "gloo"))
