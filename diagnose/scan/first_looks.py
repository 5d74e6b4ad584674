"""What the native library sees of texts of one length at its first look, and where in a sample that misleads it.

It sorts texts by their lengths and ends into eight groups; those of one length share theirs equally. Of a place it asks
first only whether each byte, with low bits of the next, is one that some text of a group has so far before its end
(hyperscan's `fdr_compile.cpp`), and looks closer where that is so: there it takes some nanoseconds more. How many places
pass is counted as it counts them, each set of places as the bits of one number.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import accumulate

BUCKETS = 8  # that the library has for texts of all lengths
LOW_BITS = 31  # of the next byte
NOWHERE = math.log(0.2)  # how rare a pair is that the sample lacks


class Places:
    """Where a sample has which bytes, as the library sees them."""

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

    def rarities(self, text: bytes, size: int) -> list[float]:
        """Yield for each part of so many bytes the less, the rarer its bytes are."""
        weights = self._weights
        pairs = [weights.get((text[at], text[at + 1] & LOW_BITS), NOWHERE) for at in range(len(text) - 1)]
        sums = [0.0, *accumulate(pairs)]
        return [stop - start for start, stop in zip(sums, sums[size - 1 :], strict=False)]


class Groups:
    """The library's groups of texts, and where one of each may end for all that its bytes tell."""

    def __init__(self, likely: Iterable[bytes], count: int, ends: dict[bytes, list[int]]) -> None:
        """`likely`: texts among which the borders of so many groups lie as among those that will be taken; `ends`: of
        any text, as `Places` has them."""
        backward = sorted(text[::-1] for text in likely)
        self._borders = [backward[len(backward) * n // count] for n in range(1, count)]
        self._ends = ends
        self._union = {group: [0] * len(backward[0]) for group in range(count)}
        self._passing = dict.fromkeys(range(count), 0)

    def passing(self) -> int:
        """Yield how many places pass."""
        return sum(self._passing.values())

    def cost(self, text: bytes) -> int:
        """Yield how many more would if this text were taken."""
        group = self._group_of(text)
        both = -1
        for held, new in zip(self._union[group], self._ends[text], strict=True):
            both &= held | new
        return both.bit_count() - self._passing[group]

    def take(self, text: bytes) -> None:
        """Take a text into its group."""
        group = self._group_of(text)
        self._passing[group] += self.cost(text)
        self._union[group] = [held | new for held, new in zip(self._union[group], self._ends[text], strict=True)]

    def _group_of(self, text: bytes) -> int:
        return bisect(self._borders, text[::-1])


def group_count(lengths: Mapping[int, int]) -> int:
    """Yield how many groups the library makes of the longest texts, from how many texts there are of each length.

    It weighs a group by how many texts are in it and how short the shortest is (`assignStringsToBuckets`).
    """
    sizes = sorted(lengths.items())

    @cache
    def best(index: int, buckets: int) -> tuple[float, int]:
        """The least weight of the texts from one length on, and how many groups the longest ones get."""
        if index == len(sizes) or not buckets:
            return (0.0 if index == len(sizes) else math.inf), 0
        found, together = [], 0
        for last in range(index, len(sizes)):  # one group for several lengths
            together += sizes[last][1]
            rest, groups = best(last + 1, buckets - 1)
            found.append((_weight(sizes[index][0], together) + rest, groups or 1))
        for count in range(2, buckets + 1):  # several groups for one length
            rest, groups = best(index + 1, buckets - count)
            found.append((count * _weight(sizes[index][0], sizes[index][1] / count) + rest, groups or count))
        return min(found)

    return best(0, BUCKETS)[1]


def _weight(shortest: int, texts: float) -> float:
    return float(texts**1.05 * shortest**-3.0)
