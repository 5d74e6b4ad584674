"""A folder that the nodes of one job share: each leaves its scan there, and one of them reports for all.

DIR/<job>/<node>.scan.json.gz    what `diagnose DIR/<job>` reads, now or later; without secrets
DIR/<job>.lock                   made by the node that reports: O_EXCL, so that there is one
DIR/<job>.report.md (.json)      what it wrote

All of it is for the eyes of the job's user only, and what another user laid there is neither read nor followed.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from ..lines.record import record
from ..report.written_files import claim_file, is_own, make_private_folder

SCAN_SUFFIX = ".scan.json.gz"
_LOOK_S = 0.3
_UNKNOWN_WAIT_S = 5.0  # how long to wait for more when nobody said how many nodes there are
_STALE_S = 60.0  # twice the usual budget: whoever took the lock is gone if there is no report by then


@record
class SharedFolder:
    """One job's place in the shared folder."""

    root: Path
    label: str

    @property
    def scans(self) -> Path:
        """Where the nodes leave their scans."""
        return self.root / self.label

    @property
    def report(self) -> Path:
        """Where the report of all nodes goes, beside the scans and not among them."""
        return self.root / f"{self.label}.report.md"

    @property
    def lock(self) -> Path:
        """Who reports."""
        return self.root / f"{self.label}.lock"

    def scan_of(self, node: str) -> Path:
        """Where one node's scan goes."""
        return self.scans / f"{plain_name(node)}{SCAN_SUFFIX}"

    def present(self) -> list[Path]:
        """The scans that are there."""
        found = self.scans.glob(f"*{SCAN_SUFFIX}")
        return sorted(path for path in found if not path.name.startswith(".") and is_own(path, self.scans))

    def make(self) -> None:
        """Makes the job's folder. Raises OSError where it is not to be trusted."""
        self.root.mkdir(0o700, parents=True, exist_ok=True)
        make_private_folder(self.scans)

    def claim(self, node: str) -> bool:
        """Takes the duty to report; False when another node has it. A stranger's lock locks nobody out."""
        return claim_file(self.lock, node) or not is_own(self.lock, self.scans) or self._take_over(node)

    def owner(self) -> str:
        """The node that reports."""
        try:
            return self.lock.read_text(encoding="utf-8", errors="replace").strip()[:100] or "another node"
        except OSError:
            return "another node"

    def _take_over(self, node: str) -> bool:
        """Replaces an owner that died. Both times are the file server's, so no clock of ours is in it."""
        try:
            age_s = self.scan_of(node).stat().st_mtime - self.lock.stat().st_mtime
        except OSError:
            return False
        if age_s < _STALE_S or self.report.exists():
            return False
        fresh = self.lock.with_suffix(".lock2")
        if not claim_file(fresh, node):
            return False
        os.replace(fresh, self.lock)
        return True

    def wait_for_nodes(self, nodes: int | None, until: float) -> list[Path]:
        """Waits for the scans of all nodes, or until then; returns what is there."""
        if nodes is None:
            until = min(until, time.monotonic() + _UNKNOWN_WAIT_S)
        while True:
            present = self.present()
            if (nodes is not None and len(present) >= nodes) or time.monotonic() >= until:
                return present
            time.sleep(_LOOK_S)


def plain_name(text: str) -> str:
    """Returns text as one harmless file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".")[:100] or "unnamed"
