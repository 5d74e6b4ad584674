"""Stack groups in, one tree out: what ranks have in common once, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..report.language import Say
from ..report.phrases import who
from ..report.printable import clip, one_line
from ..report.report import StackGroup

MOST_FRAMES = 80


@dataclass(slots=True)
class StackNode:
    """Frames that the same ranks stand in, outermost first, and what follows."""

    frames: list[str]
    ranks: set[int] = field(default_factory=set)
    count: int = 0
    children: list[StackNode] = field(default_factory=list)
    who: str = ""


def stack_tree(groups: Sequence[StackGroup], say: Say) -> list[StackNode]:
    """Yield the roots, the largest group first; the smallest leaf is often the one to look at."""
    root = StackNode([])
    for group in groups:
        node = root
        for frame in group.frames[:MOST_FRAMES]:
            shown = clip(one_line(frame), 300)
            found = next((c for c in node.children if c.frames == [shown]), None)
            if found is None:
                found = StackNode([shown])
                node.children.append(found)
            found.ranks.update(group.ranks)
            found.count += group.count
            node = found
    return [_join(child, say) for child in _ordered(root.children)]


def _join(node: StackNode, say: Say) -> StackNode:
    """An only child continues its parent."""
    while len(node.children) == 1 and node.children[0].ranks == node.ranks:
        child = node.children[0]
        node = StackNode([*node.frames, *child.frames], child.ranks, child.count, child.children)
    node.who = who(say, sorted(node.ranks))
    node.children = [_join(child, say) for child in _ordered(node.children)]
    return node


def _ordered(nodes: list[StackNode]) -> list[StackNode]:
    return sorted(nodes, key=lambda n: (-n.count, n.frames))
