"""Makes flight-recorder dumps of a job of N ranks with one injected fault, in any version, as pickle or JSON.

The job is simulated from the fault on: a collective completes when all of its group have issued the same thing, and a
rank runs ahead of the device by a few calls.
"""

from __future__ import annotations

import json
import pickle
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from diagnose.recorder.comparison import GroupReport, compare
from diagnose.recorder.dump import Dump, placed
from diagnose.recorder.reader import CPU_PER_DUMP_S, DumpReader

FAULTS = ("none", "missing", "swap", "size", "dtype", "missing-send", "extra", "truncated")
VERSIONS = (None, "1.4", "2.1", "2.4", "2.9", "2.10")
GROUP_SIZE = 8  # ranks of one tensor-parallel group
RUN_AHEAD = 6  # calls that a rank issues before it waits for the device
START_NS = 1_760_000_000 * 10**9
TAIL_STEPS = 6  # training steps that are simulated; all before them completed

Op = tuple[str, str, tuple[int, ...], str, int]  # group, operation, input sizes, dtype, line of the user's code


@dataclass(frozen=True)
class Job:
    """What to generate; `culprit` is drawn from the seed when None."""

    ranks: int = 16
    entries: int = 120
    frames: int = 3
    fault: str = "none"
    culprit: int | None = None
    seed: int = 0
    version: str | None = "2.4"
    form: str = "pickle"
    naming: str = "nccl_trace_rank_{rank}"
    backend: str = "nccl"
    is_batched: bool = True  # sends as pipelines issue them: in a group of two, closed by `coalesced`

    @property
    def guilty(self) -> int:
        if self.culprit is not None:
            return self.culprit
        rank = random.Random(f"{self.seed}-{self.fault}").randrange(self.ranks)
        return rank - rank % 2 if self.fault == "missing-send" else rank


@dataclass
class _Rank:
    program: list[Op]
    issued: int = 0
    done: set[int] = field(default_factory=set)
    seqs: list[int] = field(default_factory=list)  # per program position, within its group or pair


def group_of(rank: int) -> str:
    return str(1 + rank // GROUP_SIZE)


def pair_of(rank: int, job: Job) -> str:
    return str(1 + (job.ranks - 1) // GROUP_SIZE + 1 + rank // 2)


def members(job: Job, group: str) -> list[int]:
    if group == "0":
        return list(range(job.ranks))
    groups = 1 + (job.ranks - 1) // GROUP_SIZE
    size, first = (GROUP_SIZE, int(group) - 1) if int(group) <= groups else (2, int(group) - groups - 1)
    return list(range(first * size, min((first + 1) * size, job.ranks)))


def _step(rank: int, job: Job, n: int) -> list[Op]:
    own = group_of(rank)
    peer = rank + 1 if rank % 2 == 0 else rank - 1
    ops: list[Op] = [
        (own, "_all_gather_base", (1024, 64), "Float", 41),
        (own, "_reduce_scatter_base", (1024, 64), "Float", 52),
    ]
    if peer < job.ranks and job.is_batched:
        pair = pair_of(rank, job)
        ops.append((pair, "send 0->1" if rank % 2 == 0 else "recv 1<-0", (32, 8), "Half", 60))
        ops.append((pair, "coalesced", (), "Half", 60))
    elif peer < job.ranks:
        ops.append(("0", f"send {rank}->{peer}" if rank % 2 == 0 else f"recv {rank}<-{peer}", (32, 8), "Half", 60))
    ops += [
        ("0", "all_reduce", (4096, n % 3 + 1), "Float", 71),
        ("0", "broadcast", (1,), "Long", 83),
        (own, "all_reduce", (2,), "Float", 95),
    ]
    return ops


def _program(rank: int, job: Job, first: int) -> list[Op]:
    steps = [_step(rank, job, first + n) for n in range(TAIL_STEPS)]
    if rank == job.guilty:
        _inject(job, steps[TAIL_STEPS // 2])
    return [op for step in steps for op in step]


def _inject(job: Job, step: list[Op]) -> None:
    fault = job.fault
    at = next(n for n, op in enumerate(step) if op[:2] == ("0", "all_reduce"))
    group, name, sizes, dtype, line = step[at]
    if fault in ("missing", "truncated"):
        step[at:] = [("", "stop", (), "", 0)]
    elif fault == "swap":
        step[at], step[at + 1] = step[at + 1], step[at]
    elif fault == "size":
        step[at] = (group, name, (sizes[0] + 1, sizes[1]), dtype, line)
    elif fault == "dtype":
        step[at] = (group, name, sizes, "BFloat16", line)
    elif fault == "missing-send":
        del step[at - 1 - job.is_batched : at]
    elif fault == "extra":
        step.insert(1, (step[0][0], "all_reduce", (7,), "Float", 48))


def _simulate(job: Job, first: int) -> list[_Rank]:
    ranks = [_Rank(_program(rank, job, first)) for rank in range(job.ranks)]
    seen: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    streams = [defaultdict(int) for _ in ranks]
    finished = [defaultdict(int) for _ in ranks]
    moved = True
    while moved:
        moved = False
        for rank, state in enumerate(ranks):
            while state.issued < len(state.program) and state.issued - len(state.done) < RUN_AHEAD:
                op = state.program[state.issued]
                if op[1] == "stop":
                    break
                stream = _stream(rank, op)
                streams[rank][stream] += 1
                state.seqs.append(streams[rank][stream])
                seen[stream, streams[rank][stream]].append((rank, state.issued))
                state.issued += 1
                moved = True
        for (stream, seq), places in list(seen.items()):
            wanted = 2 if "-" in stream else len(members(job, stream))
            calls = {_comparable(ranks[r].program[n]) for r, n in places}
            in_order = all(finished[r][stream] == seq - 1 for r, _ in places)
            if len(places) == wanted and len(calls) == 1 and in_order:
                for r, n in places:
                    ranks[r].done.add(n)
                    finished[r][stream] = seq
                del seen[stream, seq]
                moved = True
    return ranks


def _is_send(op: Op) -> bool:
    return op[1][:4] in ("send", "recv")


def _stream(rank: int, op: Op) -> str:
    """A collective runs in its group's order, a send in its pair's."""
    if op[0] != "0" or not _is_send(op):
        return op[0]
    peer = op[1].replace("<-", "->").split("->")[1]
    return "-".join(sorted((str(rank), peer), key=int))


def _comparable(op: Op) -> tuple[object, ...]:
    return (op[0], "pair" if _is_send(op) else op[1], *op[2:4])


def dumps(job: Job) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the bytes of each rank's dump."""
    per_step = len(_step(0, job, 0))
    buffer = 40 if job.fault == "truncated" else job.entries
    steps_before = max(0, job.entries // per_step - TAIL_STEPS)
    ranks = _simulate(job, steps_before)
    for rank, state in enumerate(ranks):
        past = [op for n in range(steps_before) for op in _step(rank, job, n)]
        calls = [(op, True) for op in past]
        calls += [(op, n in state.done) for n, op in enumerate(state.program[: state.issued])]
        size = buffer + (rank % 5 if job.fault == "truncated" else 0)
        value = _value(job, rank, calls, max(0, len(calls) - size))
        name = job.naming.format(rank=rank)
        yield name, json.dumps(value).encode() if job.form == "json" else pickle.dumps(value, protocol=2)


def _value(job: Job, rank: int, calls: list[tuple[Op, bool]], lost: int) -> object:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # collectives, sends, both, completed
    entries = []
    frames = _Frames(job)
    for record, (op, is_done) in enumerate(calls):
        count = counts[op[0]]
        is_p2p = _is_send(op) or op[1] == "coalesced"
        if op[1] != "coalesced":  # shares the numbers of what it closes
            count[1 if is_p2p else 0] += 1
            count[2] += 1
        if is_done and not is_p2p:
            count[3] = count[0]
        shows_done = is_done and not (job.is_batched and _is_send(op))  # of a batch only the end completes
        if record >= lost:
            entries.append(_entry(job, rank, record, op, is_done=shows_done, count=count, is_p2p=is_p2p, frames=frames))
    if job.version is None:
        return entries
    value: dict[str, object] = {"version": job.version, "entries": entries}
    groups, descs = ("0", group_of(rank), pair_of(rank, job)), ("default_pg", "mesh_tp", "mesh_pp")
    if not job.is_batched:
        groups, descs = groups[:2], descs[:2]
    value["pg_config"] = {
        g: {"name": g, "desc": d, "ranks": str(members(job, g))} for g, d in zip(groups, descs, strict=True)
    }
    if job.version not in ("1.4", "2.1"):
        shown = str if job.form == "json" else int
        value["pg_status"] = {
            str(n): {
                "last_enqueued_collective": shown(counts[g][0]),
                "last_started_collective": shown(-1),
                "last_completed_collective": shown(counts[g][3]),
            }
            for n, g in enumerate(groups)
        }
    return value


def read_all(made: Iterable[tuple[str, bytes]], cpu_s: int = CPU_PER_DUMP_S) -> list[Dump | str]:
    """Reads dumps by their names and contents, all in one child process while it lives."""
    with closing(DumpReader(cpu_s)) as reader:
        return [reader.read(name, content) for name, content in made]


def compared(made: Iterable[tuple[str, bytes]], world_size: int | None = None) -> list[GroupReport]:
    """Compares what of these dumps can be read."""
    read = [dump for dump in read_all(made) if isinstance(dump, Dump)]
    return compare(placed(read, world_size), world_size)


class _Frames:
    """Frames of the user's calls, each made once, as the recorder shares them."""

    def __init__(self, job: Job) -> None:
        self.depth, self.made = job.frames, {}

    def at(self, line: int) -> list[dict[str, object]]:
        if line not in self.made:
            library = "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
            frames = [
                {"name": "wrapper", "filename": library, "line": 83},
                {"name": "train_step", "filename": "/app/train.py", "line": line},
                {"name": "main", "filename": "/app/train.py", "line": 130},
            ]
            self.made[line] = frames[: self.depth]
        return self.made[line]


def _entry(job, rank, record, op, *, is_done, count, is_p2p, frames) -> dict[str, object]:
    group, name, _, dtype, line = op
    ins, outs = _sizes(op, len(members(job, group)))
    place = min(int(group), 1 + (group == pair_of(rank, job)))
    desc = ("default_pg", "mesh_tp", "mesh_pp")[place]
    created = START_NS + record * 1_000_000 + rank * 1000
    entry: dict[str, object] = {
        "record_id": record,
        "pg_id": place if job.version not in (None, "1.4") else int(group),
        "profiling_name": f"{job.backend}:{name}",
        "input_sizes": ins,
        "output_sizes": outs,
        "state": "completed" if is_done else "scheduled",
        "retired": is_done,
    }
    if job.version is None:
        del entry["record_id"]
        entry |= {"seq_id": count[2], "time_created_us": created // 1000}
    else:
        entry |= {"op_id": count[2], "time_created_ns": created}
        nothing = 0 if job.form == "json" else None
        entry |= {
            "time_discovered_started_ns": nothing,
            "time_discovered_completed_ns": created + 500 if is_done else nothing,
        }
    if job.version == "1.4":
        entry["seq_id"] = count[2]
    elif job.version is not None:
        entry |= {"process_group": (group, desc), "is_p2p": is_p2p}
        entry |= {"collective_seq_id": count[0], "p2p_seq_id": count[1], "timeout_ms": 600000}
        entry |= {"input_dtypes": [dtype], "output_dtypes": [dtype]}
    if job.form == "pickle":
        entry["frames"] = frames.at(line)
    return entry


def _sizes(op: Op, ranks: int) -> tuple[list[list[int]], list[list[int]]]:
    """What an operation reads and writes; the larger side of a gather or scatter holds the parts of all ranks."""
    _, name, sizes, _, _ = op
    if name == "coalesced":
        return [], []
    one, all_of_them = [list(sizes)], [[sizes[0] * ranks, *sizes[1:]]]
    return all_of_them if "reduce_scatter" in name else one, all_of_them if "all_gather" in name else one
