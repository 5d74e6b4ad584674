"""Hooks: what the job and the scripts around it notice of them, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from diagnose.advice.statement import Evidence
from diagnose.hooks.environment import count_nodes, read_environment
from diagnose.hooks.gather import SharedFolder
from diagnose.hooks.reporter import report, summary_lines
from diagnose.hooks.request import Config, HookRequest
from diagnose.report.parts import Diagnosis
from diagnose.report.report import Report

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "hooks"
OOM = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "train.py", line 3, in <module>\n'
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
    "79.15 GiB of which 1.00 GiB is free.\n"
)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    """A bare environment, with `diagnose` on the PATH as an installed one would be."""
    for name in [n for n in os.environ if n.startswith(("SLURM", "DIAGNOSE", "TORCHELASTIC", "RANK", "PET_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "bin").mkdir()
    command(tmp_path, "diagnose", f'exec {sys.executable} -m diagnose "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "empty.toml").write_text("[hook]\nbudget = 300\n")  # on a busy machine nothing is soon
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(tmp_path / "empty.toml"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.log").write_text(OOM)


def command(folder, name, text):
    """Puts a small program on the PATH: the surroundings that this machine does not have."""
    path = folder / "bin" / name
    path.write_text(f"#!/bin/bash\n{text}")
    path.chmod(0o755)


def shell(script, **environment):
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def python(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


# --- diagnose hook -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["--no-such-option", "--exit-code x", "no/such/log", "--help", "--budget 0 train.log", ""])
def test_hook_exits_0_whatever_it_is_given(words):
    assert shell(f"diagnose hook {words}").returncode == 0


def test_hook_does_nothing_after_a_success():
    done = shell("diagnose hook --exit-code 0 -o report.md train.log")
    assert (done.returncode, done.stdout, done.stderr, Path("report.md").exists()) == (0, "", "", False)


def test_an_output_that_cannot_be_written_does_not_cost_the_verdict(tmp_path):
    done = shell("diagnose hook --exit-code 1 -o /dev/null/report.md -o report.md train.log")
    assert "/dev/null/report.md cannot be written" in done.stderr
    assert (0, True) == (done.returncode, Path("report.md").exists())
    assert "diagnose hook: memory.cuda-oom: " in done.stderr
    assert "  proof  " in done.stderr


def test_hook_that_is_terminated_exits_0(tmp_path):
    stall(tmp_path)
    with subprocess.Popen(["diagnose", "hook", "--exit-code", "1", "train.log"], stderr=subprocess.DEVNULL) as hook:
        children = Path(f"/proc/{hook.pid}/task/{hook.pid}/children")
        wait_for(children.read_text)
        hook.send_signal(signal.SIGTERM)
        assert hook.wait(60) == 0


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def stall(folder):
    """Rules that do not answer when they are read, as on a file server that is gone."""
    (folder / "rules" / "memory" / "stalled").mkdir(parents=True)
    os.mkfifo(folder / "rules" / "memory" / "stalled" / "cause.yaml")
    (folder / "empty.toml").write_text(f'rules = ["{folder}/rules"]\n')


def test_stall_is_ended_and_leaves_a_stub(tmp_path):
    stall(tmp_path)
    done = shell("diagnose hook --exit-code 7 --budget 8 -o report.md -o report.json train.log")
    assert done.returncode == 0
    assert Path("report.md").read_text().startswith("## Failed: No diagnosis yet: exit code 7")
    assert json.loads(Path("report.json").read_text())["diagnosis"]["cause"] == "unknown"


def test_reporter_that_stalls_itself_is_left_behind(tmp_path):
    """Its output folder does not answer: opening a FIFO for writing waits for a reader."""
    os.mkfifo(tmp_path / "report.md")
    done = shell("diagnose hook --exit-code 7 --budget 2 -o report.md train.log")
    assert (done.returncode, "no report within 2 s" in done.stderr) == (0, True)


# --- several nodes -----------------------------------------------------------------------------------------------


def test_nodes_leave_scans_and_one_reports_once(tmp_path):
    command(tmp_path, "torchrun", f'echo "[default0]:$(head -3 {tmp_path}/train.log)" > "$LOGS/rank0.log"; exit 1\n')
    node = "mkdir -p $n; SLURMD_NODENAME=$n LOGS=$PWD/$n SHARED=$PWD/shared bash {}; echo $n $?"
    script = f"for n in node1 node2; do ({node.format(EXAMPLES / 'srun_every_node.sh')}) & done; wait"
    done = shell(script, SLURM_JOB_ID="77", SLURM_STEP_NUM_NODES="2")
    assert sorted(done.stdout.splitlines()) == ["node1 1", "node2 1"]
    assert sorted(p.name for p in Path("shared/77").iterdir()) == ["node1.scan.json.gz", "node2.scan.json.gz"]
    assert (done.stderr.count("reports for all"), Path("shared/77.report.md").exists()) == (1, True)


def test_node_that_stays_away_is_waited_for_until_the_time_is_over(tmp_path, monkeypatch, capfd):
    wait = SharedFolder.wait_for_nodes
    monkeypatch.setattr(SharedFolder, "wait_for_nodes", lambda place, nodes, _: wait(place, nodes, time.monotonic()))
    report(HookRequest(
        "exit code 1", time.monotonic() + 600, Config(shared=str(tmp_path / "s")), folder=str(tmp_path), inputs=("train.log",),
        nodes=2, node="n1", label="j", exit_code=1,
    ))  # fmt: skip
    found = json.loads(Path("s/j.report.json").read_text())
    assert "1 of 2 nodes left a scan" in capfd.readouterr().err
    assert (found["diagnosis"]["cause"], found["diagnosis"]["certainty"]) == ("memory.cuda-oom", "likely")


# --- inside the job ----------------------------------------------------------------------------------------------

RAISES = (
    "from diagnose.hook import *\n{before}\n"
    "{decorators}\ndef main(): raise ValueError('loss is nan')\n"
    "main()\n"
)  # fmt: skip
NESTED = RAISES.format(before="install()", decorators="@diagnose_on_failure()\n@diagnose_on_failure(output='report.md')")


def test_exception_goes_on_its_way_and_is_reported_once(tmp_path):
    done = python(NESTED)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "ValueError: loss is nan")
    assert (f"diagnose: report: {tmp_path}/report.md" in done.stderr, Path("report.md").exists()) == (True, True)
    assert done.stderr.count("diagnose: report") == 1


def test_misspelt_option_does_not_stop_the_job():
    done = python("from diagnose.hook import *\nwith diagnose_on_failure(ouput='x'): print('trained')")
    assert (done.returncode, done.stdout) == (0, "trained\n")


def test_only_the_first_failing_rank_of_a_node_reports():
    # One file a rank: in a shared pipe the pieces of two tracebacks can land on one line.
    script = "\n".join(f"RANK={n} LOCAL_RANK={n} {sys.executable} in_code.py 2>{n}.err & " for n in range(4))
    Path("in_code.py").write_text((EXAMPLES / "in_code.py").read_text())
    shell(script + "\nwait")
    errors = [Path(f"{n}.err").read_text() for n in range(4)]
    assert (
        sum(text.count("]: report: ") for text in errors),
        [text.splitlines().count("FloatingPointError: loss is nan at step 4211") for text in errors],
    ) == (1, [1, 1, 1, 1])


# --- the examples of docs/hooks.md, run in what they would meet ----------------------------------------------------


def test_trap_keeps_the_status_of_the_sbatch_script(tmp_path):
    command(tmp_path, "srun", "cat train.log | tee logs/train-7.out; exit 42\n")
    (tmp_path / "logs").mkdir()
    done = shell(f"bash {EXAMPLES / 'sbatch_trap.sh'}", SLURM_JOB_ID="7")
    assert (done.returncode, Path("logs/report-7.md").exists()) == (42, True)


def test_epilog_exits_0_and_reads_the_jobs_log_as_the_user(tmp_path):
    command(tmp_path, "runuser", 'echo "as $2" >&2; shift 3; exec "$@"\n')
    done = shell(
        f"bash {EXAMPLES / 'slurm_epilog.sh'}", SLURM_JOB_USER="ada", SLURM_JOB_ID="9", SLURM_JOB_EXIT_CODE2="1:0",
        SLURM_JOB_STDOUT=str(tmp_path / "train.log"), SLURM_JOB_NODELIST="node1", DIAGNOSE_SHARED=str(tmp_path / "s"),
        SLURM_SCRIPT_CONTEXT="epilog_slurmd",
    )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "as ada")
    assert "memory.cuda-oom" in Path("s/ada/9.report.md").read_text()


@pytest.mark.parametrize("broken", ["exit 3", "sleep 60"])
def test_epilog_exits_0_when_diagnose_is_broken(tmp_path, broken):
    command(tmp_path, "runuser", 'shift 5; shift; exec timeout --kill-after=1 1 "$@"\n')
    command(tmp_path, "diagnose", f"{broken}\n")
    environment = {"SLURM_JOB_USER": "ada", "SLURM_JOB_EXIT_CODE2": "0:9"}
    assert shell(f"bash {EXAMPLES / 'slurm_epilog.sh'}", **environment).returncode == 0


def scripts_of(name):
    documents = yaml.safe_load_all((EXAMPLES / name).read_text())
    spec = next(d for d in documents if d["kind"] in ("Pod", "Job"))["spec"]
    spec = spec["template"]["spec"] if "template" in spec else spec
    return {c["name"]: c["args"][0] for c in [*spec.get("initContainers", ()), *spec["containers"]]}


def test_sidecar_reports_and_the_containers_status_is_the_jobs(tmp_path):
    command(tmp_path, "torchrun", "cat train.log >&2; exit 17\n")
    scripts = scripts_of("kubernetes_sidecar.yaml")
    logs = tmp_path / "pod"
    logs.mkdir()
    environment = {**os.environ, "LOGS": str(logs)}
    sidecar = subprocess.Popen(["sh", "-c", scripts["diagnose"]], env=environment, start_new_session=True, stdout=-3)
    try:
        assert shell(scripts["train"], LOGS=str(logs)).returncode == 17
        wait_for(lambda: "memory.cuda-oom" in read(logs / "report" / "report.md"))
        assert ("memory.cuda-oom" in read(logs / "report" / "report.md"), sidecar.poll()) == (True, None)
    finally:
        os.killpg(sidecar.pid, signal.SIGKILL)
        sidecar.wait()


def read(path):
    return path.read_text() if path.exists() else ""


def test_github_step_fails_as_the_job_and_its_page_shows_the_report(tmp_path):
    steps = yaml.safe_load((EXAMPLES / "github_action.yml").read_text())["jobs"]["train"]["steps"]
    command(tmp_path, "torchrun", "cat train.log >&2; exit 1\n")
    train, show = (
        subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
        )
        for step in steps[1:]
    )  # fmt: skip
    assert (train.returncode, show.returncode) == (1, 0)
    assert ("memory.cuda-oom" in (tmp_path / "summary.md").read_text(), "::error" in show.stdout) == (True, True)


# --- parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodelist", "expected"),
    [("gpu[01-04,07],login1", 6), ("r[1-2]n[1-3]", 6), ("", 0), ("n[", 1)],
)
def test_nodes_of_a_nodelist_are_counted(nodelist, expected):
    assert count_nodes(nodelist) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (  # a worker of torchrun knows that it sees one node of four
            {"GROUP_WORLD_SIZE": "4", "WORLD_SIZE": "32", "RANK": "9", "LOCAL_RANK": "1"},
            {"nodes": 4, "world_size": 32, "rank": 9},
        ),
        (  # a batch script sees all nodes
            {"SLURM_JOB_ID": "5", "SLURM_NNODES": "4", "SLURM_PROCID": "0"},
            {"nodes": None, "all_nodes": 4, "label": "5", "rank": None},
        ),
        (  # tasks of one node leave a scan each
            {"SLURM_STEP_NUM_TASKS": "16", "SLURM_STEP_NUM_NODES": "2", "SLURM_PROCID": "9", "SLURMD_NODENAME": "n2"},
            {"part": "n2-task9", "tasks": 16},
        ),
        ({"SLURM_JOB_ID": "5", "SLURM_RESTART_COUNT": "2"}, {"label": "5-2"}),  # a restarted job has its own label
        ({"SLURM_JOB_EXIT_CODE2": "0:9"}, {"exit_code": None, "signal": 9}),  # an epilog
    ],
)
def test_environment_tells_of_the_job(environment, expected):
    facts = read_environment(environment)
    assert {name: getattr(facts, name) for name in expected} == expected


def test_summary_cannot_send_terminal_sequences():
    found = Diagnosis(cause="x", summary="\x1b]0;owned\x07a\x9b31m", evidence=(Evidence(text="\x1b[2J\rb"),))
    assert not set("\x1b\x07\x9b\r") & set("".join(summary_lines(Report(diagnosis=found))))


def test_a_stubs_reason_is_text_without_markup_and_secrets(tmp_path):
    page = tmp_path / "report.md"
    reason = "ValueError: ![x](http://evil.example) <img src=x> # hf_abcdefghijABCDEFGHIJ0123456789abcd"
    report(HookRequest(reason, time.monotonic() + 5, Config(output=(str(page),)), folder=str(tmp_path)))
    assert r"ValueError: ![x\](`http://evil.example)` \<img src=x> # " in page.read_text()
    assert "hf_" not in page.read_text()
