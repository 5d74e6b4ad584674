"""What the reporter reads: a request in, the paths to diagnose and what is missing out.

Kept copies are unrolled into plain logs, given texts written down, patterns resolved to what changed since the start,
stacks of live processes taken. All this may stall on a bad file system: whoever asked has a deadline for it.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..report.written_files import write_whole
from .request import HookRequest
from .stacks import take_stacks

_EARLIER_S = 60.0  # the clock of a file server may be behind by so much
_HEAD_BYTES = 1 << 20
# torch 2.0: "INFO:torch.distributed.launcher.api:log directory set to: /tmp/torchelastic_9y2kqp1m/none_4kqlbyqv"
_ELASTIC_FOLDER = re.compile(rb"log directory set to: (/[^\s\x00]{1,400})")
_REPORTS = re.compile(r"(?:^|/)report\.(?:md|json|html|txt|xml|slack)$")


def gather_inputs(request: HookRequest, folder: Path) -> tuple[list[str], list[str]]:
    """Returns the paths to diagnose, and one sentence for each thing that is not there."""
    gaps: list[str] = []
    inputs = [str(path) for path in _kept_logs(request, folder, gaps)]
    inputs += _texts(request, folder)
    if request.stack_pids:
        inputs += take_stacks(request.stack_pids, folder / "stacks", request.seconds_left() / 3, gaps)
    for path in request.inputs:
        found = glob.glob(path, recursive=True) if glob.has_magic(path) else [path] if os.path.exists(path) else []
        inputs += sorted(found)
        if not found:
            gaps.append(f"{path} is not there")
    patterns = [*request.patterns, *_announced_folders(inputs[: len(request.kept)])]
    inputs += _recent(patterns, request.start)
    return list(dict.fromkeys(inputs)), gaps


def _kept_logs(request: HookRequest, folder: Path, gaps: list[str]) -> Iterator[Path]:
    from ..run.keep import Kept

    for kept in request.kept:
        if kept.total_bytes == 0:
            if not kept.live:
                os.unlink(kept.path)
            continue
        target = folder / f"{kept.name}.log"
        copy = Kept(kept.path, kept.head_bytes, kept.tail_bytes)
        missing = copy.unroll(kept.total_bytes, str(target), live=kept.live)
        if missing:
            gaps.append(f"{missing} bytes of the middle of the job's {kept.name} were not kept")
        if not kept.live:
            os.unlink(kept.path)
        yield target


def _texts(request: HookRequest, folder: Path) -> list[str]:
    paths = []
    for name, text in sorted(request.texts.items()):
        path = folder / os.path.basename(name)
        write_whole(path, text.encode("utf-8", "backslashreplace"), private=True)
        paths.append(str(path))
    return paths


def _announced_folders(logs: Sequence[str]) -> list[str]:
    """The temporary folder that torchrun announces on its console when it got no --log-dir."""
    found = []
    for log in logs:
        with open(log, "rb") as file:
            found += [os.fsdecode(match[1]) for match in _ELASTIC_FOLDER.finditer(file.read(_HEAD_BYTES))]
    return found


def _recent(patterns: Sequence[str], start: float | None) -> list[str]:
    """What matches and changed since the start: a log folder often holds the runs of last week too."""
    oldest = (start or 0.0) - _EARLIER_S
    recent: list[str] = []
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            children = sorted(os.scandir(path), key=lambda entry: entry.name) if os.path.isdir(path) else []
            candidates = [child.path for child in children] or [path]
            recent += [p for p in candidates if _changed(p) >= oldest and not _REPORTS.search(p)]
    return recent


def _changed(path: str) -> float:
    """When the newest thing at most three levels below changed: a folder's own time stays when a file in it grows."""
    newest = 0.0
    waiting = [(path, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            newest = max(newest, os.stat(here).st_mtime)
            if depth < 3 and os.path.isdir(here):
                waiting += [(entry.path, depth + 1) for entry in os.scandir(here)]
        except OSError:
            continue
    return newest
