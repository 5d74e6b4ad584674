"""The lines of a source in, a `StackDump` per process and moment out; frames outermost first, whatever tool made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_key
from .stack_forms import (
    AT,
    FORMS,
    StackDump,
    StackFrame,
    StackThread,
    read_native_frame,
    read_process,
    read_pyspy_frame,
    read_python_frame,
    read_thread,
    with_main,
)
from .traceback_lines import one_of

_NOISE_LINES = 3  # other writers' lines tolerated inside one dump
_RANK_LINES = 3  # `=== rank 3 pid 6891 ===` stands right above the dump
_FRAMES = 2000
_FORMS = tables(FORMS)
_RANK = lazy("(?i)^" + one_of(row["pattern"] for row in _FORMS["headings"]))
_PID = lazy(r"(?i)\bpid[ =:#]{0,3}(\d{1,9})\b")  # of a heading; several may stand above all dumps
_ANNOUNCED = lazy("(?i)" + _FORMS["announced"])
_ENDS = tuple(_FORMS["ends"])
_LOCAL_RANK = lazy(r"--local[-_]rank[= ](\d{1,5})\b")


def find_stacks(lines: Sequence[Line]) -> list[StackDump]:
    """Find every stack dump in the lines of one source, in the order of their first lines."""
    readers: dict[str, _Reader] = {}
    latest: dict[str, _Reader] = {}  # by who spoke, the rank aside: c10d names it above a stack, not at each frame
    are_several = sum(line.message.startswith("Current thread 0x") for line in lines) > 1
    above: Line | None = None
    for line in lines:
        key = speaker_key(line.prefix)
        reader = readers.get(key) or readers.setdefault(key, _Reader(key))
        reader = latest.get(key, reader) if line.prefix.rank is None and line.message.startswith("#") else reader
        latest[speaker_key(line.prefix._replace(rank=None))] = reader
        reader.feed(line, above if are_several else None)
        above = line
    dumps: list[StackDump] = []
    for reader in readers.values():
        reader.close()
        dumps.extend(reader.dumps)
    return sorted(dumps, key=lambda dump: (dump.line, dump.end_line, dump.speaker))


class _Reader:
    """The dump one speaker has open."""

    def __init__(self, speaker: str) -> None:
        self.dumps: list[StackDump] = []
        self._speaker = speaker
        self._dump: StackDump | None = None
        self._threads: list[tuple[StackThread, list[StackFrame]]] = []  # with the frames in printed order
        self._seen: set[str] = set()  # their ids: the first one to come again begins the next dump
        self._end_line = self._noise = 0
        self._heading: tuple[int, int] = (-1, -_RANK_LINES - 1)  # rank, line
        self._rank_of_pid: dict[int, int] = {}  # as headings tell that name both
        self._listed: set[int] = set()  # of those since the last dump: a list of several is no heading of the next one

    def feed(self, line: Line, above: Line | None = None) -> None:
        """Take a line, and of a log in which several processes dump their stacks the one above it, whoever wrote that."""
        text = line.message
        if process := read_process(text):
            self._begin_process(process, line)
        elif thread := read_thread(text):
            self._begin_announced(thread, above)
            self._begin_thread(thread, line)
        elif self._dump is not None:
            self._feed_open(text, line)
        elif text.startswith("#0 ") and (native := read_native_frame(text)):
            self._begin_thread(StackThread("gdb", is_main=True), line, native[1])
        else:
            self._read_heading(text, line)

    def _begin_process(self, process: StackDump, line: Line) -> None:
        before = self._dump
        if before is None or not process.form == before.form == "gdb" or self._threads:
            self._begin(process, line)
            return
        cmdline, reason = process.cmdline or before.cmdline, process.reason or before.reason
        self._dump = replace(before, pid=process.pid or before.pid, cmdline=cmdline, reason=reason)

    def _begin(self, dump: StackDump, line: Line) -> None:
        self.close()
        rank, number = self._heading
        told = rank if line.number - number <= _RANK_LINES and len(self._listed) < 2 else None
        if dump.pid is not None:
            told = self._rank_of_pid.get(dump.pid, told)
        told = told if line.prefix.rank is None else line.prefix.rank
        self._dump = replace(dump, rank=told, line=line.number, speaker=self._speaker)
        self._listed = set()
        self._end_line, self._noise = line.number, 0

    def _begin_thread(self, thread: StackThread, line: Line, *frames: StackFrame) -> None:
        is_second = thread.is_main and any(t.is_main for t, _ in self._threads)  # a dump has one main thread
        is_next = bool(self._threads) and (not thread.thread_id or thread.thread_id in self._seen)
        form = self._dump.form.partition("-")[0] if self._dump is not None else None
        if is_second or is_next or form != thread.form.partition("-")[0]:
            self._begin(StackDump(thread.form), line)
        self._threads.append((thread, [*frames]))
        self._seen.add(thread.thread_id)
        self._end_line, self._noise = line.number, 0

    def _begin_announced(self, thread: StackThread, above: Line | None) -> None:
        """End a dump that has its current thread where a record stands above the next one: another process begins there."""
        if above is None or not above.prefix.end or thread.form.partition("-")[0] != "faulthandler":
            return
        if self._dump is None or any(t.state == "current" for t, _ in self._threads):
            self.close()
            if above.prefix.rank is not None and _ANNOUNCED.search(above.message):  # `ERROR: no step for 60 s, dumping …`
                self._heading = (above.prefix.rank, above.number)

    def _feed_open(self, text: str, line: Line) -> None:
        if not text.strip():
            return
        if self._read_part(text):
            self._end_line, self._noise = line.number, 0
            return
        self._noise += 1
        if self._noise > _NOISE_LINES or text.startswith(_ENDS):
            self.close()
        self._read_heading(text, line)

    def _read_heading(self, text: str, line: Line) -> None:
        if found := _RANK.match(text):
            self.close()  # what stands below is another process's, whose tool may print no head of its own
            self._heading = (int(found[found.lastindex or 1]), line.number)
            if (pid := _PID.search(text)) is not None:
                self._rank_of_pid[int(pid[1])] = self._heading[0]
                self._listed.add(self._heading[0])

    def _read_part(self, text: str) -> bool:
        if not self._threads:
            form = self._dump.form if self._dump else ""
            if native := read_native_frame(text):
                self._threads.append((StackThread(form, is_main=True), [native[1]]))
            return bool(native) or form == "gdb" or text.startswith(("Python v", "Parent Process", "Python runtime state"))
        thread, frames = self._threads[-1]
        if native := read_native_frame(text):
            if native[0] == 0 and frames:
                return False
            frame: StackFrame | None = native[1]
        else:
            frame = read_pyspy_frame(text) if thread.form == "py-spy" else read_python_frame(text)
        if frame is not None:
            frames += [frame] if len(frames) < _FRAMES else []
            return True
        where = AT.search(text) if frames and thread.form == "gdb" else None
        if where is not None:  # wrapped by gdb
            frames[-1] = replace(frames[-1], file=where[1], line=int(where[2]))
        return text[0] in " \t"  # arguments and locals

    def close(self) -> None:
        """End the open dump, if it has any frame or says why the process died."""
        dump, opened = self._dump, self._threads
        self._dump, self._threads, self._seen = None, [], set()
        if dump is None or not (opened or (dump.form == "faulthandler" and dump.reason)):
            return
        # pystack alone prints the outermost frame first.
        threads = [replace(t, frames=tuple(frames if t.form == "pystack" else frames[::-1])) for t, frames in opened]
        pid = dump.pid if dump.pid is not None else next((t.pid for t in threads if t.pid is not None), None)
        local = int(found[1]) if (found := _LOCAL_RANK.search(dump.cmdline)) else None
        dump = replace(dump, pid=pid, local_rank=local, threads=with_main(threads), end_line=self._end_line)
        self.dumps.append(dump)
