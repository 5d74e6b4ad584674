"""Lines that a terminal broke at its width."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import Text, diagnose
from diagnose.sources.unwrap import unwrapped

from .command_line import tell

FIXTURES = Path(__file__).parent.parent / "fixtures"
KNOWN = (b"CUDA out of memory. Tried to allocate", b"Watchdog caught collective operation timeout")

LOG = """\
INFO 11-20 10:15:00 [worker.py:41] rank 0 in world size 2 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0
INFO 11-20 10:15:02 [loader.py:458] Loading weights took 2.47 seconds
Traceback (most recent call last):
  File "/opt/conda/lib/python3.11/site-packages/transformers/trainer.py", line 2245, in _inner_training_loop
    tr_loss_step = self.training_step(model, inputs, num_items_in_batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 5 is free.
"""


def known(data: bytes) -> Iterator[tuple[int, int]]:
    for text in KNOWN:
        yield from (m.span() for m in re.finditer(re.escape(text), data))


def broken(text: str, width: int) -> str:
    """What is copied from a terminal of this width."""
    lines = text.split("\n")
    return "\n".join(line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width))


@pytest.mark.parametrize("width", [72, 80, 100])
def test_broken_lines_are_joined_where_the_first_part_stands(width: int) -> None:
    copied = broken(LOG, width)
    joined = unwrapped(copied.encode(), known)
    assert [line for line in joined.decode().split("\n") if line] == [line for line in LOG.split("\n") if line]
    assert joined.count(b"\n") == copied.count("\n")


NOT_BROKEN = {
    "bars of one length": "".join(f"Training:  {n}%|####      | {n}/100 [00:10<00:12,  2.12it/s, loss=2.{n}, lr=1.0e-5, step]\n" for n in range(10, 60)),
    "a table": f"+{'-' * 77}+\n| NVIDIA-SMI 550.54{' ' * 59}|\n" * 6 + "| GPU 0 out\n",
    "equal lines of one kind": "".join(f"/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:{n}: UserWarning: use_reentrant\n  warnings.warn(\n" for n in range(100, 130)),
    "lines with times": "".join(f"2026-11-20 10:15:{n} INFO trainer.py:{n} - {'alpha beta gamma delta epsilon zeta eta theta'[:40 + n % 2]} done now\n" for n in range(10, 50)),
}  # fmt: skip


@pytest.mark.parametrize("text", NOT_BROKEN.values(), ids=NOT_BROKEN)
def test_lines_that_are_equally_long_by_themselves_stay(text: str) -> None:
    assert unwrapped(text.encode(), known) is None


def test_no_log_of_the_fixtures_counts_as_broken() -> None:
    files = [p for p in FIXTURES.glob("*/logs/**/*") if p.is_file()]
    assert files
    assert not [p for p in files if unwrapped(p.read_bytes(), known) is not None]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=600) | st.text("ab \n|", min_size=200, max_size=900).map(str.encode))
def test_whatever_is_read_keeps_its_bytes_and_its_number_of_lines(data: bytes) -> None:
    joined = unwrapped(data, lambda text: [(0, len(text))])
    if joined is not None:
        assert joined.count(b"\n") == data.count(b"\n")
        assert joined.replace(b"\n", b"") == data.replace(b"\n", b"")


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("case", ["cuda-oom-one-rank", "segfault-one-rank", "disk-full-checkpoint"])
def test_a_log_copied_from_a_terminal_gets_the_same_verdict(case: str, width: int, tmp_path: Path) -> None:
    logs = FIXTURES / case / "logs"
    for path in sorted(p for p in logs.rglob("*") if p.is_file()):
        target = tmp_path / path.relative_to(logs)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(broken(path.read_text(), width))
    told = [json.loads(tell("--format", "json", x).out)["diagnosis"] for x in (logs, tmp_path)]
    assert told[0]["cause"] == told[1]["cause"]
    assert [c["rank"] for c in told[0]["culprits"]] == [c["rank"] for c in told[1]["culprits"]]


def test_blanks_that_a_web_page_holds_are_blanks() -> None:
    line = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    report = diagnose(Text(line.replace(" ", "\u00a0").replace("CUDA", "\u200bCUDA") + "\n", name="<stdin>"))
    assert ("memory.cuda-oom", line) == (report.diagnosis.cause, report.diagnosis.evidence[0].text)
