"""What a rank for which others waited was doing, and what that makes of the wait."""

from __future__ import annotations

from ..events import Event

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
