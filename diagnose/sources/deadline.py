"""When reading has to stop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeVar

from ..lines.record import record

T = TypeVar("T")


@record
class Deadline:
    """A moment on this machine's clock; None: never."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Yield the moment `seconds` from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.at is not None and time.monotonic() >= self.at

    def left_s(self) -> float | None:
        """Yield how many seconds are left; None: no limit."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())


class Share:
    """Half of the time until a deadline, of which only what `within` spends counts."""

    def __init__(self, deadline: Deadline) -> None:
        left_s = deadline.left_s()
        self._deadline = deadline
        self._left_s = None if left_s is None else left_s / 2
        self._since: float | None = None  # when what counts began; None while nothing does

    def within(self, items: Iterator[T]) -> Iterator[T]:
        """Yield the items; the time until each comes counts, not what is done with it."""
        while True:
            self._since = time.monotonic()
            item = next(items, None)
            self._left_s, self._since = self.left_s(), None
            if item is None:
                return
            yield item

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left_s() == 0 or self._deadline.passed()

    def left_s(self) -> float | None:
        """Yield how many seconds are left; None: no limit."""
        if self._left_s is None or self._since is None:
            return self._left_s
        return max(0.0, self._left_s - (time.monotonic() - self._since))
