"""Whose log stands in a fence, where an issue says it in the line above: `Node 1 (rank 1):`, `### Rank 0 log`.

In: a text, and the same text with what stands outside its fences blank. Out: the latter, with `[rank1]: ` before each line
of a fence. Only where headings of several ranks part the logs, and no line of the fence says itself who speaks: `Rank 1
fails` above the console of all of them tells of one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix

_TOKEN = lazy(r"[A-Za-z]+|\d+")
_WORDS = frozenset(
    ["rank", "node", "worker", "host", "machine", "server", "pod", "process", "gpu", "master", "main",
     "head", "other", "log", "logs", "output", "console", "stderr", "stdout", "error", "errors", "trace",
     "traceback", "stack", "full", "on", "of", "from", "the", "for", "and", "here", "is", "global"]
)  # fmt: skip
_OTHER_RANKS = frozenset(("node", "local", "machine", "lora"))  # behind which the number is not of the job
MAX_TOKENS = 10
MAX_HEADING = 120  # characters
MAX_RANK = 1 << 16


def name_fences(text: bytes, kept: bytes) -> bytes:
    """Gives `kept` with the ranks of its headings."""
    if b"ank" not in text:
        return kept
    lines = kept.split(b"\n")
    named = dict(_fences(text.split(b"\n"), lines))
    if len(named) < 2:
        return kept
    for rank, (start, end) in named.items():
        if not any(map(_says_who, lines[start:end])):
            lines[start:end] = [b"[rank%d]: %s" % (rank, line) if line else line for line in lines[start:end]]
    return b"\n".join(lines)


def _fences(text: list[bytes], kept: list[bytes]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the rank and the lines of each fence below a heading that names one."""
    heading, start = b"", -1
    for place, line in enumerate(text):
        is_fence = not kept[place] and line.lstrip(b" \t>").startswith((b"```", b"~~~"))
        if is_fence and start < 0:
            start = place + 1
        elif is_fence:
            rank = _rank_of(heading.decode("utf-8", "replace"))
            if rank is not None:
                yield rank, (start, place)
            heading, start = b"", -1
        elif start < 0 and line.strip():
            heading = line


def _rank_of(heading: str) -> int | None:
    words = [word.lower() for word in _TOKEN.findall(heading[: MAX_HEADING + 1])]
    places = [n for n, word in enumerate(words[:-1]) if word == "rank" and words[n + 1].isdigit()]
    if len(heading) > MAX_HEADING or len(words) > MAX_TOKENS or len(places) != 1 or words.count("rank") != 1:
        return None
    place = places[0]
    if place and words[place - 1] in _OTHER_RANKS:
        return None
    is_label = all(word in _WORDS or word.isdigit() for word in words)
    rank = int(words[place + 1])
    return rank if is_label and rank < MAX_RANK else None


def _says_who(line: bytes) -> bool:
    told = split_prefix(line[:400].decode("utf-8", "replace"))
    return any(x is not None for x in (told.rank, told.local_rank, told.task, told.actor))
