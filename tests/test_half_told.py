"""A file that ends in the middle of a line tells half of an exception: of others that say all of it, or of nobody at all."""

from __future__ import annotations

from pathlib import Path

from tests.told import culprits, told

HEAD = 'Traceback (most recent call last):\n  File "/data/jobs/train.py", line 91, in step\n    dist.all_reduce(loss)\n'
CLOSED = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[127.0.0.1]:16805. This is typically caused by a remote worker crashing. Check the logs of the remote worker before "
    "reporting an error.\n"
)
STEP = "iter 8: loss 4.3063, time 234.44ms, mfu 7.51%\n"


def labelled(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def test_half_a_runtime_error_that_nobody_tells_whole_blames_no_rank(tmp_path: Path) -> None:
    logs = {r: (STEP + labelled(r, HEAD + CLOSED))[:-190] for r in range(3)}
    report = told(tmp_path, {f"rank{r}.log": text for r, text in logs.items()})

    assert ([], "likely") >= (culprits(report), report.diagnosis.certainty)
