"""Finds thousands of literals by some hundred fragments of them, which takes half the time.

A line that holds no fragment holds no literal; one that does is looked at for literals, so what is found is the same.
Which fragments are rare is learnt from what was read: none is taken that stood in it. What was learnt is kept in the
user's cache, since the next log is of the same kind. Where lines with fragments turn out common all the same, it is
learnt anew, once; then, or where the log is short, the literals are looked for themselves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..catalogue.automaton import FindApart, Found, Literal, automaton_apart, name_in_cache
from ..catalogue.cache import can_tell_owner, read_trusted, write_own
from .fragments import CHOICE, choose_fragments

LEARN_BYTES = 64 << 20  # so much is read before fragments are chosen: choosing costs as much as reading that saves
RECALL_BYTES = 4 << 20  # so much before those of an earlier run are taken, which is cheap
SAMPLE_EVERY, SAMPLE_BYTES = 1 << 20, 1 << 10  # so much of so much, to know what healthy lines hold
MAX_LINES = 32  # with fragments in one block, before looking at each costs more than it saves
MAX_COARSE = 32  # such blocks more than others, before the fragments are given up


class Sieve:
    """Yields what `find_all` does: (end, number) of all `literals`, and apart from them of the `others`.

    `is_lasting`: the next run will look for the same; what was learnt is kept for it.
    """

    def __init__(
        self, find_all: FindApart, literals: Sequence[Literal], others: Sequence[Literal], *, is_lasting: bool = False
    ) -> None:
        self._find_all = find_all
        self._literals = literals
        self._others = others
        self._memory = _Memory(literals) if is_lasting and can_tell_owner() else None
        self._narrow: FindApart | None = None
        self._sample: list[bytes] = []
        self._read = 0  # bytes since learning began
        self._may_recall = self._may_learn = True
        self._coarse = 0
        self._dense = 0  # blocks full of literals more than others: there no fragment would be rare

    def find(self, data: bytes) -> tuple[Found, Found]:
        """Yield (end, number) pairs of literals, in order of their ends, and of the others."""
        if self._narrow is None:
            found, others = self._find_all(data)
            if self._may_learn:
                self._learn(data, len(found))
            return found, others
        found, others = self._narrow(data)
        lines = self._lines(data, found)
        if lines is None:
            self._coarse += 1
            if self._coarse > MAX_COARSE:
                self._narrow = None
            return self._find_all(data)
        self._coarse = max(0, self._coarse - 1)
        return self._in_lines(data, lines), others

    def _learn(self, data: bytes, hits: int) -> None:
        self._read += len(data)
        self._dense += 1 if hits > MAX_LINES else -1
        if self._read >= len(self._sample) * SAMPLE_EVERY:
            middle = len(data) // 2
            self._sample.append(data[middle : middle + SAMPLE_BYTES])
        if self._may_recall and self._read >= RECALL_BYTES:
            self._may_recall = False
            fragments = self._memory.recall() if self._memory and self._dense < 0 else None
            if fragments:
                self._narrow_to(fragments)
        elif self._read >= LEARN_BYTES:
            self._may_learn = False
            if self._dense < 0:
                fragments = choose_fragments(self._literals, self._sample, self._others)
                if self._memory:
                    self._memory.keep(fragments)
                self._narrow_to(fragments)

    def _narrow_to(self, fragments: Sequence[Literal]) -> None:
        self._narrow = automaton_apart(fragments, self._others, is_lasting=self._memory is not None)
        self._sample.clear()
        self._read = self._coarse = self._dense = 0

    def _lines(self, data: bytes, found: Found) -> list[tuple[int, int]] | None:
        """The lines that hold fragments; None where these are many."""
        lines: list[tuple[int, int]] = []
        stop = -1
        for end, _ in found:
            if end <= stop:
                continue
            if len(lines) >= MAX_LINES:
                return None
            stop = data.find(b"\n", end)
            stop = len(data) if stop < 0 else stop
            lines.append((data.rfind(b"\n", 0, end) + 1, stop))
        return lines

    def _in_lines(self, data: bytes, lines: list[tuple[int, int]]) -> Found:
        """The literals in these lines, which are looked at in one go."""
        if not lines:
            return []
        found = []
        rest = iter(lines)
        start, stop = next(rest)
        shift = start  # from a place among these lines to its own
        for end, number in self._find_all(b"\n".join([data[a:b] for a, b in lines]))[0]:
            while end + shift > stop:
                shift -= stop + 1
                start, stop = next(rest)
                shift += start
            found.append((end + shift, number))
        return found


class _Memory:
    """The fragments that the latest run learnt for these literals, in the user's cache."""

    def __init__(self, literals: Sequence[Literal]) -> None:
        self._name = name_in_cache("fragments", literals, CHOICE)

    def recall(self) -> list[Literal] | None:
        stored = read_trusted(self._name)  # one that is missing would hide what it stands for
        try:
            rows = json.loads(stored) if stored else None
            return [Literal(text.encode("latin-1"), folded) for text, folded in rows] if rows else None
        except (ValueError, TypeError, AttributeError):  # kept by another version
            return None

    def keep(self, fragments: Sequence[Literal]) -> None:
        rows = [(x.text.decode("latin-1"), x.folded) for x in fragments]
        write_own(self._name, json.dumps(rows).encode())
