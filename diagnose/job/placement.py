"""Who: gives every event its global rank, its host and its process, each with how it was inferred.

Global rank, local rank, rank in a group, task and device index are different things. What one line says about who is
who (an init line, a torchelastic box, a directory's name) is learnt first and then used for all lines of all sources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..lines.path_identity import PathIdentity, identities_from_paths
from .event import SourceEvents
from .maps import learn_maps
from .places import Places
from .rank import place_all, place_kills
from .source_owner import learn_hosts, learn_sources
from .world import learn_world

__all__ = ["Places", "place"]


def place(
    sources: Sequence[SourceEvents],
    world_size: int | None = None,
    rank_from: str | None = None,
    alone: Mapping[str, PathIdentity] | None = None,
) -> Places:
    """Fill in rank, local rank, host and pid of every event in `sources`; yield what was learnt on the way.

    `alone`: what the path of each source says by itself, where somebody has read that already.
    """
    places = Places(identities_from_paths([s.name for s in sources], alone))
    if rank_from:
        _override(places, rank_from, sources)
    learn_hosts(places, sources)
    learn_world(places, sources, world_size)
    learn_sources(places, sources)
    learn_maps(places, sources)
    place_all(places, sources)
    place_kills(places, sources)
    return places


def _override(places: Places, rank_from: str, sources: Sequence[SourceEvents]) -> None:
    """`--rank-from REGEX`: its first group in a source's name is the rank."""
    pattern = re.compile(rank_from)
    for source in sources:
        match = pattern.search(source.name)
        if match and match.lastindex and match[1].isdigit():
            places.source_rank[source.name] = int(match[1])
