"""A `Report` in, terminal text out (rich): the first screen answers, the rest follows under headings.

Without colour the text holds no escape at all, so that it reads the same in a pipe and in a CI log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rich.cells import cell_len
from rich.text import Text

from ..report.language import Say, words
from ..report.report import Report
from .evidence import hit_alone
from .paper import INDENT, LABEL, Paper, styled, table_of
from .report_view import build_view
from .tables import filled
from .view import (
    FULL,
    CollectiveLine,
    Cut,
    EvidenceView,
    InputView,
    Limits,
    MessageView,
    NoteView,
    RankLine,
    StackLine,
    StepView,
    StopView,
    View,
)

T = TypeVar("T")
Bullet = tuple[Text, Sequence[tuple[str, str]], str]  # what it says, a line below it, a command
LEAST_WIDTH = 40
HIT_ROWS = 3  # rows that one line of a proof may take
PROOF_ROWS = 5  # rows of a proof with its context
LAST_PROOF_ROW = 13  # of the page: what to do begins at its 16th row at the latest
GUTTER = 14  # cells before a line of a proof
UNDERLINES = ("^^", "~~")  # how Python 3.11 and later mark a place in the line above
WIDE = 100  # from here on a table has room for where things are printed
TIGHT = 6  # columns of a table that leave no room for wide gaps in 80
OUTCOME_STYLES = {"failed": "bold white on red", "hung": "bold black on yellow", "unfinished": "bold black on yellow"}
WELL = "bold black on green"
WHEN_STYLES = {"now": "bold red", "fix": "bold yellow", "prevent": "bold green", "collect": "bold cyan"}


def render_terminal(report: Report, *, width: int = 80, color: bool = False, full: bool = False, redacted: str = "") -> str:
    """Yield the report as it is shown in a terminal of this many columns."""
    width = max(width, LEAST_WIDTH)
    line = HIT_ROWS * (width - GUTTER)
    limits = FULL if full else Limits(evidence=3, line=line, remedy=4, consequences=2, timeline=5, facts=0, inputs=0)
    say = words(report.language)
    paper = Paper(say, width, color)
    _Page(paper, build_view(report, limits, redacted), say, full=full).show()
    return paper.text()


class _Page:
    """The sections, top to bottom; each prints nothing where it has nothing."""

    def __init__(self, paper: Paper, view: View, say: Say, *, full: bool) -> None:
        self._paper, self._view, self._say, self._full = paper, view, say, full
        self._console = paper.console
        self._wide = paper.console.width >= WIDE

    def show(self) -> None:
        view = self._view
        steps = view.remedy.shown
        first = steps[:1] if steps and (steps[0].when == "now" or not view.cause) else ()
        self._first_screen(first)
        self._bullets("last-lines", view.last_lines, self._stop)
        later = [s for s in steps[len(first) :] if self._full or s.when != "prevent"]  # not for who is on call now
        self._remedy(Cut(tuple(later), view.remedy.more + len(steps) - len(first) - len(later)))
        if len(view.evidence.shown) > 1:
            self._paper.heading("more-evidence")
            for i, e in enumerate(view.evidence.shown[1:]):
                if i and self._full:
                    self._console.print()
                self._proof(e if self._full else hit_alone(e))
            self._paper.more(view.evidence)
        self._bullets("symptoms", view.consequences, self._message if self._full else self._consequence)
        self._bullets("alternatives", view.alternatives, self._message)
        self._bullets("survived", view.survived, self._message)
        self._bullets("attempts", view.attempts, self._message)
        self._timeline()
        self._folded("ranks-table", view.ranks, [c for c in filled(view.ranks.shown) if self._wide or c != "hosts"])
        self._collectives()
        self._bullets("stacks", view.stacks, self._stack)
        self._facts()
        for key, notes in (("gaps", view.gaps), ("notices", view.notices), ("other-jobs", view.other_jobs)):
            self._bullets(key, notes, self._note)
        self._bullets("inputs", view.inputs, self._input)
        self._foot()

    # --- the first screen

    def _first_screen(self, first: Sequence[StepView]) -> None:
        view, say = self._view, self._say
        head = styled((f" {view.outcome_word.upper()} ", OUTCOME_STYLES.get(view.outcome, WELL)))
        head.append(f" {view.headline}", "bold")
        self._paper.print(head)
        if view.cause:
            self._console.print()
            self._paper.labelled(self._verdict_rows())
        if view.evidence:
            self._console.print()
            self._proof(view.evidence.shown[0], label=say("proof"))
        for step in first:
            self._console.print()
            self._paper.labelled([(say("do-now"), step.text, "bold")])
            self._paper.command(step.command, LABEL + 2)

    def _verdict_rows(self) -> Iterable[tuple[str, str, str]]:
        view, say = self._view, self._say
        culprits = view.culprits.shown
        if view.culprits.more and not self._full:  # one line names them all
            culprits = (view.culprit_names,)
        for i, culprit in enumerate(culprits or (view.nobody,)):
            yield "" if i else say("culprit"), culprit, "bold red" if culprits else ""
        sure = f"{view.cause}{say('comma')}{view.certainty_word}"
        yield say("cause"), sure + (f"{say('colon')}{view.reason}" if view.reason else ""), ""
        if view.restart:
            yield say("restart"), view.restart, ""

    def _proof(self, e: EvidenceView, label: str = "") -> None:
        indent = LABEL + 2 if label else INDENT
        if label:
            self._console.print(styled((label + " " * (indent - cell_len(label)), "dim")), end="")
        about = self._say("comma").join(filter(None, (e.who, e.time)))
        head = styled((e.where, "bold cyan"), (f"  {about}" if about else "", "dim"))
        if head.cell_len > self._console.width - indent:  # the place stays whole, so that it can be copied
            head = styled((e.where, "bold cyan"))
        lead = styled() if label else styled((" " * INDENT, ""))
        self._console.print(lead + head, soft_wrap=True)
        if e.also_in and (self._full or len(e.also_in) < self._console.width - indent):
            self._console.print(styled((" " * indent + e.also_in, "dim")), soft_wrap=True)
        self._paper.grid(list(self._proof_rows(e if self._full else self._fitted(e))))
        for text in e.own_code[: None if self._full else 1]:  # not wrapped: an editor opens the place
            own = f"{self._say('own-code')}{self._say('colon')}"
            self._console.print(styled((" " * indent, ""), (own, "dim"), (text, "")), soft_wrap=True)

    def _fitted(self, e: EvidenceView) -> EvidenceView:
        """The proof with so much context that it takes few rows: what the log says is cut before what is near it."""
        room = self._console.width - GUTTER
        lines, left_out = list(e.lines), e.gap_after
        rows = sum(-(-max(cell_len(x.text), 1) // room) if x.is_hit else 1 for x in lines) + (left_out >= 0)
        most = min(PROOF_ROWS, LAST_PROOF_ROW - self._paper.rows())
        for end in (0, -1):
            while rows > most and not lines[end].is_hit:
                lines.pop(end)
                rows, left_out = rows - 1, left_out - (end == 0)
        return replace(e, lines=tuple(lines), gap_after=left_out)

    def _proof_rows(self, e: EvidenceView) -> Iterable[tuple[Text, Text]]:
        for i, line in enumerate(e.lines):
            number = "" if line.number is None else str(line.number)
            text = styled((line.text, "" if line.is_hit else "dim"))
            if not (line.is_hit or self._full) or line.text.endswith(UNDERLINES):  # worth one row each
                text.no_wrap, text.overflow = True, "ellipsis"
            for start, end in line.marks:
                text.stylize("bold yellow", start, end)
            gutter = styled(("❱ " if line.is_hit else "  ", "bold red"), (f"{number} │", "bold" if line.is_hit else "dim"))
            gutter.justify = "right"
            yield gutter, text
            if i == e.gap_after:
                yield styled(("│", "dim")), styled((self._say("more-lines", n=e.left_out), "dim italic"))

    def _stop(self, s: StopView) -> Bullet:
        step = f"{self._say('last-step')} {s.last_step}" if s.last_step else ""
        about = "  " + self._say("comma").join(filter(None, (step, s.phase, s.time)))
        head = styled((s.who or s.where, "bold red" if s.is_behind else "bold"), (about.rstrip(), ""))
        return head, ((s.where + "  " if s.who else "", "cyan"), (s.last_line, "dim")), ""

    # --- the rest

    def _remedy(self, steps: Cut[StepView]) -> None:
        if not steps:
            return
        self._paper.heading("remedy")
        for step in steps.shown:
            self._paper.labelled([(step.when_word, step.text, "")], WHEN_STYLES.get(step.when, "bold"), INDENT)
            self._paper.command(step.command, INDENT + LABEL + 2)
        self._paper.more(steps)

    def _message(self, m: MessageView) -> Bullet:
        head = styled((f"{m.who}{self._say('colon')}" if m.who else "", "bold"), (m.title, ""))
        head.append(f" ({m.cause})" if m.cause and m.cause != m.title else "", "dim")
        head.append(f"{self._say('comma')}{m.note}" if m.note else "")
        head.append(f"{self._say('colon')}{m.why}" if m.why else "")
        return head, ((f"{m.where}  " if m.where else "", "cyan"), (m.line, "dim")), ""

    def _consequence(self, m: MessageView) -> Bullet:
        """The same with its place instead of the line: who doubts it opens the place."""
        head, _, command = self._message(m)
        return head.append(f"  {m.where}", "cyan") if m.where else head, (), command

    def _timeline(self) -> None:
        if not self._view.timeline:
            return
        self._paper.heading("timeline")
        rows = [
            (t, _end_of(t.where, self._console.width // 4) if self._wide or self._full else "")
            for t in self._view.timeline.shown
        ]
        taken = sum(max(map(cell_len, c)) + 2 for c in zip(*((t.time, t.who, where) for t, where in rows), strict=True))
        has_places = any(where for _, where in rows)
        table = table_of(columns=4 if has_places else 3)
        for t, where in rows:
            style = "bold red" if t.is_culprit else ""
            text = styled((t.text, style))
            if not self._full:
                text.truncate(max(self._console.width - taken - INDENT - 2, LEAST_WIDTH // 2), overflow="ellipsis")
            cells = (styled((t.time, "dim")), styled((t.who, style)), text, styled((where, "cyan")))
            table.add_row(*cells[: len(table.columns)])
        self._paper.print(table, INDENT)
        self._paper.more(self._view.timeline)

    def _collectives(self) -> None:
        rows = self._view.collectives
        several = len({c.group for c in rows.shown}) > 1
        differ = len({c.sizes for c in rows.shown}) > 1  # then the sizes are what is worth the room
        crowded = ("enqueued", "completed") if differ and not self._wide else () if differ else ("sizes",)
        columns = [c for c in filled(rows.shown) if c not in crowded and (several or c != "group")]
        self._folded("collectives", rows, columns)

    def _folded(self, key: str, rows: Cut[RankLine] | Cut[CollectiveLine], columns: list[str]) -> None:
        """A table of folded ranks: numbers stay whole, names of ranks may wrap."""
        if not rows:
            return
        self._paper.heading(key)
        gap = 2 if self._wide or len(columns) < TIGHT else 1
        table = table_of(*(self._say(c.replace("_", "-")) for c in columns), gap=gap)
        for name, column in zip(columns, table.columns, strict=True):
            column.no_wrap = name not in ("who", "group", "verdict", "hosts", "state")
        for row in rows.shown:
            style = "bold red" if getattr(row, "is_culprit", False) else ""
            table.add_row(*(styled((getattr(row, c), style if c == "who" else "")) for c in columns))
        self._paper.print(table, INDENT)
        self._paper.more(rows)

    def _facts(self) -> None:
        if self._view.facts:
            self._paper.heading("facts")
            rows = [(f.name, f"{f.value} ({f.others})" if f.others else f.value) for f in self._view.facts.shown]
            self._paper.grid([(styled((n, "dim")), styled((v, ""))) for n, v in rows])
            self._paper.more(self._view.facts)

    def _stack(self, s: StackLine) -> Bullet:
        return styled((f"{s.who}{self._say('colon')}", "bold"), (" › ".join(s.frames), "")), (), ""

    def _note(self, n: NoteView) -> Bullet:
        return styled((n.text, ""), (f"{self._say('space')}{n.how}" if n.how else "", "dim")), (), n.command

    def _input(self, i: InputView) -> Bullet:
        about = "  ".join(filter(None, (i.size, i.skipped or i.kind, i.who)))
        return styled((i.file, ""), (f"  {about}", "dim")), (), ""

    def _bullets(self, key: str, rows: Cut[T], shown: Callable[[T], Bullet]) -> None:
        """A section of one bullet a row, each with one line of a log and the command that belong to it."""
        if not rows:
            return
        self._paper.heading(key)
        for row in rows.shown:
            text, below, command = shown(row)
            self._paper.bullet(text)
            self._paper.one_row(below)
            self._paper.command(command, INDENT + 2)
        self._paper.more(rows)

    def _foot(self) -> None:
        view = self._view
        if view.references and self._full:
            self._paper.heading("references")
            for reference in view.references:
                self._console.print(styled((" " * INDENT + reference, "cyan")), soft_wrap=True)
        told = (view.read, view.time_basis) if self._full else (view.read, self._say("fuller"))
        foot = self._say("space").join(x for x in (*told, view.redacted) if x)
        if foot:
            self._console.print()
            self._paper.print(styled((foot, "dim")))


def _end_of(path: str, most: int) -> str:
    """The end of a path that is too long: `…/worker-5/trainer/0.log:28` still says whose log it is."""
    return path if len(path) <= most else "…" + path[1 - most :]
