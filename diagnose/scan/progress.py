"""Signs of life: the first and the last progress message (step, epoch, evaluation) of each speaker.

Step lines are too many to look at each. All are within EXACT_BYTES of a part's start and end; in between, each so many-th
block is read backward from its end until every speaker that is alive was seen. One that is not there any more is looked
for in the blocks before, so that one that falls silent is noticed at its last message, and one that speaks rarely is
seen at least at the ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from itertools import groupby, islice

from .kept import Hit
from .passages import TextBlock
from .progress_lines import LOOK_BYTES, SPEAKER_BYTES, ProgressLines

EXACT_BYTES = 16 << 10  # of a part's start and of its end
CHUNKS_BYTES = (4 << 10, 16 << 10, 64 << 10, 256 << 10)  # a block is read backward in such steps
STRIDE = 32  # blocks: each so many-th is looked at, the others where a speaker is missed
MAX_TRIES = 30  # lines of one speaker in one block that hold a literal but match nothing, before it is left alone
MAX_FAILURES = 200  # the same over all blocks; then it is looked for near the start and the end only
MAX_SPEAKERS = 200_000


class ProgressReader:
    """Fed blocks in order; yields for each speaker the first and last sign of life."""

    def __init__(self, lines: ProgressLines) -> None:
        self._lines = lines
        self._first: dict[str, Hit] = {}
        self._last: dict[str, Hit] = {}
        self._alive: set[str] = set()  # who spoke in the latest block that held progress
        self._seen_bytes = 0
        self._unseen: list[TextBlock] = []  # blocks since the last look
        self._failures: dict[str, int] = {}  # by speaker, in the blocks between start and end
        self._heard: dict[str, list[int]] = {}  # by speaker: where its lines with a literal begin, near the start
        self._searched = 0  # bytes near the start
        self._gave_up = False  # on a speaker there
        self._recent: deque[TextBlock] = deque()  # EXACT_BYTES of them
        self._recent_bytes = 0

    def feed(self, block: TextBlock) -> None:
        """Look at the block's end now and then, and at all of it near the start."""
        size = len(block.data)
        known = len(self._first)
        if self._seen_bytes < EXACT_BYTES:
            end = block.data.rfind(b"\n", 0, EXACT_BYTES - self._seen_bytes) + 1 or size
            heard = self._heard if size <= EXACT_BYTES else None  # of a longer source the end is searched anyway
            self._search(block, (0, end), self._first, backward=False, heard=heard)
            self._searched = end
        fresh = set(list(self._first)[known:]) if len(self._first) > known else set()
        self._alive |= fresh
        self._recent.append(block)
        self._recent_bytes += size
        self._seen_bytes += size
        self._unseen.append(block)
        if self._seen_bytes > EXACT_BYTES and (fresh or len(self._unseen) >= STRIDE):
            self._look()
        while len(self._recent) > 1 and self._recent_bytes - len(self._recent[0].data) >= EXACT_BYTES:
            self._recent_bytes -= len(self._recent.popleft().data)

    def _look(self) -> None:
        """See who is alive in the latest block, and when those were last who are not."""
        missing = set(self._alive)
        alive = None
        while self._unseen and (missing or alive is None):
            found = self._backward(self._unseen.pop(), missing)
            alive = found if alive is None else alive
            missing -= found
        self._unseen.clear()
        self._alive = alive if alive is not None else self._alive

    def finish(self) -> dict[str, tuple[Hit, Hit]]:
        """Yield first and last sign of life by speaker, sorted."""
        if self._seen_bytes > EXACT_BYTES:  # else all of it is near enough to the end
            self._look()
        found = self._last_heard()
        for speaker, hit in (self._near_end() if found is None else found).items():
            self._keep_last(speaker, hit)
            self._first.setdefault(speaker, hit)
        return {s: (self._first[s], self._last.get(s, self._first[s])) for s in sorted(self._first)}

    def _near_end(self) -> dict[str, Hit]:
        found: dict[str, Hit] = {}
        left = EXACT_BYTES
        for block in reversed(self._recent):
            start = block.data.rfind(b"\n", 0, max(len(block.data) - left, 0)) + 1
            self._search(block, (start, len(block.data)), found, backward=True)
            left -= len(block.data)
            if left <= 0:
                break
        return found

    def _last_heard(self) -> dict[str, Hit] | None:
        """What `_near_end` finds in a short source, all of which was searched from its start; None where that cannot tell.

        Thousands of short files, one for each rank, are what a large job leaves; to search them twice takes twice as long.
        """
        if self._seen_bytes > EXACT_BYTES or len(self._recent) != 1:
            return None
        block, found = self._recent[0], dict[str, Hit]()
        if self._searched < len(block.data):
            self._search(block, (self._searched, len(block.data)), self._first, backward=False, heard=self._heard)
        if self._gave_up:
            return None
        for speaker in self._first:
            for start, _ in islice(groupby(reversed(self._heard[speaker]), block.line_start), MAX_TRIES + 1):
                own: dict[str, Hit] = {}
                self._search(block, (start, block.line_end(start)), own, backward=True)
                if speaker in own:
                    found[speaker] = own[speaker]
                    break
        return found

    def _backward(self, block: TextBlock, expected: set[str]) -> set[str]:
        found: dict[str, Hit] = {}
        end = len(block.data)
        for chunk in (*CHUNKS_BYTES, len(block.data)):
            start = block.data.rfind(b"\n", 0, max(end - chunk, 0)) + 1
            self._search(block, (start, end), found, backward=True, failures=self._failures)
            end = start
            if end == 0 or (found and expected <= found.keys()):
                break
        if found.keys() - self._first.keys():
            self._search(block, (0, len(block.data)), self._first, backward=False, wanted=found.keys())
        for speaker, hit in found.items():
            self._keep_last(speaker, hit)
        return set(found)

    def _keep_last(self, speaker: str, hit: Hit) -> None:
        old = self._last.get(speaker)
        if (old is None and len(self._last) < MAX_SPEAKERS) or (old is not None and old.line <= hit.line):
            self._last[speaker] = hit

    def _search(
        self,
        block: TextBlock,
        span: tuple[int, int],
        found: dict[str, Hit],
        *,
        backward: bool,
        failures: dict[str, int] | None = None,
        heard: dict[str, list[int]] | None = None,
        wanted: Set[str] | None = None,
    ) -> None:
        """Look for the first sign of life of each speaker in a span; `wanted`: nobody else is looked for."""
        tries: dict[str, int] = {s: MAX_TRIES + 1 for s, n in (failures or {}).items() if n > MAX_FAILURES}
        data, (start, end) = block.data, span
        ends = self._lines.find(memoryview(data)[start:end])
        done, asked = -1, set[int]()  # where the line begins that was looked at last, and for which literals
        line, line_end = 0, -1  # the line of the last literal: one of a megabyte may hold 200,000
        known, known_end = 0, -1  # the line of a speaker that needs no other
        speaker_of = self._lines.speaker
        is_parted = block.has_returns()
        for stop, literal in reversed(ends) if backward else ends:
            at = start + stop
            if known < at <= known_end:
                continue
            if not line < at <= line_end:
                line, line_end = _line_around(data, start, at)
            begin, stop_at = line, min(line_end, at + LOOK_BYTES)
            if is_parted and data.find(b"\r", begin, stop_at) >= 0:
                begin, stop_at = _piece_around(data, at, begin, stop_at)
            speaker = speaker_of(data[begin : min(stop_at, begin + SPEAKER_BYTES)])
            if heard is not None:
                heard.setdefault(speaker, []).append(begin)
                self._gave_up |= tries.get(speaker, 0) > MAX_TRIES
            if speaker in found or len(found) >= MAX_SPEAKERS or tries.get(speaker, 0) > MAX_TRIES:
                known, known_end = begin, stop_at
                continue
            asked = asked if begin == done else set()
            hit = self._lines.verify(block, begin, literal) if literal not in asked else None
            asked.add(literal)
            if hit:
                found[speaker] = hit
                if wanted is not None and wanted <= found.keys():
                    return
            elif begin != done:
                tries[speaker] = tries.get(speaker, 0) + 1
                if failures is not None and speaker not in self._alive and len(failures) < MAX_SPEAKERS:
                    failures[speaker] = failures.get(speaker, 0) + 1
            done = begin


def _line_around(data: bytes, start: int, at: int) -> tuple[int, int]:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", start, at) + 1 or start, end if end >= 0 else len(data)


def _piece_around(data: bytes, at: int, begin: int, end: int) -> tuple[int, int]:
    """Where what is looked at around `at` begins and ends in a line that a bar's updates part."""
    begin = max(data.rfind(b"\r", max(begin, at - LOOK_BYTES), at) + 1, begin)
    carriage = data.find(b"\r", at, end)
    return begin, carriage if carriage >= 0 else end
