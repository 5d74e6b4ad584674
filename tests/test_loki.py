"""What Loki's interface answers is read as the lines that were logged, in the order of their times."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.sources.loki import lines_of_answer

RAISED = [
    "[rank1]: Traceback (most recent call last):",
    '[rank1]:   File "/job/train.py", line 40, in <module>',
    "[rank1]:     main()",
    "[rank1]: KeyError: 'input_ids'",
]
CLOSED = "[rank0]: RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:51234"


def stream(pod: str, lines: list[str], start_s: int) -> dict[str, object]:
    values = [[f"{start_s + n}000000000", line] for n, line in enumerate(lines)]
    return {"stream": {"pod": pod, "container": "pytorch"}, "values": values[::-1]}


def answer() -> dict[str, object]:
    streams = [stream("job-worker-0", ["step 4 loss 2.1", CLOSED], 1763658300), stream("job-worker-1", RAISED, 1763658200)]
    return {"status": "success", "data": {"resultType": "streams", "result": streams, "stats": {}}}


@pytest.mark.parametrize("indent", [None, 2])
def test_the_streams_of_the_pods_are_woven_by_time(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer(), indent=indent))

    report = diagnose(path)

    assert report.diagnosis is not None
    (culprit,) = report.diagnosis.culprits
    assert ("process.exception", 1, "job-worker-1") == (report.diagnosis.cause, culprit.rank, culprit.host)


def test_an_answer_that_was_cut_off_is_no_fault_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer())[:-40])

    assert diagnose(path).diagnosis is None


@pytest.mark.parametrize("value", ['["99999999999999999999999999999", "x"]', '["-1e9", "x"]', "[]", '["1"]', "7", "null", '{"a": 1}'])
def test_what_is_no_answer_after_all_is_read_as_the_text_that_it_is(value: str) -> None:
    text = '{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[' + value + "]}]}}"

    assert lines_of_answer(io.BytesIO(text.encode())).read() == text.encode()
