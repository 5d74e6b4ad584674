"""The contract of the command line and of the report, on real logs: what goes in, in what dress, and what comes out."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from diagnose import JobContext, Text, diagnose
from diagnose.commands.report import EXIT_CODES
from diagnose.errors import SourceError, UsageError
from diagnose.report.report import schema

from .command_line import FIXTURES, HEALTHY, OOM, tell

CASES = sorted(p.parent for p in FIXTURES.glob("*/truth.yaml"))[::6]
NODES = FIXTURES / "two-nodes-one-exception" / "logs"
OOM_LINE = 736  # of OOM; the line an expert points at
VALIDATOR = jsonschema.Draft202012Validator(schema())


def report(*words: object, stdin: bytes | None = None) -> dict:
    """The JSON report of a call, without the seconds it took."""
    found = json.loads(tell(*words, "--format", "json", stdin=stdin).out)
    found["stats"].pop("seconds")
    return found


@cache
def report_of(case: Path) -> dict:
    """The report on one fixture."""
    return report(case / "logs")


def first(found: dict) -> tuple[str, int]:
    """Where the first proof stands."""
    proof = found["diagnosis"]["evidence"][0]
    return proof["file"], proof["line"]


# --- what comes out ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[::2], ids=lambda c: c.name)
def test_every_report_keeps_the_schema(case):
    VALIDATOR.validate(report_of(case) | {"stats": {**report_of(case)["stats"], "seconds": 0.1}})


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_proof_stands_where_the_report_says(case):
    """`line` counts as `sed -n` does; what rich wrapped goes on below it, and a rank is shown as torch writes it."""
    found = report_of(case)["diagnosis"]
    for proof in found["evidence"] if found else ():
        path = Path(proof["file"])
        if proof["line"] is None or not path.is_file() or path.suffix == ".json":  # a dump is one line
            continue
        lines = path.read_bytes().split(b"\n")[proof["line"] - 1 :][:4]
        line = b"\n".join(lines if b"rror:" in lines[0] else lines[:1]).decode("utf-8", "replace")
        word = max(re.sub(r"^\[rank\d+\]: ", "", proof["text"].split("\n")[0]).split(), key=len, default="")
        assert word[:40] in line, (proof["file"], proof["line"])


def test_outcome_and_exit_code_agree():
    for case in CASES[::2]:
        assert EXIT_CODES[report_of(case)["outcome"]] == tell(case / "logs", "-q").code


def test_several_outputs_at_once(tmp_path):
    names = [tmp_path / name for name in ("r.md", "r.html", "r.json", "r.txt", "r.xml")]
    answer = tell(OOM, "-q", *(word for name in names for word in ("-o", name)))
    assert (1, "") == (answer.code, answer.out)
    assert 5 == answer.err.count("diagnose: wrote ")
    assert all("memory" in name.read_text(encoding="utf-8") for name in names)


@pytest.mark.parametrize(
    ("words", "code"),
    [([OOM, "--exit-zero"], 0), ([HEALTHY], 0), ([OOM, "-q"], 1)],
)
def test_exit_codes(words, code):
    assert code == tell(*words).code


def test_a_job_that_is_known_to_have_failed_is_never_healthy():
    assert "failed" == report(HEALTHY, "--exit-code", 1)["outcome"]


def test_the_same_input_gives_the_same_bytes_whatever_the_hash_seed():
    told = {
        subprocess.run(
            [sys.executable, "-m", "diagnose", NODES, "--format", "markdown"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(told)
    assert all(told)


def test_the_order_of_files_does_not_change_the_verdict():
    files = sorted(p for p in NODES.rglob("*") if p.is_file())
    there, back = report(*files), report(*reversed(files))
    assert there["diagnosis"] == back["diagnosis"]
    assert there["ranks"] == back["ranks"]


# --- what goes in -----------------------------------------------------------------------------------------------------


def test_packed_logs_keep_file_and_line(tmp_path):
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(OOM, "job/rank.log")
    assert (f"{tmp_path}/x.tar.gz!job/rank.log", OOM_LINE) == first(report(tmp_path / "x.tar.gz"))


def test_dash_and_pipe_are_standard_input():
    text = OOM.read_bytes()
    assert OOM_LINE == first(report("-", stdin=text))[1] == first(report(stdin=text))[1]


def test_a_paste_with_fences_is_read_and_its_lines_are_those_of_the_paste(tmp_path):
    log = OOM.read_text().splitlines()[729:760]
    paste = "\n".join(["Hi all, my job fails:", "", "```", *log, "```", "Any idea?", ""])
    (tmp_path / "issue.md").write_text(paste)

    found = report(tmp_path / "issue.md")

    assert "memory.cuda-oom" == found["diagnosis"]["cause"] == report("-", stdin=paste.encode())["diagnosis"]["cause"]
    assert 3 + 7 == first(found)[1]


def test_the_same_message_in_two_files_is_one_event(tmp_path):
    for name in ("a.log", "b.log"):
        shutil.copy(OOM, tmp_path / name)
    assert [2] == [c["rank"] for c in report(tmp_path)["diagnosis"]["culprits"]]


@pytest.mark.parametrize(
    "name", ["two-nodes-one-exception", "recorder-size-mismatch"]
)
def test_a_saved_scan_gives_the_same_verdict(tmp_path, name):
    logs = FIXTURES / name / "logs"
    tell("scan", logs, "-o", tmp_path / "job.scan.json.gz")
    direct, saved = report_of(FIXTURES / name)["diagnosis"], report(tmp_path / "job.scan.json.gz")["diagnosis"]
    assert direct == saved


def test_scans_of_two_nodes_merge_into_the_verdict_on_both(tmp_path):
    for node in ("gpu-node-07", "gpu-node-08"):
        tell("scan", NODES / node, "-o", tmp_path / f"{node}.scan.json.gz")
    found = report(tmp_path / "gpu-node-07.scan.json.gz", tmp_path / "gpu-node-08.scan.json.gz")["diagnosis"]
    assert ("process.exception", [3]) == (found["cause"], [c["rank"] for c in found["culprits"]])


# --- options ----------------------------------------------------------------------------------------------------------


def test_rank_from_overrides_what_a_name_says(tmp_path):
    (tmp_path / "worker-7-of-9.txt").write_text(
        "step 5 loss 1.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 2 has a total capacity of 79.10 GiB of which 371.41 MiB is free.\n"
    )
    found = report(tmp_path, "--rank-from", r"worker-(\d+)-of")
    assert [7] == [c["rank"] for c in found["diagnosis"]["culprits"]]


@pytest.mark.parametrize(("day", "hour"), [("2026-01-20", "11"), ("2026-07-20", "10")])
def test_a_zone_has_the_offset_of_the_day_of_the_logs(tmp_path, day, hour):
    (tmp_path / "a.log").write_text(f"{day} 12:00:00,000 ERROR [Errno 28] No space left on device: 'ckpt.pt'\n")
    assert f"{day}T{hour}:00:00Z" == report(tmp_path, "--tz", "Europe/Berlin")["timeline"][0]["time"][:20]


def test_world_size_names_the_ranks_without_a_line():
    gaps = " ".join(gap["text"] for gap in report(OOM, "--world-size", 16)["gaps"])
    assert "8-15" in gaps


def test_why_a_cause_won_lost_or_never_stood():
    won, lost, never = (tell(OOM, "--why", what).out for what in ("CUDA out of memory", "process.exit-code", "xid-79"))

    assert "memory.cuda-oom is the verdict" in won
    assert "was ruled out: memory.cuda-oom" in lost or "caused by memory.cuda-oom" in lost
    assert "no log line says so" in never


def test_why_tells_what_is_known_of_a_rank():
    assert tell(OOM, "--why", "rank 2").out.startswith("rank 2: culprit (host h100-r6-n03")
    assert "no log line" in tell(OOM, "--why", "rank 99").out


@pytest.mark.parametrize(
    ("fixture", "reason"),
    [
        ("cuda-oom-one-rank", "not the culprit: it was terminated because of memory.cuda-oom (rank 2)"),
        ("hang-one-rank-elsewhere", "not the culprit: it waited, because of collective.straggler (rank 2)"),
        ("two-nodes-one-exception", "not the culprit: network.connection-reset follows from process.exception (rank 3)"),
        ("same-exception-everywhere", "no rank is blamed: none: all 3 ranks failed alike"),
        ("healthy-console", "not blamed: no cause was found (outcome: Healthy)"),
    ],
)
def test_why_says_for_what_reason_a_rank_is_not_the_culprit(fixture, reason):
    assert reason in tell(FIXTURES / fixture / "logs", "--why", "rank 0").out


def test_why_is_answered_in_the_language_of_the_report() -> None:
    answers = [tell(OOM, "--lang", "zh", "--why", question).out for question in ("memory.cuda-oom", "nccl.topology", "rank 2")]
    english = re.compile(r"\b(?:the|is|of|no|culprit|error|seen|told)\b")
    assert [[], [], []] == [english.findall(answer.split("/", 1)[0]) for answer in answers]


def test_rank_narrows_the_tables_and_leaves_the_verdict():
    everything, one = report(OOM), report(OOM, "--rank", 3)
    assert everything["diagnosis"] == one["diagnosis"]
    assert [3] == [row["rank"] for row in one["ranks"]]


# --- the library ------------------------------------------------------------------------------------------------------


def test_the_library_takes_paths_text_and_files():
    text = OOM.read_text()
    causes = {diagnose(given).diagnosis.cause for given in (OOM, str(OOM), Text(text), io.BytesIO(text.encode()))}
    assert {"memory.cuda-oom"} == causes


def test_a_string_is_a_path():
    with pytest.raises(SourceError):
        diagnose("CUDA out of memory")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"job": {"exit_code": 1}}, "job takes a JobContext"),
        ({"job": JobContext(world_size="4")}, "--world-size 4: a job has"),
        ({"budget_s": "30"}, "--budget 30: give a number"),
        ({"rank_from": 3}, "--rank-from 3: not a regular expression"),
        ({"tz": 8}, "--tz 8: no such time zone"),
        ({"since": 3}, "--since 3: not a time"),
        ({"engine": "mars"}, "--engine mars: choose local or ray"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_the_library_answers_a_wrong_type_as_the_command_answers_nonsense(wrong, said):
    with pytest.raises(UsageError) as caught:
        diagnose(OOM, **wrong)
    assert said in str(caught.value)


def test_text_that_is_bytes_is_told_how_to_come():
    with pytest.raises(UsageError, match=r"io\.BytesIO"):
        diagnose(Text(b"CUDA out of memory"))
