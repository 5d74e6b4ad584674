"""Who waited, or lost the others, while it handled an exception of its own?

A `finally` or an `except` that ends in a collective (a barrier "so that nobody runs on", a last gather) never comes back:
what is printed last is the wait, and above it what made the rank leave the common order. That one rank alone handled
something tells it from code that handles the same on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from .calls import find_hidden
from .finding import Exhibit, Finding


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where exactly one of those that waited or lost a peer handled an exception meanwhile."""
    hidden = find_hidden(job)
    if hidden is None:
        return
    end, link = hidden
    shown = Exhibit(end.source, link.exception_line, link.said, end.rank, end.host, end.moment)
    why = f"Rank {end.rank} raised {link.said}, and what handled it waited for the others, who were elsewhere."
    ranks = (end.rank,) if end.rank is not None else ()
    exhibits = (shown, Exhibit.of_event(end))
    yield Finding("process.exception", why, exhibits, ranks, onset=end.onset, question="hidden_reason")
