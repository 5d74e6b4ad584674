"""Writes corpora of realistic training logs: steady metrics, NCCL INFO, progress bars, bursts of catalogue examples.

Size, ranks and density of hits are parameters; the same parameters give the same bytes.

    python -m benchmarks.corpus realistic out/ --mb 1000 --files 64
    python -m benchmarks.corpus dense out/dense.log --mb 128 --ranks 8
    python -m benchmarks.corpus small out/ --files 20000
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from random import Random

from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.matcher import Matcher

LINES_PER_CANDIDATE = 2_000  # realistic: at most one line in so many holds a literal
DENSE_SHARE = 0.30  # dense: so many lines hold a literal …
FRUITLESS_SHARE = 0.25  # … and so many of these match nothing
MIN_RULES = 60  # that the candidates come from
CHUNK_LINES = 128

STEADY = (  # healthy lines; %(…)d are drawn anew for each
    b"{'loss': %(loss)s, 'grad_norm': %(norm)s, 'learning_rate': 1.9e-05, 'epoch': %(epoch)s}\n",
    b"[%(stamp)s,%(ms)03d] [INFO] [logging.py:96:log_dist] [Rank %(rank)d] step=%(step)d, skipped=0, lr=[2e-05], mom=[(0.9, 0.95)]\n",
    b" [%(stamp)s] iteration %(step)8d/ 500000 | consumed samples: %(big)12d | elapsed time per iteration (ms): %(norm)s | "
    b"learning rate: 1.500000E-04 | global batch size:  1024 | lm loss: %(loss)s | loss scale: 1.0 | grad norm: %(norm)s | "
    b"number of skipped iterations:   0 | number of nan iterations:   0 |\n",
    b"gpu-%(host)03d:%(pid)d:%(tid)d [%(local)d] NCCL INFO Channel %(ch)02d/0 : %(rank)d[%(local)d] -> %(peer)d[%(local)d] via P2P/CUMEM/read\n",
    b"gpu-%(host)03d:%(pid)d:%(tid)d [%(local)d] NCCL INFO Connected ring %(ch)d of 32, comm 0x55d0c0de%(ms)04d rank %(rank)d nranks 64 busId %(big)d - ring is up\n",
    b"%(stamp)s,%(ms)03d INFO trainer.py:412 - rank %(rank)d: tokens/s %(big)d, MFU 0.%(ms)d, memory reserved %(norm)s GiB of 79.15 GiB\n",
    b"%(stamp)s,%(ms)03d INFO checkpoint.py:88 - wrote shard %(ch)d of step %(step)d in %(norm)s s, no errors, 0 failed, time limit 1800 s\n",
    b"%(stamp)s,%(ms)03d DEBUG loader.py:55 - worker %(local)d prefetched %(big)d samples, queue %(ch)d, retry 0, exception none\n",
    b"I%(ms)04d 10:1%(local)d:33.%(big)06d %(pid)d gc.cpp:77] allocator: %(big)d blocks, killed 0, aborted 0, connection ok\n",
    b"[rank%(rank)d]:[I1120 10:15:00.%(big)06d ProcessGroupNCCL.cpp:2054] [PG ID 0 PG GUID 0(default_pg) Rank %(rank)d] ProcessGroupNCCL broadcast unique ID\n",
    b"%(stamp)s - root - INFO - loss %(loss)s, error rate 0.%(ms)d, out of %(big)d memory pages, signal strength %(norm)s\n",
)
BAR = b"\rEpoch 3:  %(pct)2d%%|#####     | %(ch)d/64 [00:%(local)02d<01:12,  2.%(ms)dit/s, loss=%(loss)s]"
FILLER = b"the quick step %(step)d of stage %(ch)d ended without incident after %(norm)s s\n"


def candidate_lines(catalogue: Catalogue) -> list[bytes]:
    """Yield single-line examples of many rules, one each, in catalogue order."""
    found = []
    for rule in catalogue.rules.values():
        text = next((e.text for f in rule.forms for e in f.examples if rule.match == "line"), "")
        if text and "\n" not in text and rule.tells != "progress" and rule.role != "context":
            found.append(text.encode())
    return found


def fruitless_lines(catalogue: Catalogue) -> list[bytes]:
    """Yield lines that hold a rule's literal and match nothing."""
    literals = [f.literals[0] for r in catalogue.rules.values() if r.match == "line" for f in r.forms[:1] if f.literals]
    return [f"{n}: looking up the words ({x}) in the manual".encode() for n, x in enumerate(literals)]


def lines(
    kind: str, seed: int, rank: int, mixed_ranks: int, samples: tuple[list[bytes], list[bytes]]
) -> Iterator[bytes]:
    """Yield chunks of log text without end."""
    rng = Random(f"{kind} {seed} {rank}")
    hits, misses = samples
    step = 0
    while True:
        chunk = []
        for _ in range(CHUNK_LINES):
            step += 1
            who = rng.randrange(mixed_ranks) if mixed_ranks else rank
            tag = b"[rank%d]: " % who if mixed_ranks else b""
            draw = rng.random()
            if kind == "dense" and draw < DENSE_SHARE:
                wrong = rng.random() < FRUITLESS_SHARE
                chunk.append(tag + rng.choice(misses if wrong else hits) + b"\n")
            elif kind != "dense" and draw < 1 / (LINES_PER_CANDIDATE * 1.1):
                chunk.append(tag + rng.choice(hits) + b"\n")
            else:
                chunk.append(_steady(rng, step, who, tag))
        yield b"".join(chunk)


def _steady(rng: Random, step: int, rank: int, tag: bytes) -> bytes:
    n = rng.getrandbits(30)
    values = {
        b"loss": b"%.4f" % (2 + (n & 1023) / 900), b"norm": b"%.3f" % ((n >> 3 & 4095) / 55), b"epoch": b"%.2f" % (step / 9e5),
        b"stamp": b"2026-11-20 %02d:%02d:%02d" % (step // 36000 % 24, step // 600 % 60, step // 10 % 60), b"ms": n % 1000,
        b"rank": rank, b"peer": rank + 1, b"local": rank % 8, b"host": rank // 8, b"pid": 4000 + rank, b"tid": 9000 + rank,
        b"step": step, b"big": n % 999_999, b"ch": n % 31, b"pct": n % 100,
    }  # fmt: skip
    if n % 50 == 0:
        return tag + b"".join([BAR % values] * 8) + b"\n"
    return tag + (FILLER if n % 3 == 0 else STEADY[n % len(STEADY)]) % values


def write(path: Path, size: int, chunks: Iterator[bytes]) -> int:
    """Write whole lines up to about `size` bytes; yield the bytes written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        for chunk in chunks:
            part = chunk if written + len(chunk) <= size else chunk[: chunk.rfind(b"\n", 0, max(size - written, 1)) + 1]
            file.write(part)
            written += len(part)
            if len(part) < len(chunk):
                return written
    return written


def samples(catalogue: Catalogue, rules: int = 0) -> tuple[list[bytes], list[bytes]]:
    """Yield lines that match and lines that hold a literal in vain, of about `rules` rules (0: all)."""
    matcher = Matcher(r for r in catalogue.rules.values() if r.tells != "progress")
    hits = candidate_lines(catalogue)
    misses = [x for x in fruitless_lines(catalogue) if matcher.candidates_in(x.decode())]
    if len(hits) < MIN_RULES:
        raise SystemExit(f"only {len(hits)} rules have a one-line example; {MIN_RULES} are needed")
    step = max(1, len(hits) // rules) if rules else 1
    return hits[::step], misses[::step]


def main() -> None:
    """Write the corpus that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("realistic", "dense", "small"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=0, help="ranks mixed in each file; 0: one file is one rank")
    parser.add_argument("--rules", type=int, default=0, help="rules that the candidates come from, about; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    both = samples(load_rules(fresh=True), given.rules)
    kind = "realistic" if given.kind == "small" else given.kind
    for n in range(given.files):
        path = given.out if given.files == 1 else given.out / f"rank_{n:05d}.log"
        write(path, int(given.mb * 1e6 / given.files), lines(kind, given.seed, n, given.ranks, both))


if __name__ == "__main__":
    main()
