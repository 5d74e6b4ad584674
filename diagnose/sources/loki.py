"""What Loki's interface answers to a query for log lines, as these lines, in the order of their times.

In: `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"pod":"p"},"values":[["17…","text"]]}]}}`,
which `curl …/loki/api/v1/query_range` and Grafana save. Out: `2026-11-20T17:03:28.123456+00:00 [pod/p/c] text`, a line
each; the streams are woven by time, as a query for several pods gives one list a pod.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..lines.lazy_pattern import lazy

if TYPE_CHECKING:
    from .streams import Stream

MAX_BYTES = 16 << 20  # Loki gives 5,000 lines at most, unless it is told to
MAX_LINES = 100_000  # twenty times as many; a line takes 16 us and a third of a kilobyte
MAX_LINE_CHARS = 256 << 10  # what Loki takes of a line, unless it is told to
_BEGINS = rb'\s{0,64}\{\s{0,64}"status"\s{0,9}:\s{0,9}'
ANSWER = lazy(
    _BEGINS + rb'(?:"error"\s{0,9},\s{0,64}"errorType"|"success"\s{0,9},\s{0,64}"data"\s{0,9}:\s{0,64}\{(?:'
    rb'\s{0,64}"resultType"\s{0,9}:\s{0,9}"streams"|'
    rb'[^\[]{0,2000}"result"\s{0,9}:\s{0,9}\[\s{0,64}(?:\]|\{\s{0,64}"(?:stream|values)")))'
)
# Of an answer without an end: where a stream begins, what it is called, and a whole line. Quotes in lines are escaped.
_PLAIN = rf'[^"\\]{{0,{MAX_LINE_CHARS}}}'
_STRING = rf'"{_PLAIN}(?:\\.{_PLAIN}){{0,{MAX_LINE_CHARS}}}"'
_PIECE = lazy(
    rf'(?P<labels>"stream"\s{{0,9}}:\s{{0,9}}\{{[^{{}}]{{0,9999}}\}})|(?P<begin>\{{\s{{0,64}}"values")|'
    rf'\[\s{{0,64}}"(?P<time>\d{{1,19}})"\s{{0,9}},\s{{0,64}}(?P<line>{_STRING})'
)
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, RecursionError)


Entry = tuple[int, int, int, str]  # time in ns, number of the stream, place in it, line


def lines_of_answer(stream: Stream, damage: list[str]) -> Stream:
    """Yield the stream of the lines; of an answer that is cut off or broken the whole ones, which `damage` then says."""
    data = b""
    while len(data) <= MAX_BYTES and (part := stream.read(MAX_BYTES + 1 - len(data))):
        data += part
    entries = None
    is_large = len(data) > MAX_BYTES or data.count(b'["') > MAX_LINES
    if not is_large:
        with suppress(*_UNREADABLE):
            entries = _answered(json.loads(data), damage)
    if entries is None:
        entries = sorted(_whole_entries(data.decode("utf-8", "replace")))
        what = "larger than is read" if is_large else "cut off or broken"
        damage.append(f"an answer of Loki that is {what}: {len(entries) or 'no'} lines of it could be read; ask it again")
    return io.BytesIO("".join(f"{line}\n" for *_, line in entries).encode("utf-8", "replace"))


def _answered(answer: dict[str, Any], damage: list[str]) -> list[Entry]:
    """The lines of a whole answer, oldest first; an answer that says why there are none has this reason in `damage`."""
    if answer["status"] != "success":
        damage.append(f"Loki answered with an error, not with lines ({str(answer.get('error'))[:200]})")
        return []
    return sorted(entry for number, each in enumerate(answer["data"]["result"]) for entry in _entries(number, each))


def _entries(number: int, answered: dict[str, Any]) -> Iterator[Entry]:
    """Each line with what it is sorted by: of one moment, a stream's lines keep the order in which they were sent."""
    values = [(int(value[0]), str(value[1])) for value in answered["values"]]
    if values and values[0][0] > values[-1][0]:
        values.reverse()  # newest first, as Loki answers by itself
    who = _who(answered.get("stream") or {})
    for place, (time_ns, text) in enumerate(values):
        stamp = datetime.fromtimestamp(time_ns // 1_000_000_000, timezone.utc)
        when = stamp.replace(microsecond=time_ns // 1000 % 1_000_000).isoformat(timespec="microseconds")
        for line in text.rstrip("\r\n").split("\n"):
            yield time_ns, number, place, f"{when} {who}{line}"


def _whole_entries(text: str) -> Iterator[Entry]:
    """The first lines, each under the labels before it; a piece that is broken spoils no other."""
    streams: list[dict[str, Any]] = []
    for piece in islice(_PIECE.finditer(text), MAX_LINES):
        with suppress(*_UNREADABLE):
            if piece["time"] is None:
                labels = json.loads(f"{{{piece['labels']}}}") if piece["labels"] else {}
                streams.append({**labels, "values": []})
            elif streams:
                streams[-1]["values"].append([piece["time"], json.loads(piece["line"])])
    for number, each in enumerate(streams):
        with suppress(*_UNREADABLE):
            yield from _entries(number, each)


def _who(labels: dict[str, Any]) -> str:
    pod = labels.get("pod") or labels.get("pod_name") or labels.get("instance")
    return f"[pod/{pod}/{labels.get('container') or 'main'}] " if pod else ""
