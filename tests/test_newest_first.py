"""An export that lists the newest line first is read as it was printed."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.sources.exports import is_newest_first

PRINTED = [
    "step 40 loss 2.1",
    "[rank3]: Traceback (most recent call last):",
    '[rank3]:   File "/job/train.py", line 40, in <module>',
    "[rank3]:     main()",
    "[rank3]: OSError: [Errno 5] Input/output error: '/data/part-2568.jsonl'",
    "[rank0]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:51234",
    "stopping",
    "stopped",
]


def stamped(lines: list[str]) -> list[str]:
    return [f"2026-11-20T17:03:{n:02d}.000Z {line}" for n, line in enumerate(lines, 10)]


@pytest.mark.parametrize("end", ["\n", ""])
def test_the_cause_is_read_from_the_end(end: str) -> None:
    report = diagnose(Text("\n".join(reversed(stamped(PRINTED))) + end, name="loki.txt"))

    assert ("storage.io-error", [3]) == (report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits])
    assert ["loki.txt: newest first: it was read from its end, and its lines are numbered so, as `tac` gives them"] == [
        gap.text for gap in report.gaps if "newest" in gap.text
    ]


def test_a_clock_that_is_set_back_once_turns_nothing_round() -> None:
    lines = stamped(PRINTED)

    assert not is_newest_first("\n".join(lines[4:] + lines[:4]).encode())


def test_lines_of_one_time_are_not_turned_round() -> None:
    assert not is_newest_first("\n".join(f"2026-11-20T17:03:10.000Z {line}" for line in PRINTED).encode())


def test_a_few_times_in_other_text_turn_nothing_round() -> None:
    lines = [line for pair in zip(reversed(stamped(PRINTED)), PRINTED, PRINTED, strict=True) for line in pair]

    assert not is_newest_first("\n".join(lines).encode())


def test_lines_of_one_second_go_back_where_a_traceback_stands_upside_down() -> None:
    lines = [f"2026-11-20T17:03:11Z {line}" for line in reversed(PRINTED)]

    assert is_newest_first("\n".join([*lines, ""]).encode())


def test_a_traceback_within_one_second_is_not_turned_round() -> None:
    assert not is_newest_first("\n".join(f"2026-11-20T17:03:11Z {line}" for line in [*PRINTED, ""]).encode())
