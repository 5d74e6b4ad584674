"""The map step: parts merge into what one reading gives, caps hold, and a naive reader finds the same hits."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache, reduce

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.catalogue.load import Catalogue
from diagnose.catalogue.rule import Form, Rule
from diagnose.lines.prefix import read_lines
from diagnose.scan.kept import CENSUS, FEW, is_frame
from diagnose.scan.scan import Scan, SourceScan, merge, scan_from_json, scan_to_json
from diagnose.scan.scanner import Scanner, ScanRules
from diagnose.sources.blocks import Block, cut_blocks, normalise_blocks


def rule(name: str, pattern: str, *literals: str, match: str = "line", role: str = "symptom", **more: object) -> Rule:
    form = Form(literals, pattern, ignore_case=bool(more.pop("ignore_case", False)))
    fields = {"seq": "int"} if "(?P<seq>" in pattern else {}
    step = {"step": "int"} if "(?P<step>" in pattern else {}
    return Rule(name, role, match, "", (form,), "", fields={**fields, **step}, id=name, cause=None, **more)  # type: ignore[arg-type]


RULES = [
    rule("a.oom/cuda", r"^(?:torch\.)?OutOfMemoryError: CUDA out of memory", "CUDA out of memory", match="traceback"),
    rule("a.oom/line", r"CUDA out of memory\. Tried to allocate", "CUDA out of memory"),
    rule("a.timeout/watchdog", r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(?P<seq>\d+)",
         "Watchdog caught collective operation timeout", census=True),
    rule("a.killed/kernel", r"(?s)^Out of memory: Killed process \d+.*?total-vm", "Out of memory: Killed process",
         match="block", lines=6),
    rule("a.exit/code", r"^exitcode\s*: (-?\d+)", "exitcode"),
    rule("a.noise/word", r"^warning: .* deprecated$", "deprecated", role="harmless", ignore_case=True),
    rule("a.reset/peer", r"Connection reset by peer$", "reset by peer", "Broken pipe"),
    rule("a.life/step", r"^(?:\| rank \d+ \| )?step (?P<step>\d+)", "step ", role="context", tells="progress"),
]  # fmt: skip


@cache
def rules() -> ScanRules:
    return ScanRules(Catalogue({r.id: r for r in RULES}, {}, {}, {}, "test"))


def blocks(data: bytes, block_bytes: int = 1 << 20) -> Iterator[Block]:
    return normalise_blocks(cut_blocks(io.BytesIO(data), block_bytes=block_bytes), rules().marks_of)


def part(data: bytes, above: bytes = b"", below: bytes = b"", block_bytes: int = 1 << 20) -> SourceScan:
    scanner = Scanner(rules(), "x.log")
    scanner.look_back(b"".join(block.data for block in blocks(above)))
    for block in blocks(data, block_bytes):
        scanner.feed(block)
    return scanner.finish(blocks(below))


def text_of(scan: SourceScan) -> str:
    return repr(scan)


TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/job/train.py", line 212, in <module>',
    "    main()",
    '  File "/job/train.py", line 90, in step',
    '    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")',
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79 GiB",
]
WATCHDOG = (
    "[E1120 10:15:00.123456789 ProcessGroupNCCL.cpp:607] [Rank {r}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={n}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds"
)
KERNEL = [
    "[ 3667.09] Out of memory: Killed process 4711 (python) ",
    "[ 3667.09]   total-vm:1kB, anon-rss:2kB",
    "[ 3667.10] oom_reaper: reaped process 4711",
]
STACK = [
    "Thread 0x00007f (most recent call first):",
    '  File "a.py", line 3 in wait',
    '  File "b.py", line 9 in run',
    "",
]
PLAIN = [
    "step 12 loss 2.1",
    "",
    "all is well",
    "| rank 9 | step 120",
    "  indented",
    "exitcode : 0",
    "warning: x Deprecated",
]


def bar(r: int) -> str:
    return f"\r[rank{r}]: 10%|#  | step 3\r[rank{r}]: 20%|## | step 4\rConnection reset by peer"


blob = st.one_of(
    st.sampled_from([*PLAIN, *STACK]).map(lambda x: [x]),
    st.integers(0, 9).map(lambda n: [f"step {n}"] * n),
    st.sampled_from([TRACEBACK, KERNEL, STACK]),
    st.tuples(st.integers(0, 3), st.sampled_from([TRACEBACK, STACK])).map(lambda x: [f"[rank{x[0]}]: {y}" for y in x[1]]),
    st.tuples(st.integers(0, 3), st.integers(0, 99)).map(lambda x: [WATCHDOG.format(r=x[0], n=x[1])]),
    st.integers(0, 3).map(lambda r: [bar(r)]),
    st.integers(1, 4 * FEW).map(lambda n: [f"exitcode  : {n}"] * n),
    st.integers(0, 3).map(lambda n: [f"{n}: read: Connection reset by peer", f"{n}: write: Broken pipe"]),
    st.sampled_from(["a\x1b[31mb", "bad \udcff byte Connection reset by peer", "x" * 9000 + "\rConnection reset by peer"])
    .map(lambda x: [x]),
    st.sampled_from([4000, 9000]).map(lambda n: ["y" * n + " CUDA out of memory. Tried to allocate 1 GiB " + "z" * n]),
    st.text("abc \r:[]rank01", max_size=30).map(lambda x: [x]),
)  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> list[bytes]:
    """Lines of a log in which blobs follow each other, or are woven into each other."""
    blobs = draw(st.lists(blob, min_size=1, max_size=8))
    if draw(st.booleans()):
        rows = [x for i in range(max(map(len, blobs))) for x in (b[i] for b in blobs if i < len(b))]
    else:
        rows = [x for b in blobs for x in b]
    return [x.encode("utf-8", "surrogateescape") + b"\n" for x in rows]


def joined(parts: Sequence[Sequence[bytes]], block_bytes: int = 1 << 20) -> SourceScan:
    data = [b"".join(p) for p in parts]
    return reduce(merge, [part(p, b"".join(data[:i]), b"".join(data[i + 1 :]), block_bytes) for i, p in enumerate(data)])


@settings(max_examples=60, deadline=None)
@given(logs(), st.data())
def test_two_parts_merge_into_what_one_reading_gives(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines)))
    assert text_of(joined([lines[:at], lines[at:]])) == text_of(joined([lines]))


@settings(max_examples=40, deadline=None)
@given(logs(), st.sampled_from([1, 64, 700, 5000]))
def test_the_size_of_blocks_changes_nothing(lines: list[bytes], block_bytes: int) -> None:
    assert text_of(joined([lines], block_bytes)) == text_of(joined([lines]))


@settings(max_examples=30, deadline=None)
@given(logs(), logs())
def test_what_another_source_said_changes_nothing(earlier: list[bytes], lines: list[bytes]) -> None:
    rules.cache_clear()
    part(b"".join(earlier))
    after = text_of(part(b"".join(lines)))
    rules.cache_clear()
    assert after == text_of(part(b"".join(lines)))


def test_the_last_sign_of_life_is_found_near_the_start_however_small_the_blocks() -> None:
    lines = [b"step 12 loss 2.1\n", b"step 13 loss 2.1\n", *[b"y" * 9000 + b"\n"] * 12]
    assert [hit.line for hit in joined([lines], 1).progress[""]] == [1, 2]


@settings(max_examples=40, deadline=None)
@given(logs())
def test_a_scan_survives_its_json(lines: list[bytes]) -> None:
    scan = Scan({"x.log": part(b"".join(lines))}, "key", ["gap"])
    written = scan_to_json(scan)
    assert scan_to_json(scan_from_json(written.encode("utf-8", "surrogatepass"), "x")) == written


def naive(lines: Sequence[bytes]) -> set[tuple[str, int]]:
    """Each line rule on each piece of each short line: (rule, line)."""
    found = set()
    before = ""
    for number, raw in enumerate(lines, 1):
        text = raw.decode("utf-8", "replace").rstrip("\n")
        for r in RULES:
            flags = regex.IGNORECASE if r.forms[0].ignore_case else 0
            pattern = regex.compile(r.forms[0].pattern, flags)
            if r.match != "line" or r.tells or (is_frame(before) and "\r" not in text):
                continue
            if any(pattern.search(p.message) for p in read_lines(number, text) if not p.message.startswith("+ ")):
                found.add((r.id, number))
        before = text.rstrip("\r")
    return found


@settings(max_examples=60, deadline=None)
@given(logs())
def test_a_naive_reader_finds_the_same_lines(lines: list[bytes]) -> None:
    short = [x for x in lines if len(x) < 8000 and b"\x1b" not in x]
    scan = part(b"".join(short))
    line_rules = {r.id for r in RULES if r.match == "line"}
    uncapped = {key[0] for key, t in scan.tallies.items()} - {key[0] for key, t in scan.tallies.items() if t.at_least}
    wanted = {x for x in naive(short) if x[0] in uncapped or not any(k[0] == x[0] for k in scan.tallies)}
    assert {(h.rule, h.line) for h in scan.hits() if h.rule in line_rules & uncapped} == wanted


@settings(max_examples=40, deadline=None)
@given(logs())
def test_the_fallback_without_the_native_library_gives_the_same_scan(lines: list[bytes]) -> None:
    native = text_of(part(b"".join(lines)))
    slow = ScanRules(Catalogue({r.id: r for r in RULES}, {}, {}, {}, "test"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "hyperscan", None)
        _ = slow.find(b"x"), slow.main.find(b"x"), slow.progress.matcher.find(b"x")  # built when first asked
    scanner = Scanner(slow, "x.log")
    for block in normalise_blocks(cut_blocks(io.BytesIO(b"".join(lines))), slow.marks_of):
        scanner.feed(block)
    assert text_of(scanner.finish()) == native


# --- caps -------------------------------------------------------------------------------------------------------


def test_a_rule_keeps_its_first_and_last_hits_by_each_speaker() -> None:
    lines = [f"[rank{n % 2}]: recv: {n} Connection reset by peer\n".encode() for n in range(2000)]
    tally = part(b"".join(lines)).tallies[("a.reset/peer", "[rank1]:")]
    kept = [h.line for h in tally.hits()]
    assert kept == [*range(2, 2 + 2 * FEW, 2), *range(2002 - 2 * FEW, 2002, 2)]
    assert tally.at_least


def test_all_hits_of_a_census_rule_are_kept_below_the_larger_cap() -> None:
    lines = [WATCHDOG.format(r=0, n=n).encode() + b"\n" for n in range(2 * CENSUS - 1)]
    (tally,) = (t for (name, _), t in part(b"".join(lines)).tallies.items() if name == "a.timeout/watchdog")
    assert [h.fields for h in tally.hits()] == [{"seq": n} for n in range(2 * CENSUS - 1)]
    assert not tally.at_least


def test_the_last_hit_is_exact_behind_lines_that_only_hold_the_literal() -> None:
    hit, miss = b"Connection reset by peer\n", b"a reset by peer of nobody\n"
    data = hit * 50 + miss * 3000 + hit + miss * 3000
    assert [h.line for h in part(data).hits()][-1] == 3051


def test_source_code_below_a_frame_is_no_message() -> None:
    data = b'  File "a.py", line 3, in f\n    log("CUDA out of memory. Tried to allocate")\n'
    assert [h.rule for h in part(data).hits() if h.rule == "a.oom/line"] == []
