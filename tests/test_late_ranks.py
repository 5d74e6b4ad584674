"""Who is late, what it did, and who only seems to have said nothing."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told

WATCHDOG = (
    "[rank{r}]:[E1120 10:30:0{r}.100000001 ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={n}, NumelOut={n}, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)
FAILED = (
    "[rank{r}]:[E1120 10:30:0{r}.200000001 ProcessGroupNCCL.cpp:681] [Rank {r}] Some NCCL operations have failed or timed out. Due "
    "to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n"
)
DUMP = (
    "[rank{r}]:[E1120 10:30:0{r}.300000001 ProcessGroupNCCL.cpp:1563] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal "
    "due to a collective timeout from  rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: {seq}, last "
    "completed NCCL work: {seq}.\n"
)
GLOO = (
    "[rank{r}]: Traceback (most recent call last):\n"
    '[rank{r}]:   File "/app/train.py", line 88, in main\n'
    "[rank{r}]:     dist.all_gather(sizes, size, group=cpu_group)\n"
    '[rank{r}]:   File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3300, in all_gather\n'
    "[rank{r}]:     work.wait()\n"
    "[rank{r}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 600000ms for "
    "recv operation to complete\n"
)
BAR = " 41%|████      | 410/1000 [10:12<19:46,  2.27it/s]\n"


def watchdog(r: int, seq: int = 812, op: str = "ALLREDUCE", n: int = 4096) -> str:
    """Yield the line by which a rank's watchdog reports its wait."""
    return WATCHDOG.format(r=r, seq=seq, op=op, n=n)


def test_rank_zero_whose_bar_goes_on_while_two_time_out_is_possibly_late(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": BAR + watchdog(1) + watchdog(2)})

    assert report.diagnosis is not None
    assert ("collective.straggler", [0], "possible") == (cause(report), culprits(report), report.diagnosis.certainty)


def test_a_rank_whose_own_line_is_torn_did_report_where_it_says_more(tmp_path: Path) -> None:
    torn = watchdog(2)[:70] + "\n"
    console = "".join(watchdog(r) for r in (0, 1, 3)) + torn + "".join(FAILED.format(r=r) for r in range(4))

    assert [] == culprits(told(tmp_path, {"console.log": console}))


def test_a_rank_that_waits_in_another_group_left_the_common_order(tmp_path: Path) -> None:
    others = {f"rank_{r}.log": watchdog(r, 78, "BROADCAST") for r in range(1, 4)}
    report = told(tmp_path, {**others, "rank_0.log": DUMP.format(r=0, seq=77) + GLOO.format(r=0)})

    assert ("collective.desync", [0]) == (cause(report), culprits(report))


def test_one_element_against_gradients_is_no_wrong_shape(tmp_path: Path) -> None:
    report = told(tmp_path, {f"rank_{r}.log": watchdog(r, n=1 if r == 1 else 8_000_000) for r in range(2)})

    assert ("collective.desync", [1]) == (cause(report), culprits(report))


def test_an_exception_whose_handling_waited_in_vain_began_it(tmp_path: Path) -> None:
    raised = (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/app/train.py", line 40, in step\n'
        '[rank1]:     raise LookupError("no shard 17")\n'
        "[rank1]: LookupError: no shard 17\n\n"
        "[rank1]: During handling of the above exception, another exception occurred:\n\n"
    )
    console = GLOO.format(r=0) + raised + GLOO.format(r=1)

    assert ("process.exception", [1]) == (cause(t := told(tmp_path, {"console.log": console})), culprits(t))
