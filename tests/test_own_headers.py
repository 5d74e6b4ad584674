"""Programs that say in a header of their own which process speaks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.sources.own_headers import header_of

CLOSED = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.2]:9431"
LATE = "[/pytorch/gloo/transport/tcp/unbound_buffer.cc:129] Timed out waiting 60000ms for send operation to complete"
LOGURU = "2026-11-20 17:{m:02d}:{s:02d}.123 | {level:<8} | rank{r} | __main__:train:88 - {text}"
HEADERS = (
    "2026-11-20 17:{m:02d}:{s:02d},123 | rank {r} | {level:<8} | {text}",
    "2026-11-20 17:{m:02d}:{s:02d},123 {level} [Worker {r}] {text}",
    "2026-11-20 17:{m:02d}:{s:02d},123 - trainer.rank{r} - {level} - {text}",
    "[2026-11-20 17:{m:02d}:{s:02d},123][rank {r}][train.py:88][{level}] {text}",
    "2026-11-20 17:{m:02d}:{s:02d} [{lower:<9}] {text:<30} [train] rank={r} size=4",
    "timestamp='2026-11-20T17:{m:02d}:{s:02d}Z' level='{lower}' event='{text}' rank={r}",
    'timestamp=2026-11-20T17:{m:02d}:{s:02d}Z level={lower} event="{text}" rank={r}',
    '{{"ts":"2026-11-20T17:{m:02d}:{s:02d}Z","level":"{level}","message":"{text}","extra":{{"rank":{r}}}}}',
    LOGURU,
    "[{r}][2026-11-20 17:{m:02d}:{s:02d},123] [{level}] [main] {text}",
    "2026-11-20 17:{m:02d}:{s:02d}.123 | {level:<8} | rank {r} | __main__:train:88 - {text}",
    "R{r}: {text}",
    "[{r}/4] {text}",
    "(trainer-{r}) {text}",
    "[GPU {r}] 2026-11-20 17:{m:02d}:{s:02d},123 {level} {text}",
    "<{r}> {text}",
    "gpu-07:{r}:{step} {text}",
)


def console(header: str, *, silent: int | None = None, error: str = "", others: str = "", size: int = 4) -> str:
    """Yield what `size` ranks print that train together: steps, then an error of rank 2 and the others' losses."""
    order = random.Random(7)
    lines: list[str] = []

    def say(r: int, second: int, level: str, text: str) -> None:
        told = {"r": r, "m": second // 60, "s": second % 60, "step": second, "level": level, "lower": level.lower()}
        lines.append(header.format(text=text, **told))

    for second, text in enumerate(("process group ready, world_size=4", "model has 124.4M parameters")):
        for r in order.sample(range(size), size):
            say(r, second, "INFO", text)
    for step in range(1, 9):
        for r in order.sample(range(size), size):
            if step < 6 or r != silent:
                say(r, 10 * step, "INFO", f"step {10 * step} loss {2 + order.random():.4f} lr 1.0e-04")
    if error:
        say(2, 90, "ERROR", error)
    for r in {0, 3, 1, 2} - {silent if silent is not None else 2}:
        if others:
            say(r, 150, "ERROR", others)
    return "\n".join(lines) + "\n"


def blamed(text: str, name: str = "train.log") -> tuple[str, list[int | None], str]:
    found = diagnose(Text(text, name)).diagnosis
    return (found.cause, [c.rank for c in found.culprits], found.certainty) if found else ("", [], "")


@pytest.mark.parametrize("header", HEADERS)
def test_an_error_below_a_header_of_a_programs_own_is_of_the_rank_that_the_header_names(header: str) -> None:
    """Without it the ranks' lines are one speaker's, and nobody is told from those who only lost their peer."""
    text = console(header, error="ValueError: cannot reshape array of size 17", others=f"RuntimeError: {CLOSED}")
    assert blamed(text)[:2] == ("process.exception", [2])


@pytest.mark.parametrize("header", HEADERS)
def test_a_rank_whose_own_label_no_longer_comes_is_the_silent_one(header: str) -> None:
    """Three of four labels print a time-out; the fourth printed its last step long before."""
    _, culprits, _ = blamed(console(header, silent=1, others=f"RuntimeError: {LATE}"))
    assert culprits == [1]


@pytest.mark.parametrize("header", ["2026-11-20 17:{m:02d}:{s:02d},123 {level} [R{r}] {text}", "R{r}: {text}"])
def test_a_logged_exceptions_traceback_is_of_the_label_above_it(header: str) -> None:
    """The logger's header stands before the first line of the record only."""
    text = console(header, error="training failed") + "Traceback (most recent call last):\n"
    text += '  File "/srv/train.py", line 88, in train\n    batch = next(it)\nKeyError: \'target\'\n'
    assert blamed(text)[:2] == ("process.exception", [2])


def test_frames_behind_a_label_on_each_line_keep_their_margin() -> None:
    """A wrapper of `sys.stderr` puts the label before each line of a traceback, too."""
    sample = console("(trainer-{r}) {text}").encode()
    header = header_of(sample)
    assert header.feed(b'(trainer-2)   File "/srv/train.py", line 88\n') == b'[rank2]:   File "/srv/train.py", line 88\n'


def steps(form: str, numbers: int = 4, count: int = 60) -> str:
    order = random.Random(3)
    return "\n".join(form.format(n=order.randrange(numbers), i=i, m=i // 60, s=i % 60) for i in range(count)) + "\n"


IN_ORDER = {
    "steps": "\n".join(f"[{i}] loss {2 + i / 9:.4f} lr 1e-4" for i in range(64)),
    "progress": "world_size=8\n" + "\n".join(f"[{i}/8] step {i} loss 2.{n}" for n in range(4) for i in range(8)),
    "batches": "using 4 GPUs\n" + "\n".join(f"[{i}] epoch {n} loss 2.{i}{n}\n[{i}] lr 0.1" for n in range(6) for i in range(4)),
    "epochs": "\n".join(f"[{n}] step {i} loss 2.{i}" for n in range(6) for i in range(4)),
    "a table of ranks": "\n".join(f"rank {i}: {n + i / 7:.1f} GiB, step {n}" for n in range(9) for i in range(4)),
    "builds": "\n".join(f"[{i}/12] Building CXX object x{i}.o" for i in range(1, 13)),
}
NO_RANKS = {
    "workers of a loader": "2026-11-20 17:{m:02d}:{s:02d},123 INFO worker {n}: opened shard-{i:05d}.tar",
    "threads": "2026-11-20 17:{m:02d}:{s:02d},123 INFO [Thread-{n}] step {i} loss 2.1",
    "stages": "2026-11-20 17:{m:02d}:{s:02d},123 INFO stage {n}: step {i} loss 2.1",
    "whose heartbeat it was": "2026-11-20 17:{m:02d}:{s:02d} [info     ] heartbeat from worker     rank={n}",
    "a data-parallel coordinate": "world_size=8\n2026-11-20 17:{m:02d}:{s:02d},123 INFO [dp{n}] step {i} loss 2.1",
    "the rank in a group": "[E ProcessGroupNCCL.cpp:737] [Rank {n}] Watchdog caught collective operation timeout: step {i}",
    "temperatures": "GPU {n}: {i}C, 99%",
}


@pytest.mark.parametrize("what", IN_ORDER)
def test_numbers_that_come_in_order_are_no_ranks(what: str) -> None:
    """Who counts begins at 0 and goes on by one; ranks that share a console do so in no order."""
    assert header_of(IN_ORDER[what].encode()) is None


@pytest.mark.parametrize("what", NO_RANKS)
def test_numbers_that_are_called_otherwise_or_measure_nothing_are_no_ranks(what: str) -> None:
    """The label of a loader's worker, a thread or a stage looks like a rank's."""
    assert header_of(steps(NO_RANKS[what]).encode()) is None


def test_a_label_that_two_pods_bear_is_of_a_node() -> None:
    """`[R2]` of two pods are two processes: the number is the local rank."""
    header = header_of((steps("[pod/w-0/main] [R{n}] step {i}") + steps("[pod/w-1/main] [R{n}] step {i}")).encode())
    assert header.feed(b"[pod/w-1/main] [R2] step 7\n") == b"[pod/w-1/main] [proc2]: step 7\n"


def test_a_header_is_learned_from_the_end_where_the_beginning_has_none(tmp_path: Path) -> None:
    """A launcher's and NCCL's own words may fill the first 64 KiB."""
    noise = "gpu-07:4711:4711 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n" * 2000
    text = console("2026-11-20 17:{m:02d}:{s:02d},123 {level} [R{r}] {text}", error="loss is nan", others=f"RuntimeError: {CLOSED}")
    (tmp_path / "train.log").write_text(noise + text)
    found = diagnose(tmp_path).diagnosis
    assert [c.rank for c in found.culprits] == [2]
