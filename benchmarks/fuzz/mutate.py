"""Bytes of a file in, damaged bytes out: each change drawn from one random source, so that a seed repeats it."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

MAX_BYTES = 4 << 20  # of one file after all changes
NUMBERS = ("0", "-1", "1e309", "nan", "4294967296", "99999999999999999999", "0x", "1_000", "٣", "²", "-0", "65536")
ODD = (
    "\x00", "\x1b[31m", "\x1b]0;x\x07", "\r", "\x85", "\u2028", "\ufeff", "\u202e", "\udcff", "```", "<script>", "{{ 7*7 }}",
    "{% raw", "%s%n", "[[[[[[[[", "((((((((", "\\", '"', "'", "`", "$(id)", "../../x", "-rf", "@channel", "|", "\t\t\t\t", "，",
)  # fmt: skip
WORDS = (
    "Traceback (most recent call last):", '  File "a.py", line 3, in f', "[rank7]: ", "[Rank 3] ", "[default0]:", "0: ", "world_size=",
    "2026-11-23T03:02:00.375123456Z ", "Nov 23 03:02:00 ", "RuntimeError: ", "ValueError:", "CUDA error: ", "NCCL WARN ",
    "srun: error: ", "exitcode  : -9 (pid: 7)", '{"log":"', '"stream":"stderr"', "> ", "step ", "NumelIn=", "ranks [", "=" * 80,
    "│", "During handling of the above exception, another exception occurred:", "Last enqueued NCCL work: ", "#0 0x", 'Thread 0x7f (most recent call first):',
)  # fmt: skip

Change = Callable[[bytes, Random], bytes]


def _slice(data: bytes, r: Random) -> tuple[int, int]:
    a = r.randrange(len(data) + 1)
    return a, min(len(data), a + int(2 ** r.uniform(0, 12)))


def flipped(data: bytes, r: Random) -> bytes:
    """Some bytes are others."""
    some = bytearray(data)
    for _ in range(r.choice((1, 3, 30))):
        some[r.randrange(len(some))] = r.randrange(256)
    return bytes(some)


def cut(data: bytes, r: Random) -> bytes:
    """A stretch is gone."""
    a, b = _slice(data, r)
    return data[:a] + data[b:]


def ended(data: bytes, r: Random) -> bytes:
    """The rest is gone."""
    return data[: r.randrange(len(data) + 1)]


def doubled(data: bytes, r: Random) -> bytes:
    """A stretch comes again, here or elsewhere, once or very often."""
    a, b = _slice(data, r)
    at = r.choice((b, r.randrange(len(data) + 1)))
    return data[:at] + data[a:b] * r.choice((1, 2, 50, 5000)) + data[at:]


def long_run(data: bytes, r: Random) -> bytes:
    """One letter, or a few, as long as a pattern can bear."""
    at = r.randrange(len(data) + 1)
    unit = r.choice((b" ", b"0", b"a", b"\n", b"\r", b"\t", b"[", b"x1 ", b"step ", b"a.", b"0,", b": ", b"/x", b"> ", b"0:", b"[0]"))
    return data[:at] + unit * (int(2 ** r.uniform(3, 18)) // len(unit)) + data[at:]


def odd(data: bytes, r: Random) -> bytes:
    """Characters that mean something to somebody."""
    at = r.randrange(len(data) + 1)
    return data[:at] + r.choice(ODD).encode("utf-8", "surrogatepass") + data[at:]


def worded(data: bytes, r: Random) -> bytes:
    """The beginning of a known message, before a line or within it."""
    at = r.choice((data.rfind(b"\n", 0, r.randrange(len(data) + 1)) + 1, r.randrange(len(data) + 1)))
    return data[:at] + r.choice(WORDS).encode() + r.choice((b"", b"\n")) + data[at:]


def numbered(data: bytes, r: Random) -> bytes:
    """Numbers are others: of one stands another, of all stands one."""
    found = [m.span() for m in re.finditer(rb"\d+", data)]
    if not found:
        return data
    new = r.choice(NUMBERS).encode()
    if r.random() < 0.2:
        a, b = r.choice(found)
        old = data[a:b]
        return data.replace(old, new, 2000)
    for a, b in sorted(r.sample(found, min(len(found), r.choice((1, 5)))), reverse=True):
        data = data[:a] + new + data[b:]
    return data


def reordered(data: bytes, r: Random) -> bytes:
    """Lines change places."""
    lines = data.split(b"\n")
    a, b = sorted((r.randrange(len(lines) + 1), r.randrange(len(lines) + 1)))
    some = lines[a:b]
    r.shuffle(some)
    return b"\n".join([*lines[:a], *some, *lines[b:]])


def joined(data: bytes, r: Random) -> bytes:
    """Line ends are others, or gone."""
    return data.replace(b"\n", r.choice((b"\r\n", b"\r", b"\n\n", b" ", b"\\n", b"\0", b"\x1b[0m\n")), r.choice((5, -1)))


def encoded(data: bytes, r: Random) -> bytes:
    """Another encoding."""
    text = data.decode("utf-8", "replace")
    return text.encode(r.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "cp037")), "replace")


def dressed(data: bytes, r: Random) -> bytes:
    """Every line behind what a collector puts before it."""
    before = r.choice((b"> ", b"[rank3]: ", b"2026-11-20T10:00:00.1Z stdout F ", b"\x1b[36m", b"| ", b"12: ", b'{"log":"', b"node7: [default1]:"))
    return before + data.replace(b"\n", b"\n" + before)


CHANGES: tuple[Change, ...] = (
    flipped, cut, ended, doubled, long_run, odd, worded, numbered, reordered, joined, encoded, dressed, odd, worded, numbered, doubled,
)  # fmt: skip


def mutated(data: bytes, r: Random, most: int = 6) -> bytes:
    """Yield the bytes after one to `most` changes; empty bytes stay."""
    for _ in range(r.randint(1, most)):
        if data:
            data = r.choice(CHANGES)(data, r)[:MAX_BYTES]
    return data
