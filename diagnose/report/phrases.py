"""The words of the frame around a report, in which language a reader wants them, and short phrases: `47 ranks [0-46]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal

from ..errors import UsageError
from ..lines.cache import tables
from ..lines.rank_ranges import rank_ranges
from .printable import clip, one_line

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
    column, texts = int(language.lower().startswith("zh")), _texts()

    def say(key: str, **values: object) -> str:
        return texts[key][column].format(**values) if values else texts[key][column]

    return say


def known(say: Say, family: str, word: str) -> str:
    """Yield a word of the contract in the reader's language; a word that is not ours stays as it is."""
    key = f"{family}-{word}" if family else word
    return say(key) if key in _texts() else word


def _texts() -> dict[str, list[str]]:
    return tables(WORDS)


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


def value_text(value: object) -> str:
    """Yield a fact's value as it reads in a table."""
    return clip(one_line(", ".join(map(str, value)) if isinstance(value, tuple) else str(value)), 200)


def common_folder(files: Sequence[str]) -> str:
    """Yield the folder (`a/b/`) in which all the files lie; nothing where they share none."""
    folders = [one_line(f).rpartition("!")[0].split("/")[:-1] or one_line(f).split("/")[:-1] for f in files]
    shared = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))]
    return "/".join(shared) + "/" if shared else ""
