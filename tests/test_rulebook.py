"""What proves a rule: which literals its pattern cannot do without, and what stands before the message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.catalogue.checks import WIDTH, check_catalogue, literal_costs
from diagnose.catalogue.load import load_rules
from diagnose.catalogue.lookup import fire
from diagnose.catalogue.pattern_facts import implies, is_anchored
from diagnose.engine import diagnose
from diagnose.errors import SourceError
from diagnose.job.event_reader import EventReader
from diagnose.scan.reading import read_all
from diagnose.scan.scanner import ScanRules
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import Text

UNKNOWN_WARNING = "gpu-07:41217:41388 [3] misc/socket.cc:120 NCCL WARN words that no release of today has"


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("^[Ss]aved (?:checkpoint|the model) to", ["aved checkpoint", "aved the model"]),
        ("^[Ss]aved (?:checkpoint|the model) to", ["Saved ", "saved "]),
        ("x509: (?:certificate signed|cannot validate)", ["x509: certificate", "x509: cannot"]),
        (r"(?:HTTP|Hub)Error: 429 (?:Client\s+Error|Too)", ["Error: 429 "]),
        (r"(?:HTTP|Hub)Error: 429 (?:Client\s+Error|Too)", ["Error: 429 Client", "Error: 429 Too"]),
        (r"gone(?: away)?, code \d+", ["gone, code ", "gone away, code "]),
        (r"^(?:Node \w+ is dead, it said|Removing \d+ nodes)", [" is dead, it said", "Removing "]),
        (r"(?:a long\s+way|a short\s+way)+ home", ["a long", "a short"]),
    ],
)
def test_a_literal_that_every_reading_holds_is_necessary(pattern: str, literals: list[str]) -> None:
    assert implies(pattern, literals)


@pytest.mark.parametrize("pattern", [r"^Killed", r"(?:^Killed|^Out of memory)", r"(?P<what>^Killed)"])
def test_a_pattern_that_begins_a_message_is_anchored(pattern: str) -> None:
    assert is_anchored(pattern)


def test_the_source_file_before_a_message_can_fire_a_rule() -> None:
    assert "nccl.system-error/warning-from-misc-socket" in [r.id for r, _ in fire(load_rules(), UNKNOWN_WARNING)]
    assert [] == fire(load_rules(), UNKNOWN_WARNING.replace("WARN", "INFO"))


def test_the_scanner_reads_what_stands_before_a_message() -> None:
    found = diagnose(Text(UNKNOWN_WARNING + "\n", name="rank0.log")).diagnosis
    assert str(found.evidence[0].rule).startswith("nccl.")


def test_what_is_left_of_a_block_names_the_rule_that_reads_the_whole() -> None:
    catalogue = load_rules(fresh=True)
    rule = replace(catalogue.rules["process.exit-code/torchelastic-summary-rest"], rest_of="process.exit-code/unheard-of")
    faults = [fault for fault in check_catalogue(replace(catalogue, rules={rule.id: rule})) if "rest_of" in fault]
    assert [f"{rule.id}: rest_of names no other rule of a block: process.exit-code/unheard-of"] == faults


def test_a_literal_that_leads_to_nothing_shows_its_hits_and_none_verified(tmp_path: Path) -> None:
    (tmp_path / "minigo.log").write_text("".join(f"Finished training it {n}/16000 on rank 3\n" for n in range(300)))
    row = next(x for x in literal_costs(load_rules(), tmp_path) if x.startswith("Finished training"))
    assert row.split()[2:3] + row.split()[4:5] == ["300", "0"]


def test_a_folder_without_files_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file in it"):
        list(literal_costs(load_rules(), tmp_path))


# --- what is left of a block whose first line is lost is told by a rule of its own, and never beside the whole block ---

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


def test_no_word_that_leads_to_nothing_stands_on_many_ordinary_lines() -> None:
    ordinary = Path(__file__).parent.parent / "fixtures" / "ordinary"
    lines = sum(path.read_bytes().count(b"\n") for path in ordinary.iterdir())
    rows = [row[WIDTH:].split() for row in list(literal_costs(load_rules(), ordinary))[2:]]
    assert [rule for hits, _, verified, _, rule in rows if verified == "0" and int(hits) > 0.025 * lines] == []
