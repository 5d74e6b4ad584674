"""Whether anything was read that a verdict may rest on; where not, which input is to blame and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..errors import SourceError
from ..sources.source import Input
from .scan import Scan, SourceScan

SHOWN_INPUTS = 3  # of those in which no file was found: the message is one line
NO_LOGS = ("code", "prose", "context")  # kinds: named only where nothing else was given
WHAT_TO_DO = "give the job's log files, or the folder that they are in"
_NO_LINE = {
    "context": "a configuration or a script, not a log (a log that is only named so can be piped in)",
    "loki": "an answer of Loki without a line: widen the time range of the query, or check its labels",
    "markdown": "no log is quoted in it",
    "notebook": "a notebook of which no cell has printed anything",
}


def require_log(scan: Scan, given: Sequence[Input] = ()) -> None:
    """Raise `SourceError` where not one line of a log and no flight recorder was read of what was `given`."""
    if not scan.dumps:
        _require(scan, given, _holds_log)


def require_something(scan: Scan, given: Sequence[Input] = ()) -> None:
    """Raise `SourceError` where not one input of what was `given` could be read."""
    _require(scan, given, lambda source: source.skipped is None)


def _require(scan: Scan, given: Sequence[Input], is_enough: Callable[[SourceScan], bool]) -> None:
    sources = list(scan.sources.values())
    if any(map(is_enough, sources)):
        return
    if sources:
        worst = min(sources, key=lambda s: (s.kind in NO_LOGS, s.skipped == "empty"))  # the first that may be the log
        more = f" (and {len(sources) - 1} more)" if len(sources) > 1 else ""
        raise SourceError(f"{worst.name}: {_why(worst)}{more}; nothing to diagnose: {WHAT_TO_DO}")
    if not given:
        raise SourceError("nothing was given; diagnose(*inputs) takes paths, files and Text")
    folders = ", ".join(str(path) for path in given[:SHOWN_INPUTS] if isinstance(path, str | os.PathLike))
    raise SourceError(f"{folders or 'what was given'}: no file in it; nothing to diagnose: {WHAT_TO_DO}")


def _holds_log(source: SourceScan) -> bool:
    return source.skipped is None and source.kind != "context" and not source.is_blank


def _why(source: SourceScan) -> str:
    """Say why no line of a log comes from a source; what was wrong with its bytes goes before what it is."""
    if source.skipped is not None:
        return source.skipped
    return "; ".join(source.gaps) or _NO_LINE.get(source.kind, "no line in it, only white space")
