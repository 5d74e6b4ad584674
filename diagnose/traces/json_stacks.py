"""Stacks as `py-spy dump --json` prints them: an array of threads, or several arrays one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from .stack_dump import StackDump, StackThread, with_main
from .stack_forms import StackFrame

_CHARS = 64 << 20  # a dump in JSON is some 100 KiB; beyond this it is something else
_BLANK = lazy(r"\s*")
_DECODER = json.JSONDecoder()
_HEAD_LINES = 40  # of which one names a key of a thread


def read_json_stacks(lines: Sequence[Line]) -> list[StackDump]:
    """Yield a dump per process; none where the lines are something else."""
    first = next((line for line in lines if line.raw.strip()), None)
    if first is None or not first.raw.lstrip().startswith("["):
        return []
    if not any('"thread_id"' in line.raw or '"frames"' in line.raw for line in lines[:_HEAD_LINES]):
        return []
    text = "\n".join(line.raw for line in lines)
    if len(text) > _CHARS:
        return []
    found: list[StackDump] = []
    for begin, end, array in _arrays(text):
        found += _dumps(array, lines[begin].number, lines[end].number, first.prefix.rank)
    return found


def _arrays(text: str) -> Iterator[tuple[int, int, list[object]]]:
    """Yield each array with the lines (from 0) that it begins and ends on."""
    at = line = 0
    for begin, end, array, _ in arrays_of(text):
        line += text.count("\n", at, begin)
        end_line = line + text.count("\n", begin, end)
        yield line, end_line, array
        at, line = end, end_line


def arrays_of(text: str) -> Iterator[tuple[int, int, list[object], bool]]:
    """Yield where each array begins and ends, what is in it, and whether it is whole; one that is not is the last."""
    end = 0
    while (begin := _blank_until(text, end)) < len(text):
        try:
            array, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            yield begin, len(text), list(_elements(text, begin)), False
            return
        if isinstance(array, list):
            yield begin, end, array, True


def _elements(text: str, begin: int) -> Iterator[object]:
    """Yield the whole elements of an array that is cut off."""
    at, comma = begin, "["
    with suppress(ValueError, RecursionError):
        while text.startswith(comma, at):
            element, at = _DECODER.raw_decode(text, _blank_until(text, at + 1))
            yield element
            at, comma = _blank_until(text, at), ","


def _blank_until(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _dumps(array: list[object], line: int, end_line: int, rank: int | None) -> Iterator[StackDump]:
    by_pid: dict[int, list[StackThread]] = {}
    for thread in array:
        if isinstance(thread, dict) and isinstance(thread.get("frames"), list) and isinstance(thread.get("pid"), int):
            by_pid.setdefault(thread["pid"], []).append(_thread(thread))
    for pid in sorted(by_pid):
        yield StackDump("py-spy-json", pid, rank, None, "", with_main(by_pid[pid]), line, end_line, "", "")


def _thread(thread: dict[str, object]) -> StackThread:
    name = str(thread.get("thread_name") or "")
    state = ("active" if thread.get("active") else "idle") + ("+gil" if thread.get("owns_gil") else "")
    printed = thread.get("frames")
    frames = [_frame(f) for f in printed if isinstance(f, dict)] if isinstance(printed, list) else []
    thread_id = str(thread.get("os_thread_id") or thread.get("thread_id") or "")
    return StackThread(name, thread_id, state, name == "MainThread", tuple(reversed(frames)))


def _frame(frame: dict[str, object]) -> StackFrame:
    line = frame.get("line")
    file = str(frame.get("short_filename") or frame.get("filename") or frame.get("module") or "")
    return StackFrame(str(frame.get("name") or "??"), file, line if isinstance(line, int) else None)
