"""What the reporter reads: a request in, the paths to diagnose and what is missing out; and the scans of other nodes.

Kept copies become plain logs, given texts written down, patterns resolved to what changed since the start,
stacks of live processes taken, scans of the job's other nodes waited for in the folder that they share. All this may stall
on a bad file system: whoever asked has a deadline for it.
"""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shutil import which

from ..report.written_files import claim_file, is_own, make_private_folder, write_whole
from .kept import fingerprint, join, streams_in
from .request import HookRequest

SCAN_SUFFIX = ".scan.json.gz"
_LOOK_S = 0.3
_UNKNOWN_WAIT_S = 5.0  # how long to wait for more when nobody said how many nodes there are
_STALE_S = 60.0  # twice the usual budget: whoever took the lock is gone if there is no report by then
MOST_PROCESSES = 128  # 8 ranks with 12 data loader workers each, and some launchers
_AT_ONCE = 8
_EACH_S = 10.0  # for one process
_EARLIER_S = 60.0  # the clock of a file server may be behind by so much
_HEAD_BYTES = 1 << 20
# torch 2.0: "INFO:torch.distributed.launcher.api:log directory set to: /tmp/torchelastic_9y2kqp1m/none_4kqlbyqv"
_ELASTIC_FOLDER = re.compile(rb"log directory set to: (/[^\s\x00]{1,400})")
_REPORTS = re.compile(r"(?:^|/)report\.(?:md|json|html|txt|xml|slack)$")


def gather_inputs(request: HookRequest, folder: Path) -> tuple[list[str], list[str]]:
    """Returns the paths to diagnose, and one sentence for each thing that is not there."""
    gaps: list[str] = []
    inputs = _kept_logs(request, folder, gaps)
    patterns = [*request.patterns, *_announced_folders(inputs)]
    for name, text in sorted(request.texts.items()):
        given = folder / os.path.basename(name)
        write_whole(given, text.encode("utf-8", "backslashreplace"), private=True)
        inputs.append(str(given))
    if request.stack_pids:
        inputs += take_stacks(request.stack_pids, folder / "stacks", request.seconds_left() / 3, gaps)
    for path in request.inputs:
        found = glob.glob(path, recursive=True) if glob.has_magic(path) else [path] if os.path.exists(path) else []
        inputs += sorted(found)
        if not found:
            gaps.append(f"{path} is not there")
    return list(dict.fromkeys([*inputs, *_recent(patterns, request.start)])), gaps


def _kept_logs(request: HookRequest, folder: Path, gaps: list[str]) -> list[str]:
    """The job's own output, of which `diagnose run` left copies in the folder."""
    logs = []
    for path in streams_in(str(folder)):
        if missing := join(path, live=request.interim):
            gaps.append(f"{missing} bytes of the middle of the job's {os.path.basename(path)} were not kept")
        logs += glob.glob(f"{glob.escape(path)}.log")
    return logs


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
    found = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
    candidates = [below for path in found for below in sorted(glob.glob(f"{glob.escape(path)}/*")) or [path]]
    return [x for x in candidates if fingerprint([glob.escape(x)])[2] >= oldest and not _REPORTS.search(x)]


# --- stacks of a job that stands still: `py-spy dump`, if it is there, for every Python process below it ------------


def take_stacks(roots: Sequence[int], folder: Path, limit_s: float, gaps: list[str]) -> list[str]:
    """Write one dump per process into `folder`; yield their paths, and say in `gaps` what could not be had. `--nonblocking`
    reads memory without stopping the process, so that looking can neither wake nor harm it."""
    spy = which("py-spy")
    if spy is None:
        gaps.append("no stacks were taken: py-spy is not installed (pip install py-spy)")
        return []
    pids = [pid for root in roots for pid in _descendants(root) if _is_python(pid)][:MOST_PROCESSES]
    each_s = max(1.0, min(_EACH_S, limit_s * _AT_ONCE / max(1, len(pids))))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        dumps = list(pool.map(lambda pid: _dump(spy, pid, each_s), pids))
    paths = []
    for pid, text in zip(pids, dumps, strict=True):
        if not text.startswith("Process"):
            gaps.append(f"no stack of process {pid}: {(text.strip().splitlines() or ['silent'])[-1][:200]}")
            continue
        rank = _rank(pid)
        path = folder / (f"rank{rank}" if rank is not None else "") / f"pyspy-{pid}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text, private=True)
        paths.append(str(path))
    return paths


def _dump(spy: str, pid: int, limit_s: float) -> str:
    command = [spy, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit_s, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout or done.stderr).decode("utf-8", "replace")


def _descendants(pid: int) -> list[int]:
    """The processes below, parents first; session and group do not matter, since torchrun gives each rank its own."""
    children = [int(word) for file in glob.glob(f"/proc/{pid}/task/*/children") for word in _text(file).split()]
    return [pid, *(below for child in sorted(children) for below in _descendants(child))]


def _is_python(pid: int) -> bool:
    with suppress(OSError):
        return "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    return False


def _rank(pid: int) -> int | None:
    found = re.search(r"(?:^|\0)RANK=(\d{1,7})(?:\0|$)", _text(f"/proc/{pid}/environ"))
    return int(found[1]) if found else None


def _text(path: str) -> str:
    """What stands in a file of /proc; nothing where its process has ended."""
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


# --- several nodes ---------------------------------------------------------------------------------------------------


class SharedFolder:
    """One job's place in a folder that its nodes share: each leaves its scan there, and one of them reports for all.

    DIR/<job>/<node>.scan.json.gz    what `diagnose DIR/<job>` reads, now or later; without secrets
    DIR/<job>.lock                   made by the node that reports: O_EXCL, so that there is one
    DIR/<job>.report.md (.json)      what it wrote

    All of it is for the eyes of the job's user only, and what another user laid there is neither read nor followed.
    """

    def __init__(self, root: Path, label: str) -> None:
        self.scans = root / label
        self.report = root / f"{label}.report.md"  # beside the scans, and not among them
        self.lock = root / f"{label}.lock"

    def scan_of(self, node: str) -> Path:
        """Where one node's scan goes."""
        return self.scans / f"{plain_name(node)}{SCAN_SUFFIX}"

    def present(self) -> list[Path]:
        """The scans that are there."""
        found = self.scans.glob(f"*{SCAN_SUFFIX}")
        return sorted(path for path in found if not path.name.startswith(".") and is_own(path, self.scans))

    def make(self) -> None:
        """Makes the job's folder. Raises OSError where it is not to be trusted."""
        self.scans.parent.mkdir(0o700, parents=True, exist_ok=True)
        make_private_folder(self.scans)

    def claim(self, node: str) -> bool:
        """Takes the duty to report; False when another node has it. A stranger's lock locks nobody out."""
        return claim_file(self.lock, node) or not is_own(self.lock, self.scans) or self._take_over(node)

    def owner(self) -> str:
        """The node that reports."""
        text = self.lock.read_text(encoding="utf-8", errors="replace") if self.lock.is_file() else ""
        return text.strip()[:100] or "another node"

    def _take_over(self, node: str) -> bool:
        """Replaces an owner that died. Both times are the file server's, so no clock of ours is in it."""
        age_s = self.scan_of(node).stat().st_mtime - self.lock.stat().st_mtime
        fresh = self.lock.with_suffix(".lock2")
        if age_s < _STALE_S or self.report.exists() or not claim_file(fresh, node):
            return False
        os.replace(fresh, self.lock)
        return True

    def wait_for_nodes(self, nodes: int | None, until: float) -> list[Path]:
        """Waits for the scans of all nodes, or until then; returns what is there."""
        if nodes is None:
            until = min(until, time.monotonic() + _UNKNOWN_WAIT_S)
        while len(self.present()) < (nodes or sys.maxsize) and time.monotonic() < until:
            time.sleep(_LOOK_S)
        return self.present()


def plain_name(text: str) -> str:
    """Returns text as one harmless file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".")[:100] or "unnamed"
