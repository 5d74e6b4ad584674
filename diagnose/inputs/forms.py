"""In which form a text holds log lines, and who reads them out of it.

In: a text's first bytes and its name. Out: its `Kind`, where that says more than its name, the label before its lines,
and a reader that gives the lines as they were printed: as many, so that line numbers stay those of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import Kind, suffix_of
from .labels import SAMPLE_BYTES, Label, Unlabelling, label_of, may_be_labelled
from .notebooks import NotebookMask
from .quoted_logs import Unquoting, has_fences, is_quoted, may_quote
from .reader import Reader
from .streams import Joined, peek
from .tables import TableReader, delimiter_of

PASTE_BYTES = 256 << 10  # a pasted issue is shorter; a longer text is a log and is taken whole
WHOLE: frozenset[Kind] = frozenset(["markdown", "notebook", "table", "loki"])  # where a line means what those before it say


@dataclass(frozen=True, slots=True)
class Form:
    """How log lines stand in a text; with `skipped`, why none do."""

    kind: Kind
    label: Label | None = None
    skipped: str | None = None


def form_of(kind: Kind, head: bytes, stream: Joined, name: str) -> tuple[Form, Joined]:
    """Yield the form of a text that begins with `head`, and the stream, which still begins so."""
    if kind == "text" and may_be_labelled(head):
        sample, stream = peek(stream, SAMPLE_BYTES)
        if (label := label_of(sample, is_whole=len(sample) < SAMPLE_BYTES)) is not None:
            return Form(kind, label), stream
    if kind == "markdown" or (kind == "text" and may_quote(head)):
        head, stream = peek(stream, PASTE_BYTES + 1)
        if kind == "markdown" and not has_fences(head):
            return Form("prose", skipped=f"documentation ({suffix_of(name)}): no log is quoted in it"), stream
        if kind == "text" and len(head) <= PASTE_BYTES and is_quoted(head, is_pasted=name.startswith("<")):
            return Form("markdown"), stream
    return Form("table" if kind == "text" and delimiter_of(head) is not None else kind), stream


def reader_of(kind: Kind, label: Label | None) -> Reader | None:
    """Yield who reads the lines out of a text of this form; None where they stand as they were printed."""
    if kind == "markdown":
        return Unquoting()
    if kind == "notebook":
        return NotebookMask()
    if kind == "table":
        return TableReader()
    return Unlabelling(label) if label is not None else None
