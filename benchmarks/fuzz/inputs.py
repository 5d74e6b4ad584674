"""What a run of the fuzzer hands over: a folder made from a seed, and the words of a command line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import zstandard

from ..dumps import FAULTS, VERSIONS, Job, dumps
from .mutate import NUMBERS, ODD, mutated

ROOT = Path(__file__).parents[2]
MAX_CASE_BYTES = 1 << 20
FORMS = ("terminal", "markdown", "html", "json", "slack", "github", "junit")
COMMANDS = ("case", "explain", "facts", "hook", "rules", "run", "scan", "schema")
CODECS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1, mtime=0),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": lambda data: zstandard.ZstdCompressor(level=1).compress(data),
}


class Given(NamedTuple):
    """The words of a call, and what is piped in."""

    words: list[str]
    stdin: bytes | None = None


@lru_cache(maxsize=1)
def cases() -> list[Path]:
    """The log folders of all labelled cases that are not large."""
    found = [p.parent / "logs" for name in ("fixtures", "cases") for p in sorted((ROOT / name).glob("*/truth.yaml"))]
    return [p for p in found if sum(f.stat().st_size for f in p.rglob("*")) < MAX_CASE_BYTES]


def files_of_a_case(r: Random) -> dict[str, bytes]:
    """The files of one case; sometimes one of them is changed for a stretch of another case's."""
    logs = r.choice(cases())
    files = {str(p.relative_to(logs)): p.read_bytes() for p in sorted(logs.rglob("*")) if p.is_file()}
    if r.random() < 0.3:
        other = r.choice([p for p in sorted(r.choice(cases()).rglob("*")) if p.is_file()])
        name = r.choice(sorted(files))
        at, grafted = r.randrange(len(files[name]) + 1), other.read_bytes()[:20_000]
        files[name] = files[name][:at] + grafted + files[name][at:]
    return files


def damage(files: dict[str, bytes], r: Random) -> dict[str, bytes]:
    """One to three files mutated, in content and now and then in name."""
    for name in r.sample(sorted(files), min(len(files), r.randint(1, 3))):
        data = mutated(files.pop(name), r)
        files[_odd_name(name, r) if r.random() < 0.1 else name] = data
    return files


def _odd_name(name: str, r: Random) -> str:
    odd = r.choice(ODD).replace("\0", "").replace("/", "").replace("\udcff", "")
    return r.choice((f"{odd}{name}", f"{odd}{name}", "rank_99999999999.log", "trace_rank_x", "error.json", "job.scan.json", "-o"))


def write(files: dict[str, bytes], folder: Path) -> None:
    """Put files into a folder; of two that cannot both be there, the first."""
    for name, data in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError:
            continue


def options(r: Random) -> list[str]:
    """Some options of a report, most with a value that they take."""
    number = r.choice(NUMBERS)
    some = [
        ["--format", r.choice(FORMS)], ["--lang", r.choice(("en", "zh"))], ["--full"], ["--budget", r.choice(("1", "30", number))],
        ["--why", r.choice(("rank 1", "nccl.timeout", "memory.cuda-oom", r.choice(ODD), f"rank {number}"))],
        ["--since", r.choice(("10 minutes ago", "17:34:52", "2026-11-20", number, r.choice(ODD)))], ["--until", "2026-11-20T17:34:52"],
        ["--rank", r.choice(("0", "1", number))], ["--exit-code", r.choice(("137", "-9", number))],
        ["--world-size", r.choice(("8", number))], ["--rank-from", r.choice((r"(\d+)", "(", "(a*)*$", r.choice(ODD)))],
        ["--tz", r.choice(("UTC", "Asia/Tokyo", "+09:00", number, "../x"))], ["--no-redact"], ["--exit-zero"], ["-q"], ["-v"],
        ["--color", r.choice(("always", "never"))], ["--workers", r.choice(("1", "1", "1", number))], ["-o", r.choice(("x.html", "x.json", "x.md"))],
    ]  # fmt: skip
    return [word.replace("\0", "") for group in r.sample(some, r.choice((0, 1, 1, 2, 4))) for word in group]


# --- the kinds ---------------------------------------------------------------------------------------------------------


def logs(r: Random, folder: Path) -> Given:
    """Damaged logs of a case."""
    write(damage(files_of_a_case(r), r), folder / "logs")
    return Given(["logs", *options(r)])


def paste(r: Random, folder: Path) -> Given:
    """One damaged log, piped in."""
    return Given([*r.choice(([], ["-"])), *options(r)], mutated(r.choice(sorted(files_of_a_case(r).items()))[1], r))


def archive(r: Random, folder: Path) -> Given:
    """A case in an archive, which may hold another, damaged before or after it was packed."""
    files = files_of_a_case(r)
    files = damage(files, r) if r.random() < 0.5 else files
    name, data = _packed(files, r)
    if r.random() < 0.3:
        name, data = _packed({name: data, "more.log": b"[rank1]: ValueError: x\n"}, r)
    for _ in range(r.choice((0, 1, 1, 2))):
        data = mutated(data, r, 2)
    write({name: data}, folder / "logs")
    return Given(["logs", *options(r)])


def _packed(files: dict[str, bytes], r: Random) -> tuple[str, bytes]:
    out, kind = io.BytesIO(), r.choice(("zip", "tar", "one"))
    if kind == "one":
        name, data = r.choice(sorted(files.items()))
        codec = r.choice(sorted(CODECS))
        return f"{Path(name).name}.{codec}", CODECS[codec](data)
    if kind == "zip":
        with zipfile.ZipFile(out, "w", r.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))) as z:
            for name, data in files.items():
                z.writestr(zipfile.ZipInfo(name.replace("\0", "") or "x"), data)
        return "job.zip", out.getvalue()
    with tarfile.open(fileobj=out, mode="w", format=r.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))) as t:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            t.addfile(member, io.BytesIO(data))
    codec = r.choice((None, *sorted(CODECS)))
    return ("job.tar", out.getvalue()) if codec is None else (f"job.tar.{codec}", CODECS[codec](out.getvalue()))


def recorder(r: Random, folder: Path) -> Given:
    """Flight-recorder dumps of a simulated job, some damaged in their values or in their bytes."""
    job = Job(
        ranks=r.choice((2, 8, 16)), entries=r.choice((5, 60)), fault=r.choice(FAULTS), seed=r.randrange(999),
        version=r.choice(VERSIONS), form=r.choice(("pickle", "json")),
    )  # fmt: skip
    files = dict(dumps(job))
    for name in r.sample(sorted(files), min(len(files), 3)):
        if r.random() < 0.6:
            value = json.loads(files[name]) if job.form == "json" else pickle.loads(files[name])  # noqa: S301 - made above
            for _ in range(r.randint(1, 4)):
                _distort(value, r)
            files[name] = json.dumps(value).encode() if job.form == "json" else pickle.dumps(value)
        else:
            files[name] = mutated(files[name], r, 2)
    write(files, folder / "logs")
    return Given(["logs", *options(r)])


def _distort(value: Any, r: Random) -> None:
    """Change one thing somewhere within a value."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = r.choice(keys)
        if isinstance(value[key], (dict, list)) and value[key] and r.random() < 0.85:
            value = value[key]
            continue
        new: Any = r.choice((None, -1, 2**70, 1e308, float("nan"), "", "x" * 5000, [], {}, [[1]], True, "99", [None] * 3, {"a": []}))
        if isinstance(value, dict) and r.random() < 0.2:
            del value[key]
        else:
            value[key] = new
        return


def written_scan(r: Random, folder: Path) -> Given:
    """A written scan whose values are damaged."""
    value = json.loads(_scan_of(r.choice(cases()[::7])))
    for _ in range(r.randint(1, 6)):
        _distort(value, r)
    data = json.dumps(value).encode()
    write({"job.scan.json": mutated(data, r, 2) if r.random() < 0.3 else data}, folder / "logs")
    return Given(["logs", *options(r)])


@lru_cache(maxsize=64)
def _scan_of(logs: Path) -> str:
    from diagnose.catalogue.load import load_rules
    from diagnose.engine import read
    from diagnose.scan.scan import scan_to_json

    return scan_to_json(read([logs], load_rules(), workers=1))


def command_line(r: Random, folder: Path) -> Given:
    """Words that are wrong, or right in an odd order, about a case that is whole."""
    write(files_of_a_case(r), folder / "logs")
    words = ["logs", *options(r), *options(r)]
    if r.random() < 0.4:
        words = [r.choice([c for c in COMMANDS if c not in ("run", "hook")]), *words]
    for _ in range(r.randint(0, 3)):
        words.insert(r.randrange(len(words) + 1), r.choice((*NUMBERS, *ODD, "--", "-", "--format", "-o", "--help", "logs", "", "*", "rules", "test")))
    r.shuffle(words) if r.random() < 0.2 else None
    words = [word.replace("\0", "").replace("\udcff", "") for word in words]
    return Given([w for w in words if w != "test"], b"step 1 loss 2\n")


def rules(r: Random, folder: Path) -> Given:
    """Rules of a stranger: some of ours, damaged, tested or used."""
    source = r.choice(sorted((ROOT / "rules").glob("*/*/")))
    home = f"{source.parent.name}/{source.name}"
    files = {f"{home}/{p.name}": p.read_bytes() for p in sorted(source.glob("*.yaml"))}
    for name in r.sample(sorted(files), min(len(files), 2)):
        files[name] = mutated(files[name][: 1 << 14], r, 3)
    write(files, folder / "rules-of-mine")
    write(files_of_a_case(r), folder / "logs")
    if r.random() < 0.5:
        return Given(["rules", "test", "rules-of-mine", "--only", home.replace("/", ".")])
    return Given(["logs", "--rules", "rules-of-mine", *options(r)])


def settings(r: Random, folder: Path) -> Given:
    """A diagnose.toml in the current folder, or among the logs, that is damaged."""
    lines = r.sample(
        ['format = "html"', "budget = 5", 'lang = "zh"', "redact = false", "world-size = 4", 'rules = ["r"]', "[hook]", 'webhook = "http://127.0.0.1:9/"',
         'output = "x.html"', f"world-size = {r.choice(NUMBERS)}", f'tz = "{r.choice(NUMBERS)}"', "exit-zero = 3", "full = []"],
        r.randint(1, 6),
    )  # fmt: skip
    data = "\n".join(lines).encode()
    data = mutated(data, r, 2)[:20_000] if r.random() < 0.5 else data
    write({r.choice(("diagnose.toml", "logs/diagnose.toml")): data, **{f"logs/{n}": d for n, d in files_of_a_case(r).items()}}, folder)
    return Given(["logs", *options(r)])


KINDS = (logs, logs, logs, paste, archive, archive, recorder, recorder, written_scan, command_line, rules, settings)
