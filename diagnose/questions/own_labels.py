"""Which error did a rank log under a label that the program made up?

    2026-11-23 03:02:52,375 ERROR [R2] row 17 is malformed, giving up
    03:03:56 | ERROR | R1 | row 17 is malformed, giving up
    2026-11-23 03:03:16,258 ERROR (2/3) row 17 is malformed, giving up

No table knows all of these, and a number at the head of a line may be anything. Where a rank left without a word, and the
last error of the console begins with its number, in a manner in which no other error does that stands there, it is heard.
"""

from __future__ import annotations

from ..job.event import Event
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from .finding import Exhibit

_NAME = r"(?:r|R|rk|[Rr]ank|RANK|proc|process|worker|trainer|dp|DP|gpu|GPU|w|p)"
LABEL = lazy(
    rf"[\[(<]{_NAME}?[ =:_#-]{{0,2}}(?P<framed>\d{{1,5}})(?:/\d{{1,5}})?[\])>][:|]?\s|"
    rf"{_NAME}[ =:_#-]{{0,2}}(?P<named>\d{{1,5}})(?:/\d{{1,5}})?(?::|\s{{0,2}}\||\s{{1,2}}-)?\s"
)


def last_error_labelled(job: Job, rank: int, end: Event) -> tuple[Exhibit, ...]:
    """Yield the last error of the console that tells how the rank ended, if it is labelled with that rank."""
    source = next((s for s in job.sources if s.name == end.source), None)
    if source is None or job.places.source_rank.get(source.name) is not None:
        return ()
    known = {e.line for e in source.events}
    errors = [x for x in source.lines() if _is_own_word(x) and x.number not in known and x.number < (end.line or 0)]
    if not errors or _label(errors[-1]) != rank:
        return ()
    return (Exhibit.of_line(source.name, errors[-1], rank, job.ranks[rank].host if rank in job.ranks else None),)


def _is_own_word(line: Line) -> bool:
    """Whether a program logged it as an error, and no launcher or library did."""
    return line.is_error and line.prefix.rank is None and not str(line.prefix.origin or "").startswith("torch")


def _label(line: Line) -> int | None:
    match = LABEL.match(line.message)
    return int(match["framed"] or match["named"]) if match else None
