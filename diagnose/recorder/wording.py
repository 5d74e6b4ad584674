"""A recorded call in words: operation, peers, sizes, types, and the program's own line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .comparison import Side
    from .dump import Sizes

MOST_SIZES = 3  # of a coalesced call


def described(side: Side, *, is_placed: bool = True) -> str:
    """Yield what was issued, as one reads it: `all_reduce [3] Float (reduce_metrics at train.py:75)`."""
    call = side.entry.call
    peers = f"{call.peers[0]}->{call.peers[1]}" if call.peers else ""
    given, got = _sizes(call.input_sizes), _sizes(call.output_sizes)
    sizes = f"{given} -> {got}" if given and got and given != got else given or got
    words = (call.op, peers, sizes, ",".join(dict.fromkeys(call.input_dtypes)))
    text = " ".join(word for word in words if word)
    return f"{text} ({side.frame})" if side.frame and is_placed else text


def _sizes(sizes: Sizes) -> str:
    shown = ", ".join(f"[{','.join(map(str, dims))}]" for dims in sizes[:MOST_SIZES])
    return f"{shown}, …" if len(sizes) > MOST_SIZES else shown
