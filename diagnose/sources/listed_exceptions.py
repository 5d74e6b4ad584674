"""Exceptions that structlog's `dict_tracebacks` wrote as data, as the text that Python prints.

In: the value of a JSON record, a list with the exception that was raised last at its head and behind it what it was raised
from; out: tracebacks in the order in which Python prints them.

    [{"exc_type": "OSError", "exc_value": "…", "is_cause": false, "frames": [{"filename": "…", "lineno": 7, "name": "f"}]}]
"""

from __future__ import annotations

from typing import Any

MAX_LINKS, MAX_FRAMES = 20, 200
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def printed(value: object) -> str:
    """Yield what Python would print; nothing where the value is something else."""
    links = value[:MAX_LINKS] if isinstance(value, list) else []
    if not links or not all(map(_is_exception, links)):
        return ""
    text = _one(links[-1])
    for inner, outer in zip(links[:0:-1], links[-2::-1], strict=True):
        text += f"\n\n{_CAUSE if inner.get('is_cause') else _CONTEXT}\n\n{_one(outer)}"
    return text


def _is_exception(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("exc_type"), str) and isinstance(value.get("frames"), list)


def _one(link: dict[str, Any]) -> str:
    frames = [f for f in link["frames"][-MAX_FRAMES:] if isinstance(f, dict)]
    lines = [f'  File "{f.get("filename")}", line {f.get("lineno")}, in {f.get("name")}' for f in frames]
    said = link.get("exc_value")
    raised = f"{link['exc_type']}: {said}" if isinstance(said, str) and said else str(link["exc_type"])
    return "\n".join(["Traceback (most recent call last):", *lines, raised])
