"""The rank that the others waited for: where to look first, by what is at hand of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalogue.sentences import shell_word
from ..lines.rank_ranges import rank_ranges
from .fact_store import Facts
from .step import Advice


def late_rank_advice(_cause: str, fields: Mapping[str, Any], _facts: Facts) -> tuple[Advice, ...]:
    """Yield what to read of the late rank: its stack where there is one, else its last lines and how to get a stack."""
    late = fields.get("late_ranks") or ()
    if not late or fields.get("slow_by"):  # a rank measured to be slow, not late: its stack shows nothing
        return ()
    who = f"rank{'s' if len(late) > 1 else ''} {rank_ranges(late)}"
    where = " (the first evidence)" if fields.get("late_is_first") else ""
    if fields.get("has_stacks"):
        text = (
            f"Read the frame in which {who} stood{where}: what is waited for there, a file, a lock, "
            "another connection, held up all others."
        )
        return (Advice("now", text, replaces=True),)
    pid, host = fields.get("late_pid"), fields.get("late_host")
    if fields.get("is_hung") and pid:
        text = f"See what {who} did last{where}, and take the stack now, while it hangs."
        dump = f"py-spy dump --pid {pid}"
    else:  # whatever ran there has ended
        text = f"See what {who} did last{where}, and take the stack when a job hangs so again."
        dump = "py-spy dump --pid PID"
    return (Advice("now", text, f"ssh {shell_word(str(host))} {dump}" if host else dump, replaces=True),)
