"""Says who speaks and when: strips the prefixes of launchers, wrappers and loggers from one line's text.

Text comes in, a `Prefix` goes out; the forms are rows of `prefixes.yaml`, peeled off in a loop: they nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from .lazy_pattern import lazy
from .prefix_rows import Row, Rows, mark, rows_of
from .shapes import DIGITS
from .timestamp import Stamp, fuller, may_be_stamp, read_stamp

MAX_SHAPES, MAX_CHARS = 16_000, 1500  # of lines of which it is remembered how they are read, and of one
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
# A process of vLLM names itself behind its parent: `(EngineCore_DP0 pid=9) (Worker_TP3 pid=12)`
_ENGINE = lazy(r"EngineCore|VllmWorker|Worker_[TPDE]P\d")
_PARENT = lazy(r"APIServer|EngineCore|Worker$")
_LEADING, _INSIDE = Rows(rows_of("leading")), Rows(rows_of("leading"), is_inside=True)
_AFTER_STAMP = Rows(rows_of("after_a_stamp"))


class _Found:
    """What was found in the head of a line by field, in which steps, and which rows were asked for it."""

    __slots__ = ("asked", "steps", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.steps: list[Row | Stamp | None] = []  # None: a stamp might have stood there
        self.asked: list[Row] = []


_known: dict[bytes, list[Row | Stamp | None] | int] = {}  # the steps by a line's shape, or how many lines of it were read
_whole: set[bytes] = set()  # shapes of lines on which nothing is glued: without it reading real logs takes 13 % more


def split_prefix(text: str) -> Prefix:
    """Peels every known prefix off the head of a line; what is not surely a prefix stays in the message. Thousands of ranks
    print the same with other digits: where no row that was asked asks for a particular digit in such a line, the next one
    is read by the same steps."""
    return _read(text)[0]


def _read(text: str) -> tuple[Prefix, bytes]:
    data = text.encode("utf-8", "surrogatepass") if len(text) <= MAX_CHARS else b""  # of a longer one nothing is remembered
    shape = data.translate(DIGITS) + data[:1]  # with the first digit: a number with leading zeros is a row's own
    known = _known.get(shape, 0)
    if not isinstance(known, int):
        return _reread(text, known) or _split(text, _Found()), shape
    prefix = _split(text, found := _Found())
    if len(_known) >= MAX_SHAPES:
        _known.clear()
        _whole.clear()
    folded = shape.lower()
    is_sure = known == 1 and shape and not any(mark in folded for row in found.asked for mark in row.digits)
    _known[shape] = found.steps if is_sure else known + 1
    return prefix, shape


def _reread(text: str, steps: Sequence[Row | Stamp | None]) -> Prefix | None:
    """The prefix of a line by the steps of others of its shape; None where a stamp is none: 31 February."""
    found: dict[str, Any] = {}
    end = 0
    for step in steps:
        if isinstance(step, Row):
            if (match := step.pattern.match(text, end)) is None:
                return None
            _collect(step, match, found)
            end = match.end()
            continue
        stamp = read_stamp(text, end)
        if (stamp and (stamp.form, stamp.end)) != (step and (step.form, step.end)):
            return None
        if stamp is not None:
            _keep_stamp(stamp, found)
            end = stamp.end
    return Prefix(**found, end=end) if found or end else _NOTHING


def _split(text: str, found: _Found) -> Prefix:
    end, outer = 0, True
    for _ in range(_MAX_DEPTH):
        step = _read_stamped(text, end, outer, found) or _read_row(text, end, outer, found)
        if step is None or step[0] == end:
            break
        end, outer = step
    return Prefix(**found.values, end=end) if found.values or end else _NOTHING


def _read_row(text: str, start: int, outer: bool, found: _Found) -> tuple[int, bool] | None:
    first = text[start : start + 1]
    table = _LEADING if outer else _INSIDE
    for needs, row in table[first if first != "[" else text[start : start + 2]] if first else ():
        if needs in text:
            found.asked.append(row)
            if match := row.pattern.match(text, start):
                found.steps.append(row)
                _collect(row, match, found.values)
                return match.end(), outer and (row.outer or row.name == "torchrun --tee")
    return None


def _read_stamped(text: str, start: int, outer: bool, found: _Found) -> tuple[int, bool] | None:
    """A stamp and what may only follow one, such as ` - root - INFO - `."""
    if not may_be_stamp(text, start):
        return None
    stamp = read_stamp(text, start)
    end = stamp.end if stamp else start
    rows = _AFTER_STAMP[text[end : end + 2]] or _AFTER_STAMP[text[end : end + 1]]
    if stamp is None or (end < len(text) and not rows):  # glued to a word: `10:15:00PM`, `2026-11-20T17:03:28.ckpt`
        found.steps.append(None)
        return None
    found.steps.append(stamp)
    _keep_stamp(stamp, found.values)
    kind = "syslog" if stamp.form == "syslog" else "zone" if stamp.has_zone else "bracket" if text[start] == "[" else ""
    for needs, row in rows:
        if (not row.kind or row.kind == kind) and needs in text:
            found.asked.append(row)
            if match := row.pattern.match(text, end):
                found.steps.append(row)
                _collect(row, match, found.values)
                return match.end(), outer and row.pattern.groupindex.keys().isdisjoint(("level", "rank"))
    return end, outer


def _keep_stamp(stamp: Stamp, found: dict[str, Any]) -> None:
    """Keep the fuller of this stamp and the one that was found before."""
    held = found.get("stamp")
    found["stamp"] = stamp if held is None else fuller(held, stamp)


def _collect(row: Row, match: re.Match[str], found: dict[str, Any]) -> None:
    for index, field, innermost, convert in row.groups:
        value = match[index]
        if value is None:
            continue
        if field == "at":
            if (stamp := read_stamp(match.string, match.start(index))) is not None:
                _keep_stamp(stamp, found)
        elif innermost or field not in found or (field == "actor" and _ENGINE.match(value) and _PARENT.match(found[field])):
            found[field] = convert(value)
    if row.origin and not match["origin"]:
        found["origin"] = row.origin


def read_lines(number: int, raw: str) -> list[Line]:
    """The segments of one physical line: split at carriage returns, and where a log line is glued to a progress bar."""
    lines: list[Line] = []
    for piece in raw.split("\r")[:_MAX_SEGMENTS] if "\r" in raw else [raw]:
        start = 0
        for count in range(_MAX_GLUED):  # the parts of `bar[rank3]:[E1120 ...`
            if start == len(piece):
                break
            segment = piece[start:]
            prefix, shape = _read(segment)
            is_last = count == _MAX_GLUED - 1 or shape in _whole
            cut = len(segment) if is_last else _next_cut(segment, prefix)
            if cut == len(segment) and shape and not is_last and b"[00:" not in shape:  # which a bar's digits might begin
                _whole.add(shape)
            prefix = _inherit(prefix, lines[0].prefix, glued=start > 0) if lines else prefix
            lines.append(Line(number, segment[:cut], prefix))
            start += cut
    return lines or [Line(number, "", _NOTHING)]


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


def _inherit(prefix: Prefix, first: Prefix, *, glued: bool) -> Prefix:
    """A launcher prints its prefix once per line; what is glued on may come from another process of that place."""
    names_itself = any(getattr(prefix, name) is not None for name in _SPEAKERS)
    names = (*_PLACES, "stamp") if glued or names_itself else (*_PLACES, *_SPEAKERS, "stamp")
    held = {name: getattr(first, name) for name in names if getattr(prefix, name) is None}
    changes = {name: value for name, value in held.items() if value is not None}
    return prefix._replace(**changes) if changes else prefix


def speaker_key(prefix: Prefix) -> str:
    """Who speaks, in one word such as `rank3`, `local2@gpu-07`, `Trainer:28717@10.0.0.1`; '' when nobody is named."""
    return "" if prefix is _NOTHING else _key_of(_naming(prefix))  # as of most lines


def speaker_keys(lines: Iterable[Line]) -> list[str]:
    """Who speaks on each line, as `speaker_key` says."""
    return [speaker_key(line.prefix) for line in lines]


_naming = itemgetter(*map(Prefix._fields.index, (*_PLACES[:-1], *_SPEAKERS[:-1], "group_rank")))


@lru_cache(MAX_SPEAKERS // 2)  # a name weighs more than a speaker
def _key_of(named: tuple[Any, ...]) -> str:
    """The same, remembered: a speaker has many lines."""
    task, node_rank, host, ip, actor, pod, container, rank, local_rank, pid, group_rank = named
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
