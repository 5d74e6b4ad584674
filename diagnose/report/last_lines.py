"""Where no cause was found: where each rank stopped, who is behind, and what to collect now on this platform."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ..advice.fact_store import Facts
from ..advice.remedy import slurm_job, with_shared
from ..advice.statement import RemedyStep
from ..catalogue.sentences import holds, shell_command
from ..job.coverage import torn_source
from ..job.event import Event
from ..job.job import Job, RankInfo
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..verdict.decision import Verdict
from .evidence import show_time
from .parts import LastLine
from .rows import missing_ranks, phase_of
from .translation import Translator

COLLECT = Path(__file__).with_name("collect.yaml")
MOST_ROWS = 24
MAX_TEXT = 300
MOST_SUSPECTS = 3  # lines of files without ranks that look like errors
PYTHON, TORCH, WINDOWS = lazy(r"\.py\b|[Pp]ython|Epoch \d"), lazy(r"torch|nccl|NCCL"), lazy(r"\b[A-Z]:\\\w|[Ww]in32")
WORDS = lazy(r"[^\W\d_]{2}")
WORKER_FILE = lazy(r"^(worker-[0-9a-f]{8,64}-)", re.MULTILINE)


def stops_of(job: Job) -> tuple[LastLine, ...]:
    """Yield where ranks stopped, those that are behind first, still without their lines: one row per step and phase."""
    groups: dict[tuple[int | None, str], list[RankInfo]] = defaultdict(list)
    for info in job.ranks.values():
        groups[info.last_step, phase_of(info)].append(info)
    steps = [step for step, _ in groups if step is not None]
    most = max(steps, default=None)
    stops = []
    for (step, phase), infos in groups.items():
        hosts, ranks = {info.host for info in infos}, tuple(i.rank for i in infos)
        host = hosts.pop() if len(hosts) == 1 else None
        stops.append(LastLine(ranks, host, step=step, phase=phase, is_behind=step is not None and step != most))
    return tuple(sorted(stops, key=lambda s: (not s.is_behind, s.step if s.step is not None else -1, s.ranks)))


def last_lines(job: Job, stops: Sequence[LastLine]) -> tuple[LastLine, ...]:
    """Yield a row for each of them, with the last line of its first rank; of each file, where no rank is known.

    First of all where a traceback breaks off.
    """
    rows = []
    for stop in stops[:MOST_ROWS]:
        found, sign = job.last_line_of(stop.ranks[0]), job.ranks[stop.ranks[0]].last_sign
        if found is not None:
            rows.append(_row(job, stop, *found, sign.time if sign else None))
    torn, shown = torn_source(job.sources), [] if rows else suspects(job)
    for source in (s for s in job.sources[:MOST_ROWS] if not rows or s.name == torn):
        last = next((x for x in reversed(source.tail()) if WORDS.search(x.message)), None)
        shown += [(source.name, last)] if last is not None and (source.name, last) not in shown else []
    own = [(LastLine(() if x.prefix.rank is None else (x.prefix.rank,)), name, x) for name, x in shown]
    return (*(_row(job, *each) for each in own), *rows)


def _row(job: Job, stop: LastLine, file: str, line: Line, near: float | None = None) -> LastLine:
    moment = (job.clocks.seconds(line.prefix.stamp) if line.prefix.stamp is not None else None) or near
    return replace(stop, file=file, line=line.number, text=line.message.strip()[:MAX_TEXT], time=show_time(job, moment))


def suspects(job: Job) -> list[tuple[str, Line]]:
    """Yield the first lines that look like errors to whoever reads them, of what no rule knows, with their sources."""
    wrong = re.compile(tables(COLLECT)["looks_wrong"])
    known = {(e.source, e.line) for e in job.events}
    kept = ((s.name, x) for s in job.sources[:MOST_ROWS] for x in s.lines() if (s.name, x.number) not in known)
    return list(islice(((name, x) for name, x in kept if wrong.search(x.message) or x.is_error), MOST_SUSPECTS))


def closing(job: Job) -> list[Event]:
    """Yield what processes print only as they shut down in order, below all steps of their file."""
    steps = [(sign.source, sign.line or 0) for i in job.ranks.values() if (sign := i.last_sign) is not None]
    told = job.telling("closing")
    return [e for e in told if all(name != e.source or line < (e.line or 0) for name, line in steps)]


def collect_steps(job: Job, verdict: Verdict, facts: Facts, translator: Translator) -> tuple[RemedyStep, ...]:
    """Yield what to collect now, by the rows of `collect.yaml` that hold for this job."""
    values = _known(job, verdict, facts)
    steps = []
    for row in (row for row in tables(COLLECT)["steps"] if holds(row.get("if", "true"), values)):
        text = translator.say(row["say"], **{name: values[name] for name in ("missing", "host", "scheduler", "cut")})
        command = shell_command(row["command"], values) if "command" in row else None
        steps.append(RemedyStep(row.get("when", "collect"), text, command or None))
    return tuple(steps)


def per_rank(facts: Facts) -> str | None:
    """Yield how this job's launcher writes one log per rank; None where it is not known or has no such option."""
    known = with_shared({"launcher": facts.get("launcher")}, "log_per_rank")
    return known["log_per_rank"].words if "log_per_rank" in known else None


def _known(job: Job, verdict: Verdict, facts: Facts) -> dict[str, Any]:
    stops = stops_of(job)
    behind = [s for s in stops if s.is_behind]
    first = job.ranks[behind[0].ranks[0]] if len(behind) == 1 else None
    names = "\n".join(PurePosixPath(source.name).name for source in job.sources)
    near = "\n".join(x.raw for s in job.sources[:MOST_ROWS] for x in (*s.head(), *s.tail()))
    worker, closed = WORKER_FILE.search(names), bool(closing(job))
    return {
        "outcome": verdict.outcome,
        "cut": PurePosixPath(torn_source(job.sources)).name,
        "closed": closed,
        "missing": missing_ranks(job),
        "phase": stops[0].phase if stops else "",
        "hangs": verdict.outcome == "unfinished" and not closed and not any(source.stacks for source in job.sources),
        "python": bool(job.ranks or facts.get("framework")) or PYTHON.search(near) is not None,
        "torch": facts.get("library") in ("nccl", "rccl") or TORCH.search(near) is not None,
        "windows": WINDOWS.search(near) is not None,
        "has_recorder": bool(job.dumps),
        "log_per_rank": per_rank(facts),
        **{name: facts.get(name) for name in ("scheduler", "stack", "library")},
        "host": first.host if first is not None else None,
        "pid": first.pid if first is not None else None,
        "job": slurm_job(job),
        "worker": worker[1] if worker else None,
    }
