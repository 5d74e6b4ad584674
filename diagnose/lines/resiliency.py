"""Headers of NVIDIA's resiliency extension (`ft_launcher`), whose monitors say whom they watch, and its own logger."""

from __future__ import annotations

from .row import HOST, LEVEL, Row, after, row

# The process id is the monitor's own. Until 0.2 the header held neither it nor the host.
_MONITOR = rf"\[RankMon(?:itor)?Server(?:\d{{1,9}}@(?P<host>{HOST}))?:(?:(?P<rank>\d{{1,6}})|<none>)\] ?"

MONITORS: tuple[Row, ...] = (
    row(
        "rank monitor",
        after("[", "DIWEC"),
        rf"\[{LEVEL}\] {_MONITOR}",
        "[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 171.92 seconds.",
        needs="RankMon",
    ),
)
STAMPED_MONITORS: tuple[Row, ...] = (
    row(
        "rank monitor, after time",
        (" [",),
        rf" \[{LEVEL}\] {_MONITOR}",
        "[2025-10-01 12:00:31,402] [WARNING] [RankMonitorServer4053@node01:2] [Cycle 0] Did not get subsequent heartbeat.",
        needs="RankMon",
    ),
    row(
        "nvrx",
        (" [",),
        rf" \[{LEVEL}\] \[(?P<host>{HOST})\] \[workload:(?:(?P<rank>\d{{1,6}})|\?)\((?:(?P<local_rank>\d{{1,3}})|\?)\) "
        r"infra:[\d?]{1,6}\([\d?]{1,3}\)\] (?P<origin>[\w.]{1,80}:\d{1,6}) ",
        "2025-10-01 12:00:40,123 [ERROR] [node07] [workload:59(3) infra:7(3)] launcher.py:3658 Some rank(s) exited",
        needs="[workload:",
    ),
)
