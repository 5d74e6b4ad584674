"""What a report says of a log is true of that log, and what it advises fits the message: one test for each kind of mistake."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.engine import diagnose
from diagnose.report.report import Report
from diagnose.views.rendering import render

from .command_line import FIXTURES
from .told import told, watchdog

FROM_2_1 = (
    "[E ProcessGroupNCCL.cpp:475] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
    "OpType=ALLREDUCE, NumelIn=9, NumelOut=9, Timeout(ms)=1800000) ran for 1800100 milliseconds before timing out.\n"
)
HEAD = "Traceback (most recent call last):\n  File \"/job/train.py\", line 9, in main\n    run()\n"


def steps(report: Report, when: str = "now") -> list[tuple[str, str | None]]:
    return [(s.text, s.command) for s in report.diagnosis.remedy if s.when == when]


def advice(report: Report) -> str:
    return "\n".join(f"{s.text} {s.command or ''}" for s in report.diagnosis.remedy)


def one(folder: Path, text: str, name: str = "console.log", **job: int) -> Report:
    return told(folder, {name: text}, **job)


# --- who and when -------------------------------------------------------------------------------------------------


def test_a_name_that_a_message_only_mentions_is_no_host(tmp_path: Path) -> None:
    missing = one(tmp_path / "a", f"{HEAD}ValueError: Hostname 'gpu-9' not found in hostfile\n")
    hub = one(tmp_path / "b", f"[rank0]: {HEAD}[rank0]: ConnectionError: Couldn't reach 'acme/mix' on the Hub (ConnectionError)\n")
    assert missing.diagnosis and hub.diagnosis
    assert [missing.diagnosis.evidence[0].host, hub.diagnosis.evidence[0].host] == [None, None]
    assert "acme/mix" in hub.diagnosis.summary


def test_a_time_that_a_watchdog_took_from_the_line_above_is_a_bound(tmp_path: Path) -> None:
    before = "2026-11-20 10:00:00,000 INFO loading weights\n"
    report = one(tmp_path, before + "".join(FROM_2_1.format(rank=r, seq=7) for r in (0, 1)), world_size=2)
    waits = [t for t in report.timeline if t.cause == "collective.timeout"]
    assert {t.time_is for t in waits} == {"earliest"} and "≥ 10:00:00" in render(report, "markdown")
    assert report.diagnosis is not None and report.diagnosis.evidence[0].time is None
    assert not [link for link in report.chain if link.delay_s]  # counted from half an hour before that line


def test_what_stands_above_the_first_clock_was_told_before_it(tmp_path: Path) -> None:
    report = one(tmp_path, "Loading checkpoint shards: 100%|###| 4/4\nSaving model checkpoint to /out\n" + watchdog(1), world_size=2)
    assert {t.time_is for t in report.timeline if t.layer == "context"} <= {"latest"}


def test_a_zone_is_not_taken_off_a_time_that_states_its_own(tmp_path: Path) -> None:
    """Torchelastic's error.json counts from 1970, whatever the clocks of that host show."""
    logs = {
        f"{host}/rank_{rank}.log": "".join(f"2026-11-20 {hour}:40:3{s},000 INFO rank {rank} step {s} loss 1.0\n" for s in range(5))
        for host, rank, hour in (("node-a", 0, "17"), ("node-b", 1, "09"))
    }
    error = '{"message": {"message": "ValueError: x", "extraInfo": {"py_callstack": "Traceback (most recent call last):\\n  File'
    error += ' \\"/job/t.py\\", line 3, in main\\n    f()\\nValueError: broken record 17\\n", "timestamp": "1795196439"}}}'
    report = told(tmp_path, {**logs, "node-b/attempt_0/1/error.json": error})
    raised = [t.time for t in report.timeline if t.cause == "process.exception"]
    assert raised == ["2026-11-20T17:40:39Z"]


def test_all_ranks_that_raised_alike_are_told_as_all() -> None:
    text = render(diagnose(FIXTURES / "same-exception-everywhere" / "logs"), "markdown")
    assert "none: all 3 ranks failed alike" in text


def test_a_rank_whose_lines_were_not_recognised_is_not_called_absent(tmp_path: Path) -> None:
    report = one(tmp_path, watchdog(3) + watchdog(2))
    assert [g.text for g in report.gaps] == ["No line is known to be from ranks 0-1, and there may be more ranks."]


# --- each thing once ----------------------------------------------------------------------------------------------


def test_another_reading_of_the_line_that_names_the_root_is_no_consequence(tmp_path: Path) -> None:
    text = f"{HEAD}FileNotFoundError: [Errno 2] No such file or directory: './out/tmp-checkpoint-20' -> './out/checkpoint-20'\n"
    report = one(tmp_path, text)
    root = {(e.file, e.line) for e in report.diagnosis.evidence[:1]}
    assert not [s for s in report.symptoms if s.first and (s.first.file, s.first.line) in root]


def test_a_missing_import_is_not_told_as_a_program_that_was_not_found(tmp_path: Path) -> None:
    report = one(tmp_path, f"{HEAD}ModuleNotFoundError: No module named 'flash_attn'\n")
    assert {t.rule for t in report.timeline} == {"software.import-error/module-not-found"}


# --- advice that fits the message ---------------------------------------------------------------------------------


def test_a_module_of_the_program_s_own_is_not_fetched_from_a_package_index(tmp_path: Path) -> None:
    assert "pip install" not in str(steps(one(tmp_path, f"{HEAD}ModuleNotFoundError: No module named 'projutils'\n")))


@pytest.mark.parametrize(
    ("module", "package"),
    [("cv2", "opencv-python-headless"), ("flash_attn", "flash-attn --no-build-isolation"), ("deepspeed", "deepspeed")],
)
def test_the_package_is_named_and_not_the_import(tmp_path: Path, module: str, package: str) -> None:
    (step,) = steps(one(tmp_path, f"{HEAD}ModuleNotFoundError: No module named '{module}'\n"))
    assert step[1] is not None and step[1].endswith(f"pip install {package}")


def test_an_id_outside_of_the_table_is_compared_with_the_table(tmp_path: Path) -> None:
    text = advice(one(tmp_path, f"{HEAD}IndexError: index out of range in self\n"))
    assert "num_embeddings" in text and "checksum differs" not in text


def test_what_is_off_line_is_given_no_token_and_no_patience(tmp_path: Path) -> None:
    report = one(tmp_path, f"{HEAD}ConnectionError: Couldn't reach 'acme/mix' on the Hub (OfflineModeIsEnabled)\n")
    assert "HF_TOKEN" not in advice(report) and "429" not in advice(report)


def test_a_gated_repository_asks_for_its_licence_first(tmp_path: Path) -> None:
    raised = "huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: a)\n\nCannot access gated repo for url https://hf.co/a/b.\n"
    report = one(tmp_path, HEAD + raised)
    assert "license" in steps(report)[0][0] and report.diagnosis and report.diagnosis.restart == "no"


def test_nothing_is_ended_that_holds_a_port_of_the_system(tmp_path: Path) -> None:
    bound = "[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:{} (errno: 98 - Address already in use).\n"
    low, high = (one(tmp_path / str(port), bound.format(port)) for port in (22, 29500))
    assert "End nothing" in steps(low)[0][0] and "fuser" in str(steps(high)[0][1]) and "fuser" not in advice(low)


def test_who_asked_slurm_to_end_the_job_is_said(tmp_path: Path) -> None:
    files = {
        "slurm-871.out": "slurmstepd: error: *** STEP 871.0 ON n1 CANCELLED AT 2026-10-09T07:25:32 ***\n",
        "slurmctld.log": "[2026-10-09T07:25:32.803] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=871 uid 10469\n",
    }
    assert steps(told(tmp_path, files))[0][1] == "getent passwd 10469"


def test_an_engine_of_inference_has_no_micro_batch(tmp_path: Path) -> None:
    frame = '  File "/opt/venv/lib/python3.12/site-packages/vllm/model_executor/layers/linear.py", line 193, in create_weights\n'
    raised = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 462.00 MiB. GPU 1 has a total capacity of 47.44 GiB of which "
        "311.31 MiB is free. Including non-PyTorch memory, this process has 47.12 GiB memory in use. Of the allocated memory 46.70 "
        "GiB is allocated by PyTorch, and 12.88 MiB is reserved by PyTorch but unallocated.\n"
    )
    text = advice(one(tmp_path, f"Traceback (most recent call last):\n{frame}    weight = empty()\n{raised}"))
    assert "--gpu-memory-utilization" in text and "micro batch" not in text and "backward" not in text


def test_where_memory_could_not_be_registered_no_port_is_opened(tmp_path: Path) -> None:
    text = advice(one(tmp_path, "n1:1:2 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"))
    assert "ulimit -l" in text and "nc -zv" not in text and "P2P" not in text


def test_a_crash_is_told_with_the_own_code_that_it_came_from() -> None:
    found = diagnose(FIXTURES / "segfault-one-rank" / "logs").diagnosis
    assert found is not None and found.evidence[0].own_code[0].function == "native_tokenize"


# --- how it reads -------------------------------------------------------------------------------------------------


def test_conditions_of_remedies_name_rules_of_their_cause_or_what_a_finding_shows() -> None:
    catalogue = load_rules()
    for cause in catalogue.causes.values():
        shown = {r.id.rpartition("/")[2] for r in catalogue.rules.values() if r.cause == cause.id or r.role == "context" or r.table}
        assert not _asked(cause) - shown, cause.id


def _asked(cause: Any) -> set[str]:
    conditions = [s.condition for s in cause.remedy if s.condition and "rule_name" in s.condition]
    asked = [part for c in conditions for part in re.findall(r"rule_name (?:==|!=|in|not in) (\([^)]*\)|'[^']*')", c)]
    return {name for part in asked for name in re.findall(r"'([a-z0-9-]+-[a-z0-9-]+)'", part)}


def test_what_half_of_the_hosts_raise_alike_is_no_host_s_fault(tmp_path: Path) -> None:
    raised = "2026-01-01T10:00:00.0{n}Z stderr F " + HEAD.replace("\n", "\n2026-01-01T10:00:00.0{n}Z stderr F ") + "KeyError: {n}\n"
    files = {f"pods/ml_train-worker-{n}_3f1d0b7a-1c2d-4e5f-8a9b-0123456789ab/pytorch/0.log": raised.format(n=n) for n in range(1, 5)}
    found = told(tmp_path, files).diagnosis
    assert found is not None and (found.cause, found.culprits) == ("process.exception", ())
