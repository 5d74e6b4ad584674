"""Every form of a report: what it says, how it fits, and that no log text acts in it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from diagnose import Text, diagnose
from diagnose.advice.statement import Evidence, Fact, FactValue, Notice, Place, RemedyStep, Span
from diagnose.errors import UsageError
from diagnose.hooks.config import FORMATS
from diagnose.report.parts import (
    Alternative,
    CollectiveRow,
    Culprit,
    Diagnosis,
    Gap,
    InputRow,
    LastLine,
    Link,
    RankRow,
    StackGroup,
    Symptom,
    TimelineEntry,
)
from diagnose.report.phrases import WORDS, printable, printable_spans, who, words
from diagnose.report.report import Report
from diagnose.views.folding import choose_moments, limits_of
from diagnose.views.rendering import TEMPLATES, _environment, render
from diagnose.views.report_view import build_view

from .report_samples import OOM_LINE, all_samples, cuda_oom, straggler

SAMPLES = all_samples()
SAY = words("en")
TEXT_FORMS = [f for f in FORMATS if f not in ("html", "json")]
ANYTHING = st.text(st.characters(categories=None), max_size=60) | st.text("`~<>|[]()*_#@\\&-=!\n\r\t 1.a\x1b\x9b\u202e:", max_size=60)


def everywhere(text: str) -> Report:
    """A report with one text in every place that log text can reach."""
    evidence = Evidence(
        file=text, line=7, end_line=8, rank=1, host=text, time=None, text=text, before=(text,), after=(text,),
        spans=(Span(0, 2, "x"),), also_in=(Place(text, 1),),
    )  # fmt: skip
    culprit = Culprit(1, text, 1, 1, 1, text)
    return Report(
        outcome="failed",
        diagnosis=Diagnosis("memory.cuda-oom", text, text, 0.5, "likely", (culprit,), (evidence, evidence), (RemedyStep("fix", text, "ls"),), "config", "no"),
        chain=(Link("memory.cuda-oom", "x.y", text, (1,), 2.0),),
        alternatives=(Alternative("a.b", text, (culprit,), text, (evidence,)),),
        symptoms=(Symptom("c.d", text, None, (), 1, False, evidence, "memory.cuda-oom"),),
        survived=(Symptom("c.e", text, None, (1,), 1, False, evidence),),
        timeline=(TimelineEntry(None, (1,), text, text, None, None, text, text),),
        ranks=(RankRow(1, text, state=text),),
        collectives=(CollectiveRow(text, 1, 1, 1, 1, text, (1,), text),),
        stacks=(StackGroup((1,), (text, text), 2),),
        facts={text: Fact(text, text, (), (FactValue(text, text, (1,)),))},
        notices=(Notice(text, text),),
        gaps=(Gap(text, text, None),),
        inputs=(InputRow(text, 1, None, text, (1,), text),),
        time_basis=text,
    )  # fmt: skip


def crowded(ranks: int) -> Report:
    """A report with far too much of everything."""
    rows = range(ranks)
    evidence = Evidence("f.log", 10, 80, text="\n".join(f"line {i}" for i in range(70)), before=("b",) * 9, after=("a",) * 9)
    culprits = tuple(Culprit(r, f"node-{r}", why="late") for r in range(min(ranks, 40)))
    return Report(
        outcome="failed",
        diagnosis=Diagnosis("collective.straggler", "T", "S", 0.5, "likely", culprits, (evidence,) * 12, (RemedyStep("now", "do", "a\nb\nc\n" * 20),) * 12, "config", "no", ("https://x.org",) * 9),
        chain=tuple(Link("a", f"b.{i}", "w", (i,)) for i in range(30)),
        alternatives=(Alternative("a.b", "t", culprits, "w", (evidence,)),) * 30,
        symptoms=tuple(Symptom(f"c.{i}", "t", None, tuple(rows[::2]), 9, True, evidence, "a.b") for i in range(30)),
        survived=(Symptom("c.e", "t", None, (1,), 1),) * 30,
        timeline=tuple(TimelineEntry(f"2024-05-14T10:{i // 60 % 60:02d}:{i % 60:02d}Z", (i,), None, "gpu", f"c.{i}", None, f"t{i}", "f:1") for i in rows),
        ranks=tuple(RankRow(r, f"node-{r}", state=f"state {r % 97}", last_step=r) for r in rows),
        collectives=tuple(CollectiveRow(f"pg{r % 50}", r, r, r, r) for r in rows),
        stacks=tuple(StackGroup((r,), tuple(f"frame {i}" for i in range(60)), 1) for r in range(40)),
        facts={f"fact {i}": Fact(i) for i in range(90)},
        notices=(Notice("t", "x"),) * 30,
        gaps=(Gap("g", "h", "c\nd"),) * 30,
        inputs=tuple(InputRow(f"rank{r}.log", 1) for r in rows),
    )  # fmt: skip


# --- all forms


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_form_of_every_sample_says_the_cause(name, form):
    page = render(SAMPLES[name], form)
    assert page.endswith("\n")
    found = SAMPLES[name].diagnosis
    assert found is None or found.cause in page


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_report_gives_the_same_bytes(form):
    assert render(cuda_oom(), form) == render(cuda_oom(), form)


@pytest.mark.parametrize("form", ["terminal", "markdown", "html"])
def test_a_notice_shows_the_command_that_settles_it(form):
    notice = Notice("possible known bug", "Possibly a known bug.", remedy=(RemedyStep("now", "This settles it.", "pip show trl"),))
    assert "pip show trl" in render(Report(notices=(notice,)), form)


def test_every_form_begins_with_the_same_sentence():
    report = replace(cuda_oom(), summary="Rank 2 ran out of memory")
    assert render(report, "terminal").startswith(" FAILED  Rank 2 ran out of memory\n")
    assert render(report, "markdown").startswith("## Failed: Rank 2 ran out of memory\n")
    assert render(report, "slack").startswith("*Failed: Rank 2 ran out of memory*\n")
    assert "<title>Rank 2 ran out of memory</title>" in render(report, "html")
    assert "title=Failed%3A Rank 2 ran out of memory::" in render(report, "github")
    assert ET.fromstring(render(report, "junit")).find(".//failure").get("message") == "Rank 2 ran out of memory"


@pytest.mark.parametrize("form", ["terminal", "markdown", "slack"])
def test_the_first_screen_answers_in_twenty_lines(form):
    first = "\n".join(render(cuda_oom(), form, width=100).split("\n")[:20])
    for word in ("Rank 2 asked for", "rank 2, host gpu-node-07", "certain", "CUDA out of memory", "Lower the micro batch"):
        assert word in first


def test_another_language_than_the_reports_is_refused():
    with pytest.raises(UsageError, match="this report is in en"):
        render(cuda_oom(), lang="zh")


def test_a_library_user_gets_every_form_from_the_report():
    report = cuda_oom()
    assert repr(report) == "<Report failed memory.cuda-oom (certain) ranks 2>"
    assert report.to_dict() == json.loads(report.to_json())
    assert report.to_markdown().startswith("## Failed: Rank 2 asked")
    assert report.to_html().startswith("<!doctype html>")
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_a_wait_says_since_when_and_what_was_printed_late():
    waited = TimelineEntry("2024-05-14T10:22:04Z", (0,), text="watchdog", since="2024-05-14T10:12:04Z", waited_s=600.0)
    late = TimelineEntry("2024-05-14T10:23:00Z", (1,), text="killed", is_late=True)
    page = render(Report(timeline=(waited, late)), width=120)
    assert "Watchdog (waiting since 10:12:04, gave up after 10 min)" in page
    assert "Killed (printed late)" in page


def test_the_headline_of_one_rank_alone_invents_no_size_of_the_job():
    summary = diagnose(Text("[rank3] step 7 loss 2.1\n", name="driver.log")).summary
    assert ["rank 3" in summary, " of 4" in summary] == [True, False]


def test_without_a_cause_the_last_line_of_each_rank_is_shown():
    stops = (
        LastLine((3,), "n2", "n2/rank3.log", 41, "fetching shard 7", 11, "loading", is_behind=True),
        LastLine((0, 1, 2), None, "n1/rank0.log", 52, "step 12 loss 1.9", 12),
    )
    page = render(Report(summary="Rank 3 stopped at step 11.", last_lines=stops, collect=(RemedyStep("collect", "Get stacks.", "py-spy dump --pid 1"),)), width=100)
    assert "• rank 3  last step 11, loading" in page
    assert "n2/rank3.log:41  fetching shard 7" in page
    assert "py-spy dump --pid 1" in page


@pytest.mark.parametrize("form", ["terminal", "markdown", "html", "slack"])
def test_chinese_has_a_word_for_every_frame_text(form):
    page = render(replace(cuda_oom(), language="zh"), form)
    assert "证据" in page
    assert "What to do" not in page


def test_both_languages_need_the_same_values():
    pairs = yaml.safe_load(WORDS.read_text(encoding="utf-8")).values()
    holes = [set(re.findall(r"\{(\w+)", text)) for pair in pairs for text in pair]
    assert holes[::2] == holes[1::2]


@settings(max_examples=30, deadline=None)
@given(ANYTHING)
def test_no_text_emits_a_control_character_in_any_form(text):
    for form in TEXT_FORMS:
        page = render(everywhere(text), form)
        bad = [c for c in page if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u2029\u202e\u2066" or 0xD800 <= ord(c) < 0xE000)]
        assert (form, []) == (form, bad)


# --- terminal


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", SAMPLES)
def test_lines_fit_the_terminal_except_what_is_there_to_be_copied(name, width):
    found = SAMPLES[name].diagnosis
    copied = {s.command for s in found.remedy} | {g.command for g in SAMPLES[name].gaps} | set(found.references) if found else set()
    lines = [line for line in render(SAMPLES[name], "terminal", width=width).split("\n") if line.strip() not in copied]
    assert width >= max(map(len, lines))


def test_a_pipe_gets_no_escape():
    assert "\x1b" not in render(cuda_oom(), "terminal")


def test_colour_highlights_what_was_captured():
    assert "\x1b[1;33m1.06 GiB\x1b[0m" in render(cuda_oom(), "terminal", width=200, color=True)


def test_a_command_stays_on_one_line_however_narrow():
    assert "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" in render(cuda_oom(), "terminal", width=40)


def test_a_later_proof_is_shown_without_its_context():
    sample = cuda_oom()
    found = sample.diagnosis
    later = replace(found.evidence[1], before=("word " * 40,))
    shown = render(replace(sample, diagnosis=replace(found, evidence=(found.evidence[0], later))), "terminal")
    assert ("More evidence" in shown, "word" in shown) == (True, False)


def test_full_terminal_lists_the_inputs_too():
    assert "model.safetensors  1.0 GiB  not read: binary" in render(cuda_oom(), "terminal", full=True)
    assert "model.safetensors" not in render(cuda_oom(), "terminal")


def test_consequences_are_counted_with_their_ranks():
    assert "1,023 ranks [0-516,518-1023]: NCCL watchdog time-out" in render(straggler(), "terminal", width=120)


# --- Markdown


@pytest.mark.parametrize("ranks", [2, 64, 4096])
def test_markdown_stays_under_a_hundred_lines(ranks):
    assert render(crowded(ranks), "markdown").count("\n") < 100


def test_full_markdown_shows_everything():
    page = render(crowded(200), "markdown", full=True)
    assert "fact 89" in page
    assert "line 35" in page


def test_evidence_stands_verbatim_up_to_six_hundred_characters():
    line = "x" * 590 + " end"
    assert line in render(Report(outcome="failed", diagnosis=Diagnosis(evidence=(Evidence(text=line),))), "markdown")


def test_a_long_block_keeps_its_end():
    text = "\n".join(["Traceback (most recent call last):", *(f"  frame {i}" for i in range(60)), "ValueError: bad shard"])
    page = render(Report(outcome="failed", diagnosis=Diagnosis(evidence=(Evidence(text=text, line=1),))), "markdown")
    assert "> 1 | Traceback" in page
    assert "lines left out" in page
    assert "ValueError: bad shard" in page


def test_a_fence_in_a_log_does_not_end_ours():
    page = render(Report(outcome="failed", diagnosis=Diagnosis(evidence=(Evidence(text="```\n# not a heading\n````"),))), "markdown")
    assert "`````text\n> ```" in page


def tokens(page: str) -> list[str]:
    """What a reader of Markdown sees, without the words: kinds of blocks and spans."""
    kinds = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page):
        inner = [t.type for t in token.children or () if t.type not in ("text", "softbreak", "code_inline", "text_special")]
        kinds += [token.type, *inner]
    return kinds


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
@example("`a|*)*`")
@example("www.a.example/|*)*")
def test_no_text_becomes_markdown(text):
    word = "word" if printable(text).strip() else ""
    # As many lines and spans as the text has, so that only what the text does itself can differ.
    plain = tokens(render(everywhere(word), "markdown"))
    hostile = tokens(render(everywhere(text), "markdown"))
    assert [k for k in plain if "html" in k] == [k for k in hostile if "html" in k]
    extra = set(hostile) - set(plain)
    assert set() == extra - {"hardbreak"}
    assert hostile.count("fence") == plain.count("fence")
    assert hostile.count("heading_open") == plain.count("heading_open")
    assert hostile.count("tr_open") == plain.count("tr_open")
    assert hostile.count("td_open") == plain.count("td_open")


@pytest.mark.parametrize(
    "text",
    ["@everyone see #123", "https://evil.example/?x=1", "<img src=x onerror=alert(1)>", "[click](https://evil.example)", "![x](y)", "| a | b |", "**bold** _it_ ~~s~~", "</details>", "- [x] done", "# head", "1. one", "> quote", "[a]: https://evil.example", "&lt;b&gt;", "a\\", "***", "<https://evil.example>"],
)  # fmt: skip
def test_what_markdown_acts_on_is_shown_as_text(text):
    report = Report(outcome="failed", diagnosis=Diagnosis(title="t", summary=text))
    made = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(render(report, "markdown"))
    shown = "".join(t.content for t in made[1].children)
    assert f"Failed: {text}".casefold() == shown.casefold()
    assert {"text", "code_inline", "text_special"} >= {t.type for t in made[1].children}


def test_names_and_numbers_that_github_would_link_stand_in_code():
    page = render(Report(outcome="failed", diagnosis=Diagnosis(title="t", summary="ask @mei about #12 at http://x.org now")), "markdown")
    assert "Ask `@mei` about `#12` at `http://x.org` now" in page


# --- Slack, GitHub, JUnit


def test_slack_has_neither_tables_nor_folds():
    page = render(cuda_oom(), "slack")
    assert not re.search(r"^\||<details|^#|\*\*", page, re.M)
    assert OOM_LINE in page


def test_slack_fences_are_even():
    assert render(everywhere("``` ```` `"), "slack").count("```") % 2 == 0


def test_github_gets_one_error_at_the_line_of_the_verdict():
    lines = render(cuda_oom(), "github").strip().split("\n")
    assert lines[0].startswith("::error file=logs/rank2.log,line=4031,title=Failed%3A Rank 2 asked for 2.00 GiB on GPU 2")
    assert [line.partition(" ")[0] for line in lines[1:]] == ["::notice"]


@given(ANYTHING)
@settings(max_examples=60, deadline=None)
def test_no_text_becomes_a_workflow_command(text):
    lines = render(everywhere("x" + text + "\n::stop-commands::x\n"), "github").strip().split("\n")
    assert len(lines) == 2
    assert all(re.fullmatch(r"::(error|notice) (file|title)=[^:]*::.*", line) for line in lines)


def test_junit_fails_with_the_verdict():
    suite = ET.fromstring(render(cuda_oom(), "junit")).find("testsuite")
    failure = suite.find("testcase/failure")
    assert (suite.get("failures"), failure.get("type")) == ("1", "memory.cuda-oom")
    assert OOM_LINE in failure.text


def test_junit_passes_when_nothing_is_wrong():
    assert ET.fromstring(render(SAMPLES["healthy"], "junit")).find("testsuite").get("failures") == "0"


@given(ANYTHING)
@settings(max_examples=60, deadline=None)
def test_no_text_breaks_the_xml(text):
    ET.fromstring(render(everywhere(text), "junit").encode())


# --- templates


def test_a_users_template_gets_the_view(tmp_path):
    path = tmp_path / "mine.txt.j2"
    path.write_text("{{ view.cause }} {{ view.culprit_names }} {{ report.diagnosis.evidence[0].line }} {{ say('remedy') }}")
    assert render(cuda_oom(), template=path) == "memory.cuda-oom rank 2 4031 What to do next"


def test_a_users_html_template_escapes(tmp_path):
    path = tmp_path / "mine.html"
    path.write_text("<p>{{ view.summary }}</p>")
    report = Report(outcome="failed", diagnosis=Diagnosis(summary="<b>"))
    assert render(report, template=path) == "<p>&lt;b&gt;</p>"


@pytest.mark.parametrize("text", ["{{ view.nothing }}", "{% if %}", "{{ ''.__class__.__mro__ }}", "{{ 1 / 0 }}"])
def test_a_wrong_template_is_one_line(tmp_path, text):
    path = tmp_path / "mine.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"mine\.txt"):
        render(cuda_oom(), template=path)


# --- phrases


def test_ranks_are_named_counted_or_folded():
    assert [
        who(SAY, (2,)), who(SAY, (0, 1, 3)), who(SAY, (0, 1, 3, 4, 5, 6, 7)), who(SAY, (), "a"), who(SAY, ())
    ] == ["rank 2", "ranks 0-1,3", "7 ranks [0-1,3-7]", "host a", ""]  # fmt: skip


def test_colour_sequences_are_dropped_and_other_controls_spelled():
    assert printable("\x1b[31mred\x1b[0m \x1b \x07 \x9b \udcff \u202e\tx") == "red \\x1b \\x07 \\x9b \\xff \\u202e    x"


@given(ANYTHING, st.integers(0, 70), st.integers(0, 70))
def test_spans_still_cover_their_text(text, start, end):
    shown, spans = printable_spans(text, (Span(start, end, "x"),))
    assert [printable(text[start:end])] * len(spans) == [shown[s.start : s.end] for s in spans]


def test_what_was_redacted_stands_at_the_foot():
    report = Report(outcome="failed", diagnosis=Diagnosis(title="t", summary="password=correcthorse"))
    assert "Replaced before showing: 1 password." in render(report, "markdown")


def test_the_folder_that_all_inputs_share_is_named_once():
    first = Evidence("/data/run7/logs/a.log", 3, text="x")
    inputs = (InputRow("/data/run7/logs/a.log"), InputRow("/data/run7/logs/b.log"))
    report = Report(outcome="failed", diagnosis=Diagnosis(evidence=(first,)), symptoms=(Symptom("c.d", first=first),), inputs=inputs)
    page = render(report, "markdown")
    assert ("`/data/run7/logs/a.log:3`" in page, "`a.log:3`" in page) == (True, True)


def test_a_short_timeline_keeps_what_tells_of_the_root():
    others = [TimelineEntry(cause="network.connection-reset", text=str(n)) for n in range(40)]
    root = TimelineEntry(cause="memory.cuda-oom")
    assert choose_moments([*others, root], "memory.cuda-oom", 4) == [*others[:3], root]


def test_the_documented_view_is_the_view():
    page = (Path(__file__).parent.parent / "docs" / "templates.md").read_text()
    missing = [name for name in build_view(Report(), limits_of("normal")) if f"`{name}`" not in page]
    assert missing == []


def test_every_documented_filter_exists():
    page = (Path(__file__).parent.parent / "docs" / "templates.md").read_text().partition("### Filters")[2]
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`(\w+)", row)}
    assert named <= set(_environment(TEMPLATES).filters)
    assert {"md", "fence", "block"} <= named
