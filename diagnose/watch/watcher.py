"""Logs that grow in, a line for each change out, and at the end the same report as of a finished job.

Clock and pause are given, so that a test decides how time passes. A look may take `CPU_SHARE` of a core: after one that
took longer the pause is longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..engine import reduce, tell
from ..job.event import Event
from ..lines.rank_ranges import named_ranks
from ..lines.record import record
from ..report.phrases import clip, one_line
from ..report.redaction import without_secrets
from ..report.report import Report
from ..report.translation import Translator
from .growth import GrowingFiles

CPU_SHARE = 0.02  # of one core
MAX_PAUSE_S = 60.0
SETTLED_S = 60.0  # nothing is added for so long after the job ended: there is no more to come
MAX_TEXT = 160  # characters of a log's line
MAX_KNOWN = 100_000  # errors, by rule, file and rank
OVER = ("failed", "healthy", "recovered")


@record
class Said:
    """One change: `kind` is file, error, stopped, behind, resumed or ended; `place` is file:line."""

    kind: str
    text: str
    ranks: tuple[int, ...] = ()
    place: str = ""
    step: int | None = None
    cause: str = ""


class Watcher:
    """Follows one job."""

    def __init__(
        self, files: GrowingFiles, translator: Translator, quiet_s: float | None = None,
        interval_s: float = 2.0, clock: Callable[[], float] = time.monotonic, cpu: Callable[[], float] = time.process_time,
    ) -> None:  # fmt: skip
        self.files, self.translator, self.interval_s = files, translator, interval_s
        self.clock, self.cpu = clock, cpu
        self._standing = Standing(quiet_s)
        self._known: set[tuple[str, str, int | None]] = set()  # errors said: rule, file, rank
        self._names: set[str] = set()
        self._grew, self._spent_s = clock(), 0.0  # when, and of the processor, by the last look
        self._outcome = ""
        self._steps: dict[int, int] = {}
        self._ended: frozenset[int] = frozenset()

    def look(self) -> list[Said]:
        """Read what was added; yield what changed."""
        began = self.cpu()
        grown, now = self.files.read_on(), self.clock()
        self._grew = now if grown else self._grew
        said = [Said("file", f"following {name}", place=name) for name in grown if name not in self._names]
        self._names.update(grown)
        if self._names:
            said += self._changes(now, bool(grown))
        self._spent_s = self.cpu() - began
        return said

    def pause_s(self) -> float:
        """Yield how long to wait before the next look."""
        return min(max(self.interval_s, self._spent_s / CPU_SHARE), MAX_PAUSE_S)

    def is_over(self) -> bool:
        """Tell whether the job ended, and nothing was added for a while."""
        return self._outcome in OVER and self.clock() - self._grew >= SETTLED_S

    def report(self) -> Report:
        """Yield the report on everything so far, as of a finished job."""
        return tell(self.files.scan(), self.files.catalogue, translator=self.translator)

    @property
    def has_read(self) -> bool:
        """Whether any line was read."""
        return bool(self._names)

    def _changes(self, now: float, grew: bool) -> Iterator[Said]:
        if grew:
            found = reduce(self.files.scan(), self.files.catalogue)
            ranks, failures = found.job.ranks, found.job.failures()
            self._outcome = found.verdict.outcome
            self._steps = {rank: p.last_step for rank, p in ranks.items() if p.last_step is not None}
            failed = {event.rank for event in failures if event.rank is not None}
            self._ended = frozenset(failed | {rank for rank, process in ranks.items() if process.finished})
            yield from self._errors(failures)
        yield from self._standing.look(self._steps, now, self._ended)

    def _errors(self, failures: Sequence[Event]) -> Iterator[Said]:
        """The errors that were not said yet: those of one rule in one line."""
        new: dict[str, list[Event]] = {}
        for event in failures:
            key = (event.rule.id, event.source, event.rank)
            if key not in self._known and len(self._known) < MAX_KNOWN:
                self._known.add(key)
                new.setdefault(event.rule.id, []).append(event)
        for events in new.values():
            first, ranks = events[0], {e.rank for e in events if e.rank is not None}
            line = without_secrets(clip(one_line(first.text.partition("\n")[0]), MAX_TEXT), privacy=False)
            who = f" ({named_ranks(ranks)})" if ranks else ""
            text = f"{self.translator.title(first.rule)}{who}: {line}"
            yield Said("error", text, tuple(sorted(ranks)), f"{first.source}:{first.line}", cause=first.cause or "")


# --- how far each rank is: who fell behind, who stopped, who goes on -------------------------------------------------

LEAST_QUIET_S = 30.0  # a shorter pause is none: evaluation, a save, a slow disk
QUIET_FACTOR = 5.0  # a rank is quiet for so many of the longest pauses that it or another made before
LOOKS = 2  # in a row that a rank has to be behind
BEHIND_STEPS = 2  # fewer is the order in which ranks print


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

    def look(self, steps: Mapping[int, int], now: float, over: frozenset[int] = frozenset()) -> Iterator[Said]:
        """Yield what changed; `over`: ranks that ended or failed, of which no step is expected any more."""
        resumed = [rank for rank, step in steps.items() if self._move(rank, step, now)]
        most = max(steps.values(), default=0)
        longest_s = max((pace.longest_s for pace in self._paces.values()), default=0.0)
        limit_s = self._quiet_s if self._quiet_s is not None else max(LEAST_QUIET_S, QUIET_FACTOR * longest_s)
        said: dict[str, list[int]] = {"stopped": [], "behind": []}
        for rank, pace in sorted(self._paces.items()):
            pace.behind = pace.behind + 1 if most - pace.step >= BEHIND_STEPS else 0
            state = "stopped" if now - pace.moved >= limit_s else "behind" if pace.behind >= LOOKS else pace.said
            if rank not in over and state and state != pace.said:
                pace.said = state
                said[state].append(rank)
        if resumed:
            yield Said("resumed", f"{named_ranks(resumed)} {'goes' if len(resumed) == 1 else 'go'} on", tuple(resumed))
        for kind, ranks in said.items():
            yield from self._changes(kind, ranks, most, now)

    def _move(self, rank: int, step: int, now: float) -> bool:
        """Note a step; tell whether the rank had been said to have stopped."""
        pace = self._paces.setdefault(rank, _Pace(step, now))
        if step == pace.step:
            return False
        was_stopped = pace.said == "stopped"
        if not was_stopped:
            pace.longest_s = max(pace.longest_s, now - pace.moved)
        pace.step, pace.moved, pace.said = step, now, "" if was_stopped else pace.said
        return was_stopped

    def _changes(self, kind: str, ranks: list[int], most: int, now: float) -> Iterator[Said]:
        """The ranks of one state, those at one step together, the farthest behind first."""
        for step in sorted({self._paces[rank].step for rank in ranks}):
            own = tuple(rank for rank in ranks if self._paces[rank].step == step)
            said = f"{'is' if len(own) == 1 else 'are'} behind at step {step}"
            if kind == "stopped":
                quiet_s = now - min(self._paces[rank].moved for rank in own)
                said = f"printed no step for {quiet_s:.0f} s, since step {step}"
            others = f"; the farthest reached step {most}" if most != step else ""
            yield Said(kind, f"{named_ranks(own)} {said}{others}", own, step=step)
