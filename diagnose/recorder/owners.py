"""Which rank wrote each flight-recorder dump, where the dump itself does not say: from the names of all of them.

A number in a name is a guess. Outside of the groups, or of the world, it is no rank, and the dump is nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..lines.path_identity import identities_from_paths
from .dump import Dump


def placed(dumps: Sequence[Dump], world_size: int | None = None) -> list[Dump]:
    """A dump that names no rank is its folder's (`rank_3/dump.pkl`), else the one of its groups that no other claims.

    `world_size`: as the logs or the caller state it. A name's number outside of what is known is no rank.
    """
    identities = identities_from_paths([dump.name for dump in dumps])
    dumps = [replace(dump, rank=identities[dump.name].rank) if dump.rank is None else dump for dump in dumps]
    dumps = [dump if _may_be_rank(dump, world_size, len(dumps)) else replace(dump, rank=None) for dump in dumps]
    unplaced = [dump for dump in dumps if dump.rank is None]
    claimed = {dump.rank for dump in dumps}
    if len(unplaced) == 1:
        free = {rank for group in unplaced[0].groups.values() for rank in group.ranks} - claimed
        if len(free) == 1:
            rank = free.pop()
            return [replace(dump, rank=rank) if dump.rank is None else dump for dump in dumps]
    return dumps


def _may_be_rank(dump: Dump, world_size: int | None, count: int) -> bool:
    """Whether the rank lies within its groups, else within the world; a mere number within a job of as many dumps."""
    if dump.rank is None or dump.rank_from == "content":
        return True
    members = {rank for group in dump.groups.values() for rank in group.ranks}
    if members:
        return dump.rank in members
    most = world_size if world_size is not None or dump.rank_from != "number" else count
    return most is None or dump.rank < most
