"""Chooses short texts one of which stands in each of thousands of literals, so that few of them must be looked for.

Of the texts that would do, those are taken at which the native library has to look closer least, as `first_looks`
counts it on a sample.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set

from ..catalogue.automaton import Literal
from .first_looks import LOW_BITS, Groups, Places, group_count

FRAGMENT_BYTES = 7  # shorter ones stand in more lines, longer ones in fewer literals
TEXT_BYTES = 16 << 10  # of the sample, on which costs are counted
ROUNDS = 2  # of choosing: where the borders of the library's groups lie shows only once there is a choice
RAREST, SHARED = 6, 4  # considered are so many parts of each literal, and what stands in so many literals
SHARING = 0.7  # how much it counts there in how many literals a part stands
PLACE_COST = 6  # what one more place that passes costs, in literals that a fragment covers
RUNS = frozenset(bytes([n]) * FRAGMENT_BYTES for n in range(256))  # `0000000`: a line of zeros holds a million of them
CHOICE = ("no runs", FRAGMENT_BYTES, TEXT_BYTES, LOW_BITS, ROUNDS, RAREST, SHARED, SHARING, PLACE_COST)  # another asks anew

_Owners = dict[bytes, set[int]]  # by part: the numbers of the literals that it stands in


def choose_fragments(literals: Sequence[Literal], sample: Sequence[bytes], others: Sequence[Literal] = ()) -> list[Literal]:
    """Yield texts one of which stands in each literal, as few as a greedy choice finds, that the sample lacks.

    `others`: what is looked for in the same pass.
    """
    seen = {part for text in sample for part in _parts(text)} | RUNS
    whole = {x for x in literals if x.folded or len(x.text) <= FRAGMENT_BYTES or seen.issuperset(_parts(x.text))}
    texts = [x.text for x in literals if x not in whole]
    owners: _Owners = defaultdict(set)
    for number, text in enumerate(texts):
        for part in _parts(text):
            if part not in seen:
                owners[part].add(number)
    places = Places(b"".join(x[: TEXT_BYTES // len(sample)] for x in sample))
    chosen = _best(texts, owners, places, {x.text for x in (*whole, *others)})
    return sorted(whole | {Literal(part, folded=False) for part in chosen})


def _parts(text: bytes) -> Iterable[bytes]:
    return (text[at : at + FRAGMENT_BYTES] for at in range(len(text) - FRAGMENT_BYTES + 1))


def _best(texts: Sequence[bytes], owners: _Owners, places: Places, anyway: set[bytes]) -> list[bytes]:
    """Choose parts several times, each time with the groups' borders that the time before has led to.

    `anyway`: what is looked for whatever is chosen.
    """
    if not texts:
        return []
    considered, chosen = _considered(texts, owners, places)
    fixed = [text for text in anyway if len(text) == FRAGMENT_BYTES]
    ends = {part: places.ends(part) for part in considered.union(fixed)}

    def groups(taken: Iterable[bytes]) -> Groups:
        lengths = Counter(min(len(text), FRAGMENT_BYTES) for text in anyway.union(chosen))
        made = Groups([*fixed, *chosen], group_count(lengths), ends)
        for part in taken:
            made.take(part)
        return made

    choices = []
    for _ in range(ROUNDS):
        chosen = _cover(owners, considered, groups(fixed))
        choices.append((groups([*fixed, *chosen]).passing(), chosen))
    return min(choices)[1]


def _considered(texts: Sequence[bytes], owners: _Owners, places: Places) -> tuple[set[bytes], list[bytes]]:
    """The parts that a choice is made of, and the best one of each text for itself."""
    considered = {part for part, numbers in owners.items() if len(numbers) >= SHARED}
    best = []
    for text in texts:
        rarities = zip(places.rarities(text, FRAGMENT_BYTES), _parts(text), strict=True)
        ranks = [(rarity - SHARING * math.log(len(owners[part])), part) for rarity, part in rarities if part in owners]
        rarest = heapq.nsmallest(RAREST, ranks)
        considered.update(part for _, part in rarest)
        best.append(rarest[0][1])
    return considered, best


def _cover(owners: _Owners, parts: Set[bytes], groups: Groups) -> list[bytes]:
    """Choose parts, which the groups take, until each literal that any of them covers is covered."""
    left = {number for part in parts for number in owners[part]}

    def worth(part: bytes) -> float:
        return len(owners[part] & left) / (1 + PLACE_COST * groups.cost(part))

    heap = [(-worth(part), part) for part in parts]
    heapq.heapify(heap)
    chosen: list[bytes] = []
    while left:
        part = heapq.heappop(heap)[1]
        if left.isdisjoint(owners[part]):
            continue
        now = worth(part)
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, part))
            continue
        chosen.append(part)
        left -= owners[part]
        groups.take(part)
    return chosen
