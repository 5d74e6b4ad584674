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
LEVELLED_PIPES: tuple[Row, ...] = (
    row(
        "piped, rank",
        (" |",),
        rf" \| {LEVEL} {{0,6}}\| rank (?P<rank>\d{{1,6}}) \| ",
        "2026-11-20 16:59:37,706 | INFO | rank 2 | initialized: world_size=3",
    ),
    row(
        "piped, name",
        (" |",),
        rf" \| {LEVEL} {{0,6}}\| (?P<origin>[a-z_][\w]{{0,40}}(?:\.\w{{1,60}}){{1,9}}|root|__main__) \| ",
        "2026-08-20 14:08:11 | INFO | nemo_automodel.recipes.llm.train_ft | step 270",
    ),
    row(
        "piped, stream",
        (" |",),
        rf" \| {LEVEL} {{0,6}}\| (?P<stream>stderr|stdout) \| ",
        "2023-12-27 11:25:36 | ERROR | stderr | RuntimeError: failed",
    ),
)
