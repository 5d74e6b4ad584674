"""Input of which no line of a log is read is an error that says so: never healthy, and never a JUnit test that passes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from diagnose import SourceError, Text, diagnose
from diagnose.scan.scan import require_log, scan_from_json, scan_to_json

from ..command_line import HEALTHY, OOM, tell

ROOT = Path(__file__).parent.parent.parent
LINES = [[f"{1763658300 + n}000000000", f"step {n} loss 2.1"] for n in range(20)]


def loki(result: object) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}})


def notebook(printed: list[str]) -> str:
    cell = {"cell_type": "code", "source": ["import torch\n"], "outputs": [{"name": "stdout", "text": printed}]}
    return json.dumps({"cells": [cell], "nbformat": 4}, indent=1)


NO_LOGS = [
    ("pyproject.toml", (ROOT / "pyproject.toml").read_text(), "a configuration or a script, not a log"),
    ("run.sh", "#!/bin/bash\nset -e\ntorchrun --nproc-per-node 8 train.py\n", "a configuration or a script, not a log"),
    ("train.py", "import torch\n\nprint(torch.__version__)\n", "source code"),
    ("notes.md", "# Notes\n\nWe saw `CUDA out of memory` last week.\n", "no log is quoted in it"),
    ("empty.log", "", "empty"),
    ("blank.log", "\n \n\t\r\n" * 99, "no line in it"),
    ("list.json", "[]\n", "a configuration or a script, not a log"),
    ("cut.json", '[{"a":', "a configuration or a script, not a log"),
    ("nothing.json", loki([]), "an answer of Loki without a line"),
    ("silent.json", loki([{"stream": {"pod": "w-0"}, "values": []}]), "an answer of Loki without a line"),
    (
        "head.json",
        loki([{"stream": {"pod": "w-0"}, "values": LINES}])[:105],
        "an answer of Loki that is cut off or broken: no lines",
    ),
    (
        "refused.json",
        '{"status":"error","errorType":"bad_data","error":"parse error"}',
        "Loki answered with an error, not with lines (parse error)",
    ),
    ("silent.ipynb", notebook([]), "a notebook of which no cell has printed anything"),
    ("threads.json", '[{"pid": 7, "thread_id": 1, "thread_name": "MainThread", "fra', "cut off or broken"),
]


@pytest.mark.parametrize(("name", "text", "why"), NO_LOGS, ids=[row[0] for row in NO_LOGS])
def test_what_holds_no_line_of_a_log_is_an_error_in_one_line(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    answer = tell(tmp_path / name)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert f"{name}: {why}" in answer.err or (name in answer.err and why in answer.err)
    assert "give the job's log files" in answer.err


def test_among_sources_and_configurations_the_file_that_may_be_the_log_is_named(tmp_path: Path) -> None:
    for name, text in (("a.py", "import torch\n"), ("b.toml", "x = 1\n"), ("c.log", ""), ("d.log", "\n\n")):
        (tmp_path / name).write_text(text)
    assert f"{tmp_path}/d.log: no line in it, only white space (and 3 more)" in tell(tmp_path).err


def test_sources_beside_logs_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    for log in sorted(HEALTHY.iterdir()):
        (tmp_path / log.name).write_bytes(log.read_bytes())
    assert tell(tmp_path).code == 0


def test_the_library_raises_too() -> None:
    with pytest.raises(SourceError, match="<text>: no line in it, only white space"):
        diagnose(Text("\n\n"))


def test_what_a_notebook_prints_far_from_its_ends_is_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["x\n"] * 99, "outputs": []} for _ in range(3)]
    cells[1]["outputs"] = [{"name": "stdout", "text": ["step 1 loss 2.1\n"]}]
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": cells}, indent=1))
    assert diagnose(tmp_path / "train.ipynb").outcome == "unfinished"


def test_a_written_scan_remembers_that_nothing_was_in_its_logs(tmp_path: Path) -> None:
    (tmp_path / "blank.log").write_text("\n\n")
    assert tell("scan", tmp_path / "blank.log", "-o", tmp_path / "x.scan.json").code == 0
    saved = scan_from_json((tmp_path / "x.scan.json").read_bytes(), "x.scan.json")
    with pytest.raises(SourceError, match="only white space"):
        require_log(saved)
    written = json.loads(scan_to_json(saved))
    del written["sources"][0]["is_blank"]  # as scans were written before
    require_log(scan_from_json(json.dumps(written).encode(), "old.scan.json"))


# --- JUnit --------------------------------------------------------------------------------------------------------


def errors_in(text: str) -> str | None:
    suite = ET.fromstring(text.encode()).find("testsuite")
    error = suite.find("testcase/error")
    return suite.get("errors") if "nothing to diagnose" in error.get("message", "") else None


def test_junit_on_standard_output_is_in_error() -> None:
    answer = tell(ROOT / "pyproject.toml", "--format", "junit")
    assert (answer.code, errors_in(answer.out)) == (2, "1")


def test_a_junit_file_from_before_does_not_go_on_passing(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    assert tell(HEALTHY, "-q", "-o", path).code == 0
    assert (tell(ROOT / "pyproject.toml", "-q", "-o", path).code, errors_in(path.read_text())) == (2, "1")


def test_junit_is_xml_whatever_the_file_is_called(tmp_path: Path) -> None:
    (tmp_path / 'a"<&\x1b]0;x\x07.log').write_text("\n")
    assert errors_in(tell(tmp_path, "--format", "junit").out) == "1"


# --- exit codes ---------------------------------------------------------------------------------------------------


def test_a_log_without_an_end_and_without_a_cause_leaves_with_three(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("step 1 loss 2.1\nstep 2 loss 2.0\n")
    assert [tell(tmp_path).code, tell(tmp_path, "--exit-zero").code] == [3, 0]


def test_the_threads_before_a_cut_in_their_json_are_kept_and_the_cut_is_told(tmp_path: Path) -> None:
    frame = {
        "name": "all_reduce",
        "filename": "distributed_c10d.py",
        "module": None,
        "short_filename": "c10d.py",
        "line": 7,
    }
    threads = [{"pid": 7, "thread_id": n, "thread_name": f"t{n}", "active": True, "frames": [frame]} for n in (1, 2)]
    (tmp_path / "stacks.json").write_text(json.dumps(threads)[:-30])
    report = diagnose(tmp_path / "stacks.json")
    assert any("cut off or broken: the threads behind" in gap.text for gap in report.gaps)
    assert ["all_reduce"] == [name.split()[0] for stack in report.stacks for name in stack.frames]


def test_exit_zero_hides_no_error() -> None:
    assert [tell(OOM, "--exit-zero").code, tell(ROOT / "pyproject.toml", "--exit-zero").code] == [0, 2]


def test_the_help_names_every_exit_code() -> None:
    said = " ".join(tell("--help").out.split())
    assert all(f" {code} {meaning}" in said for code, meaning in ((0, "healthy"), (1, "failed"), (2, "wrong usage"), (3, "unfinished"), (130, "interrupted")))
