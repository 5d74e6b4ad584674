"""Which rank logged an exception: a logger writes the traceback below its line in one go, and only that line is labelled.

    2026-11-23 02:41:47,817 E [rank0] exception calling callback for <Future at 0x7f state=finished raised OSError>
    Traceback (most recent call last):
      File "/usr/lib/python3.11/concurrent/futures/_base.py", line 340, in _invoke_callbacks

Python prints what nobody caught from the module on, and puts it there without a logger: that may be another rank's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..events import Event, SourceEvents
from ..traces.warned import BEGINNINGS, heads

TOLD = ("E", "F", "W")  # a collector may give the lines below a clock and a level of its own: `INFO`


def place_logged(sources: Sequence[SourceEvents]) -> None:
    """Give an exception that nobody is named for the rank of the logger's line right above its traceback."""
    for source in sources:
        nobodys = [e for e in source.events if e.rank is None and e.traceback is not None and e.traceback.frames]
        lines = heads(source.lines(), {_begins(e) for e in nobodys}) if nobodys else {}
        for event in nobodys:
            head, above = lines.get(_begins(event)), lines.get(_begins(event) - 1)
            if head is None or above is None or above.prefix.rank is None or above.prefix.severity not in TOLD:
                continue
            is_bare = head.prefix.severity not in TOLD and head.prefix.rank is None and head.prefix.pid == above.prefix.pid
            if is_bare and not _is_uncaught(event):
                event.rank, event.rank_from = above.prefix.rank, "the logger's line above"


def _begins(event: Event) -> int:
    return event.traceback.line if event.traceback is not None else 0


def _is_uncaught(event: Event) -> bool:
    return event.traceback is not None and event.traceback.frames[0].function in BEGINNINGS
