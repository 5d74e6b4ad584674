"""Writes logs shaped like those of real public runs: the same kinds of lines, prefixes, file sizes, shares of known words.

The statistics are those of 729 public run logs (81 MB: MLPerf results of many vendors, Megatron-DeepSpeed, nccl-tests, Slurm
outputs): median file 17 kB, 131 bytes a line, one line in eight holds a literal of the catalogue, one in eighteen has a shape
that no earlier line had. The text is our own. The same parameters give the same bytes.

    python -m benchmarks.corpus out/ --mb 80
"""

from __future__ import annotations

import argparse
import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

# How large files are: so much of them is no larger than so many bytes.
SIZES = ((0.05, 3_000), (0.25, 5_300), (0.5, 17_000), (0.75, 104_000), (0.9, 270_000), (0.95, 510_000), (1.0, 1_100_000))
NOISE = "start-up"
STEADY, STEADY_SHARE = ("records", "steps", "fabric", "bars"), 0.8  # kinds of which a job prints one form again and again
SMALL = 16_000  # bytes: a smaller file is a table of nccl-tests, as most small ones are

# Kinds of lines: what part of a larger file's bytes, and how they are written. `#` is a digit drawn anew, `^` one that a file
# keeps, `@` a word that it keeps, `~` a #.
LINES: dict[str, tuple[float, tuple[str, ...]]] = {
    "records": (0.43, (
        ':::MLLOG {"namespace": "", "time_ms": 17########123, "event_type": "POINT_IN_TIME", "key": "@", "value": #.####, '
        '"metadata": {"file": "/workspace/@/train.py", "lineno": ###, "samples_count": ######}}',
        ':::MLLOG {"namespace": "", "time_ms": 17########456, "event_type": "INTERVAL_START", "key": "block_start", "value": null, '
        '"metadata": {"file": "/workspace/@/callbacks.py", "lineno": ##, "epoch_num": ##, "step": #####}}',
        ':::MLLOG {"namespace": "worker#", "time_ms": 17########789, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
        '"value": {"throughput": ####.##, "@": #.##}, "metadata": {"file": "/workspace/@/run.py", "lineno": ###, "step": ####}}',
    )),
    "steps": (0.23, (
        "Epoch: [##][ ###/####]  eta: 0:##:##  lr: 0.0000## (0.0000##)  loss: #.#### (#.####)  time: 0.####  data: 0.000#",
        " iteration     ####/   ##### | consumed samples:       ###### | elapsed time per iteration (ms): ####.# | "
        "learning rate: #.###E-05 | lm loss: #.######E+00 | loss scale: 1.0 | grad norm: #.### |",
        "step:####/6200 train_loss:#.#### train_time:######ms step_avg:##.##ms",
        "Train ###  TotalTime ###.###, Loss #.####, Accuracy 0.####",
    )),
    NOISE: (0.145, (
        "+ export @=/opt/@/@:/opt/@/lib:/usr/local/@/bin:/usr/local/@/bin:/usr/bin", "+ @ --@ /data/@/@ --num ## --@ ## --@ @ --@ /results/@/@", "running @ with @ and @: @, @, @ and @ are at node ## of the @ partition",
        "@: /opt/@/lib/@.so.#", "| ##:##:##.# | @ | ####MiB | ##% | @ | @", "node ##: ## cores, ### GB, ### GB free for @ and @",
        "@ of @ in ## of ## files, ## @ left", "[@] ## @ were used in #.## s", "", "    @ @ @ @ @ @ @ @ @ @ @ @ @ @ @ @",
        "@ is not set, so @ is used", "-----------", "@: @ ## @ ## @ ##", "(@): @(in=####, out=####, bias=False)", "@",
        "-- The C compiler is @ #.#.#", "##:##:##.# @ @ @", "| @: @=@, @=##, @=###, @=@, @=0.##, @=@, @=None, @=True",
    )),
    "fabric": (0.07, (
        "gpu-^:^^^^^^:^^^^^^ [^] NCCL INFO Channel ##/0 : #[#] -> #[#] via P2P/CUMEM/read",
        "gpu-^:^^^^^^:^^^^^^ [^] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA # 'mlx5_^'",
        "gpu-^:^^^^^^:^^^^^^ [^] NCCL INFO comm 0x^^^^^^^ rank ^ nranks 8 busId ^b000 commId 0x^^^^^^^^^^",
        "gpu-^:^^^^^^:^^^^^^ [^] NCCL INFO Connected all rings",
        "gpu-^:^^^^^^:^^^^^^ [^] NCCL INFO ## coll channels, 0 collnet channels, 0 nvls channels, ## p2p channels",
    )),
    "messages": (0.045, (
        "[20##-##-## ##:##:##,###] [INFO] [@.py:###:@] @ = ##", "INFO:@:@ #.#", "I## ##:##:##.###### ###### @.cc:##] @ @",
        "[NeMo I 20##-##-## ##:##:## @:###] @ @ of ##",
    )),
    "warnings": (0.03, (
        "/usr/local/lib/python3.10/dist-packages/@/@.py:###: UserWarning: @ is @, and @ is used",
        "/usr/local/lib/python3.10/dist-packages/@/@.py:##: FutureWarning: `torch.cuda.amp.custom_fwd(args...)` is deprecated.",
        "gpu-^:^^^^^^:^^^^^^ [^] proxy.cc:15## NCCL WARN [Proxy Service ##] Failed to execute operation Close from rank ##, retcode 3",
        "[rank^]:[W##########.###### ProcessGroupNCCL.cpp:4###] Warning: @ is @ by this process.",
    )),
    "bars": (0.027, (
        "\r ##%|####      | ###/#### [##:##<##:##, ##.##it/s]", "@ ##:  ##%|##   | ###/#### [##:##<##:##,  #.##it/s, loss=#.###]",
    )),
    "settings": (0.018, ("  @_@ .............................. ##", "@.@: @", "@ = ####")),
    "code": (0.015, ("    @ = @.@(@, ##)", "    def @(self, @):", "        return @ + @[#]")),
}  # fmt: skip
TABLE_ROWS = (
    "~  Rank  # Group  0 Pid ^^^^^^ on cnode#-00# device  # [0000:#b:00] NVIDIA H100 80GB HBM3",
    "    ########       #######    double     sum      -1  ####.##   ##.##   ##.##       0  ####.##   ##.##   ##.##    N/A",
    "    ########       #######    double     sum      -1  ####.##   ##.##   ##.##       0  ####.##   ##.##   ##.##    N/A",
    "~ Avg bus bandwidth    : ##.####",
    "~ Collective test concluded: all_reduce_perf",
)
PREFIXES = ((0.82, ""), (0.93, "##: "), (0.975, "host-##: "), (1.0, "20##-##-##T##:##:##.###Z "))  # of a file's lines
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "xu", "zen")
SEED = 39


def files(megabytes: float) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files of so many MB together."""
    random, written, number = Random(SEED), 0, 0
    while written < megabytes * 1e6:
        size = _size(random)
        data = b"".join(_lines(random, size))
        yield f"run-{number // 40}/{'table' if size < SMALL else 'node'}-{number}.log", data
        written, number = written + len(data), number + 1


def _size(random: Random) -> int:
    share = random.random()
    place = bisect.bisect_left(SIZES, (share, 0))
    low, high = SIZES[place - 1] if place else (0.0, 2_000), SIZES[place]
    return int(low[1] + (high[1] - low[1]) * (share - low[0]) / (high[0] - low[0]))


def _lines(random: Random, size: int) -> Iterator[bytes]:
    draw = _tables if size < SMALL else _kinds(random)
    prefix = next(text for share, text in PREFIXES if random.random() <= share)
    written = 0
    while written < size:
        line = _filled(prefix + draw(random) + "\n", random).encode()
        written += len(line)
        yield line


def _tables(random: Random) -> str:
    return _worded(random.choice(TABLE_ROWS), random)


def _kinds(random: Random) -> Callable[[Random], str]:
    """Draw lines of this file: kinds by their share of bytes, most of them of one form, with the same words each time."""
    worded = {kind: [_worded(form, random) for form in forms] for kind, (_, forms) in LINES.items()}
    favourite = {kind: random.choice(forms) for kind, forms in worded.items()}
    rows = [(share / (sum(map(len, worded[kind])) / len(worded[kind])), kind) for kind, (share, _) in LINES.items()]
    bounds = list(accumulate(weight for weight, _ in rows))

    def draw(random: Random) -> str:
        kind = rows[bisect.bisect_left(bounds, random.random() * bounds[-1])][1]
        return favourite[kind] if kind in STEADY and random.random() < STEADY_SHARE else random.choice(worded[kind])

    return draw


def _worded(form: str, random: Random) -> str:
    first, *rest = "".join(random.choice("1234567") if c == "^" else c for c in form).split("@")
    return first + "".join("".join(random.choices(SYLLABLES, k=random.choice((1, 2, 2, 3)))) + part for part in rest)


def _filled(form: str, random: Random) -> str:
    """Put digits into a form."""
    digits = str(random.getrandbits(256))
    return "".join(digits[n % len(digits)] if c == "#" else c for n, c in enumerate(form)).replace("~", "#")


def write(folder: Path, megabytes: float) -> list[Path]:
    """Write the files; yield their paths."""
    paths = []
    for name, data in files(megabytes):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(path)
    return paths


def main() -> None:
    """Write a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mb", type=float, default=80)
    args = parser.parse_args()
    paths = write(args.folder, args.mb)
    print(f"{len(paths)} files, {sum(p.stat().st_size for p in paths) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
