"""The parts that a program's own log header is made of, and the number in it that may say which process speaks.

In: one line. Out: its `Head`: the parts from the line's beginning to where what was said begins, as patterns, with the
number between them. Whether that number is a rank shows only beside the other lines; here nothing is decided.

    2026-11-23 03:02:52,375 ERROR [R2] row 17 is malformed       time, blank, level, blank, label
    (trainer-3) 2026-11-23 03:02:52,375 row 17 is malformed      label, blank, time, blank
    2026-11-23 03:02:52 [error    ] row 17 is malformed  rank=2  time, blank, level; the number stands behind
    20260320-11:20:06.245 [FSDPEngine Rank 3] ERROR: failed      time, blank, label, blank, level
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.timestamp import read_stamp

MAX_PARTS = 9
MAX_HEAD = 160  # characters
OF_THE_JOB = frozenset(("rank", "globalrank", "grank", "worldrank", "r", "rk"))
OF_A_NODE = frozenset(("localrank", "lrank"))
_NAMES = (
    r"[Gg]lobal[_ -]?[Rr]ank|GLOBAL_RANK|[Ll]ocal[_ -]?[Rr]ank|LOCAL_RANK|[Ww]orld[_ -]?[Rr]ank|grank|lrank|"
    r"[Rr]ank|RANK|rk|RK|[Ww]orker|WORKER|[Tt]rainer|TRAINER|[Pp]roc(?:ess)?|PROC(?:ESS)?|[Ll]earner|[Rr]eplica|"
    r"dp|DP|gpu|GPU|[RrWwPp]"
)
_LABEL = lazy(
    r"(?P<framed>(?P<open>[\[(<{])"
    rf"(?P<who>(?!(?:{_NAMES})[ =:_#-])[A-Za-z]\w{{0,30}} )?(?:(?P<name1>{_NAMES})[ =:_#-]{{0,3}})?"
    r"(?P<n1>\d{1,5})(?P<of1>/\d{1,5})?(?P<close>[\])>}]:?))|"
    rf"(?P<plain>(?:[a-z]\w{{0,30}}[./])?(?P<name2>{_NAMES})[ =:_#-]{{0,3}}(?P<n2>\d{{1,5}})(?P<of2>/\d{{1,5}})?"
    r"(?=:(?!\d)| {0,8}\||\s{1,3}-\s))|"
    r"(?P<bare>(?P<n3>\d{1,5})(?=:\d{1,9} | \| ))"
)
_STEP_BEHIND = lazy(r":\d{1,9}(?= )")
_NAME_BEHIND = lazy(r"[A-Za-z_][\w.]{0,40}(?= {1,8}\| )")
LEVELS = r"DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|ERR|NOTICE|TRACE|SUCCESS"
_LEVEL = lazy(rf"(?P<open>[\[(<]?)(?:(?P<upper>{LEVELS})|(?P<lower>{LEVELS.lower()})) {{0,8}}(?P<close>[\])>]?)(?=[^\w]|$)")
_SOURCE = lazy(
    r"[\[(]?(?:[\w./<>-]{1,120}\.(?:py|cc|cpp|cu|h):\d{1,6}(?::\w{1,80})?|[A-Za-z_][\w.]{0,100}:[\w<>]{1,80}:\d{1,6})[\])]?"
    r"(?=[^\w]|$)"
)
_FRAMED = lazy(r"\[[^\[\]\n]{1,80}\]|\([^()\n]{1,80}\)|<[^<>\n]{1,60}>")
_NAME = lazy(r"[A-Za-z_][\w.@/-]{0,60}(?=:| {1,20}\|| - |: )")
_BETWEEN = lazy(r"[ \t|:,~>-]{1,12}")
_COMPILED = lazy(r"NCCL|\.(?:cc|cpp|cu|h|hpp):")
# structlog writes what is bound to the logger behind what was said: `[error    ] cannot parse   [train] rank=2 step=4`
_PAIRS = r"(?: {1,40}\w{1,30}=[^\s=]{1,80}){0,12}"
_BEHIND = lazy(rf"(?: {{1,40}}\[[\w.]{{1,60}}\])?{_PAIRS}? {{1,40}}rank=(\d{{1,5}}){_PAIRS} {{0,3}}$")
MAX_SAID = 2000
_TOKEN = lazy(r"\d+|[A-Za-z]+|[\s\S]")
_DIGITS = lazy(r"\d+")
_BLANKS = lazy(r"(?:\\ )+|(?:\\\t)+|[ \t]+")


class Head(NamedTuple):
    """What stands at the head of one line."""

    shape: tuple[str, ...]  # patterns of its parts, in order
    number: int
    name: str  # how the number is called, in lower case without blanks and lines; '' where it is bare
    is_framed: bool
    of: str  # `/8`
    place: str  # what stands before it, digits included
    rest: str  # what was said


# The parts of which more is asked: `\0`, one of these, a pattern.
TIME, UPPER, LOWER, NUMBER, NAME, BEHIND = "T", "L", "l", "#", "n", "~"


def read_head(line: str) -> Head | None:
    """Yield the head of a line with one number, where the tables know not all of it; None of any other line."""
    told = split_prefix(line)
    if (told.local_rank, told.task) != (None, None) or _COMPILED.search(told.origin or ""):
        return None  # told already; and what c10 and NCCL put into brackets is the rank in a group, or a device
    head = _walk(line)
    if head is not None and told.rank is not None and (told.rank != head.number or told.end >= len(line) - len(head.rest)):
        return None  # the tables know all of it
    return head


def _walk(line: str) -> Head | None:
    """Yield the head of a line, part after part."""
    parts: list[str] = []
    label: re.Match[str] | None = None
    at, place, known = 0, "", (-1, 0, 0)
    for _ in range(MAX_PARTS + 3):
        if at > MAX_HEAD:
            break
        if label is None and (found := _label_at(line, at)) is not None:
            label, place = found, line[:at]
            parts.append(f"\0{NUMBER}{_before(found)}\0{_behind(found)}")
            at = found.end()
            continue
        step = _part_at(line, at, behind_label=label is not None)
        if step is None or not step[0]:
            break
        if label is not None and step[0].startswith(f"\0{TIME}"):
            known = (at + split_prefix(line[at:]).end, len(parts), at)
        parts.append(step[0])
        at = step[1]
    if label is None and at and (found := _BEHIND.search(line, at, at + MAX_SAID)) is not None:
        return Head((*parts, f"\0{BEHIND}"), int(found[1]), "rank", True, "", "", line[at : found.start()])
    if label is None or len(parts) > MAX_PARTS:
        return None
    if known[0] >= at:  # the tables know as much of what follows the label as was read here, or more
        _, count, at = known
        parts = parts[:count]
    name = re.sub(r"[_ -]", "", label["name1"] or label["name2"] or "").lower()
    of = label["of1"] or label["of2"] or ""
    return Head(tuple(parts), int(label[_group(label)]), name, label["framed"] is not None, of, place, line[at:])


def _label_at(line: str, at: int) -> re.Match[str] | None:
    """A number stands at the beginning, or behind what parts it from what is before it."""
    if at and line[at - 1].isalnum():
        return None
    found = _LABEL.match(line, at)
    if found is None or (found["bare"] and at and line[at - 1] not in ":| "):
        return None
    return found


def _before(label: re.Match[str]) -> str:
    """The pattern of what stands in a label before its number."""
    text = label.string[label.start() : label.start(_group(label))]
    return _pattern(text)


def _behind(label: re.Match[str]) -> str:
    of = r"/\d{1,5}" if label["of1"] or label["of2"] else ""
    return of + re.escape(label["close"] or "")


def _group(label: re.Match[str]) -> str:
    return next(name for name in ("n1", "n2", "n3") if label[name])


def _part_at(line: str, at: int, *, behind_label: bool) -> tuple[str, int] | None:
    """The part that begins there, as a pattern, and where it ends; of what is said nothing is taken for one."""
    stamp = read_stamp(line, at) if not line[at : at + 1].isspace() else None
    if stamp is not None and stamp.end > at:
        return f"\0{TIME}{_pattern(line[at : stamp.end])}", stamp.end
    if found := _LEVEL.match(line, at):
        kind = UPPER if found["upper"] else LOWER
        return f"\0{kind}{re.escape(found['open'])}\0{re.escape(found['close'])}", found.end()
    found = _SOURCE.match(line, at)
    if found and not (behind_label and _COMPILED.search(found[0])):  # Gloo says where it failed
        text = found[0]
        frame = re.escape(text[0]) if text[0] in "[(" else "", re.escape(text[-1]) if text[-1] in "])" else ""
        return rf"{frame[0]}[\w./<>-]{{1,160}}:[\w:<>]{{1,90}}{frame[1]}", found.end()
    if behind_label:
        if line[at - 2 : at] == "| " and (found := _NAME_BEHIND.match(line, at)):
            return f"\0{NAME}{_pattern(found[0])}", found.end()
        found = _STEP_BEHIND.match(line, at) or _BETWEEN.match(line, at)
        return (_pattern(found[0]), found.end()) if found else None
    if found := _FRAMED.match(line, at):
        opening, closing = re.escape(found[0][0]), re.escape(found[0][-1])
        return rf"{opening}[^{opening}{closing}\n]{{1,80}}{closing}", found.end()
    if found := _NAME.match(line, at):
        return f"\0{NAME}{_pattern(found[0])}", found.end()
    found = _BETWEEN.match(line, at)
    return (_pattern(found[0]), found.end()) if found else None


def _pattern(text: str) -> str:
    """The pattern of a text whose digits and blanks may be others."""
    exact = "".join(r"\d{1,20}" if t.isdigit() else re.escape(t) for t in _TOKEN.findall(text))
    return _BLANKS.sub(r"[ \\t]{1,20}", exact)


def masked(text: str) -> str:
    """What was said, without its numbers: the same text of several processes differs in these only."""
    return _DIGITS.sub("0", text.strip())[:200]
