"""Headers after a time that a program lays out itself, in columns: one row per form, a sample beside each."""

from __future__ import annotations

from .row import LEVEL, Row, row

COLUMN = r"[A-Za-z_][\w.:-]{0,60} {0,9}\| "  # a logger's name, a function
OF_RANK = r"(?:r|[Rr]ank[ =:]?)(?P<rank>\d{1,6})(?:/\d{1,6})? {0,4}\| "

PIPED: tuple[Row, ...] = (
    row(
        "piped",
        (" |",),
        rf" \| (?:{COLUMN}){{0,2}}(?:{OF_RANK})?(?:{COLUMN}){{0,2}}{LEVEL} {{0,6}}\| ",
        "2026-11-20 16:59:37,706 | heron.engine | r2/3 | INFO | step=5 loss=1.1522",
    ),
    row(
        "level and line of the program",
        " ",
        rf" {{1,4}}{LEVEL} {{1,5}}(?P<origin>__main__:\d{{1,6}}):? (?:- )?",
        "2026-11-23T06:00:45.890724+0000 SUCCESS __main__:79 training finished",
    ),
)
