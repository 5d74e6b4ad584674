"""What C and C++ code prints when it dies: terminate, c10 stacks, glibc aborts, sanitizers, signal handlers.

In come the lines of a source, out comes one `NativeTrace` per death, put apart by speaker. A `Fatal Python error` is
here with its reason; its threads are in `stacks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from diagnose.prefixes import Line, Prefix, speaker_key
from diagnose.traces.traceback_lines import is_foreign

from ..lazy_pattern import lazy

_WHAT_CHARS = 8192
_FRAMES = 256
_NOISE_LINES = 5  # other writers' lines tolerated inside one trace


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """One native frame, innermost first in its trace; `where` is a library or `file:line`."""

    function: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """One death in native code; `what` is the text that says why, `exception` the C++ type where one was thrown."""

    line: int
    end_line: int
    kind: str
    what: str
    signal: str
    frames: tuple[NativeFrame, ...]
    speaker: str
    prefix: Prefix
    exception: str = ""


# kind, signal the process then dies of, how the first line reads (its group is what it says)
_OPENERS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    # terminate called after throwing an instance of 'c10::DistBackendError'
    ("terminate", "SIGABRT", lazy(r"^terminate called after throwing an instance of '(.{1,300})'")),
    ("terminate", "SIGABRT", lazy(r"^terminate called (without an active exception|recursively)")),
    # Exception raised from recvBytes at /pytorch/torch/csrc/distributed/c10d/Utils.hpp:679 (most recent call first):
    ("c10", "", lazy(r"^(Exception raised from .{1,600}? at .{1,600}?:\d{1,7} \(most recent call first\):)")),
    # double free or corruption (!prev) / free(): invalid pointer / malloc(): corrupted top size
    (
        "heap",
        "SIGABRT",
        lazy(
            r"^(?:\*\*\* Error in `[^']{1,300}': )?"
            r"((?:double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)|"
            r"(?:free|malloc|realloc|calloc|\w{1,12}_chunk|malloc_consolidate|tcache_\w{1,40})\(\): ).{0,200})"
        ),
    ),
    ("smash", "SIGABRT", lazy(r"^\*\*\* ((?:stack smashing|buffer overflow) detected) \*\*\*")),
    ("glibc", "SIGABRT", lazy(r"^(Fatal glibc error: .{1,300})")),
    # python: pthread_mutex_lock.c:94: ___pthread_mutex_lock: Assertion `mutex->__data.__owner == 0' failed.
    ("assert", "SIGABRT", lazy(r"^(\S{1,200}: \S{1,300}:\d{1,7}: [^`]{0,1500}Assertion [`'].{1,600}' failed\.)")),
    # ==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x60…
    (
        "sanitizer",
        "SIGABRT",
        lazy(r"^(?:==\d{1,9}==)?ERROR: ((?:Address|Leak|Memory|Thread)Sanitizer: .{1,400})"),
    ),
    # *** SIGSEGV received at time=1741933218 on cpu 40 ***
    ("signal", "", lazy(r"^\*\*\* (SIG[A-Z]{2,8}) received at time=\d")),
    # [gpu-07:4711] *** Process received signal ***
    ("openmpi", "", lazy(r"^(?:\[[^\]\s]{1,200}:\d{1,9}\] )?\*\*\* (Process received signal) \*\*\*")),
    # [gpu-07:4711:0:4711] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))
    ("ucx", "", lazy(r"^(?:\[[^\]\s]{1,200}\] )?Caught signal (\d{1,2} \(.{1,300}\))")),
    ("python", "", lazy(r"^Fatal Python error: (.{1,600})")),
    ("ray", "SIGABRT", lazy(r"^(\*\*\* StackTrace Information \*\*\*)")),
)
# One of these stands in every opener; looking for them is cheaper than trying the patterns.
_OPENER_WORDS = (
    "terminate called",
    "raised from",
    "(): ",
    "corrupt",
    "*** ",
    "glibc",
    "Assertion",
    "Sanitizer: ",
    "signal",
    "Fatal P",
)

_TAG = r"^(?:\[[^\]\s]{1,200}:\d{1,9}\] )?"  # Open MPI puts its own before each line
_FRAME_FORMS: tuple[re.Pattern[str], ...] = (
    # frame #3: c10d::TCPStore::doGet(std::string const&) + 0x22 (0x7f75 in /x/libtorch_cpu.so)
    lazy(r"^frame #\d{1,4}: (?P<f>.{1,2000}?) \+ 0x[0-9a-f]{1,16} \(0x[0-9a-f]{1,16} in (?P<w>.{1,600})\)\s*$"),
    # #3 c10::Error::Error(...) from ??:0   /   #0 0x7f in malloc (/usr/lib/libasan.so+0x3)
    lazy(r"^\s*#\d{1,4}:? (?:0x[0-9a-f]{1,16} )?(?:in )?(?P<f>.{1,2000}?) (?:from |\()(?P<w>[^\s()]{1,600})\)?\s*$"),
    #     #1 0x4f2c in collate(std::vector<int>&) /src/collate.cc:88      (AddressSanitizer)
    lazy(r"^\s*#\d{1,4} 0x[0-9a-f]{1,16} in (?P<f>.{1,1000}?) (?P<w>[^\s()]{1,600}:\d{1,9})\s*$"),
    # [ 3] /lib/libc.so.6(+0x43090)[0x7f03d5d43090]
    lazy(_TAG + r"\[ ?\d{1,3}\] (?P<w>[^\s(]{1,600})\((?P<f>[^)]{0,1000})\)\[0x[0-9a-f]{1,16}\]"),
    #     @     0x7f1184a42520       3456  (unknown)          PC: @ 0x7f..  (unknown)  raise
    lazy(r"^\s*(?:PC: )?@\s{1,40}0x[0-9a-f]{1,16}\s{1,40}(?:\d{1,9}\s{1,40})?(?P<f>\S.{0,1000})(?P<w>)$"),
    # /x/ray/_raylet.so(+0xc0a5aa) [0x7fb8] ray::operator<<()
    lazy(r"^(?P<w>/[^\s(]{1,600})\([^)]{0,1000}\) \[0x[0-9a-f]{1,16}\] ?(?P<f>.{0,1000})$"),
    #  0  /usr/lib/libucs.so.0(ucs_handle_error+0x2e4) [0x7f]          (UCX)
    lazy(r"^ {0,3}\d{1,3}\s{1,4}(?P<w>/[^\s(]{1,600})\((?P<f>[^)]{0,1000})\) ?\[0x[0-9a-f]{1,16}\]"),
    #   File "/a.py", line 519 in string_at                              (faulthandler)
    lazy(r'^  File "(?P<w>[^"]{1,1000}", line \d{1,9}) in (?P<f>.{1,400})$'),
)
_WHAT = lazy(r"^\s{1,8}what\(\):\s{0,4}(.*)$", re.DOTALL)
_SIGNAL_DETAIL = lazy(
    _TAG + r"(?:Signal: (?P<name>.{1,100}?) \(\d{1,2}\)|(?:Signal code|Failing at address|Associated errno): .*)$"
)
_PART = lazy(
    r"^(?:Current thread|Thread 0x|Stack \(most recent|  <no Python frame>|C\+\+ CapturedTraceback|"
    r"={4} backtrace|={10}|(?:READ|WRITE) of size|SUMMARY: |0x[0-9a-f]{1,16} is located|"
    r"(?:freed|previously allocated) by)"
)
_END = lazy(r"\*\*\* End of error message \*\*\*|^==\d{1,9}==ABORTING|^Extension modules: |^={20,60}$")
_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Bus error": "SIGBUS",
    "Floating": "SIGFPE",
    "Illegal instruction": "SIGILL",
    "Terminated": "SIGTERM",
    "Killed": "SIGKILL",
}


def find_native_traces(lines: Sequence[Line]) -> list[NativeTrace]:
    """Find every native death in the lines of one source, in the order of their first lines."""
    done: list[NativeTrace] = []
    opened: dict[str, list[_Open]] = {}
    for line in lines:
        text, key = line.message, speaker_key(line.prefix)
        mine = opened.get(key)
        if mine and _continue(mine, line.number, text, done):
            continue
        begun = _begin(line, text, key)
        if begun is not None:
            opened.setdefault(key, []).append(begun)
    for mine in opened.values():
        done.extend(trace.close() for trace in mine)
    return sorted(done, key=lambda trace: (trace.line, trace.end_line, trace.speaker))


@dataclass(slots=True)
class _Open:
    line: int
    kind: str
    what: str
    signal: str
    speaker: str
    prefix: Prefix
    end_line: int
    exception: str = ""
    frames: list[NativeFrame] = field(default_factory=list)
    in_what: bool = False
    noise: int = 0

    def close(self) -> NativeTrace:
        frames = tuple(self.frames)
        signal = self.signal or _signal_named_in(self.what)
        return NativeTrace(
            self.line, self.end_line, self.kind, self.what, signal, frames, self.speaker, self.prefix, self.exception
        )


def _signal_named_in(what: str) -> str:
    found = re.search(r"\bSIG[A-Z]{2,8}\b", what)
    if found:
        return found[0]
    return next((signal for words, signal in _SIGNALS.items() if words in what), "")


def _begin(line: Line, text: str, key: str) -> _Open | None:
    if not any(word in text for word in _OPENER_WORDS):
        return None
    for kind, signal, pattern in _OPENERS:
        if found := pattern.match(text):
            is_thrown = kind == "terminate" and "instance of" in text
            trace = _Open(line.number, kind, "" if is_thrown else found[1], signal, key, line.prefix, line.number)
            trace.exception = found[1] if is_thrown else ""
            return trace
    return None


def _continue(mine: list[_Open], number: int, text: str, done: list[NativeTrace]) -> bool:
    """Give the line to an open trace; those it ends move to `done`."""
    what = _WHAT.match(text)
    for trace in mine if what else mine[-1:]:
        # Ranks without a prefix print `terminate called` twice and then `what():` twice: the oldest without one has it.
        if _take(trace, number, text, what):
            return True
    if not text.strip():
        return True
    if _END.search(text) and mine:
        mine[-1].end_line = number
        done.append(mine.pop().close())
        return True
    for trace in mine[:]:
        trace.in_what = False
        trace.noise += 1
        if trace.noise > _NOISE_LINES:
            mine.remove(trace)
            done.append(trace.close())
    return False


def _take(trace: _Open, number: int, text: str, what: re.Match[str] | None) -> bool:
    if what is not None:
        if trace.kind != "terminate" or trace.what:
            return False
        trace.what, trace.in_what = what[1][:_WHAT_CHARS], True
        return _keep(trace, number)
    if frame := _read_frame(text):
        trace.in_what = False
        if len(trace.frames) < _FRAMES:
            trace.frames.append(frame)
        return _keep(trace, number)
    if detail := _SIGNAL_DETAIL.match(text):
        if detail["name"]:
            trace.what, trace.signal = detail["name"], _signal_named_in(detail["name"])
        return _keep(trace, number)
    if trace.kind == "terminate" and text.startswith("Exception raised from "):
        trace.in_what = False
        return _keep(trace, number)
    if trace.in_what and text.strip() and not is_foreign(text):
        trace.what = f"{trace.what}\n{text.rstrip()}"[:_WHAT_CHARS]
        return _keep(trace, number)
    return _PART.match(text) is not None and _keep(trace, number)


def _keep(trace: _Open, number: int) -> bool:
    trace.end_line = number
    trace.noise = 0
    return True


def _read_frame(text: str) -> NativeFrame | None:
    if "#" not in text and "0x" not in text and 'File "' not in text:
        return None
    for form in _FRAME_FORMS:
        if found := form.match(text):
            return NativeFrame(found["f"].strip(), found["w"].replace('", line ', ":"))
    return None
