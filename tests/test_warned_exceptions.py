"""What a logger writes as a warning the program caught: it is not what another rank died of."""

import pytest

from .told import alive, cause, culprits, told

DISK = "OSError: [Errno 28] No space left on device"
FRAME = '  File "/job/lib/cache.py", line 61, in {}\n    do(x)\n'
OOM = (
    "[rank5]: Traceback (most recent call last):\n"
    '[rank5]:   File "/job/train.py", line 88, in <module>\n'
    "[rank5]:     main()\n"
    "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of "
    "79.10 GiB of which 1.20 GiB is free.\n"
)
WARNING = "WARNING 11-20 10:17:21 [cache.py:123] Could not write the cache, going on without it.\n"
LOGGED = (
    f"W1120 10:17:21.123000 41217 torch/_inductor/cache.py:12] {DISK}\n",
    f"[WARNING|cache.py:12] 2026-11-20 10:17:21,123 >> {DISK}\n",
    f"{WARNING}Traceback (most recent call last):\n{FRAME.format('write')}{DISK}\n",
    f"/opt/lib/python3.11/site-packages/lib/cache.py:12: UserWarning: {DISK}\n  warnings.warn(str(e))\n",
)
@pytest.mark.parametrize("text", LOGGED)
def test_what_was_logged_as_a_warning_is_not_what_another_rank_died_of(tmp_path, text):
    report = told(tmp_path, {"rank0.log": alive(0), "rank3.log": text, "rank5.log": OOM})
    assert ("memory.cuda-oom", [5]) == (cause(report), culprits(report))


@pytest.mark.parametrize("text", LOGGED[:3])
def test_what_was_logged_as_a_warning_is_not_certain(tmp_path, text):
    assert told(tmp_path, {"rank3.log": text}).diagnosis.certainty != "certain"


@pytest.mark.parametrize(
    "text",
    [
        *LOGGED[:3],
        "WARNING: could not find the metadata file /out/latest_checkpointed_iteration.txt\n",
        "[W1120 10:17:21.123456789 ProcessGroupGloo.cpp:723] Warning: Unable to resolve hostname to a (local) address. Using "
        "the loopback address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME. "
        "(function operator())\n",
    ],
)
def test_steps_of_a_console_without_ranks_outlive_a_warning(tmp_path, text):
    steps = "".join(f"step {n}/100 loss={2 - n / 100:.3f}\n" for n in range(1, 90))
    assert told(tmp_path, {"train.log": text + steps}).diagnosis is None
