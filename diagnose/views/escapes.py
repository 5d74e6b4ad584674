"""Printable text in, Markdown (GitHub's, Slack's), a workflow command or XML that shows exactly that text out.

Log text must not open a link, a mention, markup or HTML, and must not close the fence or cell it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..lines.lazy_pattern import lazy
from ..report.phrases import printable

_TICKS = lazy("`+")
# What GitHub turns into links, notices or pictures without any markup: URLs, mail addresses, @names, #123, org/repo#1,
# GH-12, :tada: (file.py:100: too). In a code span they stay text; and what a sentence of the catalogue quotes
# (`if rank == 0`) is meant as one.
_ADDRESS = r"(?:https?|ftp)://[^\s`|]{1,2000}|(?:mailto|xmpp):[^\s`|]{1,200}|www\.[^\s`|]{1,2000}"
_MAIL = r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9_-]{1,63}\.){1,8}[A-Za-z0-9_-]{1,63}"
_EMOJI = r":(?:[a-z+-][a-z0-9_+-]{1,40}|100|1234):"
_AUTOMATIC = lazy(
    r"(?<!`)`(?P<quoted>[^`|\n]{1,200})`(?!`)"  # a bar would end the cell of a table, in a code span too
    rf"|{_ADDRESS}|{_MAIL}|(?<![\w`])[@#][\w/-]{{1,100}}"
    rf"|(?<![\w./-])[\w./-]{{1,200}}#\d{{1,10}}|(?<!\w)[Gg][Hh]-\d{{1,10}}|(?<![\w./-])[\w./-]{{1,200}}{_EMOJI}|{_EMOJI}"
)
_SLACK_AUTOMATIC = lazy(rf"{_ADDRESS}|{_MAIL}")
_SLACK_EMOJI = lazy(rf":(?={_EMOJI[1:]})")
# Only what acts where it stands: `a < b`, `snake_case`, `[0-7]` and `\x1b` read best as they are.
_ACTIVE = lazy(
    r"""
    \\(?=[!-/:-@\[-`{-~]|$)        # a backslash before punctuation escapes it
    | ` | \| | ~
    | \*(?!\s) | (?<!\s)\*         # emphasis; "a * b" is none
    | (?<![^\W_])_ | _(?![^\W_])   # emphasis too, but not inside a word
    | <(?=[A-Za-z/!?])             # a tag, a comment, an autolink
    | \](?=[(\[:])                 # the middle of a link
    | &(?=\#?\w{1,32};)            # an entity
    """,
    re.VERBOSE,
)
# What means something only where a line begins: "# x", "- x", "+ x", "---", "===", "> x", "[ ] x", "1. x", "1) x".
_LINE_START = lazy(r"(#{1,6}(?:\s|$)|[-+=](?:[-+=\s]|$)|>|\[)|(\d{1,9})[.)](?:\s|$)")


def _apart(value: str, automatic: re.Pattern[str], code: Callable[[str], str], prose: Callable[[str], str]) -> str:
    """Yield the text with all that a form would turn into something by itself as code."""
    pieces: list[str] = []
    done = 0
    for match in automatic.finditer(value):
        pieces += [prose(value[done : match.start()]), code(match[match.lastindex or 0])]
        done = match.end()
    return "".join([*pieces, prose(value[done:])])


def md(value: str) -> str:
    """Yield one line of prose with nothing in it that Markdown would act on."""
    joined = _apart(value, _AUTOMATIC, code, lambda x: _ACTIVE.sub(lambda m: "\\" + m[0], x.replace("\n", " ")))
    start = _LINE_START.match(joined)
    if not start:
        return joined
    return "\\" + joined if start[1] else f"{start[2]}\\{joined[start.end(2) :]}"


def code(value: str) -> str:
    """Yield a code span that holds exactly the text."""
    value = value.replace("\n", " ")
    if not value:
        return ""
    ticks = "`" * (1 + max(map(len, _TICKS.findall(value)), default=0))
    pad = " " if value[0] in "` " or value[-1] in "` " else ""
    return f"{ticks}{pad}{value}{pad}{ticks}"


def md_link(url: str) -> str:
    """Yield an autolink, or a code span for what is no plain web address."""
    return f"<{url}>" if re.fullmatch(r"https?://[^\s<>`\\]{1,2000}", url) else code(url)


def code_cell(value: str) -> str:
    """Yield a code span for a table cell; GitHub reads `\\|` there as a plain bar."""
    return code(value).replace("|", "\\|")


def fence(value: str, info: str = "") -> str:
    """Yield a fenced block, its fence longer than any run of backticks inside."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(value)), default=0))
    return f"{ticks}{info}\n{value}\n{ticks}"


def slack(value: str) -> str:
    """Yield Slack's mrkdwn for one line of prose: `<!channel>`, links and emoji stay text, and nothing turns bold."""
    return _apart(value.replace("\n", " "), _SLACK_AUTOMATIC, slack_code, _slack_prose)


def _slack_prose(value: str) -> str:
    marks = r"(?<![^\W_])([*_~])(?=\S)|(?<=\S)([*_~])(?![^\W_])|`"
    value = re.sub(marks, lambda m: "'" if m[0] == "`" else f"\N{ZERO WIDTH SPACE}{m[0]}", slack_escape(value))
    return _SLACK_EMOJI.sub(":\N{ZERO WIDTH SPACE}", value)


def slack_code(value: str) -> str:
    """Yield an inline code span for Slack, which knows no longer fence: backticks inside become quotes."""
    return f"`{slack_escape(value).replace('`', chr(39))}`" if value else ""


def slack_fence(value: str) -> str:
    """Yield a fenced block for Slack."""
    return "```\n" + slack_escape(value).replace("```", "'''") + "\n```"


def slack_escape(value: str) -> str:
    """Yield the three characters that Slack reads as control sequences as entities."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def github(value: str) -> str:
    """Yield the message of a workflow command, as the runner unescapes it; a raw newline would begin another command."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def github_property(value: str) -> str:
    """Yield a property of a workflow command."""
    return github(value).replace(":", "%3A").replace(",", "%2C")


def xml(text: str) -> str:
    """Yield the text for between two tags."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quoted(text: str) -> str:
    """Yield the text as an attribute's value, with its quotes."""
    return '"' + xml(text).replace('"', "&quot;").replace("\n", " ") + '"'
