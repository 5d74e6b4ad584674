"""What Loki's interface answers to a query for log lines, as these lines, in the order of their times.

In: `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"pod":"p"},"values":[["17…","text"]]}]}}`,
which `curl …/loki/api/v1/query_range` and Grafana save. Out: `2026-11-20T17:03:28.123456+00:00 [pod/p/c] text`, a line
each; the streams are woven by time, as a query for several pods gives one list a pod.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..lines.lazy_pattern import lazy

if TYPE_CHECKING:
    from .streams import Stream

MAX_BYTES = 16 << 20  # Loki gives 5,000 lines at most, unless it is told to
ANSWER = lazy(rb'\s{0,64}\{\s{0,64}"status"\s{0,9}:\s{0,9}"success"\s{0,9},\s{0,64}"data"\s{0,9}:\s{0,64}\{[^\[]{0,2000}'
              rb'"result"\s{0,9}:\s{0,9}\[\s{0,64}\{\s{0,64}"(?:stream|values)"')  # fmt: skip


def lines_of_answer(stream: Stream) -> Stream:
    """Gives the stream of the lines; of what is cut off or no answer after all the text as it is."""
    data = b""
    while len(data) < MAX_BYTES and (part := stream.read(MAX_BYTES - len(data))):
        data += part
    try:
        streams = json.loads(data)["data"]["result"]
        entries = sorted(entry for number, each in enumerate(streams) for entry in _entries(number, each))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, RecursionError):
        return io.BytesIO(data)
    return io.BytesIO("".join(f"{line}\n" for *_, line in entries).encode("utf-8", "replace"))


def _entries(number: int, answered: dict[str, Any]) -> Iterator[tuple[int, int, int, str]]:
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


def _who(labels: dict[str, Any]) -> str:
    pod = labels.get("pod") or labels.get("pod_name") or labels.get("instance")
    return f"[pod/{pod}/{labels.get('container') or 'main'}] " if pod else ""
