"""Words of the frame around a report, short phrases (`47 ranks [0-46]`), and log text that is safe to print out.

In printable text no terminal sequence, control or direction character survives: colour sequences are dropped, everything
else that cannot be seen is shown as `\\xNN` or `\\uNNNN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ..advice.statement import Span
from ..errors import UsageError
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges

Language = Literal["en", "zh"]
Say = Callable[..., str]
LANGUAGES = ("en", "zh")
WORDS = Path(__file__).with_name("words.yaml")


def language_of(environment: Mapping[str, str]) -> Language:
    """Yield the language of a locale as POSIX reads it: the first of these variables that says anything counts."""
    named = next((environment[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(n)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def choose_language(named: str | None, environment: Mapping[str, str]) -> Language:
    """Yield the language that `--lang` names, or that of the locale. Raises `UsageError`."""
    if named not in (None, *LANGUAGES):
        raise UsageError(f"--lang {named}: choose en or zh")
    return language_of({"LANG": named} if named else environment)


def words(language: str) -> Say:
    """Yield a function from a key, and what its text needs, to the text; an unknown language reads English."""
    column, texts = int(language.lower().startswith("zh")), tables(WORDS)

    def say(key: str, **values: object) -> str:
        text: str = texts[key][column]
        return text.format(**values) if values else text

    return say


def known(say: Say, family: str, word: str) -> str:
    """Yield a word of the contract in the reader's language; a word that is not ours stays as it is."""
    key = f"{family}-{word}" if family else word
    return say(key) if key in tables(WORDS) else word


FEW = 4  # so many runs or ranks are named without a count
HOST_WIDTH = 32  # characters
RANGES_WIDTH = 44  # alternating ranks would fill pages

# Causes for which the job was ended from outside: no rank of it did that.
FROM_OUTSIDE = ("process.terminated", "process.preempted", "process.time-limit")


def who(say: Say, ranks: Sequence[int], host: str | None = None) -> str:
    """Yield who is meant: `rank 2`, `ranks 0-1,3`, `47 ranks [0-30,32-47]`, `host node-a`, or nothing."""
    if not ranks:
        return say("host", name=short_host(host)) if host else ""
    if len(ranks) == 1:
        return say("rank", n=ranks[0])
    ranges = clip_ranges(rank_ranges(ranks), RANGES_WIDTH)
    return say("ranks", ranges=ranges) if len(ranks) <= FEW else say("many-ranks", n=len(set(ranks)), ranges=ranges)


def short_host(name: str) -> str:
    """Yield a host's name without its domain, where it has a long one: `….default.svc.cluster.local`."""
    name = one_line(name)
    return name if len(name) <= HOST_WIDTH else name.partition(".")[0]


def clip_ranges(ranges: str, width: int) -> str:
    """Yield the ranges cut at a comma: `0,2,4,…`."""
    return ranges if len(ranges) <= width else ranges[: max(ranges.rfind(",", 0, width - 1), 1)].rstrip(",") + ",…"


def clock(time: str | None, *, with_date: bool) -> str:
    """Yield the short form of an RFC 3339 time: `10:12:03`, or `05-14 10:12:03` where days differ."""
    day, _, rest = one_line(time or "").partition("T")
    head, dot, fraction = rest.rstrip("Z").partition("+")[0].partition(".")
    short = f"{head}{dot}{fraction[:3]}".rstrip(".") or day
    return f"{day[5:]} {short}" if with_date and head else short


def one_day(times: Sequence[str | None]) -> bool:
    """Whether all these times lie on one date."""
    return len({t[:10] for t in times if t}) <= 1


def place(file: str, line: int | None) -> str:
    """Yield `file:line`."""
    return one_line(file) + (f":{line}" if line is not None else "")


TAB = "    "
# "\x1b[31m", "\x1b]0;title\x07", "\x1bM": what terminals obey. Bounded, so that a lone ESC costs nothing.
_SEQUENCE = lazy(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# C0 but newline, DEL, C1 (0x9b opens a sequence alone), zero-width and direction marks, separators, surrogates,
# non-characters (which XML refuses), tag characters (invisible text).
_HIDDEN = lazy(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_WORD = lazy(r"[a-z](?:[a-z'’-]{0,40})$")


def printable(text: str) -> str:
    """Yield the text with everything invisible removed or spelled out; newlines stay."""
    return _HIDDEN.sub(_spell, _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """Yield the printable text in one line, runs of white space folded."""
    return " ".join(printable(text).split())


def printable_spans(text: str, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """Yield the printable text, and the spans moved to where their parts stand in it."""
    pieces: list[str] = []
    moved: list[Span] = []
    done = length = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if not done <= span.start < span.end <= len(text):
            continue  # overlapping or out of range: not highlighted
        between, inside = printable(text[done : span.start]), printable(text[span.start : span.end])
        moved.append(Span(length + len(between), length + len(between) + len(inside), span.field))
        pieces += [between, inside]
        length += len(between) + len(inside)
        done = span.end
    return "".join([*pieces, printable(text[done:])]), tuple(moved)


def clip(text: str, most: int) -> str:
    """Yield at most so many characters, cut at the end with an ellipsis."""
    return text if len(text) <= most else text[: max(0, most - 1)].rstrip() + "…"


def sentence(text: str) -> str:
    """Yield the text with a capital first letter; what begins with a name (`train_batch_size`), or is Chinese, as it is."""
    first = text.partition(" ")[0].rstrip(",.:;")
    if not _WORD.match(first) or any("\u4e00" <= c <= "\u9fff" for c in text):
        return text
    return text[:1].upper() + text[1:]


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 9:
        return TAB
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
