"""The hook inside a training script, beside torchelastic's own `record`."""

from __future__ import annotations

import os

from diagnose.hook import diagnose_on_failure

try:
    from torch.distributed.elastic.multiprocessing.errors import record
except ImportError:  # no torch here: the example runs all the same
    from collections.abc import Callable

    def record(function: Callable[[], None]) -> Callable[[], None]:
        """Stands in for torchelastic's decorator."""
        return function


@record
@diagnose_on_failure(output=os.environ.get("REPORT", "report.md"))
def main() -> None:
    """Trains."""
    raise FloatingPointError("loss is nan at step 4211")


if __name__ == "__main__":
    main()
