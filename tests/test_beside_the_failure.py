"""Lines that look bad beside a failure or a run that is done, and logs that were joined into one: neither moves the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import alive, cause, culprits, told, watchdog

KEY_ERROR = """[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/train.py", line 118, in main
[rank1]:     x = batch["mask"]
[rank1]: KeyError: 'mask'
"""
OUT_OF_MEMORY = """[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/train.py", line 70, in main
[rank1]:     loss = model(batch)
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.03 GiB is free.
"""
AGENT = (
    "W1120 10:20:03.000000 900 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 2000 closing signal SIGTERM\n"
    "E1120 10:20:05.000000 900 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 1 "
    "(pid: 2001) of binary: /opt/conda/bin/python\n"
)
DONE = "".join(f"2026-11-20 10:30:00,000 | INFO | rank {rank} | Training finished.\n" for rank in range(2))
NO_NVCC = "/bin/sh: 1: nvcc: not found\n"


@pytest.mark.parametrize(
    "line",
    [
        "slurmstepd: error: couldn't chdir to `/scratch/job1': No such file or directory: going to /tmp instead",
        "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.2 as it may crash.",
        "Could not load bitsandbytes native library: libcudart.so.12: cannot open shared object file: No such file or directory",
    ],
)
@pytest.mark.parametrize("file", ["train.log", "setup.log"])
def test_a_warning_of_another_matter_explains_nothing_that_a_rank_states(tmp_path: Path, line: str, file: str) -> None:
    files = {"setup.log": line + "\n", "train.log": KEY_ERROR}
    if file == "train.log":
        files = {file: "".join(files.values())}
    assert cause(told(tmp_path, files)) == "process.exception"


TRACKER = """Traceback (most recent call last):
  File "/opt/conda/lib/python3.10/site-packages/requests/adapters.py", line 501, in send
    raise ConnectionError(err, request=request)
requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))
"""


@pytest.mark.parametrize(
    ("last", "said"),
    [("wandb: Network error (ConnectionError), entering retry loop.\n", "recovered"), ("", "network.connection-reset")],
)
def test_a_lost_connection_that_the_tracker_tries_anew_is_over(tmp_path: Path, last: str, said: str) -> None:
    assert cause(told(tmp_path, {"train.log": alive(0) + alive(1) + TRACKER + last})) == said


def logged(rank: int, at: str) -> str:
    return f"2026-11-20 {at},000 | INFO | rank {rank} | initialized: world_size=2 rank={rank} local_rank={rank} host=n1\n"


STREAMS = [
    logged(rank, "10:18:00") + "".join(alive(rank, step, f"10:{18 + step // 60}:{step % 60:02d}") for step in range(90))
    for rank in range(2)
]
CONSOLE = "".join(f"[default{rank}]:{line}" for rank in range(2) for line in STREAMS[rank].splitlines(True)) + KEY_ERROR + AGENT


def test_steps_that_are_shown_again_below_an_error_were_taken_before_it(tmp_path: Path) -> None:
    report = told(tmp_path, {"all.log": CONSOLE + STREAMS[0] + STREAMS[1]})
    assert (cause(report), culprits(report)) == ("process.exception", [1])


def test_steps_of_later_clocks_below_an_error_were_taken_after_it(tmp_path: Path) -> None:
    later = "".join(alive(rank, 200 + n, f"10:{21 + n}:00") for n in range(5) for rank in range(2))
    assert cause(told(tmp_path, {"all.log": "".join(STREAMS) + KEY_ERROR + later})) == "recovered"


def test_ranks_that_do_not_come_are_named_with_the_host_they_share(tmp_path: Path) -> None:
    places = {rank: f"gpu-{rank // 4:02d}" for rank in range(16)}
    files = {f"{host}/rank{rank}.log": logged(rank, "10:18:00").replace("n1", host) + alive(rank) for rank, host in places.items()}
    for rank, host in places.items():
        files[f"{host}/rank{rank}.log"] += watchdog(rank) if host != "gpu-02" else ""
    report = told(tmp_path, files)
    assert [(c.rank, c.host) for c in report.diagnosis.culprits] == [(rank, "gpu-02") for rank in range(8, 12)]
    assert report.diagnosis.certainty == "possible"
