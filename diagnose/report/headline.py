"""The answer in one sentence that stands alone: who, what, where, with the number that matters. Where no cause was found,
where each rank stopped instead, who is behind, and what to collect now on this platform."""

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
from ..advice.statement import Evidence, RemedyStep
from ..catalogue.sentences import holds, shell_command
from ..job.coverage import torn_source
from ..job.event import Event
from ..job.job import Job, RankInfo
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..lines.rank_ranges import rank_ranges
from ..verdict.decision import Verdict
from .evidence import Exhibitor, show_time
from .parts import LastLine
from .phrases import clip, clip_ranges, one_line, sentence, short_host
from .rows import missing_ranks, phase_of
from .translation import Translator

MOST = 220  # characters: more is no headline
MOST_SAID = 150
MOST_SUSPECT = 100
KEPT_END = 60
RAISED_IN = re.compile(r" ?\((?:at|in) [^()\s]{1,300}\)\.?$|\{\{function_node [^}]{1,200}\}\} ?")
MODULE = re.compile(r"^(?:[a-z_]\w{0,60}\.){1,8}(?=[A-Z])")  # of an exception's name
BACKSLASH = "\\"  # of Windows paths
SHOWN_HOSTS = 2
RANGES_WIDTH = 40
ALIKE = 0.6  # of the words of a title in what is said: then the title adds nothing
WORD = re.compile(r"(?=([\u4e00-\u9fff]{2}))|([a-zA-Z0-9]{3,})")  # of Chinese, each pair of characters
COMMON_START = re.compile(r"^(?:The|A|An|No|Another|Each|All|Some|Rank|Ranks|This|Its|It)\b")  # small behind a colon
FIRST_SENTENCE = re.compile(r"(.{20,}?)[.。](?: |$|(?<=。))")


def of_verdict(show: Exhibitor, title: str, said: str, proof: Evidence | None) -> str:
    """Yield the headline of a verdict; `said` is what its root says, `title` what its cause is called."""
    verdict, say, root, said = show.verdict, show.translator.say, show.verdict.roots[0], one_line(said)
    reading = f"reading.{verdict.cause}"
    usual = say(reading) if show.translator.knows(reading) else ""
    if root.finding is not None:
        return _whole(_with_host(said or title, show).rstrip(".。") + usual)
    if len(said) > MOST_SAID and (first := FIRST_SENTENCE.match(said)):
        said = first[1]
    said = clip(said.strip().rstrip(".。"), MOST_SAID)
    if root.first is not None and root.first.rule.generic and proof is not None and proof.own_code:
        own = proof.own_code[0]
        at = {"place": f"{file_name(own.file)}:{own.line}", "function": own.function, "who": _who(show, bare=True)}
        is_inferred = "inferred-rank" in verdict.reasons
        return _whole(say("headline.code", **at, said=_shortened(_raised(root.first, said)), is_inferred=is_inferred))
    is_named = _names(said, verdict)
    who = "" if is_named else _who(show)
    words, told = ({(a or b).casefold() for a, b in WORD.findall(text)} for text in (title, said))
    key = "headline.said" if said and len(words & told) >= ALIKE * len(words) else "headline.place"
    said = COMMON_START.sub(lambda m: m[0].lower(), said) if who or key == "headline.place" else said
    text = say(key, title=title, who=who, said=said) + usual
    reported = sorted({e.rank for r in verdict.roots for e in r.events if e.rank is not None})
    if who or is_named or all(e.rank is None for e in root.events) or re.search(r"\branks? \d", text, re.IGNORECASE):
        return _whole(text)
    return _whole(say("headline.reported", text=text.rstrip(".。"), who=_ranks(reported, None, show.translator)))


def _shortened(raised: str) -> str:
    """An exception as it fits a headline: what is wrong stands at its begin or its end."""
    raised = RAISED_IN.sub("", raised)
    raised = MODULE.sub("", raised) if len(raised) > MOST_SAID else raised
    if len(raised) <= MOST_SAID:
        return raised
    head, tail = raised[: MOST_SAID - KEPT_END], raised[-KEPT_END:]
    return f"{head.rpartition(' ')[0] or head} … {tail.partition(' ')[2] or tail}"


def without_verdict(show: Exhibitor) -> str:
    """Yield the headline of a report that names no cause."""
    job, outcome, translator = show.job, show.verdict.outcome, show.translator
    finished = sum(info.finished is not None for info in job.ranks.values())
    if outcome == "healthy":
        return translator.say("headline.healthy", ranks=finished)
    if outcome == "recovered":
        titles = list(dict.fromkeys(translator.title(e.rule) for e in job.survived if e.cause))
        has_end = finished > 0 or bool(job.telling("finished"))
        said = titles[0] if titles else ""
        return _whole(translator.say("headline.recovered", finished=has_end, said=said, more=max(0, len(titles) - 1)))
    stops = job.once(stops_of)
    behind = [s for s in stops if s.is_behind]
    shown = next(iter((*behind, *stops)), LastLine())
    return translator.say(
        "headline.unfinished",
        who=_ranks(shown.ranks, shown.host, translator) if shown.ranks else "",
        phase=translator.say(f"doing.{shown.phase}") if shown.phase else "",
        step=shown.step,
        most=max((s.step for s in stops if s.step is not None), default=None),
        behind=len(behind),
        is_alike=len(stops) == 1,
        closed=[e.rank for e in closing(job)],
        ranks=len(job.ranks),
        world=job.world_size if job.places.is_world_stated else None,
        files=len(job.sources),
        **suspect(job),
    )


def suspect(job: Job) -> dict[str, str]:
    """Yield the first line that looks like an error where no rule knows one, and its place; empty where there is none."""
    for name, line in suspects(job):
        return {"said": clip(one_line(line.message).strip(), MOST_SUSPECT), "place": f"{file_name(name)}:{line.number}"}
    return {}


def file_name(path: str) -> str:
    """Yield the last part of a path of POSIX or Windows."""
    return PurePosixPath(path.replace(BACKSLASH, "/")).name


def _whole(text: str) -> str:
    return sentence(clip(text.strip().rstrip(".。"), MOST))


def _raised(event: Event, said: str) -> str:
    """The exception as printed: `ValueError: could not convert string to float`."""
    lines = [one_line(line) for line in event.text.split("\n") if line.strip()]
    if event.traceback is None or not lines:
        return said
    code = event.traceback.frames[-1].code if event.traceback.frames else ""
    if ":" not in lines[0] and code and not code.startswith("raise"):  # `assert x is not None`, without a message
        return f"{lines[0]}: {one_line(code)}"
    is_below = lines[0].endswith(":") and len(lines) > 1  # `InstantiationException: Error in call to target 'f':`
    return f"{lines[0].partition(':')[0]}: {lines[1]}" if is_below else lines[0]


def _names(said: str, verdict: Verdict) -> bool:
    """Whether what is said names the culprit already."""
    ranks = [str(r) for r in verdict.culprits]
    if len(ranks) == 1:
        return re.search(rf"\brank {ranks[0]}\b", said, re.IGNORECASE) is not None
    return not ranks and bool(verdict.culprit_hosts) and all(host in said for host in verdict.culprit_hosts)


def _who(show: Exhibitor, *, bare: bool = False) -> str:
    verdict, say, root, hosts = show.verdict, show.translator.say, show.verdict.roots[0], _hosts(show)
    pci = root.first.fields.get("pci") if root.first is not None else None
    if pci is not None:
        where = short_host(hosts[0] if hosts else root.host or "")
        return say("headline.gpu", pci=str(pci).removeprefix("0000:"), host=where)
    if verdict.culprits:
        host = hosts[0] if len(hosts) == 1 and len(show.job.hosts) > 1 else None
        return _ranks(verdict.culprits, host, show.translator, bare=bare)
    names = ", ".join(map(short_host, hosts[:SHOWN_HOSTS]))
    return say("headline.hosts", names=names, more=max(0, len(hosts) - SHOWN_HOSTS)) if hosts else ""


def _hosts(show: Exhibitor) -> list[str]:
    infos = (show.job.ranks.get(rank) for rank in show.verdict.culprits)
    return list(dict.fromkeys(i.host for i in infos if i is not None and i.host)) or show.verdict.culprit_hosts


def _ranks(ranks: Sequence[int], host: str | None, translator: Translator, *, bare: bool = False) -> str:
    if len(ranks) == 1:
        return translator.say("headline.rank", rank=ranks[0], host=host and short_host(host), bare=bare)
    ranges = clip_ranges(rank_ranges(ranks), RANGES_WIDTH)
    return translator.say("headline.ranks", ranges=ranges, count=len(ranks), host=host)


def _with_host(text: str, show: Exhibitor) -> str:
    """Name the host of the one culprit where the sentence names only its rank, and there are several hosts."""
    culprits, hosts = show.verdict.culprits, _hosts(show)
    if len(culprits) != 1 or len(hosts) != 1 or len(show.job.hosts) < 2 or hosts[0] in text:
        return text
    return re.sub(rf"\b([Rr]ank {culprits[0]})(?![\d,-])", lambda m: f"{m[1]} ({hosts[0]})", text, count=1)


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
    most = max((step for step, _ in groups if step is not None), default=None)
    stops = []
    for (step, phase), infos in groups.items():
        hosts = {info.host for info in infos}
        is_behind, host = step is not None and step != most, hosts.pop() if len(hosts) == 1 else None
        stops.append(LastLine(tuple(i.rank for i in infos), host, step=step, phase=phase, is_behind=is_behind))
    return tuple(sorted(stops, key=lambda s: (not s.is_behind, s.step if s.step is not None else -1, s.ranks)))


def last_lines(job: Job) -> tuple[LastLine, ...]:
    """Yield the last line of the first rank of each stop, or of each file; first of all where a traceback breaks off."""
    rows = []
    for stop in job.once(stops_of)[:MOST_ROWS]:
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
    stops = job.once(stops_of)
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
