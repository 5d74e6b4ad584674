"""Texts of a report in, the running text of a view out: printable, in one language, cut to limits."""

from __future__ import annotations

from collections.abc import Sequence

from ..report.language import Say, knows
from ..report.phrases import FROM_OUTSIDE
from ..report.printable import clip, one_line, printable, sentence
from ..report.report import Diagnosis, RemedyStep, Report
from .limits import Limits


def prose(text: str, limits: Limits) -> str:
    """Yield the text in one line of at most the limit's characters."""
    return clip(one_line(text), limits.prose)


def command(command: str | None, limits: Limits) -> str:
    """Yield a command: it keeps its lines and their indentation, since it is there to be copied."""
    lines = [clip(line.rstrip(), limits.line) for line in printable(command or "").strip("\n").split("\n")]
    return "\n".join(lines if len(lines) <= limits.command_lines else [*lines[: limits.command_lines], "…"])


def beside_title(found: Diagnosis) -> str:
    """Yield the summary without the title and the place that stand above it: `GPU 2 could not give 3.91 GiB: …`."""
    summary, title = one_line(found.summary), one_line(found.title)
    head, is_chinese, said = summary.partition(f"{title}。")  # `rank 2（node-a）：GPU 显存不足。GPU 2 …`
    if is_chinese and head[-1:] in ("", "："):
        return said or summary
    if title and summary.lower().startswith((f"{title.lower()} on ", f"{title.lower()}: ")):
        return sentence(summary[len(title) :].partition(": ")[2]) or summary
    return summary


def nothing_wrong(report: Report, say: Say) -> str:
    """Yield the sentence for an outcome without a verdict."""
    key = f"{report.outcome}-summary"
    return say(key) if knows(key) else ""


def steps(remedy: Sequence[RemedyStep]) -> str:
    """Yield the steps as one text."""
    return " ".join(one_line(step.text) for step in remedy)


def known(say: Say, family: str, word: str) -> str:
    """Yield a word of the contract in the report's language; a word that we do not know stays as it is."""
    key = f"{family}-{word}" if family else word
    return say(key) if knows(key) else one_line(word)


def restart(say: Say, found: Diagnosis) -> str:
    """Yield whether a restart helps; of a cause that is only possible nobody can promise it."""
    maybe = f"maybe-{found.restart}"
    is_open = found.certainty == "possible" and knows(f"restart-{maybe}")
    return known(say, "restart", maybe if is_open else found.restart)


def nobody(report: Report, say: Say) -> str:
    """Yield why nobody is named: all ranks fail alike, or that is all that can be said."""
    found = report.diagnosis
    if found is None or found.culprits:
        return ""
    if found.cause in FROM_OUTSIDE:
        return say("nobody-outside")
    ranks, world = report.ranks, report.facts.get("world_size")
    whole = len(ranks) > 1 and (world is None or world.value == len(ranks))  # who left no log may be the reason
    alike = whole and all(r.first_failure and r.first_failure.cause == found.cause for r in ranks)
    key = f"nobody-{found.cause.partition('.')[0]}"
    if alike and len(ranks) == 2:
        return say("both-alike")
    return say("all-alike", n=len(ranks)) if alike else say(key if knows(key) else "nobody")
