"""What do the ranks say of each other's collectives?

With TORCH_DISTRIBUTED_DEBUG=DETAIL each rank prints its own collective and that of one other that differs. No line tells
who is wrong: the ranks vote, and the minority is at fault.
Of two equal halves neither is. What a rank says of itself is sure; of another one whose call has other tensors it reads
bytes that are none of its own, and prints any operation with the number 0.
Source: PyTorch, ProcessGroupWrapper.cpp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from .finding import Finding, Sentence, earliest_onset, exhibits

COUNT = "count"  # as HCCL compares it, which names no operation
GARBLED = "?"  # another operation, which nobody can read
Call = tuple[str, str, object]  # operation, shape, number: the last one tells where nothing else does


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where lines state that ranks issued different collectives."""
    events = [e for e in job.telling("collective-mismatch") if e.cause is not None]
    votes: dict[int, Call] = {}
    for vote in (_own_votes, _other_votes):
        for rank, call in (told for event in events for told in vote(event)):
            votes.setdefault(rank, call)
    are_other_calls = len({call[:2] for call in votes.values()}) > 1
    by_call: dict[Call, list[int]] = defaultdict(list)
    for rank, (op, shape, number) in sorted(votes.items()):
        by_call[op, shape, None if are_other_calls else number].append(rank)
    if len(by_call) < 2:
        return
    (usual, crowd), (odd, few), *rest = sorted(by_call.items(), key=lambda kv: (-len(kv[1]), str(kv[0])))
    others = sorted([*few, *(r for _, ranks in rest for r in ranks)])
    ranks = tuple(others) if len(few) < len(crowd) and usual[0] != GARBLED else ()
    cause = "collective.desync" if odd[0] != usual[0] or odd[2] != usual[2] else "collective.shape-mismatch"
    says = Sentence("fingerprints.differ", {"others": others, "odd": _said(odd), "crowd": crowd, "usual": _said(usual)})
    yield Finding(
        "fingerprints", cause, says, exhibits(sorted(events, key=lambda e: (e.source, e.line or 0)), 4), ranks,
        certainty="certain" if ranks else "likely", onset=earliest_onset(events), fields=dict(events[0].fields),
        reads=("collective-mismatch",),
    )  # fmt: skip


def _own_votes(event: Event) -> Iterator[tuple[int, Call]]:
    f = event.fields
    own = event.rank if event.rank is not None else f.get("group_rank")
    if isinstance(own, int) and f.get("local") is not None:
        yield own, (COUNT, str(f["local"]), None)
    if isinstance(own, int) and f.get("op") is not None:
        yield own, (str(f["op"]), _shape(event, ""), f.get("seq"))


def _other_votes(event: Event) -> Iterator[tuple[int, Call]]:
    f, other = event.fields, event.fields.get("other_rank")
    if isinstance(other, int) and f.get("seq") and f.get("other_seq") == 0:
        yield other, (GARBLED, "", None)
    elif isinstance(other, int) and f.get("other_op") is not None:
        yield other, (str(f["other_op"]), _shape(event, "other_"), f.get("other_seq"))


def _shape(event: Event, whose: str) -> str:
    """Its size, and of what it consists where that differs: `[4] of Double`."""
    shape, dtypes = str(event.fields.get(f"{whose}shape") or ""), [event.fields.get(f"{x}dtype") for x in ("", "other_")]
    return shape if dtypes[0] == dtypes[1] else f"{shape} {event.fields.get(f'{whose}dtype')}"


def _said(call: Call) -> Sentence:
    op, shape, number = call
    return Sentence("fingerprints.call", {"op": op if op != GARBLED else None, "shape": shape, "number": number})
