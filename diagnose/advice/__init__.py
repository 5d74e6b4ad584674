"""Advice that calculates: the verdict's cause, what its line captured and the facts in, steps with solved numbers out.

The steps stand before the cause's own remedy; `replaces` names what of that remedy they make needless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .batch import batch_advice
from .bugs import bug_advice
from .connections import connection_advice
from .fact_store import Facts
from .late_rank import late_rank_advice
from .memory import memory_advice
from .modules import module_advice
from .resources import idle_notices, resource_advice
from .step import Advice, merge_remedy
from .timeouts import timeout_advice

__all__ = ["Advice", "advise", "idle_notices", "merge_remedy"]

Adviser = Callable[[str, Mapping[str, Any], Facts], tuple[Advice, ...]]
ADVISERS: tuple[tuple[str, Adviser], ...] = (  # by the start of the cause's id
    ("config.batch-size-mismatch", batch_advice),
    ("config.world-size-mismatch", resource_advice),
    ("ray.unschedulable", resource_advice),
    ("memory.cuda-oom", memory_advice),
    ("storage.slow-save", timeout_advice),
    ("collective.straggler", late_rank_advice),
    ("collective.", timeout_advice),
    ("nccl.", connection_advice),
    ("network.", connection_advice),
    ("software.known-bug", bug_advice),
    ("software.import-error", module_advice),
)


def advise(cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield the steps that follow from numbers: `fields` are the captures of the line that names `cause`."""
    return tuple(a for start, adviser in ADVISERS if cause.startswith(start) for a in adviser(cause, fields, facts))
