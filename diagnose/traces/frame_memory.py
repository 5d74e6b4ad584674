"""Whether a frame that a rule asks for stands in those of a traceback: remembered, for most ranks stand in the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .traceback_lines import Frame, told_frames

MAX_REMEMBERED = 1_000  # frames of tracebacks; then all are forgotten
TIMEOUT_S = 1.0  # the last guard: rules keep to patterns of linear time

Frames = tuple[Frame, ...]


class FrameMemory:
    """Answers by the very object: equal frames of thousands of ranks are held once."""

    def __init__(self, compiled: Callable[[str], Any]) -> None:
        self._compiled = compiled
        self._told: dict[int, tuple[Frames, dict[str, bool]]] = {}  # with the frames, or another's might get their number

    def holds(self, pattern: str, frames: Frames) -> bool:
        """Tell whether the pattern stands in the words of a frame."""
        if id(frames) not in self._told:
            if len(self._told) >= MAX_REMEMBERED:
                self._told.clear()
            self._told[id(frames)] = frames, {}
        answers = self._told[id(frames)][1]
        if pattern not in answers:
            search = self._compiled(pattern).search
            answers[pattern] = any(search(words, timeout=TIMEOUT_S) is not None for words in told_frames(frames))
        return answers[pattern]
