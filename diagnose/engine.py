"""The whole pipe: inputs in, `Report` out."""

from __future__ import annotations

import gc
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from .advice.fact_store import differences
from .advice.facts import read_facts
from .advice.known_bugs import settle_known_bugs
from .advice.sizes import idle_notices
from .catalogue.load import Catalogue, load_rules, rule_folders
from .errors import UsageError
from .job.event import SourceEvents
from .job.event_reader import EventReader
from .job.job import JobContext
from .job.reduction import build_job
from .lines.prefix import forget_speakers
from .questions import correlate
from .report.account import Found, account
from .report.report import Report
from .report.rows import narrow
from .report.translation import Translator
from .scan.kept import give_back_memory
from .scan.reading import MANY_SOURCES, Deadline, Progress, read_all
from .scan.scan import Scan, require_log
from .scan.scanner import ScanRules
from .sources.bounds import broken_off
from .sources.source import Input
from .verdict.decision import decide

MAX_WORLD = 1_000_000  # ranks; more is a slip of the finger, and would be counted one by one
END_OF_CLOCKS_S = 2.0**32  # later dates are no clock's, and a zone's arithmetic ends with the year 9999
ENGINES = ("local", "ray")
AGO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\s+ago", re.IGNORECASE)
UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,6})?)?Z?")
UNREAD_KINDS = ("recorder", "scan")


def diagnose(  # noqa: PLR0913 - keywords, each with a default
    *inputs: Input,
    job: JobContext | None = None,
    budget_s: float | None = None,
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    tz: str | None = None,
    rank_from: str | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    on_every_node: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    rank: int | None = None,
    lang: str | None = None,
) -> Report:
    """Yield the report on everything in `inputs`: paths, `Text` or binary files. Raises `DiagnoseError`.

    `job` is what the caller knows of the job, `budget_s` how many seconds reading may take, `rules` folders laid over
    the shipped catalogue, `tz` the zone of clocks that print none (default UTC). `engine="ray"` reads on the Ray
    cluster at `address`, and the paths `on_every_node` on each node where they lie.
    """
    started = time.monotonic()
    _check(job, budget_s, rank_from, workers)
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: choose local or ray")
    folders = (rules,) if isinstance(rules, str | os.PathLike) else tuple(rules)
    catalogue = load_rules(*folders)
    deadline = Deadline.after(budget_s)
    if engine == "ray":
        from .cluster import read_on_ray  # an optional extra

        scan = read_on_ray(inputs, ScanRules(catalogue), deadline, progress, address, on_every_node)
    else:
        scan = read_all(inputs, ScanRules(catalogue), deadline, progress, workers)
    require_log(scan, inputs)
    report = tell(scan, catalogue, job, tz, rank_from, Translator(lang, rule_folders(*folders), catalogue.sentences))
    if since or until or rank is not None:
        report = narrow(report, moment(since, report), moment(until, report), rank)
    return replace(report, stats=replace(report.stats, seconds=round(time.monotonic() - started, 3)))


def read(inputs: Sequence[Input], catalogue: Catalogue, workers: int | None = None, budget_s: float | None = None) -> Scan:
    """Yield the scan of everything in `inputs`, or of what can be read in so many seconds."""
    return read_all(inputs, ScanRules(catalogue), Deadline.after(budget_s), None, workers)


def tell(
    scan: Scan, catalogue: Catalogue, job: JobContext | None = None, tz: str | None = None, rank_from: str | None = None,
    translator: Translator | None = None,
) -> Report:  # fmt: skip
    """Yield the report on a scan."""
    translator = translator or Translator(None, rule_folders(), catalogue.sentences)
    was_on = gc.isenabled()
    gc.disable()  # nothing becomes garbage meanwhile: to look for it costs a third of the time where ranks are many
    try:
        return account(reduce(scan, catalogue, job, tz, rank_from), catalogue, scan, translator)
    finally:
        if was_on:
            gc.enable()


def _check(job: JobContext | None, budget_s: float | None, rank_from: str | None, workers: int | None) -> None:
    """Raise `UsageError` for what makes no sense, by the name of the option."""
    if job is not None and not isinstance(job, JobContext):
        raise UsageError(f"job takes a JobContext(exit_code=…, world_size=…), not a {type(job).__name__}")
    world = job.world_size if job else None
    if world is not None and not (isinstance(world, int) and 1 <= world <= MAX_WORLD):
        raise UsageError(f"--world-size {world}: a job has 1 to {MAX_WORLD:,} ranks")
    if budget_s is not None and not (isinstance(budget_s, int | float) and 0 < budget_s < math.inf):  # nan neither
        raise UsageError(f"--budget {budget_s}: give a number of seconds above 0")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: give a number of processes above 0")
    if rank_from:
        try:
            groups = re.compile(rank_from).groups
        except (re.error, RecursionError, OverflowError, TypeError) as error:
            raise UsageError(f"--rank-from {rank_from}: not a regular expression: {error}") from error
        if not groups:
            raise UsageError(f"--rank-from {rank_from}: needs a group that holds the rank, such as 'rank(\\d+)'")


def reduce(
    scan: Scan, catalogue: Catalogue, context: JobContext | None = None, tz: str | None = None, rank_from: str | None = None
) -> Found:
    """Yield the job that a scan tells of, what is known about it, and the verdict on it."""
    sources = list(_read_events(scan, EventReader(catalogue)))
    if len(sources) >= MANY_SOURCES:
        forget_speakers()
    empty = [s.name for s in scan.sources.values() if s.skipped == "empty"]
    job = build_job(sources, scan.dumps, context, zone_offset_s(tz, _began(sources) if tz else None), rank_from, empty)
    if len(sources) >= MANY_SOURCES:
        give_back_memory()
    facts = read_facts(job)
    notices = (*differences(facts), *settle_known_bugs(job, facts, catalogue))
    verdict = decide(job, correlate(job), catalogue)
    said = (*scan.gaps, *(s.skipped for s in scan.sources.values() if s.skipped))
    if any("budget of time" in text for text in said):  # the first failure, or any, may stand where nobody looked
        if verdict.certainty == "certain":
            verdict.certainty = "likely"
        verdict.outcome = "unfinished" if verdict.outcome == "healthy" else verdict.outcome
    idle = idle_notices(facts) if verdict.cause is None else ()
    return Found(job, verdict, facts, (*notices, *idle))


def _read_events(scan: Scan, reader: EventReader) -> Iterator[SourceEvents]:
    """Yield the events of each source that was read; of one that breaks the reader, why it was not read."""
    for source in scan.sources.values():
        if source.skipped is None and source.kind not in UNREAD_KINDS:
            try:
                yield reader.read(source)
            except Exception as error:  # of whatever kind: one bad source costs only itself
                source.skipped = f"not read: {broken_off(error)}"


def _began(sources: Sequence[SourceEvents]) -> datetime | None:
    """The earliest date that the logs print without a zone: in summer a zone's clocks may go ahead."""
    stamps = (e.stamp for s in sources for e in s.all_events() if e.stamp is not None)
    dated = (x.seconds for x in stamps if x.has_date and x.has_year and not x.has_zone and 0 < x.seconds < END_OF_CLOCKS_S)
    first_s = min(dated, default=None)
    return None if first_s is None else datetime.fromtimestamp(first_s, timezone.utc)


def moment(text: str | None, report: Report) -> str | None:
    """Yield the time that `17:34:52` (of the last day that had it) or `10 minutes ago` means; another text as it is."""
    if text is None:
        return None
    text = str(text)  # the library's callers pass what they like
    ago = AGO.fullmatch(text)
    if ago:
        seconds = time.time() - float(ago[1]) * UNITS_S[ago[2][0].lower()]
        return datetime.fromtimestamp(max(0.0, seconds), timezone.utc).isoformat().replace("+00:00", "Z")
    clock = CLOCK.fullmatch(text)
    if not clock:
        return text
    shown = [t for t in (*(e.time for e in report.timeline), *(r.last_time for r in report.ranks)) if t]
    days = sorted({t[:10] for t in shown}, reverse=True)
    asked = f"{clock[1].zfill(2)}:{clock[2]}:{clock[3] or '00'}{clock[4] or ''}"
    had = (day for day in days if min(shown) <= f"{day}T{asked}" <= max(shown))
    return f"{next(had, days[0])}T{asked}Z" if days else text


def zone_offset_s(tz: str | None, at: datetime | None = None) -> float | None:
    """Yield the offset of a zone (`+08:00`, `Asia/Shanghai`) in seconds east of UTC, on the day of `at`."""
    if tz is None:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        if tz[:1] in "+-":
            offset = datetime.strptime(tz.replace(":", ""), "%z").utcoffset()
        else:
            offset = (at or datetime(2026, 1, 1, tzinfo=timezone.utc)).astimezone(ZoneInfo(tz)).utcoffset()
    except (ValueError, ZoneInfoNotFoundError, OSError, TypeError) as error:
        hint = "use a name such as Asia/Shanghai or an offset such as +08:00"
        raise UsageError(f"--tz {tz}: no such time zone; {hint}") from error
    return offset.total_seconds() if offset is not None else 0.0
