"""A `Report` in, terminal text out (rich): the verdict first, then its proof, then what to do.

Without colour the text holds no escape at all, so that it reads the same in a pipe and in a CI log.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..report.language import Say, words
from ..report.report import Report
from .evidence import EvidenceView, hit_alone
from .limits import FULL, Limits
from .parts import Cut, MessageView, NoteView, View
from .report_view import build_view
from .short_paths import head_and_end, last_parts
from .tables import CollectiveLine, RankLine, filled
from .terminal_pieces import styled, table_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

LEAST_WIDTH = 40
INDENT = 2
TERMINAL_LIMITS = Limits(timeline=10, ranks=4, collectives=6, stacks=3, frames=5, facts=8, inputs=0)
TIGHT = 6  # columns of a table that leave no room for wide gaps in 80
UNDERLINES = ("^^", "~~")  # how Python 3.11 and later mark a place in the line above
WIDE = 100  # from here on a table has room for where things are printed
OUTCOME_STYLES = {"failed": "bold white on red", "hung": "bold black on yellow", "unfinished": "bold black on yellow"}
WELL = "bold black on green"
WHEN_STYLES = {"now": "bold red", "fix": "bold yellow", "prevent": "bold green", "collect": "bold cyan"}


def render_terminal(
    report: Report, *, width: int = 80, color: bool = False, full: bool = False, lang: str = "en", redacted: str = ""
) -> str:
    """Yield the report as it is shown in a terminal of this many columns."""
    from rich.console import Console

    say = words(lang)
    view = build_view(report, say, FULL if full else TERMINAL_LIMITS, language=lang, redacted=redacted)
    console = Console(
        file=io.StringIO(),
        width=max(width, LEAST_WIDTH),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},  # the size and colours are the caller's to say
    )
    _Page(console, view, say, full=full).show()
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().split("\n")).strip("\n") + "\n"


class _Page:
    """The sections, top to bottom; each prints nothing where it has nothing."""

    def __init__(self, console: Console, view: View, say: Say, *, full: bool) -> None:
        self._console, self._view, self._say, self._full = console, view, say, full
        self._wide = console.width >= WIDE

    def show(self) -> None:
        self._verdict()
        proofs = self._view.evidence.shown
        for i, e in enumerate(proofs):
            is_alike = not self._full and any(e.rule and e.rule == other.rule for other in proofs[:i])
            self._proof(hit_alone(e) if is_alike else e, is_first=i == 0)
        self._more(self._view.evidence)
        self._remedy()
        self._messages("symptoms", self._view.consequences)
        self._messages("alternatives", self._view.alternatives)
        self._messages("survived", self._view.survived)
        self._messages("attempts", self._view.attempts)
        self._timeline()
        self._tables()
        self._notes("gaps", self._view.gaps)
        self._notes("notices", self._view.notices)
        self._notes("other-jobs", self._view.other_jobs)
        self._inputs()
        self._foot()

    def _verdict(self) -> None:
        view, say = self._view, self._say
        head = styled((f" {view.outcome_word.upper()} ", OUTCOME_STYLES.get(view.outcome, WELL)))
        head.append(f" {view.title}" + (f" ({view.culprit_names})" if view.culprit_names else ""), "bold")
        self._print(head)
        if view.summary:
            self._print(styled((view.summary, "")))
        rows: list[tuple[str, str, str]] = []
        if view.cause:
            for i, culprit in enumerate(view.culprits.shown or (view.nobody,)):
                rows.append(("" if i else say("culprit"), culprit, "bold red" if view.culprits else ""))
            if view.culprits.more:
                rows.append(("", say("more", n=view.culprits.more), "dim"))
            rows.append((say("cause"), f"{view.cause} · {view.certainty_word} ({view.confidence})", ""))
        for key, value in (("owner", view.owner), ("restart", view.restart)):
            if value:
                rows.append((say(key), value, ""))
        if rows:
            self._console.print()
            self._grid([(styled((k, "dim")), styled((v, style))) for k, v, style in rows], indent=0)

    def _proof(self, e: EvidenceView, *, is_first: bool) -> None:
        if is_first:
            self._heading("evidence")
        else:
            self._console.print()
        head = styled((e.where, "bold cyan"), *((f"  {part}", "dim") for part in (e.who, e.time) if part))
        if head.cell_len <= self._console.width - INDENT:
            self._print(head, INDENT)
        else:  # the place stays whole, so that it can be copied
            self._console.print(styled((" " * INDENT, ""), (e.where, "bold cyan")), soft_wrap=True)
            self._print(styled((self._say("comma").join(filter(None, (e.who, e.time))), "dim")), INDENT)
        fits = len(e.also_in) <= self._console.width - INDENT
        for text in filter(None, [e.also_in] if fits else e.other_places):
            self._console.print(styled((" " * INDENT + text, "dim")), soft_wrap=True)
        self._grid(list(self._proof_rows(e, wrap_all=is_first or self._full)))
        if is_first and e.own_code:
            self._print(styled((self._say("own-code"), "dim")), INDENT)
            for text in e.own_code:  # not wrapped: an editor opens the place that is copied
                self._console.print(styled((" " * (INDENT + 2) + text, "")), soft_wrap=True)

    def _proof_rows(self, e: EvidenceView, *, wrap_all: bool) -> Iterable[tuple[Text, Text]]:
        for i, line in enumerate(e.lines):
            number = "" if line.number is None else str(line.number)
            text = styled((line.text, "" if line.is_hit else "dim"))
            if not (line.is_hit or wrap_all) or line.text.endswith(UNDERLINES):  # worth one line each
                text.no_wrap, text.overflow = True, "ellipsis"
            for start, end in line.marks:
                text.stylize("bold yellow", start, end)
            gutter = styled(("❱ " if line.is_hit else "  ", "bold red"), (f"{number} │", "bold" if line.is_hit else "dim"))
            gutter.justify = "right"
            yield gutter, text
            if i == e.gap_after:
                yield styled(("│", "dim")), styled((self._say("more-lines", n=e.left_out), "dim italic"))

    def _remedy(self) -> None:
        if not self._view.remedy:
            return
        self._heading("remedy")
        for step in self._view.remedy.shown:
            self._grid([(styled((step.when_word, WHEN_STYLES.get(step.when, "bold"))), styled((step.text, "")))], column=8)
            # Not wrapped and not indented by more than blanks: what is copied has to run.
            for line in step.command.split("\n") if step.command else ():
                self._console.print(styled((" " * (INDENT + 10), ""), (line, "green")), soft_wrap=True)
        self._more(self._view.remedy)

    def _messages(self, key: str, rows: Cut[MessageView]) -> None:
        if not rows:
            return
        self._heading(key)
        for m in rows.shown:
            head = styled((f"{m.who}{self._say('colon')}" if m.who else "", "bold"), (m.title, ""))
            head.append(f" ({m.cause})" if m.cause and m.cause != m.title else "", "dim")
            head.append(f"{self._say('comma')}{m.note}" if m.note else "")
            head.append(f"{self._say('colon')}{m.why}" if m.why else "")
            self._bullet(head)
            room = self._console.width - 2 * INDENT
            where = head_and_end(m.where, room)
            beside = bool(where and m.line) and len(where) <= room // 2
            told = [((f"{where}  ", "cyan"), (m.line, "dim"))] if beside else [((where, "cyan"),), ((m.line, "dim"),)]
            for parts in told:
                if (shown := styled(*parts)).plain:
                    shown.truncate(room, overflow="ellipsis")
                    self._print(shown, 2 * INDENT)
        self._more(rows)

    def _timeline(self) -> None:
        if not self._view.timeline:
            return
        self._heading("timeline")
        table = table_of(columns=5 if self._wide else 3)
        table.columns[0].no_wrap = True
        for t in self._view.timeline.shown:
            style = "bold red" if t.is_culprit else ""
            cells = [styled((t.time, "dim")), styled((t.who, style)), styled((t.text, style))]
            if self._wide:
                cells += [styled((t.layer, "dim")), styled((last_parts(t.where, self._console.width // 3), "cyan"))]
            table.add_row(*cells)
        self._print(table, INDENT)
        self._more(self._view.timeline)

    def _collectives(self) -> None:
        rows = self._view.collectives
        several = len({c.group for c in rows.shown}) > 1
        differ = len({c.sizes for c in rows.shown}) > 1  # then the sizes are what is worth the room
        crowded = ("enqueued", "completed") if differ and not self._wide else () if differ else ("sizes",)
        columns = [c for c in filled(rows.shown) if c not in crowded and (several or c != "group")]
        self._folded("collectives", rows, columns)

    def _ranks(self) -> None:
        rows = self._view.ranks
        columns = [c for c in filled(rows.shown) if self._wide or c != "hosts"]
        self._folded("ranks-table", rows, columns)

    def _folded(self, key: str, rows: Cut[RankLine] | Cut[CollectiveLine], columns: list[str]) -> None:
        """A table of folded ranks: numbers stay whole, names of ranks may wrap."""
        if not rows:
            return
        self._heading(key)
        gap = 2 if self._wide or len(columns) < TIGHT else 1
        table = table_of(*(self._say(c.replace("_", "-")) for c in columns), gap=gap)
        for name, column in zip(columns, table.columns, strict=True):
            column.no_wrap = name not in ("who", "group", "verdict", "hosts", "state")
        for row in rows.shown:
            style = "bold red" if getattr(row, "is_culprit", False) else ""
            table.add_row(*(styled((getattr(row, c), style if c == "who" else "")) for c in columns))
        self._print(table, INDENT)
        self._more(rows)

    def _inputs(self) -> None:
        if not self._view.inputs:
            return
        self._heading("inputs")
        for i in self._view.inputs.shown:
            about = "  ".join(filter(None, (i.size, i.skipped or i.kind, i.who)))
            self._bullet(styled((i.file, ""), (f"  {about}", "dim")))
        self._more(self._view.inputs)

    def _tables(self) -> None:
        view = self._view
        self._ranks()
        self._collectives()
        if view.stacks:
            self._heading("stacks")
            for s in view.stacks.shown:
                self._bullet(styled((f"{s.who}{self._say('colon')}", "bold"), (" › ".join(s.frames), "")))
            self._more(view.stacks)
        if view.facts:
            self._heading("facts")
            rows = [(f.name, f"{f.value} ({f.others})" if f.others else f.value) for f in view.facts.shown]
            self._grid([(styled((n, "dim")), styled((v, ""))) for n, v in rows])
            self._more(view.facts)

    def _notes(self, key: str, rows: Cut[NoteView]) -> None:
        if not rows:
            return
        self._heading(key)
        for n in rows.shown:
            self._bullet(styled((n.text, ""), (f"{self._say('space')}{n.how}" if n.how else "", "dim")))
            for line in n.command.split("\n") if n.command else ():
                self._console.print(styled((" " * (INDENT + 2), ""), (line, "green")), soft_wrap=True)
        self._more(rows)

    def _foot(self) -> None:
        view = self._view
        foot = self._say("space").join(x for x in (view.read, view.time_basis, view.redacted) if x)
        if view.references:
            self._heading("references")
            for reference in view.references:
                self._console.print(styled((" " * INDENT + reference, "cyan")), soft_wrap=True)
        if foot:
            self._console.print()
            self._print(styled((foot, "dim")))

    # --- pieces

    def _heading(self, key: str) -> None:
        self._console.print()
        self._print(styled((self._say(key), "bold underline")))

    def _more(self, rows: Cut[object]) -> None:
        if rows.more:
            self._print(styled((self._say("more", n=rows.more), "dim")), INDENT)

    def _bullet(self, text: Text) -> None:
        self._grid([(styled(("•", "dim")), text)], gap=1)

    def _grid(self, rows: list[tuple[Text, Text]], indent: int = INDENT, column: int | None = None, gap: int = 2) -> None:
        table = table_of(columns=2, gap=gap)
        table.columns[0].no_wrap = True
        table.columns[0].min_width = column
        for left, right in rows:
            table.add_row(left, right)
        self._print(table, indent)

    def _print(self, what: RenderableType, indent: int = 0) -> None:
        from rich.padding import Padding

        # Also where nothing is indented: print() would make plain Text of a WrappedText.
        self._console.print(Padding(what, (0, 0, 0, indent), expand=False))
