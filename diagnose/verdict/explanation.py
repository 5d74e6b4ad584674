"""Which cause: gives every candidate those that explain it (by tier or link), and ranks what nothing explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from ..catalogue.load import Catalogue
from ..catalogue.rule import Explains
from ..job.job import Job
from .candidate import HINTED, STATED, Candidate, when

ASKED = 16  # of the candidates of one cause: cost stays linear in ranks
LATE_S = 600.0  # how much later than its consequences the kernel, a scheduler or a monitor may say what began first
TIERS = {"origin": 2, "carrier": 1, "aftermath": 0}


class Explanations:
    """Looks up explainers by cause and place."""

    def __init__(self, job: Job, catalogue: Catalogue, candidates: Sequence[Candidate]) -> None:
        self._job, self._catalogue, self._candidates = job, catalogue, candidates
        self._told = {e.rank for e in job.telling("signal-received")}
        self._by_cause: dict[str, list[Candidate]] = defaultdict(list)
        self._at: dict[tuple[str, object], list[Candidate]] = defaultdict(list)
        # the most direct of a cause is asked first, then the earliest
        for c in sorted(candidates, key=lambda c: (-c.direct, float("inf") if c.onset is None else c.onset)):
            self._by_cause[c.cause].append(c)
            for place in {("rank", c.rank), ("host", c.host)}:
                self._at[c.cause, place].append(c)
        self._links = {(a, b): links for a in self._by_cause for b in self._by_cause if (links := catalogue.explains(a, b))}

    def fill(self) -> None:
        """Fill in `explained_by` of every candidate: of each cause that can, the strongest."""
        for c in self._candidates:
            for cause in self._by_cause:
                for link in self._links.get((cause, c.cause), ()):
                    reaching = (t for t in self._reaching(link, cause, c) if t is not c)
                    found = next((t for t in reaching if self._explains(link, t, c)), None)
                    if found is not None:
                        c.explained_by.append(found)
            if c.finding is None:  # what a finding of the same cause reads is told by that finding
                c.explained_by += [t for t in self._by_cause[c.cause][:ASKED] if t is not c and _reads(t, c)][:1]

    def _reaching(self, link: Explains, cause: str, c: Candidate) -> Iterable[Candidate]:
        for where, name, place in (("same-rank", "rank", c.rank), ("same-host", "host", c.host)):
            if link.where == where and place is not None:
                return [*self._at[cause, (name, place)][:ASKED], *self._at[cause, (name, None)][:ASKED]]
        own = self._at[cause, ("rank", c.rank)][:1] if c.rank is not None else []
        return [*own, *self._by_cause[cause][:ASKED]]

    def _explains(self, link: Explains, t: Candidate, c: Candidate) -> bool:
        for surely in (_reads, self._was_never_told, self._kept_away):
            if surely(t, c) or surely(c, t):
                return surely(t, c)
        if t.direct == HINTED and c.direct == STATED:
            return False
        if any(a.is_death and b.is_seen_from_outside for a, b in ((t, c), (c, t))):
            return False  # that others miss a rank is its death, seen by them
        order, gap_s = self._order(t, c), 0.0 if t.onset is None or c.onset is None else t.onset - c.onset
        is_before = order > 0 and not ((link.told_late or self._catalogue.causes[t.cause].told_late) and gap_s < LATE_S)
        if is_before or (link.within_s is not None and -gap_s > link.within_s):
            return False
        if (c.cause, t.cause) not in self._links:
            return True
        is_first = order < 0 and t.is_death and None not in (t.host, c.host) and t.host != c.host  # and elsewhere
        return (*self._strength(t), is_first or not t.is_end, -order) > (*self._strength(c), not c.is_end, 0)

    def _was_never_told(self, t: Candidate, c: Candidate) -> bool:
        """Whether c is that ranks were told to end, and t the death of one that was not: they were told because of it.

        Of whom nobody says whether it was told, it died before: a launcher ends the rest of a step of which a task failed.
        """
        if not c.told_to_end or not t.is_death:
            return False
        return self._order(t, c) < 0 if None in c.told_to_end else t.rank is not None and t.rank not in self._told

    def _kept_away(self, t: Candidate, c: Candidate) -> bool:
        """Whether others miss a rank, and t is its death, or what it says itself went wrong: therefore it did not come."""
        return t.rank in c.misses and (t.is_death or t.direct == STATED) and self._order(t, c) <= 0

    def _strength(self, c: Candidate) -> tuple[int, int, bool, bool]:
        return (TIERS[self._catalogue.causes[c.cause].tier], c.direct, not c.is_guess, c.specific)

    def _order(self, t: Candidate, c: Candidate) -> int:
        """-1: t began first, 1: c did, 0: not known. In one file its lines decide, unless both print when they began."""
        a, b = t.first, c.first
        if a is None or b is None:
            return 0
        are_timed = t.onset is not None and c.onset is not None and a.has_own_time and b.has_own_time
        if a.source == b.source and not are_timed:
            return (a.line or 0) - (b.line or 0)
        if t.onset is None or c.onset is None:
            return 0
        slack = self._job.clocks.uncertainty_s(a, b)
        if t.onset < c.onset - slack and a.has_own_time:
            return -1
        return 1 if c.onset < t.onset - slack and b.has_own_time else 0


def _reads(t: Candidate, c: Candidate) -> bool:
    """Whether t is what all the lines of c together come to."""
    reads = t.finding.reads if t.finding is not None and t.finding.certainty == "certain" else ()
    return c.finding is None and bool(reads) and all(e.rule.tells in reads for e in c.events)


def ranking(c: Candidate, catalogue: Catalogue, found_dead: Collection[int | None] = ()) -> tuple[object, ...]:
    """Yield the order of what nothing explains: stated before concluded before hinted, narrow before broad, then onset.

    Lines that nobody owns come after the words of a rank that its launcher found dead, however early they are.
    """
    tier = TIERS[catalogue.causes[c.cause].tier]
    is_vague = c.direct == HINTED and (tier == 1 or (tier == 0 and not c.specific))  # it only carries, or in any words
    is_raised = c.first is not None and c.first.traceback is not None
    is_owned = c.rank is not None or c.host is not None or c.finding is not None or is_raised
    onset = c.onset if c.onset is not None else float("inf")
    order = min(map(when, c.events), default=(True, 0.0, "", 0))
    narrow = (is_vague, c.is_end, tier == 0, not c.specific)
    return (-c.direct, c.is_guess, *narrow, bool(found_dead) and not is_owned, onset, order, c.cause, c.place())
