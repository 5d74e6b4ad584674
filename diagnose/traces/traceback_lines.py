"""The grammar of one traceback line: header, frame, exception, chain sentence, end of a message.

In comes the text of a message, out comes what it is; nothing here remembers the line before. It exists so that
the assembly, which does remember, stays readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from ..lines.lazy_pattern import lazy
from ..lines.record import record

HeaderForm = Literal["plain", "group", "rich", "ipython", "original", "elastic-box"]

_HEADER_WORDS = "Traceback (most recent call last)"
# What stands for frames that somebody left out.
ELIDED = ("...", "…", "[...]", "[…]", "(...)", "<...>", "<snip>", "[snip]", "....", ".....")
_PATH_CHARS = 1000  # Linux refuses paths beyond 4096; tracebacks never come near


@record
class Frame:
    """One frame: where the code stands, and its source line where the traceback shows it."""

    file: str
    line: int
    function: str
    code: str = ""

    @property
    def told(self) -> tuple[str, str]:
        """What a rule may ask for: `file in function`, and the same with `: code` behind it."""
        where = f"{self.file} in {self.function}"
        return where, f"{where}: {self.code}"


def told_frames(frames: Sequence[Frame]) -> Iterator[str]:
    """Yield what a rule may ask for of frames in printed order; of the last also that the exception was raised at it."""
    for frame in frames:
        yield from frame.told
    if frames:
        yield from (f"raised at {words}" for words in frames[-1].told)


@record
class Header:
    """The line a traceback begins with; `indent` is the column its exception line will stand in."""

    form: HeaderForm
    indent: int
    rank: int | None = None  # whose exception it is, where another rank prints it
    lead: str = ""  # a label no table knows, which the other lines carry too: `[trainer0|0]:Traceback (most …`


_BOX = lazy(r"^(\s*)(?:[\u256d\u250c+][\u2500\-]{1,400}) ?Traceback \(most recent call last\) ?[\u2500\-]{1,400}")
# `KeyError                                  Traceback (most recent call last)` below 75 dashes.
_IPYTHON = lazy(r"^[A-Za-z_][\w.]{0,120}\s{2,200}Traceback \(most recent call last\)\s*$")
# `  traceback : Traceback (most recent call last):` in torchelastic's failure summary.
_ELASTIC = lazy(r"^(\s*)traceback\s{0,8}: Traceback \(most recent call last\):\s*$")
# `Traceback (most recent call last): (RANK 0)` in torch.distributed.checkpoint's CheckpointException.
_RANKED = lazy(r"Traceback \(most recent call last\): \(RANK (\d{1,7})\)\s*$")


# What ends like a label, and is no progress bar.
_LABEL = lazy(r"^[^%<\n]{1,120}[\]:|>)] ?$")


def read_header(text: str) -> Header | None:
    """Read the line a traceback begins with; None for any other line."""
    return _read_known_header(text) if _HEADER_WORDS in text else None


@lru_cache(128)
def _read_known_header(text: str) -> Header | None:
    indent = indent_of(text)
    if _IPYTHON.match(text):
        return Header("ipython", 0)
    if _BOX.match(text) or _ELASTIC.match(text):
        return Header("elastic-box" if "traceback" in text else "rich", indent)
    if (ranked := _RANKED.search(text)) is not None:
        return Header("original", indent, int(ranked[1]))
    if not text.rstrip().endswith(_HEADER_WORDS + ":"):
        return None
    begin = text[indent:]
    if begin.startswith("Original Traceback"):
        return Header("original", indent)
    if "Exception Group Traceback" in text:
        return Header("group", indent)
    if begin.startswith("Traceback"):
        return Header("plain", indent)
    # A progress bar may stand in front: `100%|####| 4/4 [00:40<00:00]Traceback (most recent call last):`
    lead = text[: text.rindex(_HEADER_WORDS)]
    return Header("plain", 0, lead=lead if _LABEL.match(lead) else "")


def indent_of(text: str) -> int:
    """Count the leading blanks."""
    return len(text) - len(text.lstrip())


# The margin that an ExceptionGroup draws, and the rule above each of its members.
GROUP_MARGIN = lazy(r"^(\s*)(?:\|(?: (.*))?|(\+-\+?-{3,}.*))$", re.DOTALL)
GROUP_MEMBER = lazy(r"^\+-(\+)?-{3,60} (?:\d{1,9}|\.\.\.) -{3,60}$")
# `  File "train.py", line 36, in step`; a SyntaxError's has no `in`. faulthandler's has no comma and is not ours.
_FRAME = lazy(rf'^\s*File "([^"\n]{{1,{_PATH_CHARS}}})", line (\d{{1,9}})(?:, in (.{{1,400}}))?\s*$')
_CARETS = lazy(r"^[\s~^]+$")


def read_frame(text: str) -> Frame | None:
    """Read a `File "…", line N, in f` line."""
    return _known_frame(text) if 'File "' in text else None


@lru_cache(512)
def _known_frame(text: str) -> Frame | None:
    """The same, remembered: thousands of ranks stand in the same frames."""
    found = _FRAME.match(text)
    return Frame(found[1], int(found[2]), (found[3] or "").strip()) if found else None


def is_caret_line(text: str) -> bool:
    """Say whether the line only underlines the one above (`    ~~~~^^^^^`)."""
    return _CARETS.match(text) is not None


# `Cell In[3], line 2, in f(x)`, `File ~/train.py:36, in step(self)`; before 8 `<ipython-input-3-ab> in <module>`
_CELL = lazy(r"^\s*(?:Input )?(Cell In ?\[\d{1,6}\]), line (\d{1,9})(?:, in (.{1,300}))?\s*$")
_IPYTHON_FILE = lazy(r"^File ([^:\n]{1,1000}):(\d{1,9})(?:, in (.{1,300}))?\s*$")
_IPYTHON_OLD = lazy(r"^(<ipython-input-[^>]{1,80}>|[~/][^\n]{1,800}?\.pyx?) in (.{1,300})$")
_ARROW = lazy(r"^-{1,8}> ?(\d{1,9})\s?(.*)$")


def read_ipython_frame(text: str) -> Frame | None:
    """Read the head of an IPython frame; older forms give the line only at the arrow (line 0 here)."""
    found = _CELL.match(text) or _IPYTHON_FILE.match(text)
    if found:
        return Frame(found[1], int(found[2]), (found[3] or "").partition("(")[0].strip())
    old = _IPYTHON_OLD.match(text)
    return Frame(old[1], 0, old[2].partition("(")[0].strip()) if old else None


def read_arrow(text: str) -> tuple[int, str] | None:
    """Read IPython's `----> 3 code` line as line number and code."""
    found = _ARROW.match(text)
    return (int(found[1]), found[2].strip()) if found else None


_NAME = lazy(
    r"^((?:(?:[A-Za-z_]\w{0,80}|<locals>)\.){0,14}[A-Za-z_]\w{0,120}(?:\([\w.]{1,120}\))?)(?::(?: (.*))?)?$", re.DOTALL
)
_STRONG = lazy(
    r"(?:Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|TimedOut|Warning|Iteration|ExceptionGroup|"
    r"RemoteTraceback|NotFound|NotImplemented|Killed|Died|TimeoutExpired|OutOfResources|Unavailable|Forbidden|Exhausted|\.error|\.timeout|\.gaierror|\.Empty|\.Full|"
    r"\.(?:exc|exceptions?|errors?)\.[A-Z]\w{0,80})$"
)

# Several processes that print the same at once: `RuntimeErrorRuntimeError: : CUDA out of memory.`, and with a third one
# `RuntimeErrorRuntimeError: RuntimeErrorNCCL error in: …`
_GLUED = lazy(r"^((?:\w{1,60}\.){0,8}[A-Za-z]\w{0,80}?(?:Error|Exception))\1{1,15}(?:: ?)(?:: ?|\1){0,31}")


@record
class ExceptionLine:
    """`torch.OutOfMemoryError: CUDA out of memory.` taken apart; `is_sure` when the name can be nothing else."""

    name: str
    message: str
    is_sure: bool
    is_bare: bool = False  # without the colon, which Python prints before every message, also one that begins a line below


def read_exception(text: str) -> ExceptionLine | None:
    """Read the line that names the exception; None when the text cannot be one."""
    return None if not text or text[0] in " \t[({'\"0123456789-=#" else _read_exception(text)


@lru_cache(256)
def _read_exception(text: str) -> ExceptionLine | None:
    """The same, remembered: most ranks end by the same words, and each line is read more than once."""
    glued = _GLUED.match(text) if text.find("Error", text.find("Error") + 1) > 0 else None
    text = f"{glued[1]}: {text[glued.end() :]}" if glued else text
    found = _NAME.match(text.rstrip("\r\n\t "))
    if found is None:
        return None
    name, message = found[1], found[2] or ""
    if message.endswith("`") and message.count("`") % 2:
        message = message.rstrip("`")  # Markdown's, which stood before the first line of what is quoted
    bare = name.partition("(")[0]
    last = bare.rpartition(".")[2]
    is_bare = found.end(1) == found.end()
    if _STRONG.search(bare) and bare not in ("Error", "Warning", "Failed", "Killed", "Exit", "Timeout"):
        return ExceptionLine(name, message, True, is_bare)
    has_case = last[0].isupper() and any(c.islower() for c in last)
    if ("." in bare and not text.endswith(".")) or (has_case and ":" in text):
        return ExceptionLine(name, message, False, is_bare)
    return None


_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def read_chain(text: str) -> Literal["cause", "context"] | None:
    """Read the sentence between two chained tracebacks."""
    stripped = text.strip()
    if stripped == _CAUSE:
        return "cause"
    return "context" if stripped == _CONTEXT else None


# What stands on the line before a header, and says what prints the traceback.
_INTRODUCTIONS = (
    ("E", "thread", lazy(r"^\s*Exception in thread .{1,200}?:\s*$")),
    ("P", "process", lazy(r"^\s*Process \S{1,100}(?: .{0,60})?:\s*$")),
    ("-", "spawn", lazy(r"^\s*-- Process \d{1,7} terminated with the following error:\s*$")),
    ("E", "ignored", lazy(r"^\s*Exception ignored (?:in|while calling deallocator|on)[ :]+.{0,400}?:?\s*$")),
    ("-", "logging", lazy(r"^\s*--- Logging error ---\s*$")),
    ("ft<T", "asyncio", lazy(r"^\s*(?:future: |task: )?(?:<Task .{1,400}>|Task exception was never retrieved)\s*$")),
)
_INTRODUCTIONS_BY_START = {
    start: tuple(row[1:] for row in _INTRODUCTIONS if start in row[0]) for starts, *_ in _INTRODUCTIONS for start in starts
}


def read_introduction(text: str) -> str:
    """Read `Exception in thread …:`, `Process …:` and their like as the traceback's form; empty for other lines."""
    rows = _INTRODUCTIONS_BY_START.get(text.lstrip()[:1], ())
    return next((form for form, pattern in rows if pattern.match(text)), "")


# torch.distributed.rpc raises anew what its callee raised: this as the message, its repr and its traceback below. A future
# raises it as a RuntimeError, `RuntimeError: ValueError: On WorkerInfo(…`, and a KeyError's message quoted and escaped.
_CALLEE = lazy(r"(?:[\w.]{1,120}: ['\"]?)?On WorkerInfo\(id=\d{1,6}, name=[^\n]{1,120}?\):(?:\\n[^\n]{0,4000})?$")


def introduces_inner(text: str, message: str) -> bool:
    """Say whether what a child or a callee raised follows, by a line below a message and that message so far."""
    is_of_child = "-- Process " in text and read_introduction(text) == "spawn"
    return is_of_child or _CALLEE.match(message) is not None


# Lines of a plain console that are never the continuation of an exception's message.
_FOREIGN = lazy(
    r"^(?:\s{0,40}\d{1,3}%\||\[?\d{4}[-/]\d\d[-/]\d\d|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b|"
    r"[IWEF]\d{3,4} \d\d:|\[[IWEF](?:\d{3,4})? |\[rank\d|\(\w[\w.: ]{0,80} pid=\d|\{'|"
    r"(?:srun|slurmstepd\S{0,80}|sbatch|wandb|mpirun|prterun|make|bash|sh|torchrun|kill|timeout):|"
    r"(?:Killed|Aborted|Terminated|Segmentation fault|Bus error|Done)\b|terminate called |Fatal Python error|"
    r"Process \S{1,100}:$|Exception (?:in thread|ignored)|Extension modules:|\*\*\* |\*{10}|[-=]{20}|"
    r"\s{2,24}\"timestamp\": \"\d|"
    r"\[Rank \d[\d, ]{0,200}(?: Error Snippet)?\]:$|"
    r"\s{2,16}\"[A-Za-z_]\w{0,40}\": [\"{\[\d]|"  # the next key of the JSON that the traceback stands in
    r"Traceback \(most|(?:step|iter|epoch|Epoch|Step|Iteration)\b[ :=\[]|\S{1,400}:\d{1,9}: \w{1,60}Warning:|"
    r"`{3}|Root Cause \(first|Failures:|\[\d{1,7}\]:$|Train(?:ing)?\b.{0,40}\d{1,3}%|"
    r"\S{1,100}:\d{1,9}:\d{1,9} \[\d{1,3}\] )|\d(?:it/s|s/it)\b"
)
# Lines that continue a message even after a blank line.
_RESUMES = lazy(
    r"^(?:\s|Exception raised from |frame #\d|C\+\+ CapturedTraceback|CUDA kernel errors|For debugging consider|"
    r"Compile with|Device-side assert|Last error|from user code|Set TORCH|You can suppress|-- Process \d|ray::|"
    r"\"\"\"|The full |Search for|HINT|Hint|Note: |Please |If |Detected at node |\d{1,3} root error\(s\) found|"
    r"encountered:|CUDA runtime API error |CUDA allocation failed)"
)
GRAPH_ERROR = "Graph execution error:"  # of TensorFlow; where the graph was made stands before what went wrong
_GRAPH_FRAME = lazy(r"^ {4}(?:File \"| {2}\S)")


def is_foreign(text: str) -> bool:
    """Say whether a line cannot continue a message, because it has a log's or a launcher's face."""
    return _FOREIGN.search(text) is not None


def resumes_message(text: str) -> bool:
    """Say whether a line after a blank one still belongs to the message above."""
    return _RESUMES.match(text) is not None


def is_graph_frame(text: str) -> bool:
    """Say whether a line below `Graph execution error:` tells where an operation was made."""
    return _GRAPH_FRAME.match(text) is not None
