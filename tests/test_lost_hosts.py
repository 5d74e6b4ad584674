"""Which host was lost, where all that its peers name is an address of the fast network."""

from diagnose.report.report import Report

from .told import alive, cause, told

BORN = "[rank {0}] init done host={1} local_rank={2} pid={3} world=4\n"
RAISED = (
    "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File \"train.py\", line 7, in <module>\n"
    "[rank{0}]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Read error [10.41.7.{1}]:4112: {2}\n"
)
TIMED_OUT, RESET = "Connection timed out", "Connection reset by peer"
def _job(*last: str) -> dict[str, str]:
    """Two ranks on each of two hosts, and how each log ends."""
    hosts = ("gpu-07", "gpu-07", "gpu-08", "gpu-08")
    return {f"{h}/rank{r}.log": BORN.format(r, h, r % 2, 5000 + r) + alive(r) + last[r] for r, h in enumerate(hosts)}


def _hosts(report: Report) -> list[str | None]:
    return [c.host for c in report.diagnosis.culprits] if report.diagnosis else []


def test_host_that_answers_no_more_and_says_nothing_went_down(tmp_path):
    report = told(tmp_path, _job(*(RAISED.format(r, 8, TIMED_OUT) for r in (0, 1)), "", ""))

    assert ("process.node-failure", ["gpu-08"]) == (cause(report), _hosts(report))


def test_host_whose_processes_closed_their_connections_had_not_gone_down(tmp_path):
    report = told(tmp_path, _job(*(RAISED.format(r, 8, RESET) for r in (0, 1)), "", ""))

    assert "process.node-failure" != cause(report)
