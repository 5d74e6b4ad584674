"""One `Evidence` in, numbered printable lines out, with the hit and its captured parts marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..advice.statement import CodePlace, Evidence
from ..lines.record import record
from ..report.phrases import Say, clip_ranges, one_line, place, printable, printable_spans, short_host
from .folding import Limits

KEPT_BEFORE = 24  # characters kept before a capture when a long line is cut
ELLIPSIS = " … "
Marks = tuple[tuple[int, int], ...]  # starts and ends of captured parts


@record
class LineView:
    """One line of a log; `is_hit` where it is the evidence itself."""

    number: int | None
    text: str
    is_hit: bool
    marks: Marks = ()


@record
class EvidenceView:
    """One proof: where it is, who printed it and when, and its lines; lines are left out after index `gap_after`."""

    where: str
    who: str
    time: str
    rule: str
    lines: tuple[LineView, ...]
    left_out: int
    gap_after: int  # -1: none are left out
    also_in: str
    own_code: tuple[str, ...]  # `shards.py:113, parse_record`, and its source line where none of `lines` shows it


def view_evidence(e: Evidence, say: Say, limits: Limits) -> EvidenceView:
    """Yield the view of one proof."""
    hit, most, gap_after = _hit_lines(e, limits), limits["evidence_lines"], -1
    left_out = max(0, len(hit) - most)
    if left_out:  # a traceback ends with what was raised: the end says more than the middle
        tail = most * 2 // 3
        gap_after = most - tail - 1
        hit = hit[: most - tail] + hit[-tail:]
    last = e.end_line if e.end_line is not None else e.line
    before = _around(e.before, None if e.line is None else e.line - len(e.before), limits)[-limits["context"] :]
    after = _around(e.after, None if last is None else last + 1, limits)
    who = [say("rank", n=e.rank)] if e.rank is not None else []
    who += [say("host", name=short_host(e.host))] if e.host else []
    others = ", ".join(place(p.file, p.line) for p in e.also_in[:3])
    shown = [line.text for line in (*before, *hit)]
    return EvidenceView(
        place(e.file, e.line),
        say("comma").join(who),
        one_line(e.time or ""),
        one_line(e.rule or ""),
        (*before, *hit, *after[: limits["context"] - 1]),  # what was printed before it says more
        left_out,
        gap_after + len(before) if left_out else -1,
        say("also-in", places=clip_ranges(others, 200)) if others else "",
        tuple(_own_code(c, shown, say) for c in e.own_code if place(c.file, c.line) not in e.text),
    )


def _own_code(c: CodePlace, shown: Sequence[str], say: Say) -> str:
    code = "" if not c.code or any(c.code in text for text in shown) else f"{say('colon')}{one_line(c.code)}"
    return f"{place(c.file, c.line)}{say('comma')}{one_line(c.function)}{code}"


def pieces(line: LineView) -> Iterator[tuple[str, bool]]:
    """Yield the text of a line in pieces, each with whether it was captured."""
    done = 0
    for start, end in (*line.marks, (len(line.text), len(line.text))):
        yield from (
            (text, is_mark) for text, is_mark in ((line.text[done:start], False), (line.text[start:end], True)) if text
        )
        done = end


def join_neighbours(views: Sequence[EvidenceView]) -> list[EvidenceView]:
    """Yield the proofs; one whose line is shown beside an earlier one is marked there and not shown again."""
    shown: list[EvidenceView] = []
    for view in views:
        file = view.where.rpartition(":")[0]
        hits = {line.number: line for line in view.lines if line.is_hit}
        for i, other in enumerate(shown):
            numbers = {line.number for line in other.lines}
            is_inside = view.lines == other.lines or (None not in hits and hits.keys() <= numbers)
            if is_inside and file == other.where.rpartition(":")[0]:
                lines = tuple(hits.get(line.number, line) for line in other.lines)
                shown[i] = replace(other, lines=lines)
                break
        else:
            shown.append(view)
    return shown


def _around(texts: Sequence[str], first: int | None, limits: Limits) -> list[LineView]:
    """The lines above or below a proof, of which the first has this number."""
    lines = (_cut_line(printable(text).replace("\n", " ").rstrip(), (), limits["line"])[0] for text in texts)
    return [LineView(None if first is None else first + i, line, False) for i, line in enumerate(lines)]


def _hit_lines(e: Evidence, limits: Limits) -> list[LineView]:
    text, spans = printable_spans(e.text, e.spans)
    views: list[LineView] = []
    start = 0
    for i, line in enumerate(text.split("\n")):
        inside = ((max(s.start - start, 0), min(s.end - start, len(line))) for s in spans)
        shown, marks = _cut_line(line, tuple((a, b) for a, b in inside if a < b), limits["line"])
        start += len(line) + 1
        numbered = e.line is not None and (i == 0 or (e.end_line is not None and e.line + i <= e.end_line))
        views.append(LineView((e.line or 0) + i if numbered else None, shown, True, marks))
    while len(views) > 1 and not views[-1].text.strip():
        views.pop()
    return views


def _cut_line(line: str, marks: Marks, most: int) -> tuple[str, Marks]:
    """A long line keeps its beginning, and the first capture where that lies beyond it."""
    if len(line) <= most:
        return line.rstrip(), marks
    if not marks or marks[0][1] <= most - 1:
        return line[: most - 1] + "…", tuple((a, b) for a, b in marks if b <= most - 1)
    head = most // 2
    begin = max(head, marks[0][0] - KEPT_BEFORE)
    window = line[begin : begin + most - head - len(ELLIPSIS)]
    shift = head + len(ELLIPSIS) - begin
    moved = tuple((a + shift, b + shift) for a, b in marks if begin <= a and b <= begin + len(window))
    return line[:head] + ELLIPSIS + window, moved
