"""What to say of a word that is no cause's id."""

from __future__ import annotations

from collections.abc import Collection

MOST = 12  # names in one line; a layer has about as many


def no_such_cause(word: str, causes: Collection[str]) -> str:
    """Yield one line that names the causes that may be meant: those that hold the word, else the one spelt most alike."""
    from difflib import get_close_matches

    holding = sorted(c for c in causes if word in c) if word else []
    near = holding if 0 < len(holding) <= MOST else get_close_matches(word, causes, 1, 0.6)
    return f"no cause {word}" + (f"; did you mean {', '.join(near)}?" if near else "; see `diagnose rules list`")
