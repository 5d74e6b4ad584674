"""What `ft_launcher` of NVIDIA's resiliency extension prints: its monitors kill the ranks that they take for hung."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.lines.prefix import split_prefix
from diagnose.sources.source import Text

SILENT = "[{at}] [WARNING] [RankMonitorServer40{rank}@node01:{rank}] [Cycle 0] Did not get subsequent heartbeat. Waited 180.00 seconds.\n"
OLD = "[WARNING] [RankMonitorServer:2] Did not get subsequent heartbeat. Waited 171.92 seconds.\n"
OPEN = (
    "[2026-02-01 12:10:31,402] [WARNING] [RankMonitorServer4052@node01:2] [Cycle 0] Section 'setup' has been open for 601.20 seconds. "
    "Timeout is 600.00 seconds.\n"
)
AGENT = "torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: {rank} (pid: {pid}) of binary: /usr/bin/python\n"
KILLED = "E0201 12:10:37.120000 4001 " + AGENT
HEARD = SILENT.format(at="2026-02-01 12:10:31,402", rank=2)
@pytest.mark.parametrize("told", [HEARD, OPEN], ids=["heartbeat", "section"])
def test_the_kill_of_a_monitor_is_not_one_by_an_unknown_hand(told: str) -> None:
    found = diagnose(Text(told + KILLED.format(rank=2, pid=4012), name="job.log")).diagnosis

    assert found is not None
    assert ("collective.timeout", 1) == (found.cause, found.evidence[0].line)
    assert found.culprits == ()


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
