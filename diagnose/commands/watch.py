"""`diagnose watch`: a line for each change of a running job's logs, and the report at the end."""

from __future__ import annotations

import glob
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any

from ..errors import SourceError, UsageError
from ..watch.watcher import Said, Watcher
from .options import ReportOptions, option, seconds
from .report import EXIT_CODES, finish

FORMS = ("terminal", "json")
EVERY_S = 2.0
STOPPING = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class WatchOptions:
    """What `diagnose watch` takes."""

    paths: list[str] = option(default=list)
    output: list[Path] = option("-o", "--output", default=list)
    format: str = option("--format", default="terminal")
    quiet_after: float | None = option("--quiet-after", read=seconds)
    every: float | None = option("--every", read=seconds)
    pid: int | None = option("--pid")
    at_most: float | None = option("--for", read=seconds)
    lang: str | None = option("--lang")
    rules: list[str] = option("--rules", default=list)
    exit_zero: bool = option("--exit-zero", default=False)


def watch(given: WatchOptions) -> int:
    """Follow the logs; yield the exit code."""
    if given.format not in FORMS:
        raise UsageError(f"--format {given.format}: choose one of {', '.join(FORMS)}")
    from ..catalogue.load import load_rules, rule_folders
    from ..report.phrases import choose_language
    from ..report.translation import Translator
    from ..watch.growth import GrowingFiles

    catalogue = load_rules(*given.rules)
    lang = choose_language(given.lang, os.environ)
    translator = Translator(lang, rule_folders(*given.rules), catalogue.sentences)
    watcher = Watcher(GrowingFiles(given.paths, catalogue), translator, given.quiet_after, given.every or EVERY_S)
    _follow(watcher, given)
    if not watcher.has_read:
        reasons = "; ".join(f"{path}: {why}" for path, why in sorted(watcher.files.unread.items())[:3])
        raise SourceError(f"no line was read of {', '.join(given.paths)}" + (f" ({reasons})" if reasons else ""))
    return _finish(watcher, given)


def _follow(watcher: Watcher, given: WatchOptions) -> None:
    stop = Event()

    def end(_number: int, _frame: object) -> None:
        if stop.is_set():  # asked twice: at once, without a report
            raise KeyboardInterrupt
        stop.set()

    for number in STOPPING:
        signal.signal(number, end)
    for path in (p for p in given.paths if not glob.glob(os.path.expanduser(p), recursive=True)):
        print(f"waiting: {path} is not there yet", file=sys.stderr)
    until = time.monotonic() + (given.at_most or math.inf)
    while not stop.is_set():
        is_last = given.pid is not None and not _is_alive(given.pid)  # what it wrote last is read all the same
        _say(watcher.look(), given.format)
        if is_last or watcher.is_over() or time.monotonic() >= until:
            return
        stop.wait(min(watcher.pause_s(), max(0.0, until - time.monotonic())))


def _finish(watcher: Watcher, given: WatchOptions) -> int:
    report, is_quiet = watcher.report(), given.format == "json"
    finish(report, ReportOptions(paths=given.paths, output=given.output, redact=True, quiet=is_quiet, format="terminal"))
    if given.format == "json":
        found = report.diagnosis
        _say([Said("ended", report.summary, tuple(c.rank for c in found.culprits if c.rank is not None) if found else (),
                   cause=found.cause if found else "")], "json", outcome=report.outcome)  # fmt: skip
    return 0 if given.exit_zero else EXIT_CODES[report.outcome]


def _say(said: Iterable[Said], form: str, **more: str) -> None:
    from ..report.phrases import one_line

    now = time.strftime("%H:%M:%S")
    for row in said:
        if form == "json":
            about: dict[str, Any] = {k: v for k, v in asdict(row).items() if v not in ("", (), None)}
            line = json.dumps({"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **about, **more})
        else:
            place = f"  {row.place}" if row.kind == "error" else ""
            line = f"{now}  {row.kind:<8} {one_line(row.text)}{place}"
        print(line, flush=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
