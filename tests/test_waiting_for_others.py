"""Who has not come, where the others only say that they wait: Horovod's lists, the first barrier, a broadcast from rank 0."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, culprits, told

BARRIER = (
    "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: {rank}, key: "
    "store_based_barrier_key:1 (world_size=4, worker_count={joined}, timeout=0:30:00)\n"
)
TIMED_OUT = (
    "[E ProcessGroupNCCL.cpp:828] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=987156, "
    "OpType={op}, Timeout(ms)=1800000) ran for 180074{rank} milliseconds before timing out.\n"
)
EVALUATES = "10/26 11:27:48 - mmengine - INFO - Evaluating bbox...\nRunning per image evaluation...\n"


def waits(*ranks: int, joined: int) -> str:
    """What these ranks say of the first barrier."""
    return "".join(BARRIER.format(rank=rank, joined=joined) for rank in ranks)


def timed_out(*ranks: int, op: str = "BROADCAST") -> str:
    """What the watchdogs of these ranks say."""
    return "".join(TIMED_OUT.format(rank=rank, op=op) for rank in ranks)


def test_a_single_wait_at_the_first_barrier_is_ordinary(tmp_path: Path) -> None:
    """Ranks that load large libraries come ten seconds apart."""
    assert told(tmp_path, {"console.log": waits(0, 1, 3, joined=3)}).diagnosis is None


def test_a_first_barrier_that_was_passed_later_is_no_failure(tmp_path: Path) -> None:
    """Older versions say nothing when all have come; the lines of the program show it, or the words of newer ones."""
    through = "".join(
        f"INFO:torch.distributed.distributed_c10d:Rank {r}: Completed store-based barrier for 4 nodes.\n" for r in range(4)
    )
    loads = "loading annotations into memory\nDone\nindex created\n"

    assert told(tmp_path, {"console.log": waits(0, 1, 3, joined=3) * 2 + through}).diagnosis is None
    assert told(tmp_path, {"console.log": waits(0, 1, 3, joined=3) * 2 + loads}).diagnosis is None


def test_an_evaluation_above_does_not_blame_rank_zero_where_it_waited_too(tmp_path: Path) -> None:
    """Rank 0 reports the time-out itself: it came."""
    assert [0] != culprits(told(tmp_path, {"console.log": EVALUATES + timed_out(6, 4, 0, 3)}))


def test_an_agent_of_rpc_that_lost_another_one_is_told(tmp_path: Path) -> None:
    """TensorPipe's warnings are all that is left; a closed pipe alone belongs to any shutdown."""
    head = "[W tensorpipe_agent.cpp:726] RPC agent for 0 encountered error when reading incoming request from {peer}: "
    broken = head.format(peer=7) + "sendmsg: Broken pipe (this error originated at tensorpipe/common/socket.h:105)\n"
    closed = head.format(peer=7) + "pipe closed (this error originated at tensorpipe/core/pipe_impl.cc:356)\n"

    assert cause(told(tmp_path, {"console.log": broken})) == "network.connection-reset"
    assert told(tmp_path, {"console.log": closed}).diagnosis is None


def stated(*ranks: int, label: str = "", world: int = 8) -> str:
    """What Lightning prints of these ranks before they join."""
    return "".join(f"{label}Initializing distributed: GLOBAL_RANK: {r}, MEMBER: {r + 1}/{world}\n" for r in ranks)


def test_a_line_that_two_handlers_repeat_is_of_one_process(tmp_path: Path) -> None:
    """Hydra's handler and Lightning's own print each line; the second node has not come yet."""
    assert "unfinished" == cause(told(tmp_path, {"console.log": stated(0, 0, 1, 1, 2, 2, 3, 3)}))


def test_ranks_that_have_joined_are_not_given_twice(tmp_path: Path) -> None:
    joined = stated(0, 1, 0, 1, world=4) + "All distributed processes registered. Starting with 4 processes\n"
    assert "unfinished" == cause(told(tmp_path, {"console.log": joined}))
    assert "unfinished" == cause(told(tmp_path, {"console.log": stated(0, 1, 2, 3, 0, 1, 2, 3, world=4)}))
