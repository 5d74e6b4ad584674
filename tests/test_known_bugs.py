"""Known bugs: the version decides; an entry without a source, or a version that nobody told, decides nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from diagnose.advice.known_bugs import BUGS, BY_VERSION, FIXES, fixes_of, is_range, standing
from diagnose.catalogue.rule import Rule

from .incident_pipe import catalogue, facts_of, look, write

RULES = {k: r for k, r in catalogue().rules.items() if r.cause == BUGS}
ROWS = catalogue().tables[BY_VERSION].rows
RENAME = "FileNotFoundError: [Errno 2] No such file or directory: './out/tmp-checkpoint-20' -> './out/checkpoint-20'"


def _rule(**applies_to: str) -> Rule:
    return Rule("t", "symptom", "line", "w", (), "s", applies_to=applies_to, id=f"{BUGS}/t", cause=BUGS)


# --- the entries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_has_versions_a_source_and_a_row_of_what_mends_it(name: str) -> None:
    rule = RULES[name]
    assert any(is_range(w) for w in rule.applies_to.values())
    assert all("/issues/" in r or "/pull/" in r for r in rule.references) and rule.references
    row = fixes_of(catalogue())[name.rpartition("/")[2]]
    assert row.get("fixed_in") or row.get("way_round")


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["bug"])
def test_a_row_has_versions_a_source_and_a_consequence(row: dict[str, object]) -> None:
    assert row["references"] and row["effect"] and row["title"]
    assert any(is_range(str(w)) for w in dict(row["applies_to"]).values())  # type: ignore[call-overload]
    assert row.get("fixed_in") or row.get("way_round")


def test_no_row_of_the_table_is_without_its_rule() -> None:
    names = {name.rpartition("/")[2] for name in RULES}
    assert set() == set(fixes_of(catalogue())) - names and FIXES in catalogue().tables


@pytest.mark.parametrize("row", [*fixes_of(catalogue()).values(), *ROWS], ids=lambda r: r.get("rule") or r["bug"])
def test_what_to_do_about_a_bug_reads_in_chinese_too(row: Mapping[str, str]) -> None:
    said = {name: row.get(f"{name}_zh", "") for name in ("title", "effect", "way_round") if row.get(name)}
    assert [name for name, text in said.items() if not re.search(r"[\u4e00-\u9fff]", text)] == []


# --- the decision -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"trl_version": "0.15.0"}, "confirmed"),
        ({"trl_version": "0.15.1"}, "refuted"),
        ({"trl_version": "0.14.0"}, "refuted"),
        ({"trl_version": "0.15.0", "packing": True}, "refuted"),
        ({"trl_version": "0.15.0", "packing": False}, "confirmed"),
        ({}, "possible"),
    ],
)
def test_the_version_decides(facts: dict[str, str | bool], expected: str) -> None:
    assert expected == standing(_rule(trl="==0.15.0", packing="not true"), facts_of(**facts))


# --- from the logs ------------------------------------------------------------------------------------------------


def test_a_line_that_names_its_bug_needs_no_version(tmp_path: Path) -> None:
    assert look(*write(tmp_path, console_log=f"[rank1]: {RENAME}\n")).verdict.cause == BUGS


def test_the_affected_version_is_blamed_and_its_upgrade_told(tmp_path: Path) -> None:
    files = write(tmp_path, console_log=f"[rank1]: {RENAME}\n", pip__freeze_txt="transformers==4.36.1\n")
    found = look(*files)
    assert found.verdict.cause == BUGS
    assert "Upgrade transformers to 4.37.0 or later (4.36.1 is installed)" in found.words


@pytest.mark.parametrize(("library", "cause"), [("0.9.3", BUGS), ("0.14.0", "process.exception"), ("", "process.exception")])
def test_what_is_not_shown_to_be_a_bug_stays_the_exception_that_it_is(tmp_path: Path, library: str, cause: str) -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/py/lib/python3.11/site-packages/deepspeed/runtime/zero/stage3.py", line 2117, in unscale_and_clip_grads\n'
        "    self.fp32_partitioned_groups_flat[sub_group_id].grad.mul_(1. / combined_scale)\n"
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!\n"
    )
    files = write(tmp_path, console_log=text, **({"pip__freeze_txt": f"deepspeed=={library}\n"} if library else {}))
    found = look(*files)
    assert found.verdict.cause == cause
    assert len([e for e in found.job.events if e.role == "cause"]) == 1


def test_a_symptom_without_a_version_comes_with_the_command_that_settles_it(tmp_path: Path) -> None:
    text = (
        "Running entrypoint for job raysubmit_x1: python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1\n"
        "(RayWorkerWrapper pid=4183, ip=10.3.32.122) ERROR 06-03 23:13:39 worker_base.py:148] Error executing method "
        "start_worker_execution_loop. This might cause deadlock in distributed execution.\n"
    )
    (notice,) = look(*write(tmp_path, driver_log=text)).notices
    assert notice.remedy[0].command == "pip show openrlhf vllm | grep -E '^(Name|Version)'"


def test_a_version_that_is_silently_wrong_is_a_notice_of_a_healthy_job(tmp_path: Path) -> None:
    files = write(
        tmp_path, pip__freeze_txt="deepspeed==0.18.1\n", console_log="{'train_runtime': 61.2, 'epoch': 3.0}\n"
    )
    found = look(*files)
    assert any("deepspeed 0.18.1 has a known bug" in n.text and "0.18.3" in n.text for n in found.notices)
    assert found.verdict.outcome != "failed"


def test_a_hang_of_a_version_that_hangs_at_random_stays_a_possibility(tmp_path: Path) -> None:
    line = (
        "[rank{r}]:[E220 11:03:07.352129142 ProcessGroupNCCL.cpp:629] [Rank {r}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=97, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600041 "
        "milliseconds before timing out.\n"
    )
    files = write(tmp_path, console_log="".join(line.format(r=r) for r in range(4)), pip__freeze_txt="torch==2.7.0\n")
    found = look(*files)
    assert found.verdict.cause != BUGS
    assert any("torch 2.7.0 has a known bug" in n.text for n in found.notices)
