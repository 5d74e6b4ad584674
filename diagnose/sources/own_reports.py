"""Tells a report that diagnose wrote from a log: what it quotes was said elsewhere, and perhaps by an earlier job.

Each form is known by how it begins, in both languages: a job's folder may hold the report on its last failure. What
the terminal shows is none of them: a console may begin with it and go on with a job (`traces.own_report` takes it out).
"""

from __future__ import annotations

from ..lines.lazy_pattern import lazy

OWN_REPORT = "a report that diagnose wrote; give it the logs themselves"
_OUTCOME = "(?:failed|hung|healthy|recovered|unfinished|失败|挂起|正常|已恢复|未结束)".encode()
_HEADING = lazy(rb"(?i)(?:## |\*)" + _OUTCOME + rb"(?:\*|\r?\n|: |" + "：".encode() + rb")")
# below it: `- **Cause:** `memory.cuda-oom`, certain`, or without a cause what was read
_CAUSE = lazy(rb"(?m)^(?:- \*\*|\*)(?:Cause:|" + "根因：".encode() + rb")\*{1,2} `[a-z]{2,20}(?:\.[a-z-]{2,40})?`")
_READ = lazy("(?:Inputs read: |已读取输入 )[\\d,]{1,12}".encode())
_JSON = lazy(rb'\{\s{0,8}"schema_version": ?"\d{1,3}",\s{0,8}"outcome": ?"[a-z]{3,20}",\s{0,8}"(?:summary|diagnosis)": ')
_PAGE = b'<meta name="generator" content="diagnose">'
_SUITE = b'<testsuites><testsuite name="diagnose" '


def is_own_report(head: bytes) -> bool:
    """Tell whether a text that begins with `head` is a report, in Markdown, HTML, JSON, or as Slack or JUnit take it."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    if text.startswith((b"{", b"<")):
        return _JSON.match(text) is not None or _PAGE in text or _SUITE in text[:200]
    return _HEADING.match(text) is not None and (_CAUSE.search(text) or _READ.search(text)) is not None
