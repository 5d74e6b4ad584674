"""Headers of programs that nobody knows, made of parts in any order: each is read, or is no header."""

from __future__ import annotations

import random

import pytest

from diagnose.sources.labels import Rewriting
from diagnose.sources.own_headers import header_of

LABELS = ("[R{r}]", "(trainer-{r})", "rank={r} |", "Rank {r}:", "<{r}>", "[{r}/4]", "{r} |", "[GPU {r}]", "rank{r} -")
TIMES = (
    "2026-11-23T03:02:{s:02d}.375123456Z",
    "2026-11-23 03:02:{s:02d},375",
    "[2026-11-23 03:02:{s:02d}]",
    "03:02:{s:02d}",
)
LEVELS = ("INFO", "[info ]", "<ERROR>", "WARNING:", "(debug)")
NAMES = (
    "train:",
    "trainer.main -",
    "über:",
    "日本 |",
    "[main]",
    "(a.py:12)",
    "__main__:train:88",
    "stderr F",
    "[é]",
    "a\\b:",
    "(?P<time>x)",
)
PARTS = (TIMES, TIMES, LEVELS, LABELS, NAMES)


def lines_below(header: str, seed: int) -> bytes:
    """What four ranks print below a header, in no order."""
    order = random.Random(seed)
    told = ((step, rank) for step in range(12) for rank in order.sample(range(4), 4))
    return "".join(f"{header.format(s=step, r=rank)} step {step} loss 2.1\n" for step, rank in told).encode()


def header(seed: int) -> str:
    """One to five parts and a label among them."""
    order = random.Random(seed)
    parts = [order.choice(order.choice(PARTS)) for _ in range(order.randint(1, 5))]
    parts.insert(order.randint(0, len(parts)), order.choice(LABELS))
    return " ".join(parts)


@pytest.mark.parametrize("seed", range(40))
def test_a_header_of_any_parts_is_read_or_is_none_and_keeps_all_lines(seed: int) -> None:
    text = lines_below(header(seed), seed)
    found = header_of(text)

    assert found is None or found.feed(text).count(b"\n") == text.count(b"\n")


def test_a_collectors_time_and_the_programs_own_both_stay_before_the_rank() -> None:
    text = lines_below("2026-11-23T03:02:{s:02d}.375123456Z 2026-11-23 03:02:{s:02d},375 INFO [R{r}]", 1)
    found = header_of(text)

    assert isinstance(found, Rewriting)
    first = found.feed(text).split(b"\n")[0]
    assert first.startswith(b"2026-11-23T03:02:00.375123456Z 2026-11-23 03:02:00,375 INFO [rank")
