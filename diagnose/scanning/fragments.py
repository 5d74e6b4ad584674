"""Chooses short texts one of which stands in each of thousands of literals, so that few of them must be looked for.

The native library sorts texts of one length by their ends into groups of equal size. Of a place it asks first only
whether each byte, with low bits of the next, is one that some text of a group has so far before its end (hyperscan's
`fdr_compile.cpp`), and looks closer where that is so. How many places pass is counted on a sample, each set of places
as the bits of one number: what a choice costs is how many more will.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ..matcher import Literal

FRAGMENT_BYTES = 6  # shorter ones stand in more lines, longer ones in fewer literals
TEXT_BYTES = 16 << 10  # of the sample, on which costs are counted
GROUPS = 4  # that the library makes of these texts; it has eight, and the shortest literals take the others
LOW_BITS = 15  # of the next byte
RAREST, SHARED = 3, 4  # considered are so many parts of each literal, and what stands in so many literals
SHARING = 0.7  # how much it counts there in how many literals a part stands
NOWHERE = math.log(0.2)  # how rare a pair is that the sample lacks
PLACE_COST = 6  # what one more place that passes costs, in literals that a fragment covers
CHOICE = (FRAGMENT_BYTES, TEXT_BYTES, GROUPS, LOW_BITS, RAREST, SHARED, SHARING, PLACE_COST)  # another choice asks anew

_Owners = dict[bytes, set[int]]  # by part: the numbers of the literals that it stands in


def covers(fragments: Sequence[Literal], literals: Sequence[Literal]) -> bool:
    """Tell whether one of the fragments stands in each literal, so that none can be missed."""
    size, known = FRAGMENT_BYTES, set(fragments)
    texts = {x.text for x in fragments if not x.folded}
    return all(
        x in known or (not x.folded and any(x.text[at : at + size] in texts for at in range(len(x.text) - size + 1)))
        for x in literals
    )


def choose_fragments(literals: Sequence[Literal], sample: Sequence[bytes]) -> list[Literal]:
    """Yield texts one of which stands in each literal, as few as a greedy choice finds, that the sample lacks."""
    whole = {x for x in literals if x.folded or len(x.text) <= FRAGMENT_BYTES}
    texts = [x.text for x in literals if x not in whole]
    seen = {part for text in sample for part in _parts(text)}
    owners: _Owners = defaultdict(set)
    for number, text in enumerate(texts):
        for part in _parts(text):
            if part not in seen:
                owners[part].add(number)
    left = set(range(len(texts)))
    chosen = _cover(owners, left, _Places(b"".join(x[: TEXT_BYTES // len(sample)] for x in sample)))
    whole |= {Literal(texts[number], folded=False) for number in left}
    return sorted(whole | {Literal(part, folded=False) for part in chosen})


def _parts(text: bytes) -> Iterable[bytes]:
    return (text[at : at + FRAGMENT_BYTES] for at in range(len(text) - FRAGMENT_BYTES + 1))


class _Places:
    """Where a text has which bytes, as the library sees them."""

    def __init__(self, text: bytes) -> None:
        found: dict[tuple[int, int], bytearray] = defaultdict(lambda: bytearray(len(text) // 8 + 1))
        for at in range(len(text) - 1):
            found[text[at], text[at + 1] & LOW_BITS][at >> 3] |= 1 << (at & 7)
        self._pairs = {pair: int.from_bytes(bits, "little") for pair, bits in found.items()}
        self._weights = {pair: math.log(bits.bit_count()) for pair, bits in self._pairs.items()}
        self._shifted: dict[tuple[int, int, int], int] = {}
        self._bytes: dict[int, int] = defaultdict(int)
        for (byte, _), bits in self._pairs.items():
            self._bytes[byte] |= bits

    def ends(self, part: bytes) -> list[int]:
        """Yield for each byte of a part, the last one first, where the part may end for all that this byte tells."""
        places = range(len(part) - 2, -1, -1)
        behind = [self._behind(part[at], part[at + 1] & LOW_BITS, far) for far, at in enumerate(places, 1)]
        return [self._bytes.get(part[-1], 0), *behind]

    def _behind(self, byte: int, low_bits: int, far: int) -> int:
        """Thousands of parts share a few sets."""
        key = (byte, low_bits, far)
        found = self._shifted.get(key)
        if found is None:
            found = self._shifted[key] = self._pairs.get((byte, low_bits), 0) << far
        return found

    def rarity(self, part: bytes) -> float:
        """Yield the less, the rarer the bytes of a part are."""
        weights = self._weights
        return sum(weights.get((part[at], part[at + 1] & LOW_BITS), NOWHERE) for at in range(len(part) - 1))


def _cover(owners: _Owners, left: set[int], places: _Places) -> list[bytes]:
    """Choose parts until nothing is left that any of them covers; what they cover leaves `left`."""
    if not owners:
        return []
    parts, group_of = _considered(owners, places)
    ends = {part: places.ends(part) for part in parts}
    union: dict[int, list[int]] = {}  # by group: where one of its parts may end, for all that each byte tells
    passing: dict[int, int] = {}  # how many places pass

    def joined(part: bytes, group: int) -> list[int]:
        held = union.get(group)
        return [a | b for a, b in zip(held, ends[part], strict=True)] if held else ends[part]

    def worth(part: bytes) -> float:
        group = group_of(part)
        more = _passing(joined(part, group)) - passing.get(group, 0)
        return len(owners[part] & left) / (1 + PLACE_COST * more)

    heap = [(-worth(part), part) for part in parts]
    heapq.heapify(heap)
    chosen: list[bytes] = []
    while heap and left:
        part = heapq.heappop(heap)[1]
        if left.isdisjoint(owners[part]):
            continue
        now = worth(part)
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, part))
            continue
        chosen.append(part)
        left -= owners[part]
        group = group_of(part)
        union[group] = joined(part, group)
        passing[group] = _passing(union[group])
    return chosen


def _passing(ends: list[int]) -> int:
    both = ends[0]
    for places in ends[1:]:
        both &= places
    return both.bit_count()


def _considered(owners: _Owners, places: _Places) -> tuple[set[bytes], Callable[[bytes], int]]:
    """The parts that a choice is made of, and to which group of the library's one will likely belong."""
    by_owner: dict[int, list[tuple[float, bytes]]] = defaultdict(list)
    for part, numbers in owners.items():
        rank = (places.rarity(part) - SHARING * math.log(len(numbers)), part)
        for number in numbers:
            by_owner[number].append(rank)
    parts = {part for part, numbers in owners.items() if len(numbers) >= SHARED}
    for ranks in by_owner.values():
        parts.update(part for _, part in heapq.nsmallest(RAREST, ranks))
    ends = sorted({min(ranks)[1][::-1] for ranks in by_owner.values()})
    borders = [ends[len(ends) * n // GROUPS] for n in range(1, GROUPS)]
    return parts, lambda part: bisect(borders, part[::-1])
