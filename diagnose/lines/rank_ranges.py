"""Rank sets as people write them: `0-5,7`."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def rank_ranges(ranks: Iterable[int]) -> str:
    """Yield the ranks, sorted, runs folded: `0-5,7`."""
    if isinstance(ranks, range) and ranks.step == 1 and ranks:  # of a world that a stranger's line may have stated
        return str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]}-{ranks[-1]}"
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def named_ranks(ranks: Collection[int]) -> str:
    """Yield `rank 3` or `ranks 0-2,5`."""
    return f"rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks) or 'none'}"
