"""A redacted, trimmed case in the form of `fixtures/`, to report a wrong verdict: a `.tar.gz` with `logs/` (each gap says
how many lines were left out) and a `truth.yaml` to fill in. The same input gives the same bytes."""

from __future__ import annotations

import gzip
import io
import posixpath
import tarfile
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..scan.scan import Scan, SourceScan, scan_to_json
from .redaction import without_secrets
from .report import Report

TRUTH = Path(__file__).with_name("case_truth.yaml")


def pack_case(scan: Scan, report: Report) -> bytes:
    """Yield the archive."""
    files = {f"case/logs/{name}": text for name, text in _logs(scan).items()}
    if scan.dumps:
        files["case/logs/recorder.scan.json"] = _dumps(scan)
    found = report.diagnosis
    said = f"{found.cause} ({found.certainty}) on ranks {[c.rank for c in found.culprits]}" if found else report.outcome
    files["case/truth.yaml"] = TRUTH.read_text(encoding="utf-8").replace("{said}", said)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in sorted(files.items()):
            data = text.encode("utf-8", "replace")
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def _logs(scan: Scan) -> dict[str, str]:
    read = {s.name: s.kept() for s in scan.sources.values() if s.skipped is None}
    root = "."
    with suppress(ValueError):  # none, or `logs/` beside `/var/log/dmesg`
        root = posixpath.commonpath([posixpath.dirname(name.replace("!", "/")) or "." for name in read])
    kept = {name: lines for name, lines in read.items() if lines}
    # Together, so that two names keep apart when what differs in them is taken out.
    names = without_secrets("\n".join(_inside(name, root) for name in kept), privacy=True).split("\n")
    return {name: without_secrets(_trimmed(lines), privacy=True) for name, lines in zip(names, kept.values(), strict=False)}


def _inside(name: str, root: str) -> str:
    """Yield a source's path below the folder that all share, without what would lead out of it."""
    name = name.replace("!", "/").replace("\n", " ")
    inside = posixpath.relpath(name, root) if root not in ("", ".") else posixpath.normpath(name)
    return "/".join(part for part in inside.split("/") if part not in ("", ".", "..")) or "log.txt"


def _dumps(scan: Scan) -> str:
    """The flight recorders' dumps as a saved scan, which is an input too: as pickles they could not be redacted."""
    sources = {s.name: SourceScan(s.name, s.kind) for s in scan.sources.values() if s.kind == "recorder"}
    return scan_to_json(Scan(sources, scan.catalogue, dumps=scan.dumps), partial(without_secrets, privacy=True))


def _trimmed(kept: dict[int, str]) -> str:
    lines, last = list[str](), 0
    for number, text in kept.items():
        gap = [f"… {number - last - 1} lines left out …"] if number > last + 1 else []
        lines += [*gap, text]
        last = number
    return "\n".join(lines) + "\n"
