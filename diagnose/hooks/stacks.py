"""Stacks of a job that stands still: `py-spy dump` for every Python process below it, if py-spy is there.

`--nonblocking` reads memory without stopping the process, so that looking can neither wake nor harm it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

from ..report.written_files import write_whole

MOST_PROCESSES = 128  # 8 ranks with 12 data loader workers each, and some launchers
_AT_ONCE = 8
_EACH_S = 10.0


def take_stacks(roots: Sequence[int], folder: Path, limit_s: float, gaps: list[str]) -> list[str]:
    """Writes one dump per process into `folder`; returns their paths, and says in `gaps` what could not be had."""
    spy = which("py-spy")
    if spy is None:
        gaps.append("no stacks were taken: py-spy is not installed (pip install py-spy)")
        return []
    pids = [pid for pid in _descendants(roots) if _is_python(pid)][:MOST_PROCESSES]
    each_s = max(1.0, min(_EACH_S, limit_s * _AT_ONCE / max(1, len(pids))))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        dumps = list(pool.map(lambda pid: _dump(spy, pid, each_s), pids))
    paths = []
    for pid, text in zip(pids, dumps, strict=True):
        if not text.startswith("Process"):
            gaps.append(f"no stack of process {pid}: {text.strip().splitlines()[-1][:200] if text.strip() else 'silent'}")
            continue
        rank = _rank(pid)
        place = folder / f"rank{rank}" if rank is not None else folder
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"pyspy-{pid}.txt"
        write_whole(path, text.encode("utf-8", "backslashreplace"), private=True)
        paths.append(str(path))
    return paths


def _dump(spy: str, pid: int, limit_s: float) -> str:
    command = [spy, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit_s, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout or done.stderr).decode("utf-8", "replace")


def _descendants(roots: Sequence[int]) -> list[int]:
    """The processes below, parents first; session and group do not matter, since torchrun gives each rank its own."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            children.setdefault(_parent(int(name)), []).append(int(name))
    found, waiting = [], list(roots)
    while waiting:
        pid = waiting.pop(0)
        found.append(pid)
        waiting += sorted(children.get(pid, ()))
    return found


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[1])  # "31562 (python train) S 31487 …": the name may hold anything
    except (OSError, ValueError, IndexError):
        return 0


def _is_python(pid: int) -> bool:
    try:
        return "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


def _rank(pid: int) -> int | None:
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    for word in words:
        name, _, value = word.partition(b"=")
        if name == b"RANK" and value.isdigit():
            return int(value)
    return None
