"""Signs of life: first and last step of each rank, however many speak and wherever one falls silent."""

from __future__ import annotations

import io
from functools import cache

import pytest

from diagnose.catalogue.rule import Form, Rule
from diagnose.scan.kept import Hit
from diagnose.scan.progress import ProgressLines
from diagnose.scan.scan import SourceScan
from diagnose.scan.scanner import Scanner, ScanRules
from diagnose.sources.blocks import cut_blocks, normalise_blocks


@cache
def rules() -> ScanRules:
    step = Form(("step ",), r"^(?:\| rank \d+ \| )?step (?P<step>\d+)")
    reset = Form(("reset by peer",), r"Connection reset by peer")
    found = [
        Rule("", "context", "line", "", (step,), "", fields={"step": "int"}, id="a.life/step", tells="progress"),
        Rule("", "symptom", "line", "", (reset,), "", id="a.reset/peer"),
    ]
    return ScanRules(found, "test")


def steps(scan: SourceScan) -> dict[str, tuple[int, int]]:
    return {s: (a.fields["step"], b.fields["step"]) for s, (a, b) in scan.progress.items() if a.fields and b.fields}


def scan_of(data: bytes, block_bytes: int = 1 << 20) -> SourceScan:
    scanner = Scanner(rules(), "x.log")
    for block in normalise_blocks(cut_blocks(io.BytesIO(data), block_bytes=block_bytes), rules().marks_of):
        scanner.feed(block)
    return scanner.finish()


def test_each_of_256_woven_ranks_has_its_first_and_last_step() -> None:
    rows = [f"[rank{r}]: step {s} loss 1.5\n" for s in range(100) for r in range(256) if not (r == 9 and s > 50)]
    found = steps(scan_of("".join(rows).encode(), 1 << 16))
    assert found == {f"[rank{r}]:|{r}": (0, 50 if r == 9 else 99) for r in range(256)}


def test_a_rank_that_only_the_message_names_has_its_own_steps() -> None:
    rows = [f"| rank {r} | step {s} |\n" for s in range(50) for r in range(4)]
    assert sorted(steps(scan_of("".join(rows).encode())).values()) == [(0, 49)] * 4


def test_the_last_step_of_a_lone_speaker_is_exact_far_from_the_end() -> None:
    data = b"".join(b"step %d loss 2\n" % n for n in range(200_000)) + b"idle\n" * 600_000
    assert list(steps(scan_of(data, 1 << 18)).values()) == [(0, 199_999)]


def test_the_last_step_of_each_of_several_speakers_is_exact_far_from_the_end() -> None:
    rows = [b"[rank%d]: step %d loss 2\n" % (r, n) for n in range(60_000) for r in range(3) if n < 20_000 * (r + 1)]
    found = steps(scan_of(b"".join(rows) + b"idle\n" * 600_000, 1 << 16))
    assert found == {f"[rank{r}]:|{r}": (0, 20_000 * (r + 1) - 1) for r in range(3)}


def test_an_error_with_later_progress_stands_before_the_last_sign_of_life() -> None:
    scan = scan_of(b"step 1\nConnection reset by peer\nstep 2\n")
    ((_, last),) = scan.progress.values()
    assert (last.line, [h.line for h in scan.hits()]) == (3, [2])


def test_a_line_that_only_looks_like_progress_is_none() -> None:
    assert (scan_of(b"step by step we go\n" * 200)).progress == {}


def test_a_bar_belongs_to_nobody_whose_words_follow_behind_its_update() -> None:
    assert steps(scan_of(b"step 1\rstep 2\r[rank3]: lost the connection\n")) == {"": (1, 2)}


def test_a_short_log_has_the_signs_of_life_that_a_long_one_has() -> None:
    rows = [f"[rank{r}]: step {s}\rstep {s * 2}\r[rank{r}]: the step {s} was odd\n" for s in range(40) for r in range(4)]
    short = "".join(rows).encode()
    assert steps(scan_of(short)) == steps(scan_of(short + b"idle\n" * 20_000))


def test_who_was_heard_once_stays_heard_where_the_pattern_runs_out_of_time_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter([Hit("a.life/step", 0, 1, 0, {"step": 1})])
    monkeypatch.setattr(ProgressLines, "verify", lambda *_: next(answers, None))
    assert steps(scan_of(b"step 1 loss 1.5\nstep 2 loss 1.5\n")) == {"": (1, 1)}
