"""Tracebacks that nobody's program printed: shown in a Python session, or cut short by whoever wrote them down.

    >>> fut.wait()                                  a doctest, a tutorial, a pasted session: the prompt stands above
    Traceback (most recent call last):
    ...                                             and whoever quoted it left the frames out
    ValueError: foo
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from ..prefixes import Line
from ..tracebacks import Traceback

PROMPTS = (">>>", "...")  # the second one goes on with a statement
ELIDED = ("...", "…")


def quoted_tracebacks(tracebacks: Sequence[Traceback], lines: Sequence[Line]) -> frozenset[int]:
    """Yield the first lines of those tracebacks that are quoted; `lines` are the kept ones of their source."""
    texts = {line.number: line.message.strip() for line in lines} if tracebacks else {}
    return frozenset(tb.line for tb in tracebacks if _is_quoted(tb, texts))


def _is_prompt(text: str) -> bool:
    """Tell a statement in a session from `>>> done with dataset index builder.`, which Megatron prints."""
    if not text.startswith(PROMPTS) or text in PROMPTS:
        return text in PROMPTS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in what was typed
            compile(text[3:].strip(), "<session>", "exec", ast.PyCF_ONLY_AST)
    except SyntaxError as error:
        return error.msg.startswith(("expected an indented block", "unexpected EOF", "unterminated", "'"))
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_quoted(tb: Traceback, texts: dict[int, str]) -> bool:
    below = texts.get(tb.end_line + 1, "")
    if _is_prompt(texts.get(tb.line - 1, "")) or (below.startswith(">>> ") and _is_prompt(below)):
        return True
    return any(texts.get(n, "").rstrip() in ELIDED for n in (tb.line + 1, tb.exception_line - 1))
