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
"""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timezone
from typing import Any

from ..lines.lazy_pattern import lazy
from ..lines.record import record as record_type

MAX_JSON_BYTES = 1 << 20  # a longer line is cut into pieces before it comes here, and no piece is JSON
MAX_RANK = 1_000_000
MAX_LINKS, MAX_FRAMES = 20, 200  # of a chain of exceptions, and of one of them

_TEXT = ("log", "message", "MESSAGE", "msg", "line", "text", "LogMessage", "_raw", "event")
_HAS_TEXT = lazy(rb'"(?:log|message|MESSAGE|msg|line|text|textPayload|LogMessage|_raw|event)"')
_STEP_FIELD, _LOSS_FIELD = rb'"(?:global_)?step": {0,2}\d', rb'"loss": {0,2}-?[\dN]'
_IS_STEP = lazy(rb"%b[^\n]{0,400}%b|%b[^\n]{0,400}%b" % (_STEP_FIELD, _LOSS_FIELD, _LOSS_FIELD, _STEP_FIELD))
_STEP = ("step", "global_step", "iteration", "iter", "it", "update", "num_updates", "batch")
_MOMENT = lazy(r"[^\d\n]{1,60}$")  # words that stand beside numbers, `update`, `train metrics`, and hold none
_TIME = ("time", "@timestamp", "timestamp", "ts", "asctime", "_time", "date", "TimeGenerated")
_ENVELOPES = ("_source", "content", "result")  # Elasticsearch, Datadog, Splunk: the record, in what their export adds
_LEVEL = ("level", "levelname", "severity", "lvl")
_HOST = ("host_name", "source_hostname", "hostname", "hostName")
_RANK = ("rank", "global_rank", "RANK")
_MORE = ("extra", "context", "fields", "attributes", "labels", "bound")  # where loggers put what the program bound to them
_DETAIL = ("exc_info", "exc", "stacktrace", "stack_trace", "stack", "exception", "traceback", "error", "err")
_POD = ("podName", "pod_name", "pod", "PodName", "pod.name")
_CONTAINER = ("containerName", "container_name", "container", "ContainerName")
_IDENT = ("SYSLOG_IDENTIFIER", "_COMM", "source_type", "sourceType", "logger", "name")
_PID = ("_PID", "SYSLOG_PID", "pid", "source_pid")
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"
_LOGFMT_FIELD = lazy(
    r"""([A-Za-z_][\w.-]{0,60})=(?:"((?:[^"\\]|\\.){0,65536})"|'((?:[^'\\]|\\.){0,65536})'|(\S{0,400}))(?: |$)"""
)

Record = dict[str, Any]


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
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    record = next((record[key] for key in _ENVELOPES if isinstance(record.get(key), dict)), record)
    if "MESSAGE" in record:
        return _journald(record)
    record = _of_agents(record)
    if (elastic := _elastic(record)) is not None:
        return elastic
    key = next((key for key in _TEXT if isinstance(record.get(key), str)), None)
    return _of_step(record) if key is None else _written(record, key)


def undress_logfmt(line: bytes) -> bytes | None:
    """Yield the text of a `time="2026-…" level=error msg="…"` line, its fields that tell no time or level behind it.

    structlog calls it `event` and quotes as Python does: `event='cannot parse' level='error' rank=2`.
    """
    text = line.decode("utf-8", "replace").rstrip("\r")
    fields: dict[str, str] = {}
    position = 0
    while (found := _LOGFMT_FIELD.match(text, position)) is not None:
        quoted = found[2] if found[2] is not None else found[3]
        fields.setdefault(found[1], found[4] if quoted is None else re.sub(r"\\(.)", _escaped, quoted))
        position = found.end()
    said_in = "msg" if "msg" in fields else "event"
    when = _when(fields, _TIME)
    if position < len(text) or said_in not in fields or not (when or said_in == "event") or not _first(fields, _LEVEL):
        return None
    known = {said_in, *_TIME, *_LEVEL, *_RANK}
    rest = "".join(f' {key}="{value}"' for key, value in fields.items() if key not in known)
    first, end, more = fields[said_in].partition("\n")
    said = f"{first}{rest if not end else ''}{end}{more}"
    return _one_line(f"{when}{_level(fields, said)}{_rank(fields)}", said)


def _escaped(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(found[1], found[1])


# --- the records of one maker -----------------------------------------------------------------------------------


def _of_agents(record: Record) -> Record:
    """An entry of Google Cloud's log, of HyperPod's health agent, or of loguru as a plain record; any other as it is."""
    payload, resource = record.get("jsonPayload"), record.get("resource")
    details = record.get("details: ", record.get("details"))
    text = payload.get("message") if isinstance(payload, dict) else record.get("textPayload")
    if isinstance(text, str):
        labels = resource.get("labels") if isinstance(resource, dict) else None
        kept: Record = {key: record[key] for key in ("timestamp", "severity") if key in record}
        return {"message": text.rstrip("\n"), "labels": labels, **kept}
    if "HealthMonitoringAgentDetectionEvent" in record and isinstance(details, dict):
        said = str(details.get("message", ""))
        return {"message": said.partition(', message: "')[2].rstrip('"') or said, "ts": record.get("ts")}
    own, whole = record.get("record"), record.get("text")
    message = own.get("message") if isinstance(own, dict) else None
    if not isinstance(own, dict) or not isinstance(whole, str) or not isinstance(message, str):
        return record
    level, time = (x if isinstance(x := own.get(key), dict) else {} for key in ("level", "time"))
    when = f"{x:.6f}" if isinstance(x := time.get("timestamp"), int | float) else None
    message += whole.rpartition(message)[2].rstrip("\n")  # what loguru formatted ends with the traceback
    return {"message": message, "level": level.get("name"), "ts": when, "extra": own.get("extra")}


def _journald(record: Record) -> Written | None:
    message = record["MESSAGE"]
    if isinstance(message, list):  # not UTF-8, or with control characters: an array of byte values
        values = [value for value in message if isinstance(value, int) and 0 <= value < 256]
        message = bytes(values).decode("utf-8", "replace")
    if not isinstance(message, str):
        return None
    host = _first(record, ("_HOSTNAME", "HOSTNAME")) or "localhost"
    when = _when(record, ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP"))
    return Written(_one_line(f"{when}{host}{_ident(record)}: ", message))


def _elastic(record: Record) -> Written | None:
    """Torchelastic's `error.json`: the traceback of the process that failed, else its message (before 1.9 not nested)."""
    inner = record["message"] if isinstance(record.get("message"), dict) else record
    extra, message = inner.get("extraInfo"), inner.get("message")
    if not isinstance(extra, dict) or not isinstance(message, str):
        return None
    callstack = extra.get("py_callstack")
    return Written(_one_line(_when(extra, ("timestamp",)), callstack if isinstance(callstack, str) else message))


def _of_step(record: Record) -> Written | None:
    """What a trainer logs of a step without any words, as the words that others log; its other numbers are left out."""
    when, loss = _when(record, _TIME), record.get("loss")
    step = record.get("step", record.get("global_step"))
    if not when or not isinstance(step, int) or not isinstance(loss, int | float):
        return None
    return Written(_one_line(f"{when}{_rank(record)}", f"step {step} loss {loss}"))


# --- any other record -------------------------------------------------------------------------------------------


def _written(record: Record, key: str) -> Written | None:
    text: str = record[key]
    pod, when, stream, host = _pod(record), _when(record, _TIME), record.get("stream"), _first(record, _HOST)
    has_stream = stream in ("stdout", "stderr")
    if not (pod or when or has_stream or _first(record, _LEVEL)):
        return None  # a sample of a data set: {"text": "Traceback …"}
    prefix = f"{when}{stream} F " if has_stream and when else when
    prefix += pod
    if key != "log" and host and not pod:
        prefix += f"{host}{_ident(record)}: {_rank(record)}"  # without the level, which is no part of this form
    elif key != "log":  # nor of a pod's: `[pod/p/c] ERROR   File "train.py"` is no frame
        prefix += _rank(record) if pod else _level(record, text) + _rank(record)
    # Docker ends `log` with a line feed unless the line was cut at 16 KiB; fluent-bit drops it.
    is_partial = key == "log" and has_stream and "kubernetes" not in record and not text.endswith("\n")
    label = record.get("label")  # Ray's events say what happened there only: RAY_NODE_REMOVED
    if key == "message" and isinstance(label, str) and label:
        first, end, rest = text.partition("\n")
        text = f"{first.rstrip()} [{label}]{end}{rest}"
    details = [printed(record.get(name)) for name in _DETAIL] if key != "log" else []
    said = "\n".join([_with_step(record, text), *filter(None, details)])
    return Written(_one_line(prefix, said), is_partial, str(stream).encode())


def _with_step(record: Record, text: str) -> str:
    """The words of a step that was logged with its numbers as fields: `{"event": "update", "step": 3, "loss": 0.41}`."""
    step = next((record[key] for key in _STEP if type(record.get(key)) is int), None)
    loss, level = record.get("loss"), _first(record, _LEVEL).lower() or "info"
    is_number = isinstance(loss, int | float) and math.isfinite(loss)
    is_moment = step is not None and is_number and level in ("info", "debug") and _MOMENT.match(text) is not None
    return f"step {step} loss {loss} ({text})" if is_moment else text


def _pod(record: Record) -> str:
    """The pod that speaks, as `kubectl logs --prefix` writes it: of fluent-bit, filebeat, logcli, stern."""
    where = next((record[key] for key in ("kubernetes", "labels") if isinstance(record.get(key), dict)), record)
    named = {**where, **{k: where[k].get("name") for k in ("pod", "container") if isinstance(where.get(k), dict)}}
    pod = _first(named, _POD)
    return f"[pod/{pod}/{_first(named, _CONTAINER) or 'main'}] " if pod else ""


def _ident(record: Record) -> str:
    """The program behind a host, as syslog writes it; without a process it would not be known from what was said."""
    ident, pid = _first(record, _IDENT), _first(record, _PID)
    return f" {ident or 'unknown'}[{pid}]" if pid else " kernel" if ident == "kernel" else ""


def _when(record: Record, keys: tuple[str, ...]) -> str:
    """The time and a blank; a count since 1970 as a date, its unit told by its length (s, ms, us, ns)."""
    when = _first(record, keys)
    whole, _, fraction = when.partition(".")
    if whole.isascii() and whole.isdigit() and len(whole) in (10, 13, 16, 19):
        microseconds = int((whole + fraction if len(whole) == 10 else whole).ljust(16, "0")[:16])
        stamp = datetime.fromtimestamp(microseconds // 1_000_000, timezone.utc)
        when = stamp.replace(microsecond=microseconds % 1_000_000).isoformat(timespec="microseconds")
    return f"{when} " if when else ""


def _level(record: Record, text: str) -> str:
    """The level, unless it would hide what the text begins with: a launcher's prefix, the blanks of a frame."""
    level = _first(record, _LEVEL)
    return f"{level.upper()} " if level.isalpha() and not text.startswith(("(", "[", " ")) else ""


def _rank(record: Record) -> str:
    places = [record, *(record[key] for key in _MORE if isinstance(record.get(key), dict))]
    rank = next((told for each in places if (told := _first(each, _RANK))), "")
    return f"[rank{int(rank)}]: " if rank.isascii() and rank.isdigit() and int(rank) < MAX_RANK else ""


def printed(value: object) -> str:
    """Yield an exception as Python prints it: a text as it is, and what structlog's `dict_tracebacks` wrote as data.

    A list has what was raised last at its head and behind it what it was raised from, each as
    `{"exc_type": "OSError", "exc_value": "…", "is_cause": false, "frames": [{"filename": "…", "lineno": 7, "name": "f"}]}`
    """
    if isinstance(value, str):
        return value
    links = value[:MAX_LINKS] if isinstance(value, list) else []
    if not all(map(_is_exception, links)):
        return ""
    parts = [_raised(links[-1])] if links else []
    for inner, outer in zip(links[:0:-1], links[-2::-1], strict=True):
        parts += [_CAUSE if inner.get("is_cause") else _CONTEXT, _raised(outer)]
    return "\n\n".join(parts)


def _is_exception(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("exc_type"), str) and isinstance(value.get("frames"), list)


def _raised(link: Record) -> str:
    frames = [f for f in link["frames"][-MAX_FRAMES:] if isinstance(f, dict)]
    lines = [f'  File "{f.get("filename")}", line {f.get("lineno")}, in {f.get("name")}' for f in frames]
    said = link.get("exc_value")
    raised = f"{link['exc_type']}: {said}" if isinstance(said, str) and said else str(link["exc_type"])
    return "\n".join(["Traceback (most recent call last):", *lines, raised])


def _first(record: Record, keys: tuple[str, ...]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value[:256].replace("\n", " ")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def _one_line(prefix: str, text: str) -> bytes:
    """Parts the lines of a message by carriage returns and says before each who speaks."""
    lines = text.rstrip("\r\n").replace("\r\n", "\n").split("\n")
    return "\r".join([prefix + line for line in lines]).replace("\x00", "").encode("utf-8", "replace")
