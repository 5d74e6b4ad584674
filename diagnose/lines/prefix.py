"""Says who speaks and when: strips the prefixes of launchers, wrappers and loggers from one line's text.

Text comes in, a `Prefix` goes out; the forms are rows of `prefixes.yaml`, peeled off in a loop: they nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

from .lazy_pattern import lazy
from .prefix_memory import Found, PrefixMemory
from .prefix_rows import Groups, Row, Rows, mark, rows_of
from .timestamp import Stamp, read_stamp

__all__ = ["Line", "Prefix", "read_lines", "speaker_key", "speaker_keys", "split_prefix"]

MAX_SPEAKERS = 32_768  # of one job that are remembered
_MAX_DEPTH = 10  # CRI, kubectl, srun -l, Ray, vLLM, rank, logger: seven were seen to nest
_MAX_SEGMENTS = 10_000  # of one physical line: a tqdm bar that never ended a line for a day
_MAX_GLUED = 100  # in one piece between carriage returns
_NOTICES = ("slurmstepd: ", "srun: ", "=>> PBS", "Killed", ": line ")  # of schedulers and shells
_GLUED_MARKS = ("rank", ".c", ".h", ".py:", *_NOTICES)  # one of them stands in whatever may be glued on without a bar
_CUT_MARKS = ("]", "%|", *_NOTICES)
_QUOTING = (" log entry (may be unrelated)", " Last error: ")
_BAR_MARKS = ("|", "[00:")
GLUED, NCCL_HEAD, GLUED_AFTER_BAR, QUOTED_AFTER = (
    lazy(mark(name)) for name in ("glued", "nccl_head", "glued_after_bar", "quoted_after")
)


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
_MEMORY = PrefixMemory[Prefix](partial(tuple.__new__, Prefix), Prefix._fields)  # `_make` is Python code around it
_ENGINE = lazy(r"EngineCore|VllmWorker|Worker_[TPDE]P\d")
_PARENT = lazy(r"APIServer|EngineCore|Worker$")


def _names_itself(actor: str, wrapper: object) -> bool:
    """Whether a process of vLLM names itself behind its parent: `(EngineCore_DP0 pid=9) (Worker_TP3 pid=12)`."""
    return _ENGINE.match(actor) is not None and _PARENT.match(str(wrapper)) is not None


_LEADING, _INSIDE = Rows(rows_of("leading")), Rows(rows_of("leading"), is_inside=True)
_AFTER_STAMP = Rows(rows_of("after_a_stamp"))
_DIGITS = frozenset("0123456789")
_OPEN_STAMP = frozenset("0123456789MTWFS ")  # behind a bracket: digits, weekdays, dmesg's padding


def split_prefix(text: str) -> Prefix:
    """Peels every known prefix off the head of a line; what is not surely a prefix stays in the message."""
    shape, known = _MEMORY.recall(text) if text else (None, _NOTHING)
    return _read(text, shape)[0] if known is None else known


def _read(text: str, shape: bytes | None) -> tuple[Prefix, bool]:
    """The prefix of a line, and whether nothing is glued on behind it. `shape`: if the memory asks how it is read."""
    prefix = _split(text, found := Found())
    is_whole = _next_cut(text, prefix) == len(text)  # as most lines
    if is_whole and shape is not None:
        _MEMORY.keep(shape, text, prefix, found)
    return prefix, is_whole


def _split(text: str, found: Found) -> Prefix:
    end, outer = 0, True
    for _ in range(_MAX_DEPTH):
        step = _read_stamped(text, end, outer, found) or _read_row(text, end, outer, found)
        if step is None or step[0] == end:
            break
        end, outer = step
    return Prefix(**found.values, end=end) if found.values else (_NOTHING._replace(end=end) if end else _NOTHING)


def _read_row(text: str, start: int, outer: bool, found: Found) -> tuple[int, bool] | None:
    first = text[start : start + 1]
    if not first:
        return None
    table, key = _LEADING if outer else _INSIDE, first if first != "[" else text[start : start + 2]
    found.looked.append((table, key, start))
    for needs, row in table[key]:
        if needs in text:
            found.tried.append(row.source)
            if match := row.pattern.match(text, start):
                _collect(row, row.groups, match, found)
                return match.end(), outer and (row.outer or row.name == "torchrun --tee")
    return None


def _read_stamped(text: str, start: int, outer: bool, found: Found) -> tuple[int, bool] | None:
    """A stamp and what may only follow one, such as ` - root - INFO - `."""
    if not _may_be_stamp(text, start):
        return None
    stamp = read_stamp(text, start)
    end = stamp.end if stamp is not None else start
    rows = _after_stamp(text, end, found) if stamp is not None and end < len(text) else ()
    is_glued = end < len(text) and not rows  # to a word: `10:15:00PM`, `2026-11-20T17:03:28.ckpt`
    found.note_stamp(start, stamp, counts=not is_glued)
    if stamp is None or is_glued:
        return None
    kind = "syslog" if stamp.form == "syslog" else "zone" if stamp.has_zone else "bracket" if text[start] == "[" else ""
    for needs, row in rows:
        if (not row.kind or row.kind == kind) and needs in text:
            found.tried.append(row.source)
            if match := row.pattern.match(text, end):
                _collect(row, row.groups, match, found)
                return match.end(), outer and row.pattern.groupindex.keys().isdisjoint(("level", "rank"))
    return end, outer


def _after_stamp(text: str, end: int, found: Found) -> tuple[tuple[str, Row], ...]:
    for key in (text[end : end + 2], text[end : end + 1]):
        found.looked.append((_AFTER_STAMP, key, end))
        if rows := _AFTER_STAMP[key]:
            return rows
    return ()


def _may_be_stamp(text: str, start: int) -> bool:
    first, second = text[start : start + 1], text[start + 1 : start + 2]
    if first == "[":
        return second in _OPEN_STAMP
    return first in _DIGITS or text[start + 3 : start + 4] == " "  # `Nov 12`, `Fri Nov`; glog's letter has its own rows


def _collect(row: Row, groups: Groups, match: re.Match[str], found: Found) -> None:
    for index, field, innermost, convert in groups:
        value = match[index]
        if value is None:
            continue
        if field == "at":
            found.note_stamp(match.start(index), read_stamp(match.string, match.start(index)), counts=True)
        elif innermost or field not in found.values or (field == "actor" and _names_itself(value, found.values[field])):
            found.take(field, match.string, *match.span(index), convert)
    if row.origin and not match["origin"]:
        found.values["origin"] = row.origin
        found.places.pop("origin", None)


def read_lines(number: int, raw: str) -> list[Line]:
    """The segments of one physical line: split at carriage returns, and where a log line is glued to a progress bar."""
    if raw and "\r" not in raw:
        shape, known = _MEMORY.recall(raw)
        if known is not None:
            return [Line(number, raw, known)]
        prefix, is_whole = _read(raw, shape)
        if is_whole:
            return [Line(number, raw, prefix)]
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
        cut = _next_cut(segment, prefix) if count < _MAX_GLUED - 1 else len(segment)
        yield segment[:cut], prefix, start > 0
        start += cut
        if start == len(text):
            return


def _next_cut(text: str, prefix: Prefix) -> int:
    """Where the next line is glued on, at least one character behind the prefix."""
    prefix_end, cut, find = prefix.end, len(text), text.find
    if find(_QUOTING[0], prefix_end) >= 0 or find(_QUOTING[1], prefix_end) >= 0:
        quoted = QUOTED_AFTER.search(text, prefix_end)
        cut = quoted.end() if quoted else cut
    holds = text[prefix_end:].__contains__
    if not any(map(holds, _CUT_MARKS)):
        return cut
    if any(map(holds, _GLUED_MARKS)):
        glued = GLUED.search(text, prefix_end + 1)
        cut = min(cut, glued.start()) if glued else cut
    at = text.find(f"{prefix.host}:", prefix_end + 1) if prefix.host and holds(" NCCL ") else -1
    if at > 0 and NCCL_HEAD.match(text, at):
        cut = min(cut, at)  # by another process of the host, which writes into the same pipe
    if any(map(holds, _BAR_MARKS)):
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
    return "" if prefix is _NOTHING else _key_of(_naming(prefix))  # as of most lines


def speaker_keys(lines: Iterable[Line]) -> list[str]:
    """Who speaks on each line, as `speaker_key` says."""
    return [speaker_key(line.prefix) for line in lines]


_naming = itemgetter(*map(Prefix._fields.index, (*_PLACES[:-1], "rank", "local_rank", "group_rank", "pid")))


@lru_cache(MAX_SPEAKERS // 2)  # a name weighs more than a speaker
def _key_of(named: tuple[Any, ...]) -> str:
    """The same, remembered: a speaker has many lines."""
    task, node_rank, host, ip, actor, pod, container, rank, local_rank, group_rank, pid = named
    if rank is not None:
        return f"rank{rank}"
    place = host or pod or ip or container
    at_place = f"@{place}" if place else ""
    if local_rank is not None:
        return f"local{local_rank}{f'@node{node_rank}' if not place and node_rank is not None else at_place}"
    if actor is not None:
        process = f":{pid}" if pid is not None else ""
        return f"{actor}{process}{at_place}"
    for word, number in (("task", task), ("group", group_rank), ("pid", pid), ("node", node_rank)):
        if number is not None:
            return f"{word}{number}{'' if word == 'task' else at_place}"
    return place or ""


forget_speakers = _key_of.cache_clear  # they weigh, and once thousands of sources are read few lines are asked about
