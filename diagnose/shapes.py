"""Lines that differ in their digits only have one shape, and most rules say the same of all of them.

In: a pattern. Out: a pattern that does not care which digits stand in a text and matches at least as much. Where that
one fails on a line, the rule matches no line of its shape, and the next one need not be tried.
"""

from __future__ import annotations

import re

DIGITS = bytes(ord("0") if chr(n) in "123456789" else n for n in range(256))  # for `bytes.translate`
MAX_SHAPE_BYTES = 600  # of a line whose shape is remembered

_TOKEN = re.compile(r"\(\?P?<\w+>|\{\d*,?\d*\}|\\.|\[\^?\]?|\]|[0-9]-[0-9]|.", re.DOTALL)
_PLAIN_ESCAPE = re.compile(r"\\[^0-9xuUNpPgk]", re.DOTALL)


def blind_pattern(pattern: str) -> str | None:
    """Yield `pattern` with any digit for each particular one; None where that cannot be told."""
    out: list[str] = []
    in_class = False
    for token in _TOKEN.findall(pattern):
        if token[0] == "\\" and not _PLAIN_ESCAPE.fullmatch(token):
            return None
        if in_class:
            in_class = token != "]"
            out.append(r"\d" if token[0].isdigit() else token)
            if token[0] in "[({" and len(token) > 1:
                return None  # what looks like a count or a name within a class
        else:
            in_class = token[0] == "["
            if in_class and len(token) > 1 and token[-1] == "]" and token != "[^":
                return None  # a class that begins with its own bracket
            out.append(r"\d" if token.isdigit() else token)
    return None if r"\d-" in "".join(out) and re.search(r"\[[^\]]*\\d-[^\]]", "".join(out)) else "".join(out)
