"""Signs of life: the first and the last progress message (step, epoch, evaluation) of each speaker.

Only the first and the last part of a source is looked at, each candidate line by its start alone, and a speaker's
line is verified once at each end; what lies between changes nothing.
"""

from __future__ import annotations

import re
from collections import deque

from .matcher import Matcher, PatternTimeout, read_fields
from .prefixes import fast_speaker, read_lines
from .scan import Hit

REACH_BYTES = 4 << 20  # of a source's start and of its end
MAX_TRIES = 60  # lines of one speaker that hold a literal but match nothing, before it is left alone
LOOK_BYTES = 2048  # of a line
RANK = re.compile(rb"\b(?i:rank)[\s:=_]{0,2}(\d{1,6})")


class ProgressReader:
    """Fed blocks in order; yields for each speaker the first and last sign of life."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._first: dict[str, Hit] = {}
        self._seen_bytes = 0
        self._recent: deque[tuple[bytes, int]] = deque()
        self._recent_bytes = 0

    def feed(self, data: bytes, base: int) -> None:
        """Look at the block while near the start; remember it while it may be near the end."""
        if not self._matcher.literals:
            return
        if self._seen_bytes < REACH_BYTES:
            self._search(data, base, self._first, backward=False)
        self._seen_bytes += len(data)
        self._recent.append((data, base))
        self._recent_bytes += len(data)
        while len(self._recent) > 1 and self._recent_bytes - len(self._recent[0][0]) >= REACH_BYTES:
            self._recent_bytes -= len(self._recent.popleft()[0])

    def finish(self) -> dict[str, tuple[Hit, Hit]]:
        """Yield first and last sign of life by speaker, sorted."""
        last: dict[str, Hit] = {}
        for data, base in reversed(self._recent):
            self._search(data, base, last, backward=True)
        speakers = sorted(self._first.keys() | last.keys())
        return {
            s: (self._first.get(s, last[s]) if s in last else self._first[s], last.get(s) or self._first[s])
            for s in speakers
        }

    def _search(self, data: bytes, base: int, found: dict[str, Hit], *, backward: bool) -> None:
        tries: dict[str, int] = {}
        ends = self._matcher.find(data)
        for stop, literal in reversed(ends) if backward else ends:
            start = max(data.rfind(b"\n", 0, stop), data.rfind(b"\r", 0, stop)) + 1
            head = data[start : start + LOOK_BYTES]
            speaker = progress_speaker(head)
            if speaker in found or tries.get(speaker, 0) > MAX_TRIES:
                continue
            hit = self._verify(data, base, start, literal)
            if hit:
                found[speaker] = hit
            else:
                tries[speaker] = tries.get(speaker, 0) + 1

    def _verify(self, data: bytes, base: int, start: int, literal: int) -> Hit | None:
        ends = [e for e in (data.find(b"\n", start), data.find(b"\r", start)) if e >= 0]
        raw = data[start : min([*ends, start + LOOK_BYTES, len(data)])]
        number = base + data.count(b"\n", 0, start) + 1
        for owner in self._matcher.owners[literal]:
            candidate = self._matcher.candidates[owner]
            for segment, line in enumerate(read_lines(number, raw.decode("utf-8", "replace"))):
                try:
                    match = self._matcher.verify(candidate.form, line.message)
                except PatternTimeout:
                    continue
                if match:
                    fields = read_fields(candidate.rule, match.groupdict())
                    fields["~text"] = line.raw[:400]
                    return Hit(candidate.rule.id, candidate.index, number, segment, fields)
        return None


def progress_speaker(head: bytes) -> str:
    """Who speaks, from the start of a line: its prefix and the rank that it names."""
    rank = RANK.search(head[:200])
    return (fast_speaker(head[:256]) + (b"|" + rank.group(1) if rank else b"")).decode("utf-8", "replace")
