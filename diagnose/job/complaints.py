"""What was said of failures, and by whom: by ranks, and on each host by processes whose rank is not known."""

from __future__ import annotations

from .event import Event
from .job import CERTIFICATES, Job

NEVER = 1 << 62  # behind any line


class Complaints:
    """What was said of failures, and by whom."""

    def __init__(self, job: Job) -> None:
        words = [e for e in job.failures() if e.rule.tells not in CERTIFICATES]
        self._ranks = {e.rank for e in words} - {None}
        self._causes = {e.host for e in words if e.rank is None and e.role == "cause"}
        self._first: dict[
            str | None, dict[str, int]
        ] = {}  # by host and file: where a speaker of no rank says anything first
        for event in words:
            if event.rank is None:
                first = self._first.setdefault(event.host, {})
                first[event.source] = min(first.get(event.source, NEVER), event.line or 0)
        self._closed: dict[tuple[str, str | None], int] = {}  # by console and host: where the launcher ends the others
        for sent in job.telling("signal-sent"):
            place = (sent.source, sent.host)
            self._closed[place] = min(self._closed.get(place, NEVER), sent.line or 0)

    def by(self, end: Event) -> bool:
        """Whether the rank itself says anything of its failure, or somebody on its host whose rank is not known.

        Where torchrun's summary names a file, it holds what the rank raised. What is heard after its launcher closes the
        others is theirs, unless it states a cause.
        """
        if end.rank in self._ranks or end.fields.get("error_file") or not self._causes.isdisjoint((end.host, None)):
            return True
        places = {(end.source, end.host), (end.source, None)}  # torchrun's summary names the host, what it logs does not
        closed = min(self._closed.get(place, NEVER) for place in places)
        near = [self._first.get(host, {}) for host in {end.host, None}]
        return any(first.get(end.source, NEVER) < closed or not first.keys() <= {end.source} for first in near)
