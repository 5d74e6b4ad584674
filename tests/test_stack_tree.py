"""The ranks' stacks merged: groups, pattern, tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.traces.stack_forms import StackDump, StackFrame, StackThread
from diagnose.traces.stack_tree import classify, merge_stacks

C10D = "torch/distributed/distributed_c10d.py"
MAIN = StackFrame("main", "train.py", 130)
REDUCE = (MAIN, StackFrame("sync", "train.py", 58), StackFrame("all_reduce", C10D, 3252))
GATHER = (MAIN, StackFrame("log", "train.py", 99), StackFrame("all_gather", C10D, 2100))
SAVE = (MAIN, StackFrame("save_checkpoint", "train.py", 71), StackFrame("_save", "torch/serialization.py", 900))


def dump(frames: tuple[StackFrame, ...], *others: StackThread, pid: int = 1) -> StackDump:
    main = StackThread("MainThread", str(pid), "idle", True, frames)
    return StackDump("py-spy", pid, None, None, "", (*others, main), 1, 9, "", "")


def test_the_rank_outside_the_collective_is_the_suspect():
    tree = merge_stacks([(rank, dump(SAVE if rank == 6 else REDUCE)) for rank in range(8)])
    assert (tree.pattern, tree.suspects, tree.crowd) == ("waiting", (6,), (0, 1, 2, 3, 4, 5, 7))


def test_groups_are_largest_first():
    tree = merge_stacks([(rank, dump(SAVE if rank == 0 else REDUCE)) for rank in range(4)])
    assert [(g.ranks, g.count, g.standing.kind) for g in tree.groups] == [((1, 2, 3), 3, "collective"), ((0,), 1, "save")]


def test_equal_groups_in_different_collectives_are_a_desync_without_a_suspect():
    tree = merge_stacks([(rank, dump(REDUCE if rank % 2 else GATHER)) for rank in range(4)])
    assert (tree.pattern, tree.suspects) == ("desync", ())


def test_the_minority_of_a_desync_is_suspect():
    tree = merge_stacks([(rank, dump(GATHER if rank == 2 else REDUCE)) for rank in range(4)])
    assert (tree.pattern, tree.suspects) == ("desync", (2,))


def test_all_in_one_collective_is_together():
    assert merge_stacks([(rank, dump(REDUCE)) for rank in range(4)]).pattern == "together"


def test_same_operation_from_another_line_is_another_collective():
    other = (MAIN, StackFrame("sync", "train.py", 77), REDUCE[-1])
    assert merge_stacks([(0, dump(REDUCE)), (1, dump(other))]).pattern == "desync"


def test_no_dumps():
    assert merge_stacks([]).pattern == "none"


def test_two_dumps_tell_who_moved():
    later = (MAIN, StackFrame("sync", "train.py", 60))
    tree = merge_stacks([(0, dump(REDUCE)), (1, dump(REDUCE)), (0, dump(REDUCE)), (1, dump(later))])
    assert (tree.stuck, tree.moving) == ((0,), (1,))


def test_polling_inside_a_library_is_stuck():
    polls = [(MAIN, StackFrame("_try_get_data", "site-packages/torch/utils/data/dataloader.py", line)) for line in (7, 9)]
    assert merge_stacks([(0, dump(frames)) for frames in polls]).stuck == (0,)


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        (REDUCE, "collective"),
        (SAVE, "save"),
        ((MAIN, StackFrame("load_checkpoint", "engine.py", 1), StackFrame("read", "io.py", 2)), "load"),
        ((MAIN, StackFrame("_try_get_data", "torch/utils/data/dataloader.py", 1), StackFrame("wait", "threading.py", 3)), "data"),
        ((MAIN, StackFrame("fetch_next_shard", "train.py", 41)), "data"),
        ((MAIN, StackFrame("evaluate", "trainer.py", 1), StackFrame("forward", "torch/nn/linear.py", 3)), "eval"),
        ((MAIN, StackFrame("_compile", "torch/_dynamo/convert_frame.py", 1)), "compile"),
        ((MAIN, StackFrame("wait", "torch/utils/file_baton.py", 1)), "compile"),
        ((MAIN, StackFrame("acquire", "filelock/_api.py", 1)), "lock"),
        ((MAIN, StackFrame("readinto", "socket.py", 1)), "io"),
        ((MAIN, StackFrame("_engine_run_backward", "torch/autograd/graph.py", 1)), "compute"),
        ((MAIN, StackFrame("init_process_group", C10D, 1)), "collective"),
        ((MAIN,), "unknown"),
        ((), "unknown"),
    ],
)
def test_standing(frames, kind):
    assert classify(frames).kind == kind


def test_collective_inside_a_save_is_the_collective():
    assert classify((*SAVE[:2], StackFrame("barrier", C10D, 1))).kind == "collective"


def test_ten_thousand_ranks_merge():
    dumps = [(rank, dump((*REDUCE[:2], StackFrame("x", "train.py", rank)) if rank % 10 == 0 else REDUCE)) for rank in range(10_000)]
    tree = merge_stacks(dumps)
    assert tree.groups[0].count == 9000


FRAMES = st.builds(StackFrame, st.sampled_from(["main", "all_reduce", "wait", "<module>", ""]), st.sampled_from([C10D, "a.py", ""]), st.none() | st.integers(0, 9))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5) | st.sampled_from(["pid 1", "pid 2"]), st.lists(FRAMES, max_size=6)), max_size=12))
def test_any_stacks_merge_whatever_their_order(items):
    dumps = [(label, dump(tuple(frames))) for label, frames in dict(items).items()]
    assert merge_stacks(dumps) == merge_stacks(dumps[::-1])
