"""Chinese texts of causes and messages: complete, read only when asked for, never half of a page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import diagnose
from diagnose.catalogue.load import SHIPPED, Catalogue, load_rules, rule_folders
from diagnose.catalogue.rule import Cause, Remedy
from diagnose.report.phrases import language_of
from diagnose.report.report import Report
from diagnose.report.translation import SHOWN, Step, Translation, Translator, translation_faults

FIXTURES = Path(__file__).parent.parent / "fixtures"
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CAUSE_YAML = """\
title: the widget broke
means: A widget broke.
owner: config
restart: "no"
remedy:
  - {when: now, text: "Mend {{ widget }}.", command: mend}
  - {when: fix, text: Buy a better one.}
collect_next_time: [The widget.]
findings_only: a test
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_rules()


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    home = tmp_path / "mine" / "config" / "widget"
    home.mkdir(parents=True)
    (home / "cause.yaml").write_text(CAUSE_YAML)
    return tmp_path / "mine"


def faults(overlay: Path, chinese: str) -> list[str]:
    (overlay / "config" / "widget" / "cause.zh.yaml").write_text(chinese, encoding="utf-8")
    catalogue = load_rules(overlay)
    return list(translation_faults(catalogue.causes["config.widget"], catalogue.rules, rule_folders(overlay)))


GOOD = """\
title: 部件坏了
means: 一个部件坏了。
remedy:
  - {when: now, text: "修好 {{widget}}。"}
  - {when: fix, text: 换个更好的。}
collect_next_time: [部件本身。]
"""


# --- the shipped texts -------------------------------------------------------------------------------------------


def test_every_shipped_cause_has_a_complete_translation(catalogue: Catalogue) -> None:
    folders = [SHIPPED]
    found = [f"{c.id}: {f}" for c in catalogue.causes.values() for f in translation_faults(c, catalogue.rules, folders)]
    assert found == []


def test_every_text_is_chinese(catalogue: Catalogue) -> None:
    translator = Translator("zh", [SHIPPED])
    english = []
    for cause in map(translator.cause, catalogue.causes.values()):
        texts = [cause.title, cause.means, *(r.text for r in cause.remedy), *cause.collect_next_time]
        # "{{ meaning }}: {{ action }}." holds nothing to translate
        english += [(cause.id, t) for t in texts if not CHINESE.search(t) and not t.startswith("{{")]
    assert english == []


def test_punctuation_between_chinese_characters_is_full_width(catalogue: Catalogue) -> None:
    half_width = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?:\s|$)|[,;?!][\u4e00-\u9fff]")
    files = sorted(SHIPPED.rglob("cause.zh.yaml"))
    wrong = []
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if half_width.search(line):
                wrong.append(f"{path.parent.name}:{number}: {line}")
    assert len(catalogue.causes) == len(files)
    assert wrong == []


def test_chinese_and_latin_words_are_set_apart_by_a_space() -> None:
    glued = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`][\u4e00-\u9fff]")
    wrong = [
        f"{path.parent.name}: {line.strip()}"
        for path in sorted(SHIPPED.rglob("cause.zh.yaml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if glued.search(line)
    ]
    assert wrong == []


# --- what the check finds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (GOOD.replace("  - {when: fix, text: 换个更好的。}\n", ""), "step 2 of remedy (fix) is missing"),
        (GOOD.replace("when: fix", "when: prevent"), "step 2 of remedy (prevent) is not in cause.yaml"),
        (GOOD.replace("{{widget}}", "部件"), "step 1 of remedy (now) has other placeholders than cause.yaml: {{widget}}"),
        (GOOD.replace("[部件本身。]", "[]"), "item 1 of collect_next_time is missing"),
        (GOOD.replace("部件坏了", "' '", 1), "title is empty"),
        (GOOD + "messages: {no-such-rule: 没有}\n", "messages: no-such-rule is no rule of this cause"),
        (GOOD + "says: {no-such-rule: 没有}\n", "says: no-such-rule is no rule of this cause"),
    ],
)  # fmt: skip
def test_fault_is_named(overlay: Path, wrong: str, fault: str) -> None:
    assert f"cause.zh.yaml: {fault}" in faults(overlay, wrong)


def test_key_that_is_not_for_translation_is_refused(overlay: Path) -> None:
    (fault,) = faults(overlay, GOOD + "owner: config\n")
    assert fault.endswith("owner: Unexpected keyword argument")


def test_shipped_cause_without_a_translation_is_a_fault(overlay: Path) -> None:
    cause = load_rules(overlay).causes["config.widget"]
    assert list(translation_faults(cause, {}, [overlay])) == ["has no cause.zh.yaml"]


# --- what a reader gets ------------------------------------------------------------------------------------------


def test_command_and_condition_stay_those_of_the_cause(catalogue: Catalogue) -> None:
    cause = catalogue.causes["memory.cuda-oom"]
    shown = Translator("zh", [SHIPPED]).cause(cause)
    assert [(r.when, r.command, r.condition) for r in cause.remedy] == [
        (r.when, r.command, r.condition) for r in shown.remedy
    ]


def test_translation_with_other_steps_is_not_used_at_all() -> None:
    cause = Cause("it broke", "It broke.", "config", (Remedy("now", "Mend it."),))
    assert Translation("坏了", "坏了。", (Step("fix", "修。"),)).of(cause) is cause


def test_cause_that_a_user_rewrote_is_not_shown_in_our_words(overlay: Path) -> None:
    home = overlay / "memory" / "cuda-oom"
    home.mkdir(parents=True)
    (home / "cause.yaml").write_text(CAUSE_YAML)
    cause = load_rules(overlay).causes["memory.cuda-oom"]
    assert Translator("zh", rule_folders(overlay)).cause(cause).title == "the widget broke"


def test_message_without_a_translation_takes_the_title_of_its_cause(overlay: Path, catalogue: Catalogue) -> None:
    home = overlay / "gpu" / "ecc"
    home.mkdir(parents=True)
    steps = "".join(f"  - {{when: {r.when}, text: 步骤}}\n" for r in catalogue.causes["gpu.ecc"].remedy)
    (home / "cause.zh.yaml").write_text(f"title: 显存坏了\nmeans: 坏了。\nremedy:\n{steps}", encoding="utf-8")
    rule = catalogue.rules["gpu.ecc/row-remap-failed"]
    assert Translator("zh", rule_folders(overlay)).title(rule) == "显存坏了"


@pytest.fixture(scope="module")
def report() -> Report:
    return diagnose.diagnose(FIXTURES / "cuda-oom-one-rank" / "logs", lang="zh")


def test_report_says_title_and_remedy_in_chinese(report: Report) -> None:
    assert report.diagnosis is not None
    texts = [report.diagnosis.title, *(step.text for step in report.diagnosis.remedy)]
    assert [t for t in texts if not CHINESE.search(t)] == []


def test_verdict_does_not_depend_on_the_language(report: Report) -> None:
    english = diagnose.diagnose(FIXTURES / "cuda-oom-one-rank" / "logs")
    assert english.diagnosis is not None and report.diagnosis is not None
    assert english.diagnosis.cause == report.diagnosis.cause
    assert english.diagnosis.evidence == report.diagnosis.evidence


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_locale_names_the_language(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


def test_words_of_our_tables_are_translated_and_those_of_a_log_are_not() -> None:
    translator = Translator("zh", [SHIPPED])
    fields = {"meaning": "the GPU has fallen off the bus", "path": "the GPU has fallen off the bus", "code": 79}
    assert translator.fields(fields) == {**fields, "meaning": "GPU 掉卡"}


def test_unknown_language_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "diagnose", "--lang", "fr", str(FIXTURES / "cuda-oom-one-rank" / "logs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "diagnose: --lang fr: choose en or zh\n")


# --- sentences of rules ------------------------------------------------------------------------------------------


def told(rule: str, **fields: object) -> str:
    return Translator("zh", [SHIPPED]).said(load_rules().rules[rule], fields)


def test_a_sentence_of_a_rule_is_told_in_chinese() -> None:
    assert "端口 29500 已被占用。" == told("network.port-in-use/server-could-not-bind", port=29500)


def test_every_message_of_a_cause_is_told_in_chinese() -> None:
    """The exceptions say nothing but what the log says."""
    translator = Translator("zh", [SHIPPED])
    english = []
    for rule in load_rules(fresh=True).rules.values():
        example = next((e for form in rule.forms for e in form.examples), None)
        if example and rule.cause and rule.role in SHOWN and not CHINESE.search(translator.said(rule, example.fields)):
            english.append(rule.id)

    quoted = {"process.exception/uncaught-exception", "process.exception/class-tells-the-cause", "storage.io-error/os-error"}
    assert quoted >= set(english)


def test_what_our_tables_mean_is_told_in_chinese() -> None:
    """Known bugs are told by their own file; a code that its table does not know has no meaning."""
    translator = Translator("zh", [SHIPPED])
    tables = [t for name, t in load_rules(fresh=True).tables.items() if "known-bug" not in name]
    rows = [row for table in tables for row in (*table.rows, table.default)]
    words = {str(row[key]) for row in rows for key in ("meaning", "action") if row.get(key)}

    assert [] == sorted(w for w in words if not CHINESE.search(translator.fields({"meaning": w})["meaning"]))
