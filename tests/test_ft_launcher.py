"""What `ft_launcher` of NVIDIA's resiliency extension prints: its monitors kill the ranks that they take for hung."""

from __future__ import annotations

import pytest

from diagnose.lines.prefix import split_prefix

SILENT = "[{at}] [WARNING] [RankMonitorServer40{rank}@node01:{rank}] [Cycle 0] Did not get subsequent heartbeat. Waited 180.00 seconds.\n"
OLD = "[WARNING] [RankMonitorServer:2] Did not get subsequent heartbeat. Waited 171.92 seconds.\n"
HEARD = SILENT.format(at="2026-02-01 12:10:31,402", rank=2)
@pytest.mark.parametrize(
    ("line", "rank", "host"),
    [
        (HEARD, 2, "node01"),
        (OLD, 2, None),
        (HEARD.replace(":2]", ":<none>]"), None, "node01"),
        ("2026-02-01 12:00:40,123 [WARNING] [node07] [workload:59(3) infra:7(3)] health_check.py:705 GPU 3", 59, "node07"),
        ("2026-02-01 12:00:40,123 [WARNING] [node07] [workload:?(?) infra:7(0)] health_check.py:705 GPU 3", None, "node07"),
    ],
)
def test_the_headers_say_who_is_meant(line: str, rank: int | None, host: str | None) -> None:
    prefix = split_prefix(line.rstrip())

    assert (rank, host) == (prefix.rank, prefix.host)
