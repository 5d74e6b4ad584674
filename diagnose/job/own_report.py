"""Reports of ours within a log: a job script that ends with `diagnose logs` prints one into the console that is read next.

What such a report quotes was said elsewhere, by others and at other times. It begins with its heading and ends with
the line that counts its inputs; one that lacks an end is left as it is, since what follows it may be news.
"""

from __future__ import annotations

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_key
from ..scan.scan import SourceScan
from ..scan.scan_rules import REPORT
from .event import kept_lines

MAX_REPORT_LINES = 400  # the terminal's longest have 150
HEADING = lazy(r"(?:^|\s)(?:FAILED|HUNG|RECOVERED|UNFINISHED) {2}\S")
CLOSING = lazy(r"(?:^|\s)Inputs read: [\d,]{1,12} \([\d.]{1,8} \w{1,2}\); events: [\d,]{1,12}\.")


def lines_without_reports(scan: SourceScan) -> list[Line]:
    """Yield the kept lines of a source, less those of reports."""
    lines = kept_lines(scan)
    if not scan.holds(REPORT):
        return lines
    spans: list[tuple[int, int, str]] = []
    opened: Line | None = None
    for line in lines:
        if HEADING.search(line.raw):
            opened = line
        elif opened and CLOSING.search(line.raw):
            if line.number - opened.number <= MAX_REPORT_LINES:
                spans.append((opened.number, line.number, speaker_key(opened.prefix)))
            opened = None
    return [x for x in lines if not any(a <= x.number <= b and _is_by(who, x) for a, b, who in spans)]


def _is_by(who: str, line: Line) -> bool:
    return not who or speaker_key(line.prefix) in ("", who)
