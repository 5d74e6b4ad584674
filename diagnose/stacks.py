"""Stack dumps of live or dying processes, whatever tool made them.

In come the lines of a source, out comes one `StackDump` per process and moment. Frames are outermost first,
whichever way the tool printed them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from diagnose.prefixes import Line, speaker_key
from diagnose.traces.stack_forms import (
    ProcessHead,
    StackFrame,
    ThreadHead,
    read_native_frame,
    read_process,
    read_pyspy_frame,
    read_python_frame,
    read_thread,
)

__all__ = ["StackDump", "StackFrame", "StackThread", "find_stacks"]

_NOISE_LINES = 3  # other writers' lines tolerated inside one dump
_JSON_CHARS = 64 << 20  # a py-spy dump in JSON is some 100 KiB; beyond this it is something else
_RANK_LINES = 3  # `=== rank 3 pid 6891 ===` stands right above the dump
_FRAMES = 2000


@dataclass(frozen=True, slots=True)
class StackThread:
    """One thread; `state` is the tool's word (`idle`, `active+gil`, `current`), frames are outermost first."""

    name: str
    thread_id: str
    state: str
    is_main: bool
    frames: tuple[StackFrame, ...]


@dataclass(frozen=True, slots=True)
class StackDump:
    """One process at one moment; `rank` is a hint from the prefix or a heading, None when only the pid tells."""

    form: str
    pid: int | None
    rank: int | None
    local_rank: int | None
    cmdline: str
    threads: tuple[StackThread, ...]
    line: int
    end_line: int
    reason: str
    speaker: str


def find_stacks(lines: Sequence[Line]) -> list[StackDump]:
    """Find every stack dump in the lines of one source, in the order of their first lines."""
    dumps = _read_pyspy_json(lines)
    if dumps:
        return dumps
    readers: dict[str, _Reader] = {}
    for line in lines:
        key = speaker_key(line.prefix)
        reader = readers.get(key)
        if reader is None:
            reader = readers[key] = _Reader(key)
        reader.feed(line)
    for reader in readers.values():
        reader.close()
        dumps.extend(reader.dumps)
    return sorted(dumps, key=lambda dump: (dump.line, dump.end_line, dump.speaker))


@dataclass(slots=True)
class _OpenThread:
    head: ThreadHead
    frames: list[StackFrame] = field(default_factory=list)

    def close(self) -> StackThread:
        # pystack alone prints the outermost frame first.
        frames = self.frames if self.head.form == "pystack" else self.frames[::-1]
        return StackThread(self.head.name, self.head.thread_id, self.head.state, self.head.is_main, tuple(frames))


# `=== rank 3 (pid 6891) ===`, `RANK=3 LOCAL_RANK=1` or `rank3:` above a dump; never a log line that speaks of a rank.
_RANK = re.compile(
    r"^(?:[=\-#*>]{2,80}.{0,80}?\brank[ _=:#-]{0,3}(\d{1,7})\b|"
    r"\W{0,4}rank[ _=:#-]{0,3}(\d{1,7})(?:[\W_]{0,4}(?:pid|local_?rank|host|node)(?![a-z]).{0,60}|\W{0,4})$)",
    re.IGNORECASE,
)
_LOCAL_RANK = re.compile(r"--local[-_]rank[= ](\d{1,5})\b")


class _Reader:
    """The dump one speaker has open."""

    def __init__(self, speaker: str) -> None:
        self.dumps: list[StackDump] = []
        self._speaker = speaker
        self._head: ProcessHead | None = None
        self._threads: list[_OpenThread] = []
        self._line = self._end_line = 0
        self._noise = 0
        self._rank: int | None = None
        self._heading: tuple[int, int] = (-1, -_RANK_LINES - 1)  # rank, line

    def feed(self, line: Line) -> None:
        text = line.message
        if process := self._read_process(text):
            self._begin_process(process, line)
        elif thread := read_thread(text):
            self._begin_thread(thread, line)
        elif self._head is not None:
            self._feed_open(text, line)
        elif text.startswith("#0 ") and (native := read_native_frame(text)):
            self._begin_thread(ThreadHead("gdb", "", is_main=True), line)
            self._threads[-1].frames.append(native[1])
        else:
            self._read_heading(text, line)

    def _read_process(self, text: str) -> ProcessHead | None:
        return read_process(text) if text[:1] in "PFTAC" else None

    def _begin_process(self, process: ProcessHead, line: Line) -> None:
        if self._head is not None and process.form == "gdb" and self._head.form == "gdb" and not self._threads:
            before = self._head
            self._head = ProcessHead(
                "gdb", process.pid or before.pid, process.cmdline or before.cmdline, process.reason or before.reason
            )
            return
        self.close()
        self._head, self._line = process, line.number
        self._place(line)

    def _begin_thread(self, thread: ThreadHead, line: Line) -> None:
        if self._head is None or not self._fits(thread):
            self.close()
            self._head, self._line = ProcessHead(thread.form), line.number
            self._place(line)
        self._threads.append(_OpenThread(thread))
        self._end_line, self._noise = line.number, 0

    def _fits(self, thread: ThreadHead) -> bool:
        """Say whether a thread belongs to the open dump; faulthandler's current thread is its last."""
        if self._head is None or thread.form.partition("-")[0] != self._head.form.partition("-")[0]:
            return thread.form == "py-spy" and self._head is not None and self._head.form == "py-spy"
        seen = {t.head.thread_id for t in self._threads}
        return not self._threads or (bool(thread.thread_id) and thread.thread_id not in seen)

    def _place(self, line: Line) -> None:
        rank, number = self._heading
        near = line.number - number <= _RANK_LINES
        self._rank = line.prefix.rank if line.prefix.rank is not None else rank if near else None
        self._end_line, self._noise = line.number, 0

    def _feed_open(self, text: str, line: Line) -> None:
        if not text.strip():
            return
        if self._read_part(text):
            self._end_line, self._noise = line.number, 0
            return
        self._noise += 1
        if self._noise > _NOISE_LINES or text.startswith("Extension modules:"):
            self.close()
        self._read_heading(text, line)

    def _read_heading(self, text: str, line: Line) -> None:
        if found := _RANK.match(text):
            self._heading = (int(found[1] or found[2]), line.number)

    def _read_part(self, text: str) -> bool:
        if not self._threads:
            return self._read_head_part(text)
        thread = self._threads[-1]
        if native := read_native_frame(text):
            if native[0] == 0 and thread.frames:
                return False
            return self._add(thread, native[1])
        frame = read_pyspy_frame(text) if thread.head.form == "py-spy" else read_python_frame(text)
        if frame is not None:
            return self._add(thread, frame)
        if text[0] in " \t":
            self._read_wrapped(thread, text)
            return True
        return False

    def _read_wrapped(self, thread: _OpenThread, text: str) -> None:
        """Give a gdb frame the ` at file.c:12` that was wrapped; other indented lines are arguments and locals."""
        found = re.match(r"^\s+(?:.{0,600}\) )?(?:at (\S{1,1000}):(\d{1,9})|from (\S{1,1000}))\s*$", text)
        if found and thread.frames and thread.head.form == "gdb":
            line = int(found[2]) if found[2] else None
            thread.frames[-1] = replace(thread.frames[-1], file=found[1] or found[3], line=line)

    def _add(self, thread: _OpenThread, frame: StackFrame) -> bool:
        if len(thread.frames) < _FRAMES:
            thread.frames.append(frame)
        return True

    def _read_head_part(self, text: str) -> bool:
        head = self._head
        if head is None:
            return False
        if head.form == "py-spy" and not text.startswith(("Python v", "Parent Process", "    ")):
            # `python -c` with line breaks shows them in the command line
            self._head = replace(head, cmdline=f"{head.cmdline}\n{text}"[:4000])
            return len(head.cmdline) < 4000
        if native := read_native_frame(text):
            self._threads.append(_OpenThread(ThreadHead(head.form, "", is_main=True), [native[1]]))
            return True
        return head.form == "gdb" or text.startswith(("Python v", "Parent Process", "Python runtime state"))

    def close(self) -> None:
        """End the open dump, if it has any frame or says why the process died."""
        head, threads = self._head, _with_main([t.close() for t in self._threads])
        pids = [t.head.pid for t in self._threads if t.head.pid is not None]
        self._head, self._threads = None, []
        if head is None or not (threads or (head.form == "faulthandler" and head.reason)):
            return
        pid = head.pid if head.pid is not None else next(iter(pids), None)
        local = _LOCAL_RANK.search(head.cmdline)
        self.dumps.append(
            StackDump(
                head.form,
                pid,
                self._rank,
                int(local[1]) if local else None,
                head.cmdline,
                threads,
                self._line,
                self._end_line,
                head.reason,
                self._speaker,
            )
        )


def _with_main(threads: list[StackThread]) -> tuple[StackThread, ...]:
    """Mark the main thread where the tool does not name it: its outermost frame is the module's own code."""
    if any(t.is_main for t in threads):
        return tuple(threads)
    for i in reversed(range(len(threads))):
        if any(f.function in ("<module>", "main", "__libc_start_main", "_start") for f in threads[i].frames[:3]):
            threads[i] = replace(threads[i], is_main=True)
            break
    return tuple(threads)


def _read_pyspy_json(lines: Sequence[Line]) -> list[StackDump]:
    first = next((line for line in lines if line.raw.strip()), None)
    if first is None or not first.raw.lstrip().startswith("["):
        return []
    if not any('"thread_id"' in line.raw or '"frames"' in line.raw for line in lines[:40]):
        return []
    text = "\n".join(line.raw for line in lines)
    if len(text) > _JSON_CHARS:
        return []
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return []
    by_pid: dict[int, list[StackThread]] = {}
    for thread in body if isinstance(body, list) else []:
        if isinstance(thread, dict) and isinstance(thread.get("frames"), list) and isinstance(thread.get("pid"), int):
            by_pid.setdefault(thread["pid"], []).append(_json_thread(thread))
    end = lines[-1].number
    return [
        StackDump("py-spy-json", pid, first.prefix.rank, None, "", _with_main(by_pid[pid]), first.number, end, "", "")
        for pid in sorted(by_pid)
    ]


def _json_thread(thread: dict[str, object]) -> StackThread:
    name = str(thread.get("thread_name") or "")
    state = ("active" if thread.get("active") else "idle") + ("+gil" if thread.get("owns_gil") else "")
    printed = thread.get("frames")
    frames = [_json_frame(f) for f in printed if isinstance(f, dict)] if isinstance(printed, list) else []
    thread_id = str(thread.get("os_thread_id") or thread.get("thread_id") or "")
    return StackThread(name, thread_id, state, name == "MainThread", tuple(reversed(frames)))


def _json_frame(frame: dict[str, object]) -> StackFrame:
    line = frame.get("line")
    file = str(frame.get("short_filename") or frame.get("filename") or frame.get("module") or "")
    return StackFrame(str(frame.get("name") or "??"), file, line if isinstance(line, int) else None)
