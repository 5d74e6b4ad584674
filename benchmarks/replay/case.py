"""A labelled case: a folder with `logs/` and `truth.yaml`, and its scan, read once and kept."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import diagnose
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.engine import read
from diagnose.scan.scan import Scan, scan_from_json, scan_to_json

KEPT = Path(__file__).parent.parent.parent / ".replay"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C where it is there: ten times as fast
SCAN_ROOMS = ("sources", "lines", "catalogue", "scan", "recorder")  # what decides on the content of a scan


@dataclass(frozen=True)
class Case:
    """One case, of the set that its folder lies in."""

    folder: Path
    truth: dict[str, Any]

    @property
    def name(self) -> str:
        """Set and case, such as `fixtures/shm-full`."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def kind(self) -> str:
        """The set, such as `fixtures` or, of cases named `lab-008`, `lab`."""
        stem, _, number = self.folder.name.rpartition("-")
        return f"{self.folder.parent.name}/{stem}" if number.isdigit() else self.folder.parent.name


def find_cases(folders: Sequence[Path], only: str = "") -> list[Case]:
    """Yield the cases below these folders, in order."""
    places = [p.parent for folder in folders for p in sorted(folder.resolve().glob(f"{only}*/truth.yaml"))]
    return [Case(p, yaml.load((p / "truth.yaml").read_bytes(), LOADER)) for p in places]


def read_scans(cases: Sequence[Case], jobs: int, *, fresh: bool = False) -> Iterator[tuple[Case, Scan]]:
    """Yield each case with its scan: the kept one, unless its logs, the rules or the scanning code have changed."""
    KEPT.mkdir(exist_ok=True)
    base = _scanning_code(load_rules())
    kept = {case.name: KEPT / f"{_key(case, base)}.json.gz" for case in cases}
    missing = [c for c in cases if fresh or not kept[c.name].exists()]
    if missing:
        with ProcessPoolExecutor(jobs) as pool:
            list(pool.map(_write_scan, missing, [kept[c.name] for c in missing], chunksize=4))
    for case in cases:
        yield case, scan_from_json(gzip.decompress(kept[case.name].read_bytes()), case.name)


def _write_scan(case: Case, kept: Path) -> None:
    text = scan_to_json(read([case.folder / "logs"], load_rules(), workers=1))
    kept.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), 1, mtime=0))


def _scanning_code(catalogue: Catalogue) -> str:
    package = Path(diagnose.__file__).parent
    modules = sorted(p for room in SCAN_ROOMS for p in package.glob(f"{room}/**/*") if p.suffix in (".py", ".yaml"))
    return _hash(catalogue.key.encode(), *(p.read_bytes() for p in modules))


def _key(case: Case, base: str) -> str:
    files = sorted(p for p in (case.folder / "logs").rglob("*") if p.is_file())
    named = (part for p in files for part in (str(p).encode(), p.read_bytes()))
    return _hash(base.encode(), *named)


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:24]
