"""One line of a log collector or logger as the text that was logged, with who and when kept as a prefix people know.

In: a line of JSON, or of `key=value`. Out: its text, or None when it is no log line (metrics, a dict that was printed).

    docker       {"log":"text\\n","stream":"stderr","time":"2026-…Z"}            2026-…Z stderr F text
    fluent-bit   {"log":"text","kubernetes":{"pod_name":"p",…},"time":"2026-…Z"}  2026-…Z [pod/p/c] text
    stern        {"message":"text","podName":"p","containerName":"c"}            [pod/p/c] text
    journald     {"MESSAGE":"text","_HOSTNAME":"h","_PID":"7",…}                 2026-…+00:00 h python[7]: text
    Ray events   {"message":"text","host_name":"h","pid":"7","label":"L",…}      2026-…+00:00 h GCS[7]: text [L]
    loggers      {"ts":"2026-…Z","level":"error","msg":"text","rank":3,"exc_info":"…"}  2026-…Z ERROR [rank3]: text
    torchelastic {"message":{"message":"…","extraInfo":{"py_callstack":"text","timestamp":"17…"}}}  2026-…+00:00 text
    Google Cloud {"textPayload":"text","resource":{"labels":{"pod_name":"p"}}}     [pod/p/main] text
    HyperPod     {"ts":"2026-…Z","details":{"message":"text"},"HealthMonitoringAgentDetectionEvent":"…"}  2026-…Z text
    exports      {"_source":{"message":"text","@timestamp":"2026-…Z"}}            2026-…Z text
    loguru       {"text":"… - text\\n","record":{"message":"text","extra":{…},…}}  2026-…+00:00 ERROR [rank3]: text
    of a step    {"time":"2026-…Z","rank":3,"step":90,"loss":2.1}                2026-…Z [rank3]: step 90 loss 2.1
    logfmt       time="2026-…" level=error msg="text" err="x"                    2026-… ERROR text err="x"

Which key holds what is told by `collectors.yaml`.
"""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from ..lines.cache import patterns, tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record as record_type

MAX_JSON_BYTES = 1 << 20  # a longer line is cut into pieces before it comes here, and no piece is JSON
MAX_RANK = 1_000_000
MAX_DEPTH = 4  # of dicts in one another
MAX_LINKS, MAX_FRAMES = 20, 200  # of a chain of exceptions, and of one of them

*_IN_JSON, _MOMENTS, _LOGFMT = patterns(__file__, "collector_json")
_HAS_TEXT, _IS_STEP = (lazy(row.encode()) for row in _IN_JSON)
_MOMENT, _LOGFMT_FIELD = lazy(_MOMENTS), lazy(_LOGFMT)
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"

ESCAPED = {"n": "\n", "t": "\t"}
Record = dict[str, Any]  # by key; of dicts in it by their keys with dots between them


@record_type
class Written:
    """The text of a log line; `is_partial` when the line goes on in the next one of that stream."""

    text: bytes
    is_partial: bool = False
    stream: bytes = b""


def undress_json(line: bytes) -> Written | None:
    """Yield the text a JSON log line carries; None when it carries none."""
    if len(line) > MAX_JSON_BYTES or not line.rstrip().endswith(b"}"):
        return None
    if _HAS_TEXT.search(line) is None and _IS_STEP.search(line) is None:
        return None
    try:
        loaded = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, dict):
        return None
    record = _flat(next((loaded[key] for key in collectors()["envelopes"] if isinstance(loaded.get(key), dict)), loaded))
    key = next((key for key in _keys(record, "text") if isinstance(record[key], str)), None)
    return _written(record, key or "")


def undress_logfmt(line: bytes) -> bytes | None:
    """Yield the text of a `time="2026-…" level=error msg="…"` line, its fields that tell no time or level behind it.
    structlog calls it `event` and quotes as Python does: `event='cannot parse' level='error' rank=2`."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    fields: dict[str, str] = {}
    position = 0
    while (found := _LOGFMT_FIELD.match(text, position)) is not None:
        quoted = found[2] if found[2] is not None else found[3]
        plain = found[4] if quoted is None else re.sub(r"\\(.)", lambda x: ESCAPED.get(x[1], x[1]), quoted)
        fields.setdefault(found[1], plain)
        position = found.end()
    said_in = "msg" if "msg" in fields else "event"
    when = _when(fields)
    if position < len(text) or said_in not in fields or not (when or said_in == "event") or not _first(fields, "level"):
        return None
    known = {said_in, *_keys(fields, "time"), *_keys(fields, "level"), *_keys(fields, "rank")}
    rest = "".join(f' {key}="{value}"' for key, value in fields.items() if key not in known)
    first, end, more = fields[said_in].partition("\n")
    said = f"{first}{rest if not end else ''}{end}{more}"
    return _one_line(f"{when}{_level(fields, said)}{_rank(fields)}", said)


# --- what a record holds ------------------------------------------------------------------------------------------


@cache
def collectors() -> Record:
    """Yield the rows of `collectors.yaml`."""
    return tables(Path(__file__).with_name("collectors.yaml"))


@cache
def _order(role: str) -> dict[str, int]:
    """The keys that may hold it, each with its place among them."""
    row = collectors()["roles"][role]
    keys = [f"{place}.{key}".lstrip(".") for place in row.get("within", [""]) for key in row["keys"]]
    return {key: n for n, key in enumerate(keys)}


def _flat(record: Record, front: str = "", depth: int = MAX_DEPTH) -> Record:
    flat: Record = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{front}{key}.", depth - 1) if depth else {}
        else:
            flat[front + key] = value
    if not front and isinstance(bytes_of := flat.get("MESSAGE"), list):  # journald: not UTF-8, or with control characters
        values = [value for value in bytes_of if isinstance(value, int) and 0 <= value < 256]
        flat["MESSAGE"] = bytes(values).decode("utf-8", "replace")
    return flat


def _keys(record: Record, role: str) -> list[str]:
    """The keys of the record that play a role, the best first."""
    order = _order(role)
    return sorted(order.keys() & record.keys(), key=order.__getitem__)


def _first(record: Record, role: str) -> str:
    for key in _keys(record, role):
        value = record[key]
        if isinstance(value, str) and value:
            return value[:256].replace("\n", " ")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def _written(record: Record, key: str) -> Written | None:
    pod, when, stream, host = _first(record, "pod"), _when(record), record.get("stream"), _first(record, "host")
    is_journal = key == "MESSAGE"
    has_stream = stream in ("stdout", "stderr")
    said = _with_step(record, _text(record, key) if key else "")
    if not (said or key) or not (when or (key and (pod or has_stream or is_journal or _first(record, "level")))):
        return None  # metrics, or a sample of a data set: {"text": "Traceback …"}
    host = host or ("localhost" if is_journal else "")
    prefix = f"{when}{stream} F " if has_stream and when else when
    prefix += f"[pod/{pod}/{_first(record, 'container') or 'main'}] " if pod else ""  # as `kubectl logs --prefix`
    if key != "log" and host and not pod:
        prefix += f"{host}{_ident(record)}: {_rank(record)}"  # without the level, which is no part of this form
    elif key != "log":  # nor of a pod's: `[pod/p/c] ERROR   File "train.py"` is no frame
        prefix += _rank(record) if pod else _level(record, record[key] if key else "") + _rank(record)
    # Docker ends `log` with a line feed unless the line was cut at 16 KiB; fluent-bit drops it.
    is_partial = key == "log" and has_stream and not pod and not record[key].endswith("\n")
    details = [printed(record[name]) for name in _keys(record, "detail")] if key != "log" else []
    return Written(_one_line(prefix, "\n".join([said, *filter(None, details)])), is_partial, str(stream).encode())


def _text(record: Record, key: str) -> str:
    """What was said, with what its maker put elsewhere, and without what it put around it."""
    text: str = record[key]
    label, whole = record.get("label"), record.get("text")
    if key == "message" and isinstance(label, str) and label:  # Ray's events say what happened there only: RAY_NODE_REMOVED
        first, end, rest = text.partition("\n")
        return f"{first.rstrip()} [{label}]{end}{rest}"
    if key == "record.message" and isinstance(whole, str):  # what loguru formatted ends with the traceback
        return text + whole.rpartition(text)[2].rstrip("\n")
    if key.startswith("details"):  # HyperPod's health agent
        return text.partition(', message: "')[2].rstrip('"') or text
    return text


def _with_step(record: Record, text: str) -> str:
    """The words of a step that was logged with its numbers as fields: `{"event": "update", "step": 3, "loss": 0.41}`; its
    other numbers are left out."""
    step = next((record[key] for key in _keys(record, "step") if type(record[key]) is int), None)
    loss, level = record.get("loss"), _first(record, "level").lower() or "info"
    is_number = isinstance(loss, int | float) and (math.isfinite(loss) or not text)
    is_moment = level in ("info", "debug") and _MOMENT.match(text) is not None
    if step is None or not is_number or not (is_moment or not text):
        return text
    return f"step {step} loss {loss} ({text})" if text else f"step {step} loss {loss}"


def _ident(record: Record) -> str:
    """The program behind a host, as syslog writes it; without a process it would not be known from what was said."""
    ident, pid = _first(record, "program"), _first(record, "pid")
    return f" {ident or 'unknown'}[{pid}]" if pid else " kernel" if ident == "kernel" else ""


def _when(record: Record) -> str:
    """The time and a blank; a count since 1970 as a date, its unit told by its length (s, ms, us, ns)."""
    when = _first(record, "time")
    whole, _, fraction = when.partition(".")
    if whole.isascii() and whole.isdigit() and len(whole) in (10, 13, 16, 19):
        when = printed_time(int((whole + fraction if len(whole) == 10 else whole).ljust(16, "0")[:16]))
    return f"{when} " if when else ""


def printed_time(microseconds: int) -> str:
    """Yield a count of microseconds since 1970 as a date."""
    stamp = datetime.fromtimestamp(microseconds // 1_000_000, timezone.utc)
    return stamp.replace(microsecond=microseconds % 1_000_000).isoformat(timespec="microseconds")


def _level(record: Record, text: str) -> str:
    """The level, unless it would hide what the text begins with: a launcher's prefix, the blanks of a frame."""
    level = _first(record, "level")
    return f"{level.upper()} " if level.isalpha() and not text.startswith(("(", "[", " ")) else ""


def _rank(record: Record) -> str:
    rank = _first(record, "rank")
    return f"[rank{int(rank)}]: " if rank.isascii() and rank.isdigit() and int(rank) < MAX_RANK else ""


def printed(value: object) -> str:
    """Yield an exception as Python prints it: a text as it is, and what structlog's `dict_tracebacks` wrote as data.

    A list has what was raised last at its head and behind it what it was raised from, each as
    `{"exc_type": "OSError", "exc_value": "…", "is_cause": false, "frames": [{"filename": "…", "lineno": 7, "name": "f"}]}`
    """
    if isinstance(value, str):
        return value
    links = value[:MAX_LINKS] if isinstance(value, list) else []
    told = (isinstance(x, dict) and isinstance(x.get("exc_type"), str) and isinstance(x.get("frames"), list) for x in links)
    if not all(told):
        return ""
    parts = [_raised(links[-1])] if links else []
    for inner, outer in zip(links[:0:-1], links[-2::-1], strict=True):
        parts += [_CAUSE if inner.get("is_cause") else _CONTEXT, _raised(outer)]
    return "\n\n".join(parts)


def _raised(link: Record) -> str:
    frames = [f for f in link["frames"][-MAX_FRAMES:] if isinstance(f, dict)]
    lines = [f'  File "{f.get("filename")}", line {f.get("lineno")}, in {f.get("name")}' for f in frames]
    said = link.get("exc_value")
    raised = f"{link['exc_type']}: {said}" if isinstance(said, str) and said else link["exc_type"]
    return "\n".join(["Traceback (most recent call last):", *lines, raised])


def _one_line(prefix: str, text: str) -> bytes:
    """Parts the lines of a message by carriage returns and says before each who speaks."""
    lines = text.rstrip("\r\n").replace("\r\n", "\n").split("\n")
    return "\r".join([prefix + line for line in lines]).replace("\x00", "").encode("utf-8", "replace")
