"""Says who speaks and when: strips the prefixes of launchers, wrappers and loggers from one line's text.

Text comes in, a `Prefix` goes out; the forms are rows of the tables in `prefix_tables`, peeled off in a loop: they nest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from .lazy_pattern import compiled, lazy
from .nested_stamps import fuller
from .prefix_tables.launchers import LAUNCHERS
from .prefix_tables.loggers import LOGGERS
from .prefix_tables.marks import GLUED, GLUED_AFTER_BAR, IN_GROUP, QUOTED_AFTER
from .prefix_tables.ranks import RANKS
from .prefix_tables.row import SEVERITIES, Row
from .prefix_tables.stamped import AFTER_STAMP
from .prefix_tables.viewers import VIEWERS
from .timestamps import Stamp, read_stamp

__all__ = ["Line", "Prefix", "read_lines", "speaker_key", "split_prefix"]

_MAX_DEPTH = 10  # CRI, kubectl, srun -l, Ray, vLLM, rank, logger: seven were seen to nest
_MAX_SEGMENTS = 10_000  # of one physical line: a tqdm bar that never ended a line for a day
_MAX_GLUED = 100  # in one piece between carriage returns
_GLUED_MARKS = ("rank", ".c", ".h", ".py:")  # one of them stands in any header that may be glued on without a bar
_QUOTING = (" log entry (may be unrelated)", " Last error: ")
_BAR_MARKS = ("|", "[00:")


class Prefix(NamedTuple):  # a dataclass takes three times as long to make, and each kept line has one
    """Who speaks and when, as far as the head of one line says; `end` is where the message starts."""

    rank: int | None = None  # in the whole job
    local_rank: int | None = None
    group_rank: int | None = None  # in the process group that the message names
    task: int | None = None  # label of `srun -l`: the rank only with one task per GPU
    node_rank: int | None = None
    device: int | None = None  # of the calling thread, in NCCL lines: not a rank
    host: str | None = None
    ip: str | None = None
    pid: int | None = None
    tid: int | None = None
    actor: str | None = None
    pod: str | None = None
    container: str | None = None
    stream: str | None = None
    severity: str | None = None  # I W E F D
    origin: str | None = None  # 'ProcessGroupNCCL.cpp:616', a logger's name
    stamp: Stamp | None = None
    end: int = 0


class Line(NamedTuple):
    """One segment of a physical line, with what its prefix says."""

    number: int
    raw: str
    prefix: Prefix

    @property
    def is_error(self) -> bool:
        """Whether its logger gives it the level of an error or of what ends the process, or it begins with the word."""
        return self.prefix.severity in ("E", "F") or self.raw.startswith(_ERROR_WORDS, self.prefix.end)

    @property
    def message(self) -> str:
        """The text after the prefix, without the blanks that a terminal filled its row with."""
        text = self.raw[self.prefix.end :]
        return text if not text.endswith("   ") else f"{text.rstrip(' ')} ".removesuffix(" " * (text.strip()[-1:] != ":"))


# `[rank 1] ERROR: no step for 6.0s, exiting`, `Error on rank 1: checksum mismatch in block 88`
_ERROR_WORDS = ("ERROR: ", "FATAL: ", "CRITICAL: ", "[ERROR] ", "[FATAL] ", "Error: ", "Error on ", "Fatal error: ")
_NOTHING = Prefix()
_NUMBERS = {"rank", "local_rank", "group_rank", "task", "node_rank", "device", "pid", "tid"}
_INNERMOST = {"pid", "tid", "severity", "origin", "device"}  # the process names itself better than what wraps it does
_RENAMED = {"level": "severity"}
_ENGINE = lazy(r"EngineCore|VllmWorker|Worker_[TPDE]P\d")
_PARENT = lazy(r"APIServer|EngineCore|Worker$")

_Groups = tuple[tuple[int, str, bool, Callable[[str], int | str]], ...]


class _Entry:
    """A row, compiled when a line meets what it needs: compiling all costs more than reading a small log."""

    def __init__(self, row: Row) -> None:
        self.row = row

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return compiled(self.row.pattern, re.ASCII)

    @cached_property
    def groups(self) -> _Groups:
        return _groups(self.pattern)


def _names_itself(actor: str, wrapper: object) -> bool:
    """Whether a process of vLLM names itself behind its parent: `(EngineCore_DP0 pid=9) (Worker_TP3 pid=12)`."""
    return _ENGINE.match(actor) is not None and _PARENT.match(str(wrapper)) is not None


def _letter(level: str) -> str:
    return SEVERITIES.get(level.strip(), level[:1])


def _groups(pattern: re.Pattern[str]) -> _Groups:
    """For each group of a pattern: its index, its field, whether the innermost wins, how its text becomes a value."""
    groups: list[tuple[int, str, bool, Callable[[str], int | str]]] = []
    for name, index in sorted(pattern.groupindex.items()):
        field = _RENAMED.get(name, name)
        convert = int if field in _NUMBERS else _letter if field == "severity" else str.strip
        groups.append((index, field, field in _INNERMOST, convert))
    return tuple(groups)


class _Rows(dict[str, tuple[_Entry, ...]]):
    """Rows under each character, or pair of characters, that may begin them, a pair's before a character's."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        super().__init__()
        self._rows: dict[str, list[_Entry]] = {}
        for entry in map(_Entry, rows):
            for start in entry.row.starts:
                self._rows.setdefault(start, []).append(entry)

    def __missing__(self, start: str) -> tuple[_Entry, ...]:
        own = self._rows.get(start, [])
        rows = own + (self._rows.get(start[0], []) if own and len(start) == 2 else [])
        if not rows:
            return ()
        self[start] = tuple(rows)
        return self[start]


_LEADING = _Rows(RANKS + LAUNCHERS + VIEWERS + LOGGERS)
_AFTER_STAMP = _Rows(AFTER_STAMP)
_DIGITS = frozenset("0123456789")
_OPEN_STAMP = frozenset("0123456789MTWFS ")  # behind a bracket: digits, weekdays, dmesg's padding


def split_prefix(text: str) -> Prefix:
    """Peels every known prefix off the head of a line; what is not surely a prefix stays in the message."""
    found: dict[str, object] = {}
    end, outer = 0, True
    for _ in range(_MAX_DEPTH):
        step = _read_stamped(text, end, outer, found) or _read_row(text, end, outer, found)
        if step is None or step[0] == end:
            break
        end, outer = step
    group = IN_GROUP.match(text, end) if text.startswith("[", end) else None
    if group:
        found["group_rank"] = int(group[1])
    elif text.startswith("slurmstepd-", end):  # slurmd started with a node name: `slurmstepd-n7: error: Detected 1 oom`
        found.setdefault("host", text[end + 11 : end + 75].partition(":")[0])
    return Prefix(**found, end=end) if found else (_NOTHING._replace(end=end) if end else _NOTHING)  # type: ignore[arg-type]


def _read_row(text: str, start: int, outer: bool, found: dict[str, object]) -> tuple[int, bool] | None:
    first = text[start : start + 1]
    for entry in _LEADING[first if first != "[" else text[start : start + 2]] if first else ():
        row = entry.row
        if (outer or not row.outer or row.anywhere) and row.needs in text:
            match = entry.pattern.match(text, start)
            if match:
                _collect(row, entry.groups, match, found)
                return match.end(), outer and (row.outer or row.name == "torchrun --tee")
    return None


def _read_stamped(text: str, start: int, outer: bool, found: dict[str, object]) -> tuple[int, bool] | None:
    """A stamp and what may only follow one, such as ` - root - INFO - `."""
    stamp = read_stamp(text, start) if _may_be_stamp(text, start) else None
    if stamp is None:
        return None
    end = stamp.end
    kind = "syslog" if stamp.form == "syslog" else "zone" if stamp.has_zone else "bracket" if text[start] == "[" else ""
    rows = _AFTER_STAMP[text[end : end + 2]] or _AFTER_STAMP[text[end : end + 1]] if end < len(text) else ()
    if end < len(text) and not rows:
        return None  # glued to a word: `10:15:00PM`, `2026-11-20T17:03:28.ckpt`
    _keep_stamp(stamp, found)
    for entry in rows:
        row = entry.row
        if (not row.kind or row.kind == kind) and row.needs in text:
            match = entry.pattern.match(text, end)
            if match:
                _collect(row, entry.groups, match, found)
                return match.end(), outer and entry.pattern.groupindex.keys().isdisjoint(("level", "rank"))
    return end, outer


def _may_be_stamp(text: str, start: int) -> bool:
    first, second = text[start : start + 1], text[start + 1 : start + 2]
    if first == "[":
        return second in _OPEN_STAMP
    return first in _DIGITS or text[start + 3 : start + 4] == " "  # `Nov 12`, `Fri Nov`; glog's letter has its own rows


def _keep_stamp(stamp: Stamp, found: dict[str, object]) -> None:
    held = found.get("stamp")
    found["stamp"] = fuller(held, stamp) if isinstance(held, Stamp) else stamp


def _collect(row: Row, groups: _Groups, match: re.Match[str], found: dict[str, object]) -> None:
    for index, field, innermost, convert in groups:
        value = match[index]
        if value is None:
            continue
        if field == "at":
            stamp = read_stamp(match.string, match.start(index))
            if stamp:
                _keep_stamp(stamp, found)
        elif field == "boot_us":
            _keep_stamp(Stamp(int(value) / 1e6, "kmsg", False, False, False, True, 1e-6, match.end(index)), found)
        elif innermost or field not in found or (field == "actor" and _names_itself(value, found[field])):
            found[field] = convert(value)
    if row.name.startswith("nccl"):
        found["origin"] = match["origin"] or "NCCL"


def read_lines(number: int, raw: str) -> list[Line]:
    """The segments of one physical line: split at carriage returns, and where a log line is glued to a progress bar."""
    lines: list[Line] = []
    for piece in raw.split("\r")[:_MAX_SEGMENTS] if "\r" in raw else [raw]:
        for segment, prefix, glued in _unglue(piece) if piece else ():
            lines.append(Line(number, segment, _inherit(prefix, lines[0].prefix, glued) if lines else prefix))
    return lines or [Line(number, "", _NOTHING)]


def _unglue(text: str) -> Iterator[tuple[str, Prefix, bool]]:
    """The parts of `bar[rank3]:[E1120 ...`, each with whether it was glued to the one before."""
    start = 0
    for count in range(_MAX_GLUED):
        segment = text[start:] if start else text
        prefix = split_prefix(segment)
        cut = _next_cut(segment, prefix.end) if count < _MAX_GLUED - 1 else len(segment)
        yield segment[:cut], prefix, start > 0
        start += cut
        if start == len(text):
            return


def _next_cut(text: str, prefix_end: int) -> int:
    """Where the next line is glued on, at least one character behind the prefix."""
    cut = len(text)
    if any(text.find(mark, prefix_end) >= 0 for mark in _QUOTING):
        quoted = QUOTED_AFTER.search(text, prefix_end)
        cut = quoted.end() if quoted else cut
    if text.find("]", prefix_end) < 0 and text.find("%|", prefix_end) < 0:
        return cut
    if any(text.find(mark, prefix_end) >= 0 for mark in _GLUED_MARKS):
        glued = GLUED.search(text, prefix_end + 1)
        cut = min(cut, glued.start()) if glued else cut
    if any(text.find(mark, prefix_end) >= 0 for mark in _BAR_MARKS):
        bar = GLUED_AFTER_BAR.search(text, prefix_end)
        cut = min(cut, bar.end()) if bar else cut
    return cut


_PLACES = ("task", "node_rank", "host", "ip", "actor", "pod", "container", "stream")
_SPEAKERS = ("rank", "local_rank", "pid", "tid")


def _inherit(prefix: Prefix, first: Prefix, glued: bool) -> Prefix:
    """A launcher prints its prefix once per line; what is glued on may come from another process of that place."""
    names = _PLACES if glued else _PLACES + _SPEAKERS
    named_itself = any(getattr(prefix, name) is not None for name in _SPEAKERS)
    changes = {
        name: getattr(first, name)
        for name in names
        if getattr(prefix, name) is None and not (named_itself and name in _SPEAKERS)
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    if prefix.stamp is None and first.stamp is not None:
        changes["stamp"] = first.stamp
    return prefix._replace(**changes) if changes else prefix


def speaker_key(prefix: Prefix) -> str:
    """Who speaks, in one word such as `rank3`, `local2@gpu-07`, `Trainer:28717@10.0.0.1`; '' when nobody is named."""
    if prefix.rank is not None:
        return f"rank{prefix.rank}"
    place = prefix.host or prefix.pod or prefix.ip or prefix.container
    at_place = f"@{place}" if place else ""
    if prefix.local_rank is not None:
        node = f"@node{prefix.node_rank}" if not place and prefix.node_rank is not None else at_place
        return f"local{prefix.local_rank}{node}"
    if prefix.actor is not None:
        process = f":{prefix.pid}" if prefix.pid is not None else ""
        return f"{prefix.actor}{process}{at_place}"
    named = (("task", prefix.task), ("group", prefix.group_rank), ("pid", prefix.pid), ("node", prefix.node_rank))
    for word, number in named:
        if number is not None:
            return f"{word}{number}{'' if word == 'task' else at_place}"
    return place or ""
