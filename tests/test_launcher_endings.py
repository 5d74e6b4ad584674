"""A launcher that ends all of its processes is no cause; what made it end them is."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources import Text

SGLANG_HANGS = b"""[2026-03-09 00:57:15 TP4] Watchdog timeout (self.watchdog_timeout=300)
[2026-03-09 00:57:15 TP6] Watchdog timeout (self.watchdog_timeout=300)
[2026-03-09 00:57:20] Received sigquit from a child process. It usually means the child failed.
Killed
"""


def cause(log: bytes) -> str:
    report = diagnose(Text(log.decode(), name="server.log"))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def test_a_server_that_kills_itself_for_its_child_is_not_killed_by_somebody() -> None:
    assert cause(SGLANG_HANGS) == "collective.timeout"


def test_a_kill_before_the_server_ends_its_processes_stays_the_cause() -> None:
    lines = SGLANG_HANGS.splitlines(keepends=True)
    assert cause(lines[3] + lines[2]) == "process.sigkill"
