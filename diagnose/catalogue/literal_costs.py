"""What literals cost on a folder of ordinary logs: `diagnose rules test --literals DIR`.

In: a catalogue and a folder. Out: rows of text, the literal that hits most first.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ..errors import SourceError
from ..lines.prefix import read_lines
from .load import Catalogue
from .matcher import Matcher, PatternTimeout

MAX_LINE = 8 * 1024  # bytes of a line that are asked
MAX_ASKED = 200  # lines of one literal whose patterns are tried; the rest is told from these
WIDTH = 40  # characters of a literal and of a rule that are shown


def literal_costs(catalogue: Catalogue, folder: Path) -> Iterator[str]:
    """Yield a row for each literal that stands in the logs: hits, share of all hits, verified ones, CPU ms, rule."""
    asked = [r for r in catalogue.rules.values() if r.tells != "progress" and not (r.generic and r.match == "traceback")]
    matcher = Matcher(asked)  # as a scan asks them
    hits, verified, tried, spent = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    size = 0
    for data in _files(folder):
        size += len(data)
        for end, literal in matcher.find(data):
            hits[literal] += 1
            if tried[literal] < MAX_ASKED:
                started = time.process_time_ns()
                verified[literal] += _is_verified(matcher, literal, _line(data, end))
                spent[literal] += time.process_time_ns() - started
                tried[literal] += 1
    whole = sum(hits.values())
    yield f"{whole} hits in {size / 1e6:.1f} MB"
    yield f"{'literal':{WIDTH}} {'hits':>8} {'share':>6} {'verified':>8} {'ms':>8}  rule"
    for literal, count in hits.most_common():
        scale = count / tried[literal]
        rule = matcher.candidates[matcher.owners[literal][0]].rule.id
        text = matcher.literals[literal].text.decode("utf-8", "replace")[:WIDTH]
        ms = spent[literal] * scale / 1e6
        yield f"{text:{WIDTH}} {count:8} {count / whole:6.1%} {verified[literal] * scale:8.0f} {ms:8.1f}  {rule}"


def _files(folder: Path) -> Iterator[bytes]:
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    if not paths:
        raise SourceError(f"{os.fspath(folder)}: no file in it; give a folder of ordinary logs")
    for path in paths:
        try:
            yield path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from error


def _line(data: bytes, end: int) -> bytes:
    start, stop = data.rfind(b"\n", 0, end) + 1, data.find(b"\n", end)
    return data[start : stop if stop >= 0 else len(data)][:MAX_LINE]


def _is_verified(matcher: Matcher, literal: int, line: bytes) -> bool:
    """Whether the pattern of any form that has the literal matches the line."""
    pieces = [(x.raw[: x.prefix.end], x.message) for x in read_lines(0, line.decode("utf-8", "replace"))]
    candidates = [matcher.candidates[n] for n in matcher.owners[literal]]
    try:
        return any(matcher.verify_line(c, message, prefix) is not None for c in candidates for prefix, message in pieces)
    except PatternTimeout:
        return False
