"""Tracebacks in colours, as JSON, of spawned processes and in groups: the exception is named from the whole pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .told import cause, culprits, told

PLAIN = """Traceback (most recent call last):
  File "/app/train.py", line 12, in <module>
    main()
    ~~~~^^
  File "/app/train.py", line 9, in main
    raise ValueError("boom")
ValueError: boom
"""
# As Python 3.13 paints it where FORCE_COLOR is set.
PAINTED = """Traceback (most recent call last):
  File \x1b[35m"/app/train.py"\x1b[0m, line \x1b[35m12\x1b[0m, in \x1b[35m<module>\x1b[0m
    \x1b[31mmain\x1b[0m\x1b[1;31m()\x1b[0m
    \x1b[31m~~~~\x1b[0m\x1b[1;31m^^\x1b[0m
  File \x1b[35m"/app/train.py"\x1b[0m, line \x1b[35m9\x1b[0m, in \x1b[35mmain\x1b[0m
    raise ValueError("boom")
\x1b[1;35mValueError\x1b[0m: \x1b[35mboom\x1b[0m
"""
CHAINED = f"""Traceback (most recent call last):
  File "/app/data.py", line 3, in load
    return rows["x"]
KeyError: 'x'

The above exception was the direct cause of the following exception:

{PLAIN}"""
SPAWNED = f"""torch.multiprocessing.spawn.ProcessRaisedException:\x20

-- Process 2 terminated with the following error:
{PLAIN}
"""


def as_json(key: str) -> str:
    record = {"asctime": "2026-11-20 10:00:00", "levelname": "ERROR", "message": "failed", "rank": 3}
    return json.dumps({**record, key: PLAIN if key != "message" else f"failed\n{PLAIN}"}) + "\n"


@pytest.mark.parametrize("text", [PLAIN, PAINTED, CHAINED], ids=["3.11 carets", "3.13 colours", "chained"])
def test_exception_is_shown_at_its_own_line(tmp_path, text):
    report = told(tmp_path, {"a.log": text})

    assert "process.exception" == cause(report)
    assert "ValueError: boom" == report.diagnosis.evidence[0].text


def test_spawned_process_is_the_rank(tmp_path):
    assert [2] == culprits(told(tmp_path, {"a.log": SPAWNED}))


@pytest.mark.parametrize("key", ["exc_info", "message"])
def test_json_logger_s_traceback_has_its_rank_and_shows_the_exception(tmp_path, key):
    report = told(tmp_path, {"a.log": as_json(key)})

    assert [3] == culprits(report)
    assert report.diagnosis.evidence[0].text.endswith("ValueError: boom")


def error_json(exception: str, second: int) -> str:
    """What torchelastic's `record` leaves of a process that raised."""
    callstack = PLAIN.replace("ValueError: boom", exception)
    extra = {"py_callstack": callstack, "timestamp": str(1_795_196_558 + second)}
    return json.dumps({"message": {"message": exception, "extraInfo": extra}})


LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:68"


def test_error_files_alone_tell_who_raised(tmp_path):
    files = {f"attempt_0/{r}/error.json": error_json("ValueError: boom" if r == 2 else LOST, 3 - r) for r in range(3)}
    report = told(tmp_path, files)

    assert "process.exception" == cause(report)
    assert "attempt_0/2/error.json" in report.diagnosis.evidence[0].file
    assert report.diagnosis.evidence[0].text.endswith("ValueError: boom")


def test_error_file_that_repeats_a_log_is_named_beside_it(tmp_path):
    files = {"attempt_0/2/error.json": error_json("ValueError: boom, and a longer text", 3)}
    files["attempt_0/2/stderr.log"] = "[rank2]: " + PLAIN.replace("boom", "boom, and a longer text").replace(
        "\n", "\n[rank2]: "
    )
    first = told(tmp_path, files).diagnosis.evidence[0]

    assert first.file.endswith("stderr.log")
    assert [True] == [place.file.endswith("error.json") for place in first.also_in]


@pytest.mark.parametrize("text", ["", '{"message": 3}', "[" * 100_000, '{"message": {"message": null}}'])
def test_broken_error_file_is_nothing(tmp_path, text):
    assert cause(told(tmp_path, {"error.json": text, "rank0.log": "step 1\n"})) in ("healthy", "unfinished")


def test_exceptions_of_two_processes_printed_into_one_another_are_read_as_one(tmp_path: Path) -> None:
    """Names first, colons next, messages last: each GPU belongs to another rank, so none is blamed."""
    text = (
        "RuntimeErrorRuntimeError: : CUDA out of memory. Tried to allocate 576.00 MiB (GPU 3; 15.98 GiB total capacity; 15.83 GiB "
        "already allocated; 0 bytes free)CUDA out of memory. Tried to allocate 576.00 MiB (GPU 1; 15.98 GiB total capacity)\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert ("memory.cuda-oom", []) == (cause(report), culprits(report))


def test_names_of_eight_processes_between_one_anothers_colons_are_one_exception(tmp_path: Path) -> None:
    text = (
        "RuntimeErrorRuntimeError: RuntimeErrorRuntimeError: RuntimeErrorRuntimeErrorNCCL error in: "
        "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:957, invalid usage, NCCL version 21.0.3\n"
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library (such as too many async ops, too many "
        "collectives at once, mixing streams in a group, etc).RuntimeError\n"
    )

    assert "nccl.invalid-usage" == cause(told(tmp_path, {"console.log": text}))


@pytest.mark.parametrize("label", ["[1,8]<stdout>:", "{n}:"], ids=["mpirun's tag", "grep's numbers"])
def test_frames_right_behind_a_label_are_those_of_the_traceback(tmp_path: Path, label: str) -> None:
    """These have no blank behind them, as srun's label has one, and the frames begin with two."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/opt/conda/lib/python3.6/urllib/request.py", line 248, in urlretrieve',
        "    with contextlib.closing(urlopen(url, data)) as fp:",
        "urllib.error.HTTPError: HTTP Error 403: Forbidden",
    ]
    text = "".join(f"{label.format(n=n)}{line}\n" for n, line in enumerate(lines, 1207))

    assert "hub.download" == cause(told(tmp_path, {"console.log": text}))


PYTEST = """tests/test_ddp.py:12:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
src/model.py:33: in forward
    return x @ w
E       torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free.

src/model.py:33: OutOfMemoryError
"""


def test_what_a_test_raised_is_read_behind_pytest_s_mark(tmp_path: Path) -> None:
    assert "memory.cuda-oom" == cause(told(tmp_path, {"test.log": PYTEST}))


QUOTED = (
    "[rank3]:2026-11-20 10:00:00 ERROR worker failed: ['Traceback (most recent call last):\\n', "
    "'  File \"/app/train.py\", line 12, in step\\n    loss = f(x)\\n', \"KeyError: 'labels'\\n\"]\n"
)
ELASTIC = """I1120 10:00:09.000000 811 torch/distributed/elastic/multiprocessing/errors/error_handler.py:116] child error file (/tmp/e/attempt_0/3/error.json) contents:
I1120 10:00:09.000000 811 torch/distributed/elastic/multiprocessing/errors/error_handler.py:116] {
  "message": {
    "message": "KeyError: 'labels'",
    "extraInfo": {
      "py_callstack": "Traceback (most recent call last):\\n  File \\"/app/train.py\\", line 12, in step\\n    loss = f(x)\\nKeyError: 'labels'\\n",
      "timestamp": "1795168809"
    }
  }
}
"""


@pytest.mark.parametrize("text", [QUOTED, ELASTIC], ids=["list", "error-json"])
def test_a_traceback_inside_a_quoted_string_is_read(text: str, tmp_path: Path) -> None:
    report = told(tmp_path, {"job.log": text})

    assert "process.exception" == cause(report)
    assert report.diagnosis is not None
    assert report.diagnosis.evidence[0].text.endswith("KeyError: 'labels'")


def test_backtick_before_an_exception_leaves_its_further_lines_to_it(tmp_path: Path) -> None:
    """Pasted as inline code, only the first line has the backtick: the message's lines were another writer's."""
    text = (
        "I am getting this issue:-\n\n`RuntimeError: \n        CUDA Setup failed despite GPU being available. Please run the "
        "following command to get more information:\n\n        python -m bitsandbytes`\n"
    )
    assert "software.import-error" == cause(told(tmp_path, {"issue.txt": text}))


def test_json_around_a_callstack_is_no_part_of_its_message(tmp_path: Path) -> None:
    """torchelastic dumps its own error into the console: the key behind `py_callstack` was read as what was raised."""
    stack = 'Traceback (most recent call last):\\n  File \\"/opt/torch/run.py\\", line 719, in main\\n    run(args)\\n'
    dumped = (
        'ERROR:torch.distributed.elastic.multiprocessing.errors.error_handler:{\n  "message": {\n'
        '    "message": "RendezvousTimeoutError: ",\n    "extraInfo": {\n'
        f'      "py_callstack": "{stack}torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\\n",\n'
        '      "timestamp": "1650424500"\n    }\n  }\n}\n'
    )
    assert "rendezvous.timeout" == cause(told(tmp_path, {"console.log": dumped}))


@pytest.mark.parametrize(
    "line",
    [
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840, Hardware limit: 101376.",
        "`triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840, Hardware limit: 101376.`",
        "subprocess.TimeoutExpired: Command '['ninja']' timed out after 60 seconds",
        "struct.error: unpack requires a buffer of 8 bytes",
        "queue.Empty",
    ],
)
def test_exception_whose_name_does_not_end_in_error_is_read_without_its_traceback(tmp_path: Path, line: str) -> None:
    report = told(tmp_path, {"issue.txt": f"I got this on one A10G:\n{line}\n"})

    assert "process.exception" == cause(report)
    assert report.diagnosis is not None
    assert line.strip("`.") in report.diagnosis.summary


def test_what_a_task_of_an_old_ray_raised_is_shown(tmp_path: Path) -> None:
    """Ray 0.7 prints `RayTaskError: ray_worker (pid=…, host=…)` above the frames of the task."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/ray/worker.py", line 2195, in get\n    raise value\n'
        "ray.exceptions.RayTaskError: ray_worker (pid=39340, host=n7)\n"
        '  File "train.py", line 12, in objective\n    raise ValueError("bad height")\n'
        "ValueError: bad height\n"
    )
    diagnosis = told(tmp_path, {"driver.log": text}).diagnosis
    assert diagnosis is not None
    assert "ValueError: bad height" == diagnosis.evidence[0].text


@pytest.mark.parametrize("address", ["x.x.x.x", "<ip>", "NODE1_IP"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(WorkerDict pid=8123, ip={}) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "memory.cuda-oom"),
        (
            "(raylet, ip={}) 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to"
            " other reasons at node (ID: 7396fa64, IP: {}) over the last time period.",
            "memory.ray-oom",
        ),
        (
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Read error [{}]:36760: No route to host",
            "network.partition",
        ),
        ("n1:7:9 [0] misc/socket.cc:484 NCCL WARN Net : Connect to {}<43761> failed : No route to host", "nccl.bootstrap"),
    ],
)
def test_address_that_was_struck_out_hides_no_error(tmp_path: Path, line: str, expected: str, address: str) -> None:
    report = told(tmp_path, {"issue.txt": line.replace("{}", address) + "\n"})

    assert expected == cause(report)
    assert address not in {each.host for each in (report.diagnosis.culprits if report.diagnosis else ())}


def listed(kind: str, said: str, name: str, is_cause: bool = False) -> dict[str, object]:
    """Give an exception as structlog's `dict_tracebacks` writes it."""
    frames = [{"filename": "/data/jobs/train/ckpt.py", "lineno": 33, "name": name, "locals": {"rank": "0"}}]
    return {"exc_type": kind, "exc_value": said, "exc_notes": [], "syntax_error": None, "is_cause": is_cause, "frames": frames}


@pytest.mark.parametrize("raised_from", [[], [listed("KeyError", "'path'", "find", is_cause=True)]])
def test_an_exception_that_structlog_wrote_as_data_is_read(tmp_path: Path, raised_from: list[dict[str, object]]) -> None:
    lost = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.80.0.1]:21206."
    full = listed("OSError", "[Errno 122] Disk quota exceeded: '/home/u17/ckpt/step_10.pt'", "save")
    said = {"event": "training failed", "level": "error"}
    records = [
        {"rank": 0, **said, "timestamp": "2026-11-23T09:33:02.901630Z", "exception": [full, *raised_from]},
        {"rank": 1, **said, "timestamp": "2026-11-23T09:33:06.734943Z", "exception": [listed("RuntimeError", lost, "train")]},
    ]
    report = told(tmp_path, {"console.log": "".join(json.dumps(r) + "\n" for r in records)})
    assert ("storage.disk-full", [0]) == (cause(report), culprits(report))


@pytest.mark.parametrize("value", [[1], {"exc_type": "OSError"}, [{"exc_type": 1, "frames": [2]}]])
def test_what_only_looks_like_an_exception_as_data_is_left_out(tmp_path: Path, value: object) -> None:
    record = {"event": "step 3 loss 0.2", "level": "info", "timestamp": "2026-11-23T09:33:02.901630Z", "exception": value}
    assert told(tmp_path, {"console.log": json.dumps(record) + "\n"}).diagnosis is None
