"""Who explains whom: gives every suspect the stronger ones that began before it, can reach it, and have a cause that fits.

An edge from A to B needs: A's cause explains B's cause, A can reach B, and A did not begin after B (within what the
clocks can tell). Causes may explain each other both ways; of two events that do, the more direct one stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from ..catalogue.load import Catalogue
from ..catalogue.rule import Explains
from ..job.clock import ANOTHER_ZONE_S, SAME_CLOCK_S, UNALIGNED_S
from ..job.event import FAILING, Event
from ..job.exit import is_terminated
from ..job.job import Job
from .consequences import ACTOR_DIED, EXIT_CODE, SIGKILL
from .own_words import is_its_own_word, was_dead_when_called
from .suspects import STATED, Suspect, names_device
from .told_order import is_told_before, is_told_to_end, tell_time
from .untold import died_untold

DRIVER = "gpu.xid"
TERMINATED = "process.terminated"
DEATH_S = 60.0  # within which a launcher sees that a process has died
ASKED = 16  # of the suspects of one cause, or of those of no known place: cost stays linear in ranks
CERTIFICATE_S = 600.0  # how much later than its consequences a certificate may be printed


class Relation:
    """Looks up explainers by cause and place, so that the cost is near-linear in ranks."""

    def __init__(self, job: Job, catalogue: Catalogue, suspects: Sequence[Suspect]) -> None:
        self._job, self._catalogue, self._suspects = job, catalogue, suspects
        self._by_cause: dict[str, list[Suspect]] = defaultdict(list)
        self._at_rank: dict[tuple[str, int | None], list[Suspect]] = defaultdict(list)
        self._at_host: dict[tuple[str, str | None], list[Suspect]] = defaultdict(list)
        for s in suspects:
            self._by_cause[s.cause].append(s)
            self._at_rank[s.cause, s.rank].append(s)
            self._at_host[s.cause, s.host].append(s)
        for group in self._by_cause.values():
            group.sort(key=_readiness)
        for (_, place), group in chain(self._at_rank.items(), self._at_host.items()):
            if place is None and len(group) > ASKED:  # thousands of launchers in one console, none of them named
                group[:] = sorted(group, key=_readiness)[:ASKED]
        untold = {id(e) for e in died_untold(job)}
        self._untold = {id(s) for s in suspects if untold and any(id(e) in untold for e in s.events)}
        self._widest_s = max((UNALIGNED_S, SAME_CLOCK_S, *job.clocks.spread_s.values()))  # by which two clocks may differ
        self._links = {(a, b): links for a in self._by_cause for b in self._by_cause if (links := catalogue.explains(a, b))}
        self._told_late = {pair for pair, links in self._links.items() if any(link.told_late for link in links)}
        self._weights = {id(s): self._weight(s) for s in suspects}
        self._plain = {id(s) for s in suspects if self._is_plain(s)}
        self._begun = {cause: self._first_begun(group[:ASKED]) for cause, group in self._by_cause.items()}

    def explain(self) -> None:
        """Fill in `explained_by` of every suspect: the strongest few that beat it."""
        causes = {b: [(a, x) for a in self._by_cause for x in self._links.get((a, b), ())] for b in self._by_cause}
        for s in self._suspects:
            for cause, link in causes[s.cause]:
                winner = None if link.where == "any" and self._is_before_all(s, cause) else self._winner(link, cause, s)
                if winner is not None and winner not in s.explained_by:
                    s.explained_by.append(winner)
        self._explain_the_others_absent()

    def _winner(self, link: Explains, cause: str, s: Suspect) -> Suspect | None:
        """The first that can reach s and beats it: the strongest."""
        needs_direct = s.direct > 0 and s.cause != TERMINATED  # what `_stands` says, of thousands at once
        for t in self._reaching(link, cause, s):
            if t is not s and (t.direct or not needs_direct) and self._is_in_time(link, t, s) and self._beats(t, s):
                return t
        return None

    def _explain_the_others_absent(self) -> None:
        """Where one of the ranks that did not come had died at that moment, the other ones had lost it too."""
        absent = [s for s in self._suspects if s.finding is not None and s.finding.question == "absent"]
        deaths: dict[int, Suspect] = {}
        for s in absent:
            if id(s.finding) not in deaths and (t := next((t for t in s.explained_by if self._is_death(t, s)), None)):
                deaths[id(s.finding)] = t
        for s in absent:
            if not s.explained_by and id(s.finding) in deaths:
                s.explained_by.append(deaths[id(s.finding)])

    def _reaching(self, link: Explains, cause: str, s: Suspect) -> Iterable[Suspect]:
        if link.where == "same-rank" and s.rank is not None:
            return [*self._at_rank[cause, s.rank], *self._at_rank[cause, None]]
        if link.where == "same-host" and s.host is not None:
            return [*self._at_host[cause, s.host], *self._at_host[cause, None]]
        return self._by_cause[cause][:ASKED]

    def _first_begun(self, asked: Sequence[Suspect]) -> tuple[float, frozenset[str]] | None:
        """When the first of those began that are asked from everywhere, and their files; None if more than time counts."""
        told = [(t.onset, t.first.source) for t in asked if id(t) in self._plain and t.onset is not None and t.first]
        cause = asked[0].cause
        if len(told) < len(asked) or cause == EXIT_CODE or self._catalogue.causes[cause].told_late:
            return None
        return min(onset for onset, _ in told), frozenset(source for _, source in told)

    def _is_before_all(self, s: Suspect, cause: str) -> bool:
        """Whether s began before all of these, by any clock: each of them would be refused for that."""
        begun, first = self._begun[cause], s.first
        if begun is None or s.onset is None or first is None or s.onset >= begun[0] - self._widest_s:
            return False
        is_alone = id(s) in self._plain and s.cause != EXIT_CODE and (cause, s.cause) not in self._told_late
        return is_alone and first.has_own_time and first.source not in begun[1]

    def _is_in_time(self, link: Explains, t: Suspect, s: Suspect) -> bool:
        """Whether s began soon enough after t, as far as the clocks can tell."""
        if link.within_s is None or t.onset is None or s.onset is None or t.first is None or s.first is None:
            return True
        return s.onset - t.onset <= link.within_s + self._job.clocks.uncertainty_s(t.first, s.first)

    def _beats(self, t: Suspect, s: Suspect) -> bool:
        """Whether t explains s, and not s t rather."""
        is_of_words = t.rank == s.rank and EXIT_CODE in (t.cause, s.cause)
        if id(t) in self._plain and id(s) in self._plain and not is_of_words:  # of these, `_stands` asks no more than this
            return not (_is_too_weak(t, s) or _is_idle_echo(t, s)) and self._is_first(t, s, is_word=False)
        if self._is_surely(t, s):
            return True
        return not self._is_surely(s, t) and self._stands(t, s)

    def _is_surely(self, t: Suspect, s: Suspect) -> bool:
        return (t.cause == DRIVER and _is_driver_of(t, s)) or (s.cause == TERMINATED and self._is_untold(t, s))

    def _is_untold(self, t: Suspect, s: Suspect) -> bool:
        """Whether s is that launchers were told to stop, and t the death that one of them found whom nobody had told."""
        return id(t) in self._untold and any(e.rule.tells == "signal-received" for e in s.events)

    def _stands(self, t: Suspect, s: Suspect) -> bool:
        if _is_too_weak(t, s) or _is_less_sure(t, s) or is_its_own_word(s, t):
            return False
        has_finding = t.finding is not None or s.finding is not None
        if has_finding and (_is_drawn_from(s, t) or _is_drawn_from(t, s)):
            return _is_drawn_from(t, s)
        if _is_idle_echo(t, s):
            return False
        if has_finding:
            asked = (t.finding and t.finding.question, s.finding and s.finding.question)
            if set(asked) == {"silent_exit", "lost_peers"}:
                return asked[0] == "silent_exit"  # the peer that they lost is the one that left
            for is_told in (self._is_death, self._raised_before):
                if is_told(t, s) or is_told(s, t):
                    return is_told(t, s)
        elif self._raised_before(t, s):
            return True
        elif self._raised_before(s, t):
            return False
        return self._is_first(t, s, is_word=is_its_own_word(t, s))

    def _is_first(self, t: Suspect, s: Suspect, *, is_word: bool) -> bool:
        """Whether t came before s, or weighs more where their causes explain each other; or s is only a word on its end."""
        order = self._order(t, s)
        if order > 0 and not is_word and not self._is_certificate(t, s):
            return False
        was_before = order < 0 and (self._was_over_before(t, s) or is_told_to_end(t, s))
        if is_word or not self._links.get((s.cause, t.cause)) or was_before:
            return True
        ours, theirs = self._weights[id(t)], self._weights[id(s)]
        return ours > theirs if ours != theirs else order < 0

    def _was_over_before(self, t: Suspect, s: Suspect) -> bool:
        """Whether t is a death, or a wait that had run out, after all its time, before s was said: nothing then made it."""
        if was_dead_when_called(t, s):
            return True
        waited = t.first is not None and t.first.rule.tells == "collective-timeout" and t.first.fields.get("ran_ms")
        return bool(waited) and not self._is_certificate(s, t)

    def _is_death(self, t: Suspect, s: Suspect) -> bool:
        """Whether t says that the rank died which, says s, the others began to wait for at that moment."""
        if t.first is None or t.first.rule.tells != "exit" or not t.direct or not self._may_be_the_same(t, s):
            return False
        if s.finding is None or s.finding.question != "absent" or is_terminated(t.first):
            return False
        if t.onset is not None and s.onset is not None and t.first.has_own_time:
            waiting = next((x.event for x in reversed(s.finding.exhibits) if x.event is not None), t.first)
            apart_s, slack_s = abs(t.onset - s.onset), self._job.clocks.uncertainty_s(t.first, waiting)
            if slack_s < UNALIGNED_S or apart_s < ANOTHER_ZONE_S:
                return apart_s < max(DEATH_S, slack_s)
        return self._is_first_found_dead(t)

    def _may_be_the_same(self, t: Suspect, s: Suspect) -> bool:
        """Whether both tell of one rank; of what a launcher ended with, nobody may know more than on which host it was."""
        if t.rank is None:
            return t.host == s.host if t.host is not None else t.cause == SIGKILL
        is_wordless = t.cause == SIGKILL  # it leaves no time for words
        return t.rank == s.rank and (is_wordless or self._job.is_heard(t.rank))

    def _raised_before(self, t: Suspect, s: Suspect) -> bool:
        """Whether t states what the rank raised, before the others said that they had waited for it, says s, in vain."""
        first = t.first
        if t.direct < STATED or t.rank is None or first is None or first.traceback is None:
            return False
        waiting = _waiting_for(t.rank, s)
        if waiting is None or waiting.source == first.source:
            return waiting is not None and (first.line or 0) < (waiting.line or 0)
        if t.onset is None or waiting.time is None or not first.has_own_time:
            return False
        return t.onset < waiting.time - self._job.clocks.uncertainty_s(first, waiting)

    def _is_first_found_dead(self, t: Suspect) -> bool:
        """Whether its launcher found no other process dead before, those aside that it ended itself."""
        ended = {e.rank for e in self._job.telling("signal-sent")}
        ends = [e for e in self._job.telling("exit") if t.first is not None and e.source == t.first.source]
        ends = [e for e in ends if e.role in FAILING and not is_terminated(e) and e.rank not in ended]
        first = min(ends, key=lambda e: e.line or 0, default=None)
        return first is not None and (first.rank, first.host if t.rank is None else t.host) == (t.rank, t.host)

    def _is_plain(self, s: Suspect) -> bool:
        """Whether nothing but time, weight and link is asked of it: no conclusion, statement or untold death."""
        return s.finding is None and s.direct < STATED and s.cause != ACTOR_DIED and id(s) not in self._untold

    def _weight(self, s: Suspect) -> tuple[bool, int, bool]:
        return (not self._catalogue.causes[s.cause].broad, s.direct, s.specific)

    def _is_certificate(self, t: Suspect, s: Suspect) -> bool:
        """The kernel, the scheduler or a monitor may say last what began first."""
        if (t.cause, s.cause) not in self._told_late and not self._catalogue.causes[t.cause].told_late:
            return False
        a, b = t.first, s.first
        if a is not None and b is not None and a.source == b.source and is_told_before(a, b):
            return False
        return t.onset is None or s.onset is None or t.onset - s.onset < CERTIFICATE_S

    def _order(self, t: Suspect, s: Suspect) -> int:
        """-1: t began first, 1: s did, 0: not known."""
        a, b = t.first, s.first
        if a is None or b is None:
            return 0
        if a.source == b.source:
            if is_told_before(a, b) or is_told_before(b, a):
                return 1 if is_told_before(a, b) else -1
            if not tell_time(t, s, a, b):
                return 0 if a.line == b.line else -1 if (a.line or 0) < (b.line or 0) else 1
        if t.onset is None or s.onset is None:
            return 0
        slack = self._job.clocks.uncertainty_s(a, b)
        if t.onset < s.onset - slack and a.has_own_time:
            return -1
        return 1 if s.onset < t.onset - slack and b.has_own_time else 0


def _readiness(s: Suspect) -> tuple[int, float]:
    """The order in which suspects of one cause are asked: the most direct, then the earliest first."""
    return (-s.direct, s.onset if s.onset is not None else float("inf"))


def _waiting_for(rank: int, s: Suspect) -> Event | None:
    """The line in which, says s, others waited in vain for that rank: `Ranks 1 failed to pass monitoredBarrier …`."""
    if s.finding is None:
        named = s.first.fields.get("absent_ranks") if s.first is not None and s.first.rule.tells == "absent-ranks" else ()
        return s.first if rank != s.rank and rank in (named or ()) else None
    if s.finding.question != "absent" or s.rank != rank:
        return None
    return next((x.event for x in reversed(s.finding.exhibits) if x.event is not None), None)


def _is_too_weak(t: Suspect, s: Suspect) -> bool:
    """Whether t only tells of another failure, and s more than that."""
    return s.direct > 0 and not t.direct


def _is_idle_echo(t: Suspect, s: Suspect) -> bool:
    """Whether t is an exception that only tells of another one, and s none, nor the exit code that came of it."""
    return t.is_echo and not s.is_echo and (s.cause != EXIT_CODE or s.finding is not None)


def _is_less_sure(t: Suspect, s: Suspect) -> bool:
    """Whether t explains nothing that is surer: a line that seldom says why nothing stated, a possible conclusion no other.

    `couldn't chdir to /scratch/job1: going to /tmp instead` on some node made no rank raise `KeyError: 'mask'`.
    """
    if t.direct == 1 and s.direct == STATED:
        return True
    if t.finding is None or s.finding is None:
        return False
    return t.finding.certainty == "possible" and s.finding.certainty != "possible"


def _is_driver_of(t: Suspect, s: Suspect) -> bool:
    """Whether the driver states in t what broke in the GPU, of which CUDA only says in s that a kernel did not end well.

    Their clocks may print two zones, and the driver may say it last.
    """
    if t.direct < STATED or not names_device(t.first) or s.first is None or s.first.traceback is None:
        return False
    same = t.rank == s.rank if None not in (t.rank, s.rank) else t.host is not None and t.host == s.host
    return same and s.cause != t.cause and s.cause.startswith("gpu.")


def _is_drawn_from(t: Suspect, s: Suspect) -> bool:
    """Whether t is what all the lines of s together come to."""
    reads = t.finding.reads if t.finding is not None and t.finding.certainty == "certain" else ()
    return s.finding is None and bool(reads) and all(e.rule.tells in reads for e in s.events)
