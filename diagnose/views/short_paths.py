"""A path that is too long for its column in, one that fits and still says which file it is out."""

from __future__ import annotations

ENDING = 2  # parts kept of the end: `trainer/0.log:28` says less without its pod


def last_parts(path: str, most: int) -> str:
    """Yield as much of a path's end as fits, in whole parts; the last one stays."""
    while len(path) > most and "/" in path.removeprefix("…/"):
        path = "…/" + path.removeprefix("…/").partition("/")[2]
    return path


def head_and_end(path: str, most: int) -> str:
    """Yield the path with its middle left out: files of many hosts or pods differ in the middle, and end alike."""
    end = "/".join(path.split("/")[-ENDING:])
    kept = most - len(end) - 2
    return path if len(path) <= most else f"{path[:kept]}…/{end}" if kept > 0 else last_parts(path, most)
