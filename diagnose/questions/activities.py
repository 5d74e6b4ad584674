"""What a rank for which others waited was doing, and what that makes of the wait."""

from __future__ import annotations

from ..job.event import Event

AWAITS = "context.activity/generation-server-not-up-yet"  # of such a wait the server is the reason: `awaited_server` asks
SLOW_STORAGE = ("saving", "loading")
WORDS = {
    "saving": "was saving", "loading": "was loading", "evaluating": "was evaluating", "tokenising": "was tokenising",
    "compiling": "was compiling", "downloading": "was downloading", "generating": "was generating",
    "waiting": "was waiting for something else",
}  # fmt: skip


def cause_of_wait(doing: Event | None) -> str:
    """The cause: saving or loading past the others' limit is slow storage, anything else makes a straggler."""
    return "storage.slow-save" if doing and doing.rule.activity in SLOW_STORAGE else "collective.straggler"


def was_doing(doing: Event | None) -> str:
    """Yield `was saving` or the like; empty where nobody knows."""
    return WORDS[doing.rule.activity] if doing and doing.rule.activity else ""


def awaits_server(doing: Event | None) -> bool:
    """Whether it asked for a server that was not up: then nobody else has to look for a reason."""
    return doing is not None and doing.rule.id == AWAITS
