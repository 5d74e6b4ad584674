"""Several runs in one folder, each in a folder of its own: where one began anew after another was over, they are two jobs.

Folders also part the hosts, the ranks, the streams and the days of one job. Its hosts, ranks and streams speak at one time;
and from day to day its steps go on. So two runs are told by what no single one does: their times lie apart, and a rank that
both show takes steps in the later one that it had taken before, or after a silence longer than any wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..lines.path_identity import PathIdentity
from .event import Event, SourceEvents

APART_S = 60.0  # within which the processes of one job say their last words
SILENCE_S = 6 * 3600.0  # longer than time-outs of collectives are set


@dataclass(slots=True)
class Run:
    """What lies in one folder: its files, its times, and by rank the first and the last step.

    A step that names nobody is left out: it may be another host's, whose clock is in another zone.
    """

    name: str
    sources: list[SourceEvents] = field(default_factory=list)
    begin: float = float("inf")
    end: float = float("-inf")
    steps: dict[int, tuple[int, int]] = field(default_factory=dict)
    attempts: set[int] = field(default_factory=set)  # that paths name: torchrun numbers the folders of its own

    def is_anew_after(self, earlier: Run) -> bool:
        """Whether a rank takes steps here, after the other run was over, that it had taken there, or took up after long."""
        both = self.steps.keys() & earlier.steps.keys()
        takes_anew = any(self.steps[rank][0] <= earlier.steps[rank][1] for rank in both)
        apart_s = self.begin - earlier.end
        are_numbered = self.attempts and earlier.attempts and not self.attempts & earlier.attempts
        return not are_numbered and apart_s > APART_S and (takes_anew or (bool(both) and apart_s > SILENCE_S))


def runs_by_folder(sources: Sequence[SourceEvents], identities: Mapping[str, PathIdentity]) -> list[Run]:
    """Return the runs in order of time; none where the folders may be parts of one job."""
    runs: dict[str, Run] = {}
    for source, folder in _folders(sources):
        run = runs.setdefault(folder, Run(folder))
        run.sources.append(source)
        identity = identities[source.name]
        run.attempts |= {identity.attempt} if identity.attempt is not None else set()
        _note(run, source, identity.rank)
    stepping = sorted((run for run in runs.values() if run.steps and run.begin <= run.end), key=lambda r: r.begin)
    are_apart = all(later.is_anew_after(earlier) for earlier, later in pairwise(stepping))
    return stepping if len(stepping) == len(runs) > 1 and are_apart else []


def _folders(sources: Sequence[SourceEvents]) -> Iterator[tuple[SourceEvents, str]]:
    """Yield each source that lies in a folder below the one that all share, with that folder's name."""
    paths = [s.name.replace("!", "/").split("/") for s in sources]
    shared = 0
    while all(len(p) > shared + 1 for p in paths) and len({p[shared] for p in paths}) == 1:
        shared += 1
    for source, path in zip(sources, paths, strict=True):
        if len(path) > shared + 1:
            yield source, path[shared]


def _note(run: Run, source: SourceEvents, rank: int | None) -> None:
    taken: dict[int, list[int]] = defaultdict(list)
    for event in source.all_events():
        if event.stamp is not None and event.stamp.has_date and event.stamp.has_year:
            run.begin, run.end = min(run.begin, event.stamp.seconds), max(run.end, event.stamp.seconds)
        step = event.fields.get("step")
        if event.rule.tells == "progress" and isinstance(step, int) and (who := _rank(event, rank)) is not None:
            taken[who].append(step)
    for who, steps in taken.items():
        first, last = run.steps.get(who, (steps[0], steps[0]))
        run.steps[who] = min(first, *steps), max(last, *steps)


def _rank(event: Event, of_file: int | None) -> int | None:
    stated = event.fields.get("rank")
    return stated if isinstance(stated, int) else event.speaker.rank if event.speaker.rank is not None else of_file
