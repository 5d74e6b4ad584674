"""What a report is made of, as frozen values whose names are the keys of the contract. Times are RFC 3339 strings."""

from __future__ import annotations

from typing import Literal

from ..advice.statement import Evidence, RemedyStep
from ..lines.record import record

Outcome = Literal["failed", "hung", "healthy", "recovered", "unfinished"]
Certainty = Literal["certain", "likely", "possible"]


@record
class Culprit:
    """Who is at fault: a rank, or a host (`rank` is then None); `why` is one sentence."""

    rank: int | None = None
    host: str | None = None
    local_rank: int | None = None
    gpu: int | None = None
    pid: int | None = None
    why: str = ""


@record
class Reason:
    """Why the verdict is no surer: a name of `verdict/certainty.yaml`, and the same in words."""

    name: str = ""
    text: str = ""


@record
class Diagnosis:
    """The one root cause, or `unknown` with the most telling lines; the first evidence is what an expert points at."""

    cause: str = "unknown"
    title: str = ""
    summary: str = ""
    confidence: float = 0.0
    certainty: Certainty = "possible"
    culprits: tuple[Culprit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[RemedyStep, ...] = ()
    owner: str = ""
    restart: str = ""
    references: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()


@record
class Link:
    """One step of the chain of consequences: cause `from_` (JSON key `from`) brought about `to` on `ranks`."""

    from_: str = ""
    to: str = ""
    why: str = ""
    ranks: tuple[int, ...] = ()
    delay_s: float | None = None


@record
class Alternative:
    """Another cause that could have been the root, and why it was not chosen."""

    cause: str = ""
    title: str = ""
    culprits: tuple[Culprit, ...] = ()
    why_not: str = ""
    evidence: tuple[Evidence, ...] = ()


@record
class Symptom:
    """One message, folded over ranks: `count` times (or more, where `at_least`); `explained_by` is a cause id."""

    cause: str | None = None
    title: str = ""
    rule: str | None = None
    ranks: tuple[int, ...] = ()
    count: int = 0
    at_least: bool = False
    first: Evidence | None = None
    explained_by: str | None = None


@record
class TimelineEntry:
    """One thing that happened; `layer` is the first part of the cause's id, `ref` is `file:line`.

    `after_s` counts from the first entry with a time: it is known where no year, and so no `time`, is. `time_is` is
    `earliest` or `latest` where the line prints none, and that of a line near it is only a bound. `since` is when what
    ended at `time` began (a wait), `until` when what began at `time` ended (a save), or the last ranks said the same.
    `is_late`: printed after what it brought about. `attempt`: of an earlier attempt.
    """

    time: str | None = None
    ranks: tuple[int, ...] = ()
    host: str | None = None
    layer: str = ""
    cause: str | None = None
    rule: str | None = None
    text: str = ""
    ref: str | None = None
    after_s: float | None = None
    time_is: str = ""
    since: str | None = None
    waited_s: float | None = None
    until: str | None = None
    is_late: bool = False
    attempt: int | None = None


@record
class FirstFailure:
    """The first error of one rank; `ref` is `file:line`."""

    cause: str | None = None
    rule: str | None = None
    time: str | None = None
    ref: str | None = None


@record
class RankRow:
    """What is known of one rank; `rank_from` and `host_from` say how; `phase` is what it last began and did not end."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    pid: int | None = None
    state: str = ""
    last_step: int | None = None
    first_time: str | None = None
    last_time: str | None = None
    first_failure: FirstFailure | None = None
    rank_from: str = ""
    host_from: str = ""
    step_time: str | None = None
    phase: str = ""


@record
class LastLine:
    """Where ranks (or a file, where no rank is known) stopped: the last line of one of them; `is_behind` the others."""

    ranks: tuple[int, ...] = ()
    host: str | None = None
    file: str = ""
    line: int | None = None
    text: str = ""
    step: int | None = None
    phase: str = ""
    time: str | None = None
    is_behind: bool = False


@record
class CollectiveRow:
    """How far one rank got in one process group, by sequence number; `sizes` are numbers of elements (in, out)."""

    group: str = ""
    rank: int | None = None
    stuck: int | None = None
    enqueued: int | None = None
    completed: int | None = None
    op: str | None = None
    sizes: tuple[int, ...] = ()
    verdict: str = ""


@record
class StackGroup:
    """Ranks with the same stack, outermost frame first; `count` is the number of threads or processes."""

    ranks: tuple[int, ...] = ()
    frames: tuple[str, ...] = ()
    count: int = 0


@record
class Attempt:
    """One start of the job under a restarting launcher."""

    n: int = 0
    start: str | None = None
    end: str | None = None
    outcome: str = ""
    cause: str | None = None
    culprits: tuple[Culprit, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@record
class OtherJob:
    """Another job whose logs lie among the inputs and are not part of the verdict."""

    name: str = ""
    files: tuple[str, ...] = ()
    text: str = ""


@record
class Gap:
    """What was missing or not read, and how to have it next time."""

    text: str = ""
    how: str = ""
    command: str | None = None


@record
class InputRow:
    """One input; `lines` is None where it was not needed, `skipped` says why it was not read."""

    file: str = ""
    bytes: int = 0
    lines: int | None = None
    kind: str = ""
    ranks: tuple[int, ...] = ()
    skipped: str | None = None


@record
class Stats:
    """How much was read; `seconds` (wall) is the only thing in a report that differs between two runs."""

    bytes: int = 0
    events: int = 0
    seconds: float | None = None
