"""A `Report` in, what CI shows out: GitHub's workflow annotations, or JUnit XML."""

from __future__ import annotations

from ..report.language import Say, words
from ..report.phrases import value_text
from ..report.printable import clip, one_line
from ..report.report import Evidence, Report
from .junit_text import quoted, xml
from .limits import NORMAL
from .parts import View
from .report_view import build_view
from .templating import block

MESSAGE_WIDTH = 1_000  # GitHub cuts a message at 4 KB
BAD = ("failed", "hung")


def render_github(report: Report, *, lang: str = "en", redacted: str = "") -> str:
    """Yield workflow commands: one error with the verdict at its line, then notices."""
    say = words(lang)
    view = build_view(report, say, NORMAL, language=lang, redacted=redacted)
    level = "error" if report.outcome in BAD else "warning" if report.outcome == "unfinished" else "notice"
    evidence = report.diagnosis.evidence if report.diagnosis else ()
    body = [view.summary, *view.culprits.shown]
    if view.evidence:
        body.append(next((line.text for line in view.evidence.shown[0].lines if line.is_hit), ""))
    body += [f"{s.when_word}: {s.text} {s.command}".rstrip() for s in view.remedy.shown]
    lines = [_command(level, evidence[0] if evidence else None, _headline(view), "\n".join(filter(None, body)))]
    lines += [_command("notice", e, say("more-evidence"), clip(one_line(e.text), MESSAGE_WIDTH)) for e in evidence[1:4]]
    return "\n".join(lines) + "\n"


def render_junit(report: Report, *, lang: str = "en", redacted: str = "") -> str:
    """Yield one test case that fails when the job did, with the verdict as its message."""
    say = words(lang)
    view = build_view(report, say, NORMAL, language=lang, redacted=redacted)
    is_bad = report.outcome in BAD
    rows = ['<?xml version="1.0" encoding="UTF-8"?>']
    rows.append(f'<testsuites><testsuite name="diagnose" tests="1" failures="{int(is_bad)}" errors="0">')
    if report.facts:
        facts = (f"<property name={quoted(n)} value={quoted(value_text(f.value))}/>" for n, f in report.facts.items())
        rows.append(f"<properties>{''.join(facts)}</properties>")
    name = view.cause or view.outcome
    rows.append(f'<testcase classname="diagnose" name={quoted(name)}>')
    if is_bad:
        rows.append(f"<failure type={quoted(name)} message={quoted(f'{_headline(view)}. {view.summary}')}>")
        rows.append(xml("\n\n".join(_proof(view, say))) + "</failure>")
    else:
        rows.append(f"<system-out>{xml(view.summary)}</system-out>")
    return "\n".join([*rows, "</testcase></testsuite></testsuites>"]) + "\n"


def _proof(view: View, say: Say) -> list[str]:
    parts = ["\n".join(view.culprits.shown)]
    parts += [f"{e.where} {e.who}\n{block(e, say)}" for e in view.evidence.shown]
    parts.append("\n".join(f"{s.when_word}: {s.text} {s.command}".rstrip() for s in view.remedy.shown))
    return [part for part in parts if part]


def _headline(view: View) -> str:
    headline = f"{view.outcome_word}: {view.title}" if view.title else view.outcome_word
    return f"{headline} ({view.culprit_names})" if view.culprit_names else headline


def _command(level: str, e: Evidence | None, title: str, message: str) -> str:
    place = [("title", title)]
    if e and e.file:
        place = [("file", one_line(e.file)), *([("line", str(e.line))] if e.line else []), *place]
    return f"::{level} {','.join(f'{k}={_property(v)}' for k, v in place)}::{_data(message)}"


def _data(text: str) -> str:
    """As the runner unescapes it; a raw newline would begin another command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
