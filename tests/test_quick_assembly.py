"""The quick way through a traceback's plain lines finds what the long way finds, whatever stands among them."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.lines.prefix import read_lines
from diagnose.traces import known_paths
from diagnose.traces.quick_assembly import QuickAssembly
from diagnose.traces.traceback import Traceback, find_tracebacks

SPEAKERS = ["", "[rank0]: ", "[rank1]: ", "(Trainer pid=3) ", "2026-11-20 10:00:00,000 ERROR "]
PLAIN = [
    "Traceback (most recent call last):",
    '  File "/data/train.py", line 36, in step',
    '  File "/data/train.py", line 7, in main',
    "    loss.backward()",
    "    main()",
    "    ~~~~^^",
    "ValueError: bad row",
    "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:77",
    "Last error:",
    "frame #0: c10::Error::Error() + 0x96 (0x7f5b1c3776c6 in libc10.so)",
    "frame #1: 12it/s",
    "  rank      : 3 (local_rank: 3)",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "=" * 60,
    "",
]
SPECIAL = [
    "...",
    "    ...",
    "    ",
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
    "ray.exceptions.RayTaskError(KeyError): ray::Trainer.step() (pid=7, ip=10.0.0.1)",
    "At least one of the input arguments for this task could not be computed:",
    "-- Process 1 terminated with the following error:",
    "On WorkerInfo(id=1, name=worker1):",
    '"""',
    "  + Exception Group Traceback (most recent call last):",
    '  |   File "/data/a.py", line 1, in f',
    "╭───────────────── Traceback (most recent call last) ──────────────────╮",
    "  traceback : Traceback (most recent call last):",
    "Process Process-1:",
    "--- Logging error ---",
    "Cell In[3], line 2",
    "----> 2 f(x)",
    "INFO step 3",
    "50%|#####     | 5/10 [00:01<00:01]",
]


def _by_the_long_way(texts: list[str]) -> list[Traceback]:
    with (
        patch.object(QuickAssembly, "goes_on", return_value=False),
        patch.object(QuickAssembly, "takes_any_line", return_value=False),
        patch.object(QuickAssembly, "awaits_path", return_value=False),
    ):
        return _found(texts)


def _found(texts: list[str]) -> list[Traceback]:
    return find_tracebacks([line for number, raw in enumerate(texts, 1) for line in read_lines(number, raw)])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(SPEAKERS), st.sampled_from(PLAIN) | st.sampled_from(PLAIN) | st.sampled_from(SPECIAL)),
        max_size=60,
    )
)
def test_both_ways_find_the_same_in_any_mix_of_lines(pieces: list[tuple[str, str]]) -> None:
    texts = [who + text for who, text in pieces]
    assert _by_the_long_way(texts) == _found(texts)


def test_frames_that_another_rank_stands_in_are_not_read_again() -> None:
    texts = [*PLAIN[:4], PLAIN[2], PLAIN[4], PLAIN[5], "RuntimeError: NCCL error"]
    (first,) = _found(texts)
    with patch.object(known_paths, "_read", side_effect=AssertionError):
        second, third = _found([f"[rank{rank}]: {text}" for rank in (4, 5) for text in texts])
    assert [frame.code for frame in first.frames] == ["", "loss.backward()", "main()"]
    assert second.frames == third.frames == first.frames


BOX = [
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "=" * 60,
    "train.py FAILED",
    "-" * 60,
    "Failures:",
    "[1]:",
    "  time      : 2026-09-26_11:37:05",
    "  rank      : 793 (local_rank: 1)",
    "  exitcode  : -6 (pid: 2714841)",
    "  traceback : Signal 6 (SIGABRT) received by PID 2714841",
]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(BOX) | st.sampled_from(BOX) | st.sampled_from(PLAIN) | st.sampled_from(SPECIAL), max_size=60)
)
def test_both_ways_find_the_same_in_a_box_of_torchrun(below: list[str]) -> None:
    texts = [*PLAIN[:4], *BOX[:4], *below]
    assert _by_the_long_way(texts) == _found(texts)


def test_frames_of_endless_lines_are_read_and_not_kept() -> None:
    texts = [*PLAIN[:2], "    " + "x" * known_paths.MAX_CHARS, "RuntimeError: NCCL error"]
    known_paths._KNOWN.clear()
    (found,) = _found(texts)
    assert (found.exception, len(found.frames)) == ("RuntimeError", 1)
    assert not known_paths._KNOWN
