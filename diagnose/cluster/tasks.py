"""What runs on a Ray node: parts of files, or whatever lies below some paths there, in; their scans as JSON out.

The module is imported by name on the node, where the package came by `runtime_env`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from ..catalogue.rule import Rule
from ..errors import SourceError
from ..scan.parts import Part
from ..scan.reading import read_all
from ..scan.scan import Scan, scan_to_json, source_to_json
from ..scan.scanner import ScanRules
from ..scan.workers import scan_part
from ..sources.deadline import Deadline
from ..sources.paths import expand_pattern, is_url

Given = tuple[str, Sequence[Rule]]  # a catalogue's key, and its rules as a scan needs them

_built: dict[str, ScanRules] = {}  # a worker process reads many parts with one catalogue


def scan_parts(given: Given, parts: Sequence[Part], left_s: float | None) -> list[str | None]:
    """Yield each part's scan; None where this node does not hold the file that the driver found."""
    rules, deadline = _rules(given), Deadline.after(left_s)
    return [json.dumps(source_to_json(scan_part(p, rules, deadline))) if _is_here(p) else None for p in parts]


def scan_paths(given: Given, paths: Sequence[str], left_s: float | None) -> str:
    """Yield the scan of what lies below `paths` on this node; a path that is not there is a gap."""
    rules, deadline = _rules(given), Deadline.after(left_s)
    present: list[str] = []
    gaps: list[str] = []
    for path in paths:
        try:
            present += [path] if is_url(path) else expand_pattern(path)
        except SourceError as error:
            gaps.append(str(error))
    scan = read_all(present, rules, deadline, workers=1) if present else Scan(catalogue=rules.key)
    scan.gaps += gaps
    return scan_to_json(scan)


def _rules(given: Given) -> ScanRules:
    key, rules = given
    if key not in _built:
        _built.clear()
        _built[key] = ScanRules(rules, key)
    return _built[key]


def _is_here(part: Part) -> bool:
    """Whether the file is that of the driver: on a shared file system, or read from a store."""
    path = part.source.path
    if path is None or is_url(path):
        return path is not None
    try:
        return os.stat(path).st_size >= (part.source.size or 0)  # a log may have grown since
    except OSError:
        return False
