"""The answer in one sentence that stands alone: who, what, where, with the number that matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from ..advice.statement import Evidence
from ..job.event import Event
from ..job.job import Job, RankInfo
from ..lines.rank_ranges import rank_ranges
from ..verdict.candidate import Candidate
from ..verdict.decision import Verdict
from .last_lines import closing, suspects
from .parts import LastLine
from .phrases import clip_ranges, short_host
from .printable import clip, one_line, sentence
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


def of_verdict(job: Job, verdict: Verdict, title: str, said: str, proof: Evidence | None, translator: Translator) -> str:
    """Yield the headline of a verdict; `said` is what its root says, `title` what its cause is called."""
    root = verdict.roots[0]
    said, reading = one_line(said), f"reading.{verdict.cause}"
    usual = translator.say(reading) if translator.knows(reading) else ""
    if root.finding is not None:
        return _whole(_with_host(said or title, job, verdict).rstrip(".。") + usual)
    if len(said) > MOST_SAID and (first := FIRST_SENTENCE.match(said)):
        said = first[1]
    said = clip(said.strip().rstrip(".。"), MOST_SAID)
    is_named = _names(said, verdict)
    if root.first is not None and root.first.rule.generic and proof is not None and proof.own_code:
        own = proof.own_code[0]
        raised = RAISED_IN.sub("", _raised(root.first, said))
        raised = MODULE.sub("", raised) if len(raised) > MOST_SAID else raised
        if len(raised) > MOST_SAID:  # what is wrong stands at its begin or its end
            head, tail = raised[: MOST_SAID - KEPT_END], raised[-KEPT_END:]
            raised = f"{head.rpartition(' ')[0] or head} … {tail.partition(' ')[2] or tail}"
        place = f"{file_name(own.file)}:{own.line}"
        at = {"place": place, "function": own.function, "who": _who(job, verdict, root, translator, bare=True)}
        return _whole(translator.say("headline.code", **at, said=raised, is_inferred="inferred-rank" in verdict.reasons))
    who = "" if is_named else _who(job, verdict, root, translator)
    words, told = ({(a or b).casefold() for a, b in WORD.findall(text)} for text in (title, said))
    key = "headline.said" if said and len(words & told) >= ALIKE * len(words) else "headline.place"
    said = COMMON_START.sub(lambda m: m[0].lower(), said) if who or key == "headline.place" else said
    text = translator.say(key, title=title, who=who, said=said) + usual
    reported = sorted({e.rank for r in verdict.roots for e in r.events if e.rank is not None})
    if who or is_named or all(e.rank is None for e in root.events) or re.search(r"\branks? \d", text, re.IGNORECASE):
        return _whole(text)
    return _whole(translator.say("headline.reported", text=text.rstrip(".。"), who=_ranks(reported, None, translator)))


def without_verdict(job: Job, outcome: str, stops: Sequence[LastLine], translator: Translator) -> str:
    """Yield the headline of a report that names no cause."""
    finished = sum(info.finished is not None for info in job.ranks.values())
    if outcome == "healthy":
        return translator.say("headline.healthy", ranks=finished)
    if outcome == "recovered":
        titles = list(dict.fromkeys(translator.title(e.rule) for e in job.survived if e.cause))
        has_end = finished > 0 or bool(job.telling("finished"))
        said = titles[0] if titles else ""
        return _whole(translator.say("headline.recovered", finished=has_end, said=said, more=max(0, len(titles) - 1)))
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
        world=job.world_size,
        files=len(job.sources),
        **suspect(job),
    )


def suspect(job: Job) -> dict[str, str]:
    """Yield the first line that looks like an error where no rule knows one, and its place; empty where there is none."""
    found = (
        (clip(one_line(x.message).strip(), MOST_SUSPECT), f"{file_name(name)}:{x.number}") for name, x in suspects(job)
    )
    return next(({"said": said, "place": place} for said, place in found), {})


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


def _who(job: Job, verdict: Verdict, root: Candidate, translator: Translator, *, bare: bool = False) -> str:
    pci = root.first.fields.get("pci") if root.first is not None else None
    hosts = _hosts(job, verdict)
    if pci is not None:
        where = short_host(hosts[0] if hosts else root.host or "")
        return translator.say("headline.gpu", pci=str(pci).removeprefix("0000:"), host=where)
    if verdict.culprits:
        host = hosts[0] if len(hosts) == 1 and len(job.hosts) > 1 else None
        return _ranks(verdict.culprits, host, translator, bare=bare)
    names = ", ".join(map(short_host, hosts[:SHOWN_HOSTS]))
    return translator.say("headline.hosts", names=names, more=max(0, len(hosts) - SHOWN_HOSTS)) if hosts else ""


def _hosts(job: Job, verdict: Verdict) -> list[str]:
    infos: list[RankInfo | None] = [job.ranks.get(rank) for rank in verdict.culprits]
    return list(dict.fromkeys([i.host for i in infos if i is not None and i.host])) or verdict.culprit_hosts


def _ranks(ranks: Sequence[int], host: str | None, translator: Translator, *, bare: bool = False) -> str:
    if len(ranks) == 1:
        return translator.say("headline.rank", rank=ranks[0], host=host and short_host(host), bare=bare)
    ranges = clip_ranges(rank_ranges(ranks), RANGES_WIDTH)
    return translator.say("headline.ranks", ranges=ranges, count=len(ranks), host=host)


def _with_host(text: str, job: Job, verdict: Verdict) -> str:
    """Name the host of the one culprit where the sentence names only its rank, and there are several hosts."""
    hosts = _hosts(job, verdict)
    if len(verdict.culprits) != 1 or len(hosts) != 1 or len(job.hosts) < 2 or hosts[0] in text:
        return text
    return re.sub(rf"\b([Rr]ank {verdict.culprits[0]})(?![\d,-])", rf"\1 ({hosts[0]})".replace("\\\\", "\\"), text, count=1)
