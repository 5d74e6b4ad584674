"""How far each rank is at each look in, what changed out: who fell behind, who stopped, who goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..lines.record import record

LEAST_QUIET_S = 30.0  # a shorter pause is none: evaluation, a save, a slow disk
QUIET_FACTOR = 5.0  # a rank is quiet for so many of the longest pauses that it or another made before
LOOKS = 2  # in a row that a rank has to be behind
BEHIND_STEPS = 2  # fewer is the order in which ranks print


@record
class Change:
    """One thing to say: `kind` is stopped, behind, resumed; `step` is where these ranks are, `most` the farthest."""

    kind: str
    ranks: tuple[int, ...]
    step: int | None = None
    most: int | None = None
    quiet_s: float | None = None


@dataclass(slots=True)
class _Pace:
    step: int
    moved: float  # by the watcher's clock
    longest_s: float = 0.0  # between two looks at which it had moved
    behind: int = 0  # looks in a row
    said: str = ""  # the last that was said of it


class Standing:
    """Remembers how far each rank was, and when it was seen to move last."""

    def __init__(self, quiet_s: float | None = None) -> None:
        self._quiet_s = quiet_s  # None: by the job's own pace
        self._paces: dict[int, _Pace] = {}

    def look(self, steps: Mapping[int, int], now: float, over: frozenset[int] = frozenset()) -> list[Change]:
        """Yield what changed; `over`: ranks that ended or failed, of which no step is expected any more."""
        resumed = [rank for rank, step in steps.items() if self._move(rank, step, now)]
        most = max(steps.values(), default=0)
        limit_s = self._limit_s()
        said: dict[str, list[int]] = {"stopped": [], "behind": []}
        for rank, pace in sorted(self._paces.items()):
            pace.behind = pace.behind + 1 if most - pace.step >= BEHIND_STEPS else 0
            state = "stopped" if now - pace.moved >= limit_s else "behind" if pace.behind >= LOOKS else pace.said
            if rank not in over and state and state != pace.said:
                pace.said = state
                said[state].append(rank)
        changes = [Change("resumed", tuple(resumed), most=most)] if resumed else []
        return [*changes, *(change for kind, ranks in said.items() for change in self._changes(kind, ranks, most, now))]

    def _move(self, rank: int, step: int, now: float) -> bool:
        """Note a step; tell whether the rank had been said to have stopped."""
        pace = self._paces.get(rank)
        if pace is None:
            self._paces[rank] = _Pace(step, now)
            return False
        if step == pace.step:
            return False
        was_stopped = pace.said == "stopped"
        if not was_stopped:
            pace.longest_s = max(pace.longest_s, now - pace.moved)
        pace.step, pace.moved, pace.said = step, now, "" if was_stopped else pace.said
        return was_stopped

    def _limit_s(self) -> float:
        longest = max((pace.longest_s for pace in self._paces.values()), default=0.0)
        return self._quiet_s if self._quiet_s is not None else max(LEAST_QUIET_S, QUIET_FACTOR * longest)

    def _changes(self, kind: str, ranks: list[int], most: int, now: float) -> Iterator[Change]:
        """The ranks of one state, those at one step together, the farthest behind first."""
        for step in sorted(Counter(self._paces[rank].step for rank in ranks)):
            own = tuple(rank for rank in ranks if self._paces[rank].step == step)
            quiet_s = now - min(self._paces[rank].moved for rank in own)
            yield Change(kind, own, step, most, quiet_s)
