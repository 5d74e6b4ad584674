"""Of two suspects: whether one of them only tells that what the other one says was the end of a process."""

from __future__ import annotations

from .consequences import ACTOR_DIED, EXIT_CODE, WRAPPED
from .suspects import LATE, Suspect

ASKED = 16  # lines of one suspect


def is_its_own_word(t: Suspect, s: Suspect) -> bool:
    """Whether s only certifies that the rank ended which says in t why: a summary's seconds do not order the two."""
    if s.cause == ACTOR_DIED and _is_word_of_the_dead(t, s):
        return True
    if s.cause != EXIT_CODE or t.rank is None or t.rank != s.rank or t.cause == s.cause or t.direct < max(s.direct, 1):
        return False
    spoken = t.first is not None and t.first.rule.tells == "peer-lost"
    return spoken and all(e.role == "symptom" for e in s.events)


def _is_word_of_the_dead(t: Suspect, s: Suspect) -> bool:
    """Whether s only tells that a worker of Ray has died which, by its process id, says in t of what it died.

    `(RayTrainWorker pid=7315) *** SIGABRT received at time=1734086759 ***`, and the raylet's `Worker PID: 7315`.
    """
    pid = t.first.speaker.pid if t.first is not None else None
    if pid is None or t.cause in WRAPPED or t.finding is not None or t.direct < s.direct:
        return False
    return any(e.fields.get("pid") == pid for e in s.events[:ASKED])


def was_dead_when_called(t: Suspect, s: Suspect) -> bool:
    """Whether t is the end of a process, and s only that an answer did not come: nobody can have made it late before.

    `Worker proc VllmWorker-3 died unexpectedly`, and five minutes later `RPC call to execute_model timed out.`
    """
    if t.first is None or s.first is None or s.finding is not None or t.cause != EXIT_CODE:
        return False
    is_wait = s.cause == LATE and all(e.role == "symptom" and e.rule.tells is None for e in s.events)
    return is_wait and t.first.rule.tells == "exit"
