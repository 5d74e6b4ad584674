"""The command line says what it does not understand in one line, and a traceback never reaches the user."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import diagnose
from diagnose import cli, load_rules
from diagnose.views.catalogue_page import of_no_job, unfilled

from .command_line import FIXTURES, OOM, tell

RULES = FIXTURES.parent / "rules"
CAUSE = "title: Mine\nmeans: Mine.\nowner: platform\nremedy:\n  - {when: now, text: 'Do {% srun %}'}\n  - {when: collect, text: It.}\n"
TOOL = [sys.executable, "-m", "diagnose"]

NONSENSE = [
    ([OOM, "--workers", "two"], "Invalid value for '--workers'"),
    ([OOM, "--json"], "No such option: --json; did you mean --format json?"),
    ([OOM, "--format", "pdf"], "--format pdf: choose one of terminal, markdown"),
    ([OOM, "--tz", "Mars/Olympus"], "--tz Mars/Olympus: no such time zone"),
    ([OOM, "--rank-from", "("], "--rank-from (: not a regular expression"),
    ([OOM, "--world-size", "0"], "--world-size 0: a job has 1 to"),
    ([OOM, "--since", "yesterday"], "--since yesterday: not a time"),
    (["run"], "run: no command; write it behind `--`"),
    ([OOM, "--why", ""], "no cause without a name; see"),
    ([OOM, "--rank", "-1"], "--rank -1: ranks count from 0"),
    ([OOM, "--rank", "9"], "--rank 9: no line of the logs is from it; the logs show ranks 0-7"),
    ([OOM, "--template", "nowhere.j2"], "nowhere.j2: no such template"),
    ([OOM, "--budget", "0"], "Invalid value for '--budget': '0' is no length of time"),
    ([OOM, "--since", "2026-11-20T17:30:00", "--until", "2026-11-20T17:00:00"], "is after --until"),
    ([OOM, "--why", "memory.cuda-omo"], "no cause memory.cuda-omo; did you mean memory.cuda-oom?"),
    ([OOM, "--rules", "nowhere"], "nowhere: no such folder of rules"),
    (["nowhere.log"], "no such file or folder: nowhere.log"),
    ([""], "an empty path was given"),
    (["."], ".: no file in it; nothing to diagnose"),
    (["--show-completion", "tcsh"], "--show-completion tcsh: choose one of bash, zsh, fish"),
    (["rulse"], "rulse: no such file; did you mean `rules`?"),
    (["rules", "show", "../../etc/passwd"], "no rule ../../etc/passwd"),
    (["rules", "show", "memory.cuda-oom/torch-out-of-memry"], "did you mean memory.cuda-oom/torch-out-of-memory?"),
    (["rules", "new", "Nope"], "an id has the form layer.cause/what-it-says"),
    (["explain", "cuda-oo"], "did you mean memory.cuda-oom?"),
    (["explain", "unknown"], "unknown is the answer where no line names a cause"),
    (["schema", "rule"], "schema rule: only `report` has one here"),
    (["scan", OOM, "-o", "/dev/null/x.scan.json"], "-o /dev/null/x.scan.json: Not a directory"),
    (["case", OOM, "-o", "case.zip"], "-o case.zip: a case is a .tar.gz"),
]


@pytest.mark.parametrize(("words", "said"), NONSENSE, ids=lambda v: " ".join(map(str, v)) if isinstance(v, list) else "")
def test_nonsense_is_answered_by_one_line(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    answer = tell(*words)

    assert 2 == answer.code
    assert "" == answer.out
    assert said in answer.err
    assert 1 == answer.err.count("\n")
    assert answer.err.startswith("diagnose: ")


def test_verdict_is_shown_though_a_file_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = tell(OOM, "-o", "/dev/null/x.md", "-o", "report.md")
    assert (2, True) == (answer.code, "memory.cuda-oom" in answer.out)
    assert "diagnose: -o /dev/null/x.md: Not a directory" in answer.err
    assert (tmp_path / "report.md").exists()


def test_nothing_given_at_a_terminal_says_what_to_give():
    answer = tell()
    assert (2, "diagnose: nothing to read: give a log file or a folder, or pipe text in (see `diagnose --help`)\n") == (
        answer.code,
        answer.err,
    )


@pytest.mark.parametrize("words", ["-h", "rules list -h", "scan", "explain", "run", "hook"])
def test_help_is_help(words):
    answer = tell(*words.split(), *([] if "-h" in words else ["--help"]))
    assert (0, True) == (answer.code, answer.out.startswith("Usage: "))


def test_help_has_commands_first_options_in_groups_examples_and_exit_codes():
    shown = tell("--help").out

    headings = [line for line in shown.splitlines() if line.rstrip().endswith(":") and line.strip()[0].isupper()]
    assert [h.strip(" :") for h in headings] == [
        "Commands", "Arguments", "Form", "What is shown", "The job", "Reading", "Other", "Examples", "Exit codes",
    ]  # fmt: skip
    assert "0 healthy or recovered · 1 failed or hung · 2 wrong usage" in shown


@pytest.mark.parametrize("word", ["-V", "--version"])
def test_version_is_that_of_the_distribution(word):
    assert f"diagnose {version('diagnose-training')}\n" == tell(word).out == f"diagnose {diagnose.__version__}\n"


@pytest.mark.parametrize(
    ("words", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color=never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color_is_as_asked(words, environment, colored, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colored == ("\x1b[" in tell(OOM, *words).out)


def test_a_place_in_a_file_is_a_link_where_the_terminal_shows_links(monkeypatch):
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    assert f"\x1b]8;;{OOM.as_uri()}\x1b\\" in tell(OOM, "--color", "always").out


@pytest.mark.parametrize("time", ["17:34:52", "2026-11-20T17:34:52"])
def test_what_is_shown_may_begin_at_a_time_of_day(time):
    shown = tell(FIXTURES / "two-nodes-one-exception" / "logs", "--since", time, "--format", "json").out
    assert "2026-11-20T17:34:52Z" == min(entry["time"] for entry in json.loads(shown)["timeline"])


def test_a_path_named_like_a_command_is_the_command_and_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "job.log").write_bytes(OOM.read_bytes())

    as_command, as_path, meant = tell("history"), tell("./history", "-q"), tell("history", "--json")

    assert "diagnose: `history` is read as the command; ./history is the path\n" == as_command.err
    assert (1, "", "") == (as_path.code, as_path.err, meant.err)


def test_a_fault_of_our_own_is_one_line(monkeypatch):
    monkeypatch.delenv("DIAGNOSE_DEBUG", raising=False)
    monkeypatch.setattr(cli, "drop_output", lambda: None)
    monkeypatch.setattr(cli, "_run", lambda words: 1 // 0)

    answer = tell(OOM)

    assert 2 == answer.code
    assert answer.err.startswith("diagnose: a fault of its own (ZeroDivisionError:")
    assert 1 == answer.err.count("\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [(f"--format json {OOM} | head -c 10", 1), (f"-v {OOM} 2>&1 | head -n 1", 1), ("rules list | head -n 1", 0)],
)
def test_a_reader_that_leaves_is_no_error_and_changes_no_verdict(words, code):
    shell = f"set -o pipefail; {sys.executable} -m diagnose {words}"
    done = subprocess.run(shell, shell=True, executable="/bin/bash", capture_output=True, check=False)
    assert (code, b"") == (done.returncode, done.stderr)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*TOOL, OOM], stdout=full, stderr=subprocess.PIPE, check=False, text=True)

    assert (2, "diagnose: standard output cannot be written: No space left on device\n") == (done.returncode, done.stderr)


def test_output_that_is_closed_leaves_the_verdict_in_the_exit_code():
    done = subprocess.run(f"{sys.executable} -m diagnose {OOM} >&-", shell=True, stderr=subprocess.PIPE, check=False)
    assert (1, b"") == (done.returncode, done.stderr)


def test_an_interrupt_ends_with_130():
    code = (
        "import os, signal, diagnose.engine as engine; from diagnose.cli import main; "
        "engine.read_all = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT); "
        f"main(['{OOM}'])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert (130, b"") == (done.returncode, done.stderr)


def test_rules_new_makes_a_cause_too_where_there_is_none_of_that_name(tmp_path):
    made = tell("rules", "new", "hub.farm/coolant-gone", "--folder", tmp_path)
    assert (tmp_path / "hub" / "farm" / "cause.yaml").is_file()
    assert "cause.yaml" in made.out
    proved = tell("rules", "test", tmp_path, "--only", "hub.farm")
    assert (1, 5) == (proved.code, proved.out.count("still that of the template; write your own"))


def _filled_in(folder, *changes):
    """A rule of one's own, written over the template; `changes` to its text."""
    tell("rules", "new", "memory.cuda-oom/my-allocator-failed", "--folder", folder)
    path = folder / "memory" / "cuda-oom" / "my-allocator-failed.yaml"
    own = (("title: what", "title: our allocator failed: what"), ("why: What", "why: Our allocator. What"), ("says: The", "says: Its"))
    text = path.read_text()
    for old, new in (*own, *changes):
        text = text.replace(old, new.replace("failed: ", "failed, "))
    path.write_text(text)
    return tell("rules", "test", folder)


def test_a_rule_that_is_filled_in_passes_its_own_test(tmp_path):
    proved = _filled_in(tmp_path)
    again = tell("rules", "new", "memory.cuda-oom/my-allocator-failed", "--folder", tmp_path)

    assert (2, True) == (again.code, "is there already" in again.err)
    assert f"{tmp_path}: 1 rules, 0 causes, 1 examples: 0 faults" == proved.out.rstrip()  # and none of the shipped ones
    page = tell("explain", "words that are in every such message 7", "--rules", tmp_path).out
    assert (0, True) == (proved.code, page.startswith("memory.cuda-oom:"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{value: int}", "{value: str}"), "reads {'value': '7'} from its example"),
        (("{{ value }}", "{{ vlaue }}"), "says: names vlaue, which it does not read"),
        (("in one line", "'{{ value }}'"), "title: is shown as it is"),
    ],
)
def test_a_fault_in_a_rule_of_ones_own_ends_the_test(tmp_path, change, said):
    answer = _filled_in(tmp_path, change)
    assert (1, 2, True) == (answer.code, len(answer.out.splitlines()), said in answer.out), answer.out


def test_a_name_in_the_steps_of_ones_own_cause_is_one_that_something_fills_in(tmp_path):
    tell("rules", "new", "hub.farm/coolant-gone", "--folder", tmp_path)
    path = tmp_path / "hub" / "farm" / "cause.yaml"
    path.write_text(path.read_text().replace("The one thing to do now.", "Drain {{ culprit_hots }}, not {{ culprit_host }}."))
    assert "remedy names culprit_hots, which nothing fills in" in tell("rules", "test", tmp_path).out


def test_a_folder_without_a_rule_has_nothing_to_test(tmp_path):
    answer = tell("rules", "test", tmp_path)
    assert (2, True) == (answer.code, f"{tmp_path}: no rule in it" in answer.err)


def test_schema_report_is_the_committed_one():
    from diagnose.report.report import SCHEMA_PATH
    assert json.loads(SCHEMA_PATH.read_text()) == json.loads(tell("schema", "report").out)


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["CUDA out of memory"], "memory.cuda-oom"),
        (["cuda", "out", "of", "memory"], "memory.cuda-oom"),
        (["Xid 79"], "gpu.off-bus"),
        (["137"], "process.sigkill"),
        (["exit", "code", "139"], "process.segfault"),
        (["signal 9"], "process.sigkill"),
        (["memory.cuda-oom/torch-out-of-memory"], "memory.cuda-oom"),
        (["OSError: [Errno 28] No space left on device"], "storage.disk-full"),
    ],
)
def test_explain_finds_the_cause(words, cause):
    answer = tell("explain", *words)
    assert (0, cause) == (answer.code, answer.out.partition(":")[0])
    assert "What to do" in answer.out
    assert "{" not in answer.out  # a page for people: no template, and no blank where a name belongs
    assert "nodename= " not in answer.out


def test_no_step_on_the_page_of_a_cause_has_a_hole():
    steps = [of_no_job(step.text) for cause in load_rules().causes.values() for step in cause.remedy]
    holes = re.compile(r"unknown size|\{\{|[a-z] : | [.,:]|^[.,:]|of \.|``")
    assert [step for step in steps if holes.search(step)] == []
    commands = [unfilled(step.command) for cause in load_rules().causes.values() for step in cause.remedy]
    assert [c for c in commands if re.search(r"[;=]$|^\W*;|import ;|grep -i ;", c)] == []


@pytest.mark.parametrize(
    "text", ["title: x\nrole: cuase\nforms: []\n", "title: [", "!!python/object/apply:os.system ['true']", "a: &a [*a]"]
)
def test_what_is_no_yaml_of_ours_is_one_line(tmp_path, text):
    folder = tmp_path / "mine" / "memory" / "cuda-oom"
    folder.mkdir(parents=True)
    (folder / "my-rule.yaml").write_text(text)

    answer = tell(OOM, "--rules", tmp_path / "mine")

    assert (2, 1) == (answer.code, answer.err.count("\n"))
    assert "my-rule.yaml" in answer.err


def test_rules_test_tells_only_of_the_folder_s_own_rules_and_of_broken_templates(tmp_path):
    for cause in ("mine/x", "memory/cuda-oom"):
        (tmp_path / cause).mkdir(parents=True)
    rule = (RULES / "gpu" / "illegal-access" / "ascend-address-out-of-range.yaml").read_text()
    (tmp_path / "memory" / "cuda-oom" / "x.yaml").write_text(rule)  # a shipped rule there is called `xla-…`
    (tmp_path / "mine" / "x" / "y.yaml").write_text(rule.replace("says: '{{ what }}.'", "says: '{% srun %}'"))
    (tmp_path / "mine" / "x" / "cause.yaml").write_text(CAUSE)

    said = tell("rules", "test", tmp_path).out

    assert ["xla-" in said, "remedy: 'Do {% srun %}'" in said, "says: '{% srun %}'" in said] == [False, True, True]


@pytest.mark.parametrize("fixture", ["recorder-size-mismatch", "two-nodes-one-exception"])
def test_case_packs_what_gets_the_same_verdict_again(tmp_path, fixture):
    """Lines, flight recorders' dumps, stacks, and several nodes."""

    def verdict(path):
        found = json.loads(tell(path, "--format", "json").out)["diagnosis"]
        return found["cause"], [c["rank"] for c in found["culprits"]]

    logs = FIXTURES / fixture / "logs"
    tell("case", logs, "-o", tmp_path / "case.tar.gz")

    assert verdict(logs) == verdict(tmp_path / "case.tar.gz")


def test_an_error_repeats_no_password_of_a_url():
    answer = tell("https://mei:hunter2x@logs.invalid/run.log")
    assert (answer.code, "hunter2x" in answer.err, "logs.invalid" in answer.err) == (2, False, True)
