"""A program's own records in JSON, behind what a launcher, a container's log or a collector puts before each line."""

from __future__ import annotations

import json

import pytest

from diagnose import Text, diagnose
from diagnose.sources.normalise import normalise

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
