"""A record's head, rank and time, in whatever dress a launcher or a collector puts around it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.damage.dresses import clock
from benchmarks.damage.files import Case, encoded
from diagnose import Text, diagnose
from diagnose.lines.prefix import read_lines, split_prefix
from diagnose.lines.timestamp import format_rfc3339, resolve
from diagnose.sources.normalise import normalise
from diagnose.traces.traceback import find_tracebacks

from .told import cause, culprits, told

# --- A logger puts its head, and the rank in it, before the first line of a record; the traceback below belongs to it ---

FRAMES = '  File "/x/train.py", line 2015, in run\n    step(batch)\n'


def test_a_label_with_data_parallel_ranks_is_no_rank(tmp_path):
    log = tmp_path / "train.log"
    head = "[2025-05-29 02:52:38 DP1 TP3] Scheduler hit an exception: Traceback (most recent call last):\n"
    log.write_text(f"{head}{FRAMES}ValueError: bad request\n")
    assert not diagnose(str(log)).diagnosis.culprits


def test_another_writer_without_a_prefix_keeps_its_own_exception():
    text = (
        "[rank3]: Traceback (most recent call last):",
        '[rank3]:   File "/x/train.py", line 2, in run',
        "[rank3]:     step()",
        "ValueError: of the launcher",
        "[rank3]: RuntimeError: of the rank",
    )
    lines = [line for number, raw in enumerate(text, 1) for line in read_lines(number, raw)]

    assert {("rank3", "RuntimeError"), ("", "ValueError")} == {(t.speaker, t.exception) for t in find_tracebacks(lines)}


# --- A program's own records in JSON, behind what a launcher, a container's log or a collector puts before each line ---

RAISED = 'Traceback (most recent call last):\n  File "/srv/train.py", line 88, in step\n    loss()\nKeyError: \'target\''
CLOSED = "RuntimeError: [/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.2]:9431"
PLACES = {
    "compose": "trainer-1  | {}",
    "kubectl": "[pod/llm-worker-1/main] {}",
    "a container's log": "2026-11-20T10:00:00.100000000Z stderr F {}",
    "journald": "Nov 20 10:00:00 gpu-07 train.sh[4711]: {}",
    "srun -l": "2: {}",
    "Ray": "(Trainer pid=2811, ip=10.0.0.2) {}",
}


def record(rank: int, message: str, second: int, **more: str) -> str:
    told = {"timestamp": f"2026-11-20T10:00:{second:02d}Z", "level": "error", "message": message, "rank": rank}
    return json.dumps({**told, **more})


@pytest.mark.parametrize("place", PLACES)
def test_a_record_is_read_behind_a_prefix(place: str) -> None:
    """What was raised, and by whom, stands in the record only."""
    lines = [record(1, "training failed", 7, exc_info=RAISED), *(record(rank, CLOSED, 8) for rank in (0, 2))]
    if place == "srun -l":  # its label is the task's, and so the rank's
        lines = [json.dumps(json.loads(line) | {"rank": 2}) for line in lines[:1]]
    found = diagnose(Text("".join(PLACES[place].format(line) + "\n" for line in lines), "job.log")).diagnosis
    assert (found.cause, [c.rank for c in found.culprits]) == ("process.exception", [2 if place == "srun -l" else 1])


def test_a_record_in_dockers_record_is_read() -> None:
    """Docker writes JSON around each line, whatever the line is."""
    line = json.dumps({"log": record(1, "failed", 7) + "\n", "stream": "stderr", "time": "2026-11-20T10:00:00.1Z"})
    assert normalise(line.encode()) == b"2026-11-20T10:00:00.1Z stderr F 2026-11-20T10:00:07Z ERROR [rank1]: failed"


@pytest.mark.parametrize("line", ["the configuration is {}", "INFO loaded {}", "step 4 {}"])
def test_a_dict_that_was_printed_stays(line: str) -> None:
    """What stands before it is no prefix."""
    text = line.format(record(1, "failed", 7)).encode()
    assert normalise(text).startswith(line.partition("{")[0].encode() + b'{"')


def test_loguru_says_in_its_record_what_the_program_bound() -> None:
    """`logger.bind(rank=3)` and `serialize=True`: the rank is in `extra`, the traceback in what was formatted."""
    own = {
        "elapsed": {"repr": "0:00:01", "seconds": 1.0}, "exception": None, "extra": {"rank": 3}, "function": "train",
        "level": {"icon": "x", "name": "ERROR", "no": 40}, "message": "failed", "name": "__main__",
        "time": {"repr": "2026-11-20 10:00:00+00:00", "timestamp": 1795168800.0},
    }  # fmt: skip
    text = json.dumps({"text": f"2026-11-20 10:00:00.000 | ERROR | __main__:train:88 - failed\n{RAISED}\n", "record": own})
    assert normalise(text.encode()).split(b"\r")[:2] == [
        b"2026-11-20T10:00:00.000000+00:00 ERROR [rank3]: failed",
        b"2026-11-20T10:00:00.000000+00:00 ERROR [rank3]: Traceback (most recent call last):",
    ]


# --- A collector's clock and the program's own: a file has one of them, whatever zone the program thinks it is in ---


def printed(line: str) -> str:
    stamp = split_prefix(line).stamp
    assert stamp is not None
    return format_rfc3339(resolve(stamp, 2026, 0.0) or 0.0)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 01:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 09:00:19 n7 train.sh[44]: 2026-11-18 17:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 01:00:19 n7 train.sh[44]: 2026-11-17 18:30:19,500 INFO step 5", "2026-11-18T01:00:19.500Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: E1118 01:00:18.120000 812 api.py:9] failed", "2026-11-18T09:00:18.120Z"),
        ("2026-11-18 09:00:18 2026-11-18 01:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("2026-11-18T09:00:18.120000000Z stderr F 2026-11-18 17:00:18,100 INFO step 5", "2026-11-18T09:00:18.120Z"),
    ],
)
def test_a_program_in_another_zone_is_put_on_the_clock_of_its_collector(line: str, time: str) -> None:
    assert time == printed(line)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 09:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 08:57:02,120 INFO flushed late", "2026-11-18T08:57:02.120Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18T01:00:18+00:00 INFO step 5", "2026-11-18T01:00:18Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-12 09:00:18,120 INFO the last checkpoint", "2026-11-12T09:00:18.120Z"),
    ],
)
def test_a_time_that_differs_by_no_zone_or_states_its_own_stays(line: str, time: str) -> None:
    assert time == printed(line)


def journal(host: str, rank: int, hour: int, raised: str, at: int) -> str:
    """A journal in local time; the steps print another hour, and the exception none."""
    head = f"Nov 18 09:00:{{:02d}} {host} train.sh[4410]: "
    steps = [head.format(n) + f"2026-11-18 {hour:02d}:00:{n:02d},000 INFO [rank{rank}] step {n} loss 2.1" for n in range(5, 15)]
    trace = ["Traceback (most recent call last):", '  File "/data/jobs/train.py", line 9, in <module>', "    main()", raised]
    return "\n".join([*steps, *(f"{head.format(at)}[rank{rank}]: {line}" for line in trace)]) + "\n"


@pytest.mark.parametrize(("one", "other"), [(9, 1), (9, 17), (17, 9), (1, 9)])
def test_who_raised_first_is_told_by_the_collectors_where_programs_are_in_two_zones(
    tmp_path: Path, one: int, other: int
) -> None:
    files = {
        "gpu-node-1.log": journal("gpu-node-1", 0, one, "RuntimeError: peer rank sent an empty batch", 40),
        "gpu-node-2.log": journal("gpu-node-2", 1, other, "KeyError: 'labels'", 18),
    }
    report = told(tmp_path, files)

    assert ("process.exception", [1]) == (cause(report), culprits(report))


# --- two dresses at once, as a cluster puts on what a program prints: the verdict stays, whole --------------------

FIXTURES = Path(__file__).parent.parent / "fixtures"
NAMES = ("real-exception-behind-an-end", "illegal-access", "incidents-5-twin-sigkill", "ecc-under-watchdog")
Said = tuple[str, str | None, tuple[int | None, ...], str | None]


def recorded(number: int, line: str) -> str:
    return json.dumps({"timestamp": clock(number), "level": "info", "message": line})


def by_docker(number: int, line: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stderr", "time": clock(number)})


DRESSES = {
    "JSON in a pod": lambda n, line: f"[pod/llm-worker-0/main] {recorded(n, line)}",
    "JSON in Docker's": lambda n, line: by_docker(n, recorded(n, line)),
    "JSON behind compose's name": lambda n, line: f"trainer-1  | {recorded(n, line)}",
    "colours in Docker's": lambda n, line: by_docker(n, f"\x1b[36m{line}\x1b[0m"),
    "compose's name on Windows": lambda n, line: f"trainer-1  | {line}\r",
    "loguru in a container's log": lambda n, line: (
        f"{clock(n)} stderr F {clock(n)[:10]} {clock(n)[11:23]} | INFO     | launcher:pump:12 - {line}"
    ),
    "torchrun's label in the journal": lambda n, line: (
        f"Nov 20 {clock(n)[11:19]} gpu-07 train.sh[4711]: " + re.sub(r"^\[rank(\d+)\]:", r"[default\1]:[rank\1]:", line)
    ),
}


def said(folder: Path, files: dict[str, bytes]) -> Said:
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    report = diagnose(folder)
    found = report.diagnosis
    if found is None:
        return report.outcome, None, (), None
    return report.outcome, found.cause, tuple(c.rank for c in found.culprits), found.certainty


@pytest.mark.parametrize("name", NAMES)
def test_two_dresses_change_nothing_of_a_verdict(name: str, tmp_path: Path) -> None:
    """Outcome, cause, culprits and certainty: each dress hides the one below it until it is taken off."""
    case = Case.read(FIXTURES / name)
    bare = said(tmp_path / "bare", case.files)
    for what, dress in DRESSES.items():
        lines = {log: text.removesuffix("\n").split("\n") for log, text in case.logs.items()}
        logs = {log: encoded("\n".join(dress(n, x) for n, x in enumerate(own)) + "\n") for log, own in lines.items()}
        assert said(tmp_path / what, case.files | logs) == bare, what


# --- the labels that vLLM puts before its lines, one within the other: whose line it is, and of whom it tells -----

ILLEGAL = (
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] Traceback (most recent call last):\n"
    '{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880]   File "/x/vllm/executor.py", line 810, in worker_busy_loop\n'
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] torch.AcceleratorError: CUDA error: an illegal memory access "
    "was encountered\n"
    "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:42 [core.py:842] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.\n"
)


@pytest.mark.parametrize(
    "worker",
    [
        "(Worker_TP3 pid=907)",
        "(EngineCore_DP0 pid=900) (Worker_TP3 pid=907)",
        "(EngineCore_0 pid=900) (VllmWorker TP3 pid=907)",
        "(Worker pid=907) (Worker_TP3 pid=907)",
        "(EngineCore pid=900) (RayWorkerProc pid=907) (Worker_TP3 pid=907)",
    ],
)
def test_the_innermost_label_says_which_rank_of_the_engine_it_is(tmp_path, worker):
    assert [3] == culprits(told(tmp_path, {"serve.log": ILLEGAL.format(worker=worker)}))


def test_an_actor_of_ray_keeps_its_name_before_a_label_of_the_engine():
    prefix = split_prefix("(WorkerDict pid=11, ip=10.0.0.2) (Worker_TP0 pid=12) INFO 11-02 04:11:22 [a.py:1] loaded")
    assert ("WorkerDict", 12) == (prefix.actor, prefix.pid)
