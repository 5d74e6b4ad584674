"""Rank 0 is the one whose lines everybody shows: that it raised does not set it apart where nobody else is heard."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, culprits, told

RAISED = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    '[rank{rank}]:   File "/job/train.py", line 40, in <module>\n[rank{rank}]:     main()\n'
    "[rank{rank}]: AttributeError: 'Namespace' object has no attribute 'warmup'\n"
)
MESH = "[rank0]:2026-11-20 10:00:00,000 - root - INFO - world_size=8 rank 0 building a device mesh\n"


def certainty(report: object) -> str:
    """How sure the verdict is."""
    return report.diagnosis.certainty if report.diagnosis else ""  # type: ignore[attr-defined]


def test_rank_zero_alone_is_not_blamed_for_what_all_may_have_met(tmp_path: Path) -> None:
    """`torchrun --local-ranks-filter 0` shows rank 0 only, and a wrong setting meets all ranks."""
    report = told(tmp_path, {"console.log": RAISED.format(rank=0)})

    assert ("process.exception", [], "likely") == (cause(report), culprits(report), certainty(report))


def test_its_host_is_no_more_to_blame_than_rank_zero_heard_alone(tmp_path: Path) -> None:
    """It is the one host that is heard, and what rank 0 met the ranks of all hosts may have met."""
    report = told(tmp_path, {"console.log": "".join(f"gpu-n7: {line}\n" for line in RAISED.format(rank=0).splitlines())})

    assert report.diagnosis is not None
    assert () == report.diagnosis.culprits


def test_rank_zero_of_a_large_job_heard_alone_is_not_blamed(tmp_path: Path) -> None:
    """That there were eight ranks tells nothing of what the other seven printed."""
    assert [] == culprits(told(tmp_path, {"console.log": MESH + RAISED.format(rank=0)}))


def test_another_rank_heard_alone_is_blamed(tmp_path: Path) -> None:
    """Nobody filters a console to rank 3."""
    assert [3] == culprits(told(tmp_path, {"console.log": RAISED.format(rank=3)}))


def test_memory_of_rank_zero_is_its_own(tmp_path: Path) -> None:
    """A GPU that is full is that of the rank which says so."""
    text = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.1 GiB\n"

    assert [0] == culprits(told(tmp_path, {"console.log": text}))


def test_inner_exception_of_a_distributed_checkpoint_is_that_of_the_rank_it_names(tmp_path: Path) -> None:
    """Every rank raises `CheckpointException` and prints the exceptions of those that failed, behind `(RANK n)`."""
    wrapper = (
        "[rank{rank}]: Traceback (most recent call last):\n"
        '[rank{rank}]:   File "/job/train.py", line 40, in <module>\n[rank{rank}]:     main()\n'
        "[rank{rank}]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3])\n"
        "[rank{rank}]: Traceback (most recent call last): (RANK 3)\n"
        '[rank{rank}]:   File "/usr/lib/python3/torch/distributed/checkpoint/filesystem.py", line 300, in _write_item\n'
        "[rank{rank}]:     stream.write(data)\n"
        "[rank{rank}]: OSError: [Errno 28] No space left on device\n"
    )
    report = told(tmp_path, {"console.log": "".join(wrapper.format(rank=r) for r in (0, 1, 2))})

    assert ("storage.disk-full", [3]) == (cause(report), culprits(report))


def test_paste_that_begins_inside_a_checkpoint_exception_is_of_the_rank_in_its_head(tmp_path: Path) -> None:
    """The line that names the exception, above, is not in the paste."""
    text = (
        "[rank3]: Traceback (most recent call last): (RANK 2)\n"
        '[rank3]:   File "/usr/lib/python3/torch/distributed/checkpoint/filesystem.py", line 640, in read_data\n'
        "[rank3]:     with self.fs.create_stream(path, mode) as stream:\n"
        "[rank3]: OSError: [Errno 5] Input/output error: '/ckpt/__2_0.distcp'\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert ("storage.io-error", [2]) == (cause(report), culprits(report))


def test_code_of_a_deepspeed_launcher_tells_of_no_rank_where_several_were_started(tmp_path: Path) -> None:
    """The command printed is that of the last one started: `--local_rank=1` says that there were two."""
    text = (
        "[2026-11-20 10:00:00,000] [INFO] [launch.py:318:sigkill_handler] Killing subprocess 94985\n"
        "[2026-11-20 10:00:01,000] [ERROR] [launch.py:324:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', "
        "'--local_rank=1', '--deepspeed', 'ds.json'] exits with return code = -11\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert ("process.segfault", []) == (cause(report), culprits(report))


def test_rank_in_words_before_an_exception_is_who_speaks(tmp_path: Path) -> None:
    """Some launchers and many pastes write `rank 3: ` without brackets."""
    text = "rank 3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB\n"
    report = told(tmp_path, {"console.log": text})

    assert ("memory.cuda-oom", [3]) == (cause(report), culprits(report))


def test_rank_that_finds_another_one_different_is_not_at_fault_itself(tmp_path: Path) -> None:
    """fairseq's gather fails on whoever reads first."""
    text = (
        "-- Process 5 terminated with the following error:\nTraceback (most recent call last):\n"
        '  File "/job/fairseq/distributed_utils.py", line 178, in all_gather_list\n    raise Exception(\n'
        "Exception: Unable to unpickle data from other workers. all_gather_list requires all workers to enter the function "
        "together\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert ("collective.desync", [], "likely") == (cause(report), culprits(report), certainty(report))


def test_a_bug_of_a_library_is_told_of_the_only_rank_that_was_pasted(tmp_path: Path) -> None:
    text = (
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/opt/env/site-packages/deepspeed/runtime/engine.py", line 1995, in no_sync\n'
        "[rank2]:     assert not self.zero_optimization_partition_gradients(), \\\n"
        "[rank2]: AssertionError: no_sync context manager is incompatible with gradient partitioning logic of ZeRO stage 2\n"
    )
    report = told(tmp_path, {"console.log": text})

    assert "software.known-bug" == cause(report)


def test_a_model_that_a_checkpoint_does_not_fit_is_that_of_the_rank_that_says_so(tmp_path: Path) -> None:
    text = (
        "[rank{0}]: Traceback (most recent call last):\n"
        '[rank{0}]:   File "/data/train.py", line 41, in <module>\n'
        "[rank{0}]: RuntimeError: Missing key in checkpoint state_dict: optimizer.state.exp_avg.embedding.weight.\n"
    )
    others = "".join(f"[rank{r}]: step 7 loss 2.1\n" for r in (0, 1, 2))
    among_others = told(tmp_path / "b", {"console.log": others + text.format(3)})

    assert ("storage.checkpoint-corrupt", [3]) == (cause(among_others), culprits(among_others))
