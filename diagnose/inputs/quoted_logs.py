"""Logs quoted in Markdown: only what stands inside fences was printed by a run; prose merely mentions messages.

In: the lines of a pasted issue or an .md file. Out: the same number of lines, those outside fences blank.
"""

from __future__ import annotations

from ..lazy_pattern import lazy

# "```text", "~~~", also quoted ("> ```") or in a list; "```inline```" is no fence
_FENCE = lazy(rb"[ \t>]{0,16}(`{3,64}|~{3,64})([^`\n]{0,200})$")
# How a log line begins: a time, a bracketed prefix, a glog letter, a traceback; prose begins otherwise.
_LOG_LINE = lazy(
    rb"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[\w+\]|\[?rank\d|[IWEF]\d{4} \d\d:|Traceback \(most recent|  File \"|\x1b\["
    rb"|[\w.-]{1,64}:\d+:\d+ \[\d|\w+(?:Error|Exception|Warning): |\(\w+ pid=|srun: |slurmstepd|WARNING:|ERROR:"
)
_PROSE_LINE = lazy(rb"(?:#{1,6} |[-*] )?[A-Z\xc3-\xe9][^\n]{1,200}")


class FenceMask:
    """Blanks the lines outside fences, block after block."""

    def __init__(self) -> None:
        self._fence = b""  # what closes the open fence; empty outside
        self._is_page = False  # the open fence is a directive of a documentation page, which shows what could be printed

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines; those outside fences and the fences themselves are empty."""
        lines = data.split(b"\n")
        return b"\n".join([self._keep(line) for line in lines])

    def _keep(self, line: bytes) -> bytes:
        found = _FENCE.match(line.rstrip(b"\r")) if b"```" in line or b"~~~" in line else None
        if found is None:
            return line if self._fence and not self._is_page else b""
        fence, info = found[1], found[2].strip()
        if not self._fence:
            self._fence, self._is_page = fence, info.startswith(b"{")  # ```{code-block}, ```{pip-cli}: MyST, R Markdown
        elif fence.startswith(self._fence) and not info:
            self._fence = b""
        else:
            return b"" if self._is_page else line  # "```python" inside a fence is text
        return b""


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
