"""Consoles of several nodes: what is known of a line by its node only, or by a local rank only."""

from .told import cause, culprits, told, watchdog

ENTRY = "[{0}]:\n  time      : 2026-11-20_10:20:03\n  host      : {1}\n  rank      : {2} (local_rank: {3})\n  exitcode  : {4} (pid: {5})\n"
DAMAGED = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"
TRACE = '[default1]:Traceback (most recent call last):\n[default1]:  File "train.py", line 7, in <module>\n[default1]:    torch.load(path)\n'


def _agent(host: str, first: int, failed: int, code: int, at: str = "10:20:03") -> str:
    """The end of a node of two ranks, as torchrun's agent tells it."""
    ended = f"E1120 {at}.001000 {first + 70} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) "
    ended += f"local_rank: {failed} (pid: {5000 + first + failed}) of binary: /usr/bin/python\n"
    box = f"train.py FAILED\n{'-' * 60}\nFailures:\n  <NO_OTHER_FAILURES>\n{'-' * 60}\nRoot Cause (first observed failure):\n"
    return ended + box + ENTRY.format(0, host, first + failed, failed, code, 5000 + first + failed) + "=" * 60 + "\n"


def test_local_rank_that_two_nodes_have_is_not_the_first_rank_that_has_it(tmp_path):
    """Two nodes write `[default1]:` into one console; a time-out makes rank 1 known, but the trace is rank 3's."""
    console = TRACE + f"[default1]:{DAMAGED}\n" + _agent("node-b", 2, 1, 1)
    console += f"[default1]:{watchdog(1)}" + _agent("node-a", 0, 1, -6, "10:30:03")

    assert [3] == culprits(told(tmp_path, {"console.log": console}))


def test_abort_over_a_lost_peer_is_no_earlier_crash(tmp_path):
    """The other node's clock is three seconds behind: its rank aborted since it had lost the one that left with code 3."""
    lost = "n2:77:78 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n1<40123>\n"
    lost += "terminate called after throwing an instance of 'c10::DistBackendError'\n"
    agents = {"agent_n1.log": _agent("n1", 0, 0, 3), "agent_n2.log": _agent("n2", 1, 0, -6, "10:20:00").replace("10:20:03", "10:20:00")}
    report = told(tmp_path, {**agents, "rank0.log": "step 7 loss 1.23\n", "rank1.log": "step 7 loss 1.23\n" + lost})

    assert ("process.exit-code", [0]) == (cause(report), culprits(report))


def test_rank_whose_monitor_ended_it_held_up_those_that_lost_it(tmp_path):
    stuck = "[rank1]:[E1120 10:30:00.104231877 ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID 0(default_pg) Rank 1] ProcessGroupNCCL's "
    stuck += "watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.\n"
    gone = "n{0}:7{0}:78 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n1<40123>\n"
    report = told(tmp_path, {"rank1.log": stuck, **{f"rank{r}.log": gone.format(r) for r in (0, 2, 3)}})

    assert "collective.api-hang" == cause(report)
    assert culprits(report) in ([], [1])


def test_what_an_unnamed_line_says_on_the_host_of_the_absent_rank_is_its_doing(tmp_path):
    evaluating = "***** Running Evaluation *****\n"
    born = "node-{1}:7{0}:7{0} [0] NCCL INFO comm 0x1 rank {0} nranks 4 cudaDev 0 busId 1b000 - Init COMPLETE\n"
    nodes = {f"node-{n}.log": born.format(r, n) + (evaluating if r == 3 else watchdog(r)) for r, n in enumerate((21, 22, 23, 24))}
    report = told(tmp_path, nodes)

    assert ([3], evaluating.strip()) == (culprits(report), report.diagnosis.evidence[0].text)


def test_summary_behind_the_names_of_hosts_that_no_table_knows_names_the_rank(tmp_path):
    """pdsh prints `lrdn1913: `, and torchrun's box has lines that begin with blanks, rulers and words."""
    node = TRACE.replace("[default1]:", "") + DAMAGED + "\n" + _agent("lrdn1913", 8, 5, 1)
    other = _agent("tg-a17", 0, 1, -6, "10:30:03")
    console = "".join(f"{host}: {line}\n" for host, text in (("lrdn1913", node), ("tg-a17", other)) for line in text.splitlines())

    assert [13] == culprits(told(tmp_path, {"console.log": console}))
