"""What a file holds, from its name and its first bytes: pure functions, nothing is opened here.

In: the first few KiB of a decoded stream and its name. Out: a `Kind`, the compression or container around it, its
encoding, and for what is not worth reading a reason in plain words. The kinds are rows of `kinds.yaml`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy

Kind = Literal[
    "text", "markdown", "table", "notebook", "page", "loki", "recorder", "scan", "json-error", "json-stacks", "context",
    "code", "prose", "binary",
]  # fmt: skip
LINES: frozenset[Kind] = frozenset(["text", "markdown", "table", "notebook", "page", "loki"])  # hold a log in some form
Compression = Literal["gzip", "bzip2", "xz", "zstd"]
Container = Literal["tar", "zip", "sections"]  # the last: the text that `tail` prints of several files
Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]

SHORT_BYTES = 64
PEEK_BYTES = 4096  # enough for every row and for the first keys of a dump
_TABLES = tables(Path(__file__).with_name("kinds.yaml"))
_SKIPPABLE_ZSTD = lazy(rb"[\x50-\x5f]\x2a\x4d\x18")  # pzstd writes such a frame first
_BZIP2 = lazy(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # a log may well begin with "BZh"
_ZIP_ARCHIVE = "binary: a zip archive"
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\x08\x0c\x1b\x07")


def suffix_of(name: str) -> str:
    """Gives the last suffix in lower case, with its dot; a compression suffix is looked through."""
    base = re.split(r"[/\\!]", name)[-1].lower()
    base = re.sub(r"\.(?:gz|bz2|xz|zst)$", "", base)
    dot = base.rfind(".")
    return base[dot:] if dot > 0 else ""


def compression_of(head: bytes) -> Compression | None:
    """Names the compression of a stream that begins with `head`; content decides, since rotated logs lie."""
    for name, magic in _TABLES["compressions"].items():
        if head.startswith(magic.encode("latin-1")) and (name != "bzip2" or _BZIP2.match(head)):
            return name  # type: ignore[no-any-return]
    return "zstd" if _SKIPPABLE_ZSTD.match(head) else None


def container_of(head: bytes, name: str) -> Container | None:
    """Names the archive that begins with `head`; zip files that are checkpoints or packages are none."""
    if head[257:262] == b"ustar":
        return "tar"
    return "zip" if head.startswith(b"PK") and kind_of(head, name)[1] == _ZIP_ARCHIVE else None


def encoding_of(head: bytes) -> Encoding:
    """Tells UTF-16, with or without a byte order mark, from anything else."""
    if head.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if head.startswith(b"\xfe\xff"):
        return "utf-16-be"
    even, odd = head[0:PEEK_BYTES:2], head[1:PEEK_BYTES:2]
    if len(odd) < 8:
        return "utf-8"
    # Plain text in UTF-16 has a NUL in nearly every second byte and none in the others.
    if odd.count(0) > 0.6 * len(odd) and even.count(0) < 0.02 * len(even):
        return "utf-16-le"
    return "utf-16-be" if even.count(0) > 0.6 * len(even) and odd.count(0) < 0.02 * len(odd) else "utf-8"


def kind_of(head: bytes, name: str) -> tuple[Kind, str | None]:
    """Gives the kind of a decoded stream and, when it is not to be read, the reason."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    row = _first("binaries", head, name) or _first("texts", text, name)
    if row is None and encoding_of(head) == "utf-8" and (reason := _control_reason(head)) is not None:
        return "binary", reason
    row = row or _first("named", head, name)
    if row is None:
        return "text", None
    return row.kind, row.reason.replace("<suffix>", suffix_of(name) or "by its name") if row.reason else None


class _Row(NamedTuple):
    kind: Kind
    reason: str | None
    starts: tuple[bytes, ...]
    suffixes: list[str] | None
    begins: re.Pattern[bytes]
    holds: re.Pattern[bytes]
    name: re.Pattern[str]


@cache
def _rows(table: str) -> list[_Row]:
    rows = []
    for row in _TABLES[table]:
        starts = tuple(text.encode("latin-1") for text in row.get("starts", [""]))
        begins, holds, name = ("".join(row.get(part, "")) for part in ("begins", "holds", "name"))
        patterns = lazy(begins.encode()), lazy(holds.encode()), lazy(name)
        rows.append(_Row(row["kind"], row.get("reason"), starts, row.get("suffixes"), *patterns))
    return rows


def _first(table: str, head: bytes, name: str) -> _Row | None:
    """The first row of a table that fits."""
    suffix = suffix_of(name)
    for row in _rows(table):
        may_fit = head.startswith(row.starts) and (row.suffixes is None or suffix in row.suffixes)
        if may_fit and row.begins.match(head) and row.holds.search(head) and row.name.search(name):
            return row
    return None


def _control_reason(head: bytes) -> str | None:
    """Judges by control characters; text with holes of NUL (a log rotated by copytruncate) stays text."""
    solid = head.replace(b"\x00", b"")
    if head and not solid:
        return "binary: nothing but NUL bytes"
    if len(solid) < 0.7 * len(head) and b"\x00" * 64 not in head:
        return "binary: full of NUL bytes"
    controls = len(solid) - len(solid.translate(None, _CONTROL))
    if controls and len(head) < SHORT_BYTES:  # a few control characters tell nothing yet; bytes that are no text do
        controls += solid.decode("utf-8", "replace").count("\ufffd")
    return "binary: full of control characters" if controls > 0.05 * len(solid) + 2 else None
