"""When reading has to stop."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
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
