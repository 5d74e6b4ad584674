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


def as_json(key: str) -> str:
    record = {"asctime": "2026-11-20 10:00:00", "levelname": "ERROR", "message": "failed", "rank": 3}
    return json.dumps({**record, key: PLAIN if key != "message" else f"failed\n{PLAIN}"}) + "\n"


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


def test_exceptions_of_two_processes_printed_into_one_another_are_read_as_one(tmp_path: Path) -> None:
    """Names first, colons next, messages last: each GPU belongs to another rank, so none is blamed."""
    text = (
        "RuntimeErrorRuntimeError: : CUDA out of memory. Tried to allocate 576.00 MiB (GPU 3; 15.98 GiB total capacity; 15.83 GiB "
        "already allocated; 0 bytes free)CUDA out of memory. Tried to allocate 576.00 MiB (GPU 1; 15.98 GiB total capacity)\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert ("memory.cuda-oom", []) == (cause(report), culprits(report))


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
