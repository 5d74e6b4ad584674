"""Lines that differ in their digits only have one shape, and most rules say the same of all of them.

In: a pattern. Out: the texts with digits that it asks for, such as `errno: 111`. Two lines of one shape in which these
stand at the same places either both match the pattern or both do not, so the second one need not be tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

Kind = bytes | tuple[bytes, tuple[tuple[bytes, int], ...]]  # shape, and which digits stand where that patterns ask for

DIGITS = bytes(ord("0") if chr(n) in "123456789" else n for n in range(256))  # for `bytes.translate`
MAX_SHAPE_BYTES = 600  # of a line whose shape is remembered
MAX_SINGLE = 2  # digits that a pattern asks for without any text before them; more would tell each line from the others
MAX_SPOTS = 8  # in a shape that are compared one by one, before looking for the marks is quicker

_TOKEN = re.compile(
    r"[^\\.^$*+?()|\[\]{}\d]{2,}(?![*+?{])|"  # plain text, as most of a pattern is
    r"\(\?[aimsux-]*\)|\(\?(?:P?<\w+>|[aimsx-]*:|<?[=!])|\{\d*,?\d*\}|\[\^?\]?(?:\\.|[^\]\\])*\]|\\x[0-9A-Fa-f]{2}|\\.|.",
    re.DOTALL,
)
_WITHOUT_DIGITS = re.compile(r"(?:\{\d*,?\d*\}|\\[^xuUNpPgk\d]|[^\d\\])*")  # most patterns ask for none
_FLAGS = re.compile(r"\(\?[aimsux-]*\)")
_CODE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_CLASS_PART = re.compile(r"(\\.|[^\\])-(\\.|[^\\])|(\\.|.)", re.DOTALL)
_UNREADABLE = frozenset("xuUNpPgk0123456789")  # behind a backslash: other codes, classes by name, references
_MEANING = frozenset("\\[({")  # begins a token of several characters that is no plain text
_DIGIT_CLASS = re.compile(r"\[[\d-]+\]")
_NUMERALS = frozenset("0123456789")


def digit_marks(pattern: str) -> tuple[bytes, ...] | None:
    """Yield the texts with digits that decide whether `pattern` matches, in lower case; None where it cannot be told."""
    if _WITHOUT_DIGITS.fullmatch(pattern):
        return ()
    tokens = [_decoded(t) if "\\x" in t else t for t in _TOKEN.findall(pattern) if t[0] != "(" or not _FLAGS.fullmatch(t)]
    reader = _MarkReader()
    for index, token in enumerate(tokens):
        if len(token) > 1 and token[0] not in _MEANING:
            reader.run += token
            continue
        texts = _texts(token)
        if texts is None:
            return None
        end = _group_end(tokens, index) if token[0] == "(" else index
        reader.take(token, texts, (tokens[end + 1 : end + 2] or [""])[0])
    found = {m.lower() for m in (*reader.marks, reader.run) if not _NUMERALS.isdisjoint(m)}
    if sum(len(m) == 1 for m in found) > MAX_SINGLE:
        return None
    return tuple(sorted(m.encode() for m in found))


class _MarkReader:
    """Goes over a pattern's tokens and collects its runs of plain text; a group continues what stands before it."""

    def __init__(self) -> None:
        self.marks: set[str] = set()
        self.run = ""  # what stands right before the next token
        self._opened: list[str] = []  # the same for each open group

    def take(self, token: str, texts: Set[str], following: str) -> None:
        """Take the next token; `texts`: the characters that it stands for, or some of them."""
        is_repeated = following in ("*", "+") or (following[:1] == "{" and len(following) > 1)
        is_sure = not is_repeated and following != "?"
        is_most = len(texts) > len(_NUMERALS) // 2  # `[1-9]`: then the digits that it lacks tell as much
        texts = _NUMERALS - texts if is_most else texts
        if len(texts) == 1 and token[0] != "[" and is_sure:
            self.run += token[-1]
            return
        self.marks.update(self.run + t for t in texts)
        may_differ = token[0] == "[" and (is_most or not _DIGIT_CLASS.fullmatch(token))  # it holds more than `texts`
        if not texts or not is_sure or may_differ:
            self.marks.add(self.run)
        if is_repeated:
            self.marks.update(texts)
        self._step(token, is_repeated)

    def _step(self, token: str, is_repeated: bool) -> None:
        if token[0] == "(":
            is_apart = is_repeated or (token.startswith("(?<") and token[-1] in "=!")  # what it asks for stands before it
            self._opened.append("" if is_apart else self.run)
            self.run = self._opened[-1]
        elif token == "|":
            self.run = self._opened[-1] if self._opened else ""
        else:
            self.run = ""
            if token == ")":
                self._opened = self._opened[:-1]


def _decoded(token: str) -> str:
    """The token with its `\\x27` as characters, escaped where these have a meaning."""
    return _CODE.sub(lambda m: re.escape(chr(int(m[1], 16))), token)


def _group_end(tokens: list[str], index: int) -> int:
    depth = 0
    for end in range(index, len(tokens)):
        depth += (tokens[end][0] == "(") - (tokens[end] == ")")
        if depth == 0:
            return end
    return index


def _texts(token: str) -> set[str] | None:
    """The character that a token stands for, or the particular digits of a class; none for one with another meaning."""
    if token[0] == "[" and len(token) > 1:
        return _class_digits(token)
    if token[0] == "\\":
        if token[1] in _UNREADABLE:
            return None
        return set() if token[1].isalnum() else {token[1]}
    return {token} if len(token) == 1 and token not in ".^$*+?()|" else set()


def _class_digits(token: str) -> set[str] | None:
    """The particular digits in a class; a range of all of them is none."""
    digits: set[str] = set()
    for low, high, alone in _CLASS_PART.findall(token[1:-1].removeprefix("^")):
        if alone[:1] == "\\" and alone[1] in _UNREADABLE:
            return None
        inside = {c for c in _NUMERALS if low[-1:] <= c <= high[-1:]} if high else {alone} & _NUMERALS
        digits |= inside if len(inside) < len(_NUMERALS) else set()
    return digits


class Spots:
    """Where marks can stand in lines of one shape; a line is asked at these places only."""

    __slots__ = ("_marks", "_spots")

    def __init__(self, marks: tuple[bytes, ...], shape: bytes) -> None:
        patterns = [mark.translate(DIGITS) for mark in marks]
        folded = shape.lower()
        self._marks = marks
        self._spots = [
            (at, at + len(mark), mark, (mark, at))
            for mark, pattern in zip(marks, patterns, strict=True)
            for at in _starts(pattern, folded)
        ]

    def marks_in(self, line: bytes) -> tuple[tuple[bytes, int], ...]:
        """Yield which marks stand in a line of the shape, and where."""
        spots = self._spots
        if len(spots) <= MAX_SPOTS:
            return tuple([found for start, end, mark, found in spots if line[start:end].lower() == mark])
        return places_of(self._marks, line)


def places_of(marks: tuple[bytes, ...], line: bytes) -> tuple[tuple[bytes, int], ...]:
    """Yield which marks stand in a line, and where."""
    folded = line.lower()
    return tuple([(mark, at) for mark in marks for at in _starts(mark, folded)])


def _starts(text: bytes, line: bytes) -> Iterator[int]:
    at = line.find(text)
    while at >= 0:
        yield at
        at = line.find(text, at + 1)
