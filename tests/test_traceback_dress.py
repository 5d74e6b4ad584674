"""Tracebacks in colours, as JSON, of spawned processes and in groups: the exception is named from the whole pipe."""

from __future__ import annotations

import json

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
