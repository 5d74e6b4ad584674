"""Logs quoted in Markdown: only what stands inside fences was printed by a run; prose merely mentions messages.

In: the lines of a pasted issue or an .md file. Out: the same number of lines, those outside fences blank. A paste that
stands behind a margin as a whole, `> ` of a reply or the four blanks of a code block, comes out without it.
"""

from __future__ import annotations

from ..lazy_pattern import lazy

# "```text", "~~~", also quoted ("> ```") or in a list; "```inline```" is no fence
_FENCE = lazy(rb"([ \t>]{0,16})(`{3,64}|~{3,64})([^`\n]{0,200})$")
# How a log line begins: a time, a bracketed prefix, a glog letter, a traceback; prose begins otherwise.
_LOG_LINE = lazy(
    rb"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[\w+\]|\[?rank\d|[IWEF]\d{4} \d\d:|Traceback \(most recent|  File \"|\x1b\["
    rb"|[\w.-]{1,64}:\d+:\d+ \[\d|\w+(?:Error|Exception|Warning): |\(\w+ pid=|srun: |slurmstepd|WARNING:|ERROR:"
)
# What no docstring holds: code that is indented as a whole only speaks of its exceptions.
_PRINTED = lazy(
    rb"\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?rank\d|\[default\d|[IWEF]\d{4} \d\d:|\[[IWEF] \w|Traceback \(most recent|"
    rb"File \"[^\"\n]+\", line \d|[\w.-]{1,64}:\d+:\d+ \[\d|\[\d+,\d+\]<std|\(\w+ pid=|srun: |slurmstepd|mpirun|"
    rb"(?:WARNING|ERROR|INFO)(?::\w| {2})|\d{1,3}%\||\{'loss'|\*\*\* \w|std(?:out|err): |iteration {2}|"
    rb"E[A-Z]\d{4}: |LAUNCH [A-Z]|"
    rb"[a-z][a-z-]{0,30}-?\d{1,4}: \S|\S{1,200}\.(?:cpp|cc|cu|hpp):\d+"
)
INDENT = 4  # columns that make a code block in Markdown
FEW = 3  # lines of a message that was copied alone, often with the blank before it
_NUDGED = lazy(rb" {1,3}(?!File \")\S")  # frames keep their columns
_PROSE_LINE = lazy(rb"(?:#{1,6} |[-*] )?[A-Z\xc3-\xe9][^\n]{1,200}")


class FenceMask:
    """Blanks the lines outside fences, block after block."""

    def __init__(self) -> None:
        self._fence = b""  # what closes the open fence; empty outside
        self._lead = b""  # what the fence stands behind in a list or a reply, and what it quotes with it
        self._is_page = False  # the open fence is a directive of a documentation page, which shows what could be printed

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines; those outside fences and the fences themselves are empty."""
        lines = data.split(b"\n")
        return b"\n".join([self._keep(line) for line in lines])

    def _keep(self, line: bytes) -> bytes:
        found = _FENCE.match(line.rstrip(b"\r")) if b"```" in line or b"~~~" in line else None
        if found is None:
            return self._without_lead(line) if self._fence and not self._is_page else b""
        fence, info = found[2], found[3].strip()
        if not self._fence:
            self._fence, self._is_page = fence, info.startswith(b"{")  # ```{code-block}, ```{pip-cli}: MyST, R Markdown
            self._lead = found[1]
        elif fence.startswith(self._fence) and not info:
            self._fence = b""
        else:
            return b"" if self._is_page else line  # "```python" inside a fence is text
        return b""

    def _without_lead(self, line: bytes) -> bytes:
        """Takes off what the fence stands behind: a traceback that a list quotes would pass for code otherwise."""
        if line.startswith(self._lead):
            return line[len(self._lead) :]
        if b">" in self._lead:
            return line.removeprefix(self._lead.rstrip())
        indent = len(line) - len(line.lstrip(b" \t"))
        return line[min(indent, len(self._lead)) :]


class Unquoting:
    """Takes the margin off a paste that has one, and blanks what stands outside its fences, block after block."""

    def __init__(self) -> None:
        self._margin: bytes | None = None  # as the first block has it
        self._mask: FenceMask | None = FenceMask()

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines."""
        if self._margin is None:
            self._margin = margin_of(data)
            if self._margin and not is_paste(_without(data, self._margin)):
                self._mask = None
        data = _without(data, self._margin)
        return data if self._mask is None else self._mask.feed(data)


def margin_of(text: bytes) -> bytes:
    """Gives what every line of a quoted paste begins with, `>` or blanks; nothing where some line does not."""
    lines = [line for line in text.split(b"\n") if line.strip()]
    if len(lines) > 1 and all(line.startswith(b">") for line in lines):
        return b">"
    if lines and lines[0].startswith((b"    ", b"\t")):
        margin = min((line[: len(line) - len(line.lstrip(b" \t"))] for line in lines), key=len)
        is_common = len(margin.expandtabs(4)) >= INDENT and all(line.startswith(margin) for line in lines)
        if is_common and any(_PRINTED.match(line.lstrip()) for line in lines):
            return margin
    elif 0 < len(lines) <= FEW and all(_NUDGED.match(line) for line in lines):
        return min((line[: len(line) - len(line.lstrip(b" "))] for line in lines), key=len)
    return b""


def _without(data: bytes, margin: bytes) -> bytes:
    if not margin:
        return data
    lines = [line.removeprefix(margin) for line in data.split(b"\n")]
    return b"\n".join([line.removeprefix(b" ") for line in lines] if margin == b">" else lines)


def may_quote(head: bytes, *, is_pasted: bool) -> bool:
    """Tells from its first bytes whether a text may be a quoted log: fences in what is pasted, or a margin."""
    return bool(margin_of(head)) or (is_pasted and has_fences(head))


def is_quoted(text: bytes) -> bool:
    """Tells a log behind a margin, and a pasted issue, from a log."""
    return bool(margin_of(text)) or is_paste(text)


def has_fences(text: bytes) -> bool:
    """Tells whether at least one line opens a fence."""
    return any(_FENCE.match(line.rstrip(b"\r")) for line in text.split(b"\n") if b"```" in line or b"~~~" in line)


def is_paste(text: bytes) -> bool:
    """Tells a pasted issue from a log that merely prints fences (a model's samples do).

    It has fences, all closed; outside them there is prose and not one line that looks logged.
    """
    if not has_fences(text):
        return False
    mask = FenceMask()
    kept = mask.feed(text).split(b"\n")
    outside = [line.strip() for line, inside in zip(text.split(b"\n"), kept, strict=True) if not inside]
    outside = [line for line in outside if line and not line.startswith((b"```", b"~~~"))]
    is_prose = not outside or any(_PROSE_LINE.match(line) for line in outside)
    return not mask._fence and is_prose and not any(_LOG_LINE.match(line) for line in outside)
