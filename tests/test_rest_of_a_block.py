"""What is left of a block whose first line is lost is told by a rule of its own, and never beside the whole block."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.job.event_reader import EventReader
from diagnose.scan.reading import read_all
from diagnose.scan.scanner import ScanRules
from diagnose.sources.bounds import Deadline

WHOLE, REST = "process.exit-code/torchelastic-summary-entry", "process.exit-code/torchelastic-summary-rest"


def entry(rank: int) -> list[str]:
    return [
        "  time      : 2026-11-23_08:50:41",
        "  host      : gpu-node-07",
        f"  rank      : {rank} (local_rank: {rank})",
        f"  exitcode  : -9 (pid: {19136 + rank})",
        "  error_file: <N/A>",
    ]


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        (entry(3), [(1, WHOLE)]),
        (entry(3)[1:], [(1, REST)]),
        (entry(3)[2:] + entry(4), [(1, REST), (4, WHOLE)]),
        (["0: " + x for x in entry(3)] + ["1: " + x for x in entry(4)[1:]], [(1, WHOLE), (6, REST)]),
    ],
)
def test_the_rest_is_told_only_where_the_whole_is_not(
    lines: list[str], rules: list[tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / "console.log").write_text("\n".join(lines) + "\n")
    catalogue = load_rules()
    (scan,) = read_all([str(tmp_path / "console.log")], ScanRules(catalogue), Deadline()).sources.values()
    events = EventReader(catalogue).read(scan).events
    assert rules == [(e.line, e.rule.id) for e in events if e.rule.id in (WHOLE, REST)]
