"""The words of the frame around a report, from `words.yaml`, and its short phrases: `47 ranks [0-30,32-47]`, `10 min`.

Also which language a reader wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    if named is None:
        return language_of(environment)
    if named not in LANGUAGES:
        raise UsageError(f"--lang {named}: choose en or zh")
    return "zh" if named == "zh" else "en"


def words(language: str) -> Say:
    """Yield a function from a key, and what its text needs, to the text; an unknown language reads English."""
    column = 1 if language.lower().startswith("zh") else 0
    texts = _texts()

    def say(key: str, **values: object) -> str:
        text = texts[key][column]
        return text.format(**values) if values else text

    return say


def known(say: Say, family: str, word: str) -> str:
    """Yield a word of the contract in the reader's language; a word that is not ours stays as it is."""
    key = f"{family}-{word}" if family else word
    return say(key) if key in _texts() else word


def _texts() -> dict[str, list[str]]:
    return tables(WORDS)


# --- numbers and sets of ranks -------------------------------------------------------------------------------------------

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
    if len(ranges) <= width:
        return ranges
    return ranges[: max(ranges.rfind(",", 0, width - 1), 1)].rstrip(",") + ",…"


def clock(time: str | None, *, with_date: bool) -> str:
    """Yield the short form of an RFC 3339 time: `10:12:03`, or `05-14 10:12:03` where days differ."""
    if not time:
        return ""
    time = one_line(time)
    day, _, rest = time.partition("T")
    rest = rest.rstrip("Z").partition("+")[0]
    head, dot, fraction = rest.partition(".")
    short = f"{head}{dot}{fraction[:3]}".rstrip(".") if rest else day
    return f"{day[5:]} {short}" if with_date and rest else short


def one_day(times: Sequence[str | None]) -> bool:
    """Whether all these times lie on one date."""
    return len({t[:10] for t in times if t}) <= 1


def place(file: str, line: int | None) -> str:
    """Yield `file:line`."""
    return one_line(file) + (f":{line}" if line is not None else "")


def value_text(value: object) -> str:
    """Yield a fact's value as it reads in a table."""
    if isinstance(value, tuple):
        return clip(", ".join(map(str, value)), 200)
    return clip(one_line(str(value)), 200)


def common_folder(files: Sequence[str]) -> str:
    """Yield the folder (`a/b/`) in which all the files lie; nothing where they share none."""
    folders = [one_line(f).rpartition("!")[0].split("/")[:-1] or one_line(f).split("/")[:-1] for f in files]
    shared: list[str] = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared) + "/" if shared else ""
