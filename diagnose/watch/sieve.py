"""What was added to a log in, the pieces that are worth a scan out: around words of errors, and the latest lines.

Of a healthy run most lines are steps and chatter. To look for errors' words alone takes a tenth of a scan, and of steps
only the latest counts here; the lines in between are counted, so that numbers stay right.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher
from ..catalogue.rule import Rule
from ..scan.scan_rules import MARKS, mark_rule

SMALL_BYTES = 8 << 10  # of what is worth reading as a whole
BEFORE_BYTES, AFTER_BYTES = 8 << 10, 16 << 10  # around a word: who speaks, and the rest of what it begins
LATEST_BYTES, VOICE_BYTES = 2 << 10, 256  # the last steps: so much, and so much more for each who prints any
DULL = (None, "progress", "identity", "fact")  # what context tells of, and the start of a log is read for


class Sieve:
    """Finds the words of causes, tracebacks, ends and phases."""

    def __init__(self, catalogue: Catalogue) -> None:
        marks = [mark_rule(name, literals) for name, literals in MARKS.items()]
        self._find = Matcher([*(rule for rule in catalogue.rules.values() if _is_telling(rule)), *marks]).find

    def pieces(self, data: bytes, voices: int) -> Iterator[tuple[bytes, bool]]:
        """Yield the text in pieces of whole lines, each with whether it is worth a scan; `voices` print steps in it."""
        done = 0
        for start, stop in self._spans(data, LATEST_BYTES + voices * VOICE_BYTES):
            if start > done:
                yield data[done:start], False
            yield data[start:stop], True
            done = stop

    def _spans(self, data: bytes, latest_bytes: int) -> list[tuple[int, int]]:
        """Where pieces that are worth it begin and end, in order; the last ends with the text."""
        size = len(data)
        if size <= SMALL_BYTES:
            return [(0, size)]
        found: list[tuple[int, int]] = []
        for at in [*(end for end, _ in self._find(data)), size]:
            first = size - latest_bytes if at == size else at - BEFORE_BYTES
            start = data.rfind(b"\n", 0, max(first, 0)) + 1
            stop = data.find(b"\n", at + AFTER_BYTES) + 1 or size
            if found and start <= found[-1][1]:
                start, stop = found[-1][0], max(stop, found[-1][1])
                found.pop()
            found.append((start, stop))
        return found


def _is_telling(rule: Rule) -> bool:
    is_broad = rule.generic and rule.match == "traceback"  # `Error`, where a traceback's head tells the same
    return not is_broad and (rule.role not in ("context", "harmless") or rule.tells not in DULL)
