"""How many ranks do torchrun's agents account for, where each tells of all processes of its node?

An agent names every process that it started: those that it ends, and in its summary those that failed, with rank and local
rank. So the rank of which no line says anything, since it hung, is counted too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .event import Event, SourceEvents
from .places import as_rank, as_text
from .summaries import ENTRIES

CLOSES = "process.terminated/agent-closes-worker"
ONCE = "process.exit-code/torchelastic-worker-failed"  # an agent says it once an attempt, when all processes have ended
OF_AGENTS = (ONCE, CLOSES)


def count_on_nodes(sources: Sequence[SourceEvents]) -> int:
    """Yield the number of ranks, 0 where not all nodes from the first on tell of equally many."""
    first_of: dict[str, set[int]] = defaultdict(set)
    pids: dict[str, set[int]] = defaultdict(set)
    for source in sources:
        of_agent = _of_agents(source.telling("exit", "signal-sent"))
        for entry in (e for e in source.telling("exit") if e.rule.id in ENTRIES):
            host, pid = as_text(entry.fields.get("host")), entry.fields.get("pid")
            rank, local = as_rank(entry.fields.get("rank")), as_rank(entry.fields.get("local_rank"))
            if host is None or not isinstance(pid, int) or rank is None or local is None:
                continue
            first_of[host].add(rank - local)
            pids[host] |= {pid, *of_agent.get(pid, ())}
    sizes = {len(found) for found in pids.values()}
    firsts = sorted(first for found in first_of.values() for first in found)
    size = sizes.pop() if len(sizes) == 1 else 0
    return size * len(pids) if size and firsts == [size * n for n in range(len(pids))] else 0


def _of_agents(events: Sequence[Event]) -> dict[int, set[int]]:
    """The processes that an agent ended, under each that it found dead; none where it started them more than once."""
    ended: dict[int, set[int]] = defaultdict(set)
    dead: dict[int, set[int]] = defaultdict(set)
    for event in events:
        agent, pid = event.speaker.pid, event.fields.get("pid")
        if agent is not None and isinstance(pid, int) and event.rule.id in OF_AGENTS:
            (ended if event.rule.id == CLOSES else dead)[agent].add(pid)
    return {next(iter(found)): ended[agent] for agent, found in dead.items() if len(found) == 1}
