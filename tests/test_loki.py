"""What Loki's interface answers is read as the lines that were logged, in the order of their times."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.sources.exports import lines_of_answer

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
    (culprit,) = report.diagnosis.culprits
    assert ("process.exception", 1, "job-worker-1") == (report.diagnosis.cause, culprit.rank, culprit.host)


def test_of_an_answer_that_was_cut_off_the_whole_lines_are_read_and_the_cut_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    text = json.dumps(answer())
    path.write_text(text[: text.rindex('["1763658200')])  # before the oldest line of the last stream

    report = diagnose(path)

    assert [(1, "job-worker-1")] == [(c.rank, c.host) for c in report.diagnosis.culprits]
    assert any("cut off or broken: 5 lines of it" in gap.text for gap in report.gaps)


def test_a_stream_whose_labels_follow_its_lines_is_not_read_under_the_labels_before_it() -> None:
    streams = [
        stream("job-worker-0", ["step 1"], 1763658300),
        {"values": [["1763658301000000000", "step 2"]], "stream": {"pod": "x"}},
    ]
    text = json.dumps({"status": "success", "data": {"resultType": "streams", "result": streams}})[:-3]
    damage: list[str] = []

    lines = lines_of_answer(io.BytesIO(text.encode()).read, damage)

    assert ["[pod/job-worker-0/pytorch] step 1", "step 2"] == [line.split(" ", 1)[1] for line in lines]


def test_an_answer_longer_than_is_read_tells_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagnose.sources.exports.MAX_ANSWER_BYTES", 300)
    damage: list[str] = []
    lines_of_answer(io.BytesIO(json.dumps(answer()).encode()).read, damage)
    assert "larger than is read" in damage[0]


@pytest.mark.parametrize(
    "value", ['["99999999999999999999999999999", "x"]', '["-1e9", "x"]', "[]", '["1"]', "7", "null", '{"a": 1}']
)
def test_of_an_answer_without_a_line_none_is_made_up(value: str) -> None:
    text = '{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[' + value + "]}]}}"
    damage: list[str] = []
    assert lines_of_answer(io.BytesIO(text.encode()).read, damage) == []
    assert "no lines of it could be read" in damage[0]
