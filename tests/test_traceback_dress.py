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
    assert report.diagnosis.evidence[0].text.endswith("KeyError: 'labels'")


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
    assert "ValueError: bad height" == diagnosis.evidence[0].text
