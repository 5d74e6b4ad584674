"""Lines that a collector exported as a table are the lines that were logged."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import Text, diagnose
from diagnose.sources.exports import TableReader, delimiter_of

RAISED = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/job/train.py", line 40, in <module>\n'
    "[rank3]:     main()\n"
    '[rank3]: KeyError: "a, b"'
)


def table(rows: list[list[str]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["timestamp", "message"], ["1795194211000", "{}"]),
        (["Date", "Host", "Service", "Message"], ["2026-11-20T17:03:31.123Z", "i-0abc", "train", "{}"]),
        (["_time", "_raw", "host"], ["2026-11-20T17:03:31.123Z", "{}", "n1"]),
    ],
    ids=["CloudWatch", "Datadog", "Splunk"],
)
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_line_of_a_table_is_the_line_that_was_logged(names: list[str], values: list[str], delimiter: str) -> None:
    rows = [names, *([value.replace("{}", line) for value in values] for line in RAISED.split("\n"))]
    report = diagnose(Text(table(rows, delimiter), name="export.csv"))
    assert ("process.exception", [3]) == (report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits])
    assert 5 == report.diagnosis.evidence[0].line
    assert '[rank3]: KeyError: "a, b"' in report.diagnosis.evidence[0].text


@pytest.mark.parametrize("header", ["step,loss,lr", "name,message", "message", "", "time\n", "timestamp,value"])
def test_other_tables_are_text(header: str) -> None:
    assert delimiter_of(header.encode() + b"\n1,2,3\n") is None


def test_a_quotation_mark_that_nobody_closes_costs_linear_time() -> None:
    data = b'time,message\n1,"' + b"\n" * 3_000_000
    reader = TableReader()
    assert data.count(b"\n") == (reader.feed(data) + reader.finish()).count(b"\n")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.text(alphabet="12", max_size=3), st.text(alphabet='ab",\n', max_size=8)), max_size=8),
    st.lists(st.integers(1, 40), max_size=5),
)
def test_blocks_cut_anywhere_between_lines_give_the_same_lines(rows: list[tuple[str, str]], cuts: list[int]) -> None:
    data = table([["time", "message"], *map(list, rows)]).encode()
    whole, parts = TableReader(), TableReader()
    lines = data.splitlines(keepends=True)
    pieces, start = [], 0
    for cut in [*cuts, len(lines)]:
        pieces.append(b"".join(lines[start : start + cut]))
        start += cut

    expected = whole.feed(data) + whole.finish()
    assert expected == b"".join(parts.feed(piece) for piece in pieces if piece) + parts.finish()
    assert data.count(b"\n") == expected.count(b"\n")
