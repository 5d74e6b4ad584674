"""One JSON line of a log collector as the text that was logged, with who and when kept as a prefix people know.

In: a line that begins with `{`. Out: its text, or None when it is not a log line (metrics, a dict that was printed).

    docker       {"log":"text\\n","stream":"stderr","time":"2026-…Z"}            2026-…Z stderr F text
    fluent-bit   {"log":"text","kubernetes":{"pod_name":"p",…},"time":"2026-…Z"}  2026-…Z [pod/p/c] text
    stern        {"message":"text","podName":"p","containerName":"c"}            [pod/p/c] text
    journald     {"MESSAGE":"text","_HOSTNAME":"h","_PID":"7",…}                 2026-…+00:00 h python[7]: text
    Ray events   {"message":"text","host_name":"h","pid":"7","label":"L",…}      2026-…+00:00 h GCS[7]: text [L]
    loggers      {"ts":"2026-…Z","level":"error","msg":"text","exc_info":"…"}    2026-…Z ERROR text
    torchelastic {"message":{"message":"…","extraInfo":{"py_callstack":"text","timestamp":"17…"}}}  2026-…+00:00 text
    Google Cloud {"textPayload":"text","resource":{"labels":{"pod_name":"p"}}}     [pod/p/main] text
    HyperPod     {"ts":"2026-…Z","details":{"message":"text"},"HealthMonitoringAgentDetectionEvent":"…"}  2026-…Z text
    exports      {"_source":{"message":"text","@timestamp":"2026-…Z"}}            2026-…Z text
    of a rank    {"ts":"2026-…Z","level":"error","msg":"text","rank":3}          2026-…Z ERROR [rank3]: text
    loguru       {"text":"… - text\\n","record":{"message":"text","extra":{…},…}}  2026-…+00:00 ERROR [rank3]: text
    of a step    {"time":"2026-…Z","rank":3,"step":90,"loss":2.1}                2026-…Z [rank3]: step 90 loss 2.1
"""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timezone
from typing import Any, NamedTuple

from ..lines.record import record
from .listed_exceptions import printed

MAX_JSON_BYTES = 1 << 20  # a longer line is cut into pieces before it comes here, and no piece is JSON

_TEXT_KEYS = ("log", "message", "MESSAGE", "msg", "line", "text", "LogMessage", "_raw", "event")
_HAS_TEXT = re.compile(rb'"(?:log|message|MESSAGE|msg|line|text|textPayload|LogMessage|_raw|event)"')
_STEP, _LOSS = rb'"(?:global_)?step": {0,2}\d', rb'"loss": {0,2}-?[\dN]'
_IS_STEP = re.compile(rb"%b[^\n]{0,400}%b|%b[^\n]{0,400}%b" % (_STEP, _LOSS, _LOSS, _STEP))
_STEP_KEYS = ("step", "global_step", "iteration", "iter", "it", "update", "num_updates", "batch")
_MOMENT = re.compile(r"[^\d\n]{1,60}$")  # words that stand beside numbers, `update`, `train metrics`, and hold none
_TIME_KEYS = ("time", "@timestamp", "timestamp", "ts", "asctime", "_time", "date", "TimeGenerated")
_ENVELOPES = ("_source", "content", "result")  # Elasticsearch, Datadog, Splunk: the record, in what their export adds
_LEVEL_KEYS = ("level", "levelname", "severity", "lvl")
_HOST_KEYS = ("host_name", "source_hostname", "hostname", "hostName")
_RANK_KEYS = ("rank", "global_rank", "RANK")
_MAX_RANK = 1_000_000
_MORE = ("extra", "context", "fields", "attributes", "labels", "bound")  # where loggers put what the program bound to them
_DETAIL_KEYS = ("exc_info", "exc", "stacktrace", "stack_trace", "stack", "exception", "traceback", "error", "err")


@record
class Written:
    """The text of a JSON log line; `is_partial` when the line goes on in the next one of that stream."""

    text: bytes
    is_partial: bool
    stream: bytes


class _Speaker(NamedTuple):
    pod: str
    container: str


def undress_json(line: bytes) -> Written | None:
    """Gives the text a JSON log line carries; None when it carries none."""
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
    record = _of_loguru(_of_hyperpod(_of_google(record)))
    if "MESSAGE" in record:
        return _journald(record)
    if (elastic := _elastic(record)) is not None:
        return elastic
    key = next((key for key in _TEXT_KEYS if isinstance(record.get(key), str)), None)
    return _of_step(record) if key is None else _written(record, key)


def _of_step(record: dict[str, Any]) -> Written | None:
    """What a trainer logs of a step without any words, as the words that others log; its other numbers are left out."""
    when, loss = _rfc3339(_first_text(record, _TIME_KEYS)), record.get("loss")
    step = record.get("step", record.get("global_step"))
    if not when or not isinstance(step, int) or not isinstance(loss, int | float):
        return None
    return Written(_one_line(f"{when} {_rank(record)}", f"step {step} loss {loss}"), False, b"")


_LOGFMT_FIELD = re.compile(
    r"""([A-Za-z_][\w.-]{0,60})=(?:"((?:[^"\\]|\\.){0,65536})"|'((?:[^'\\]|\\.){0,65536})'|(\S{0,400}))(?: |$)"""
)


def undress_logfmt(line: bytes) -> bytes | None:
    """Gives the text of a `time="2026-…" level=error msg="…"` line, its fields that tell no time or level behind it.

    structlog calls it `event` and quotes as Python does: `event='cannot parse' level='error' rank=2`.
    """
    text = line.decode("utf-8", "replace").rstrip("\r")
    fields: dict[str, str] = {}
    position = 0
    while (found := _LOGFMT_FIELD.match(text, position)) is not None:
        quoted = found[2] if found[2] is not None else found[3]
        fields.setdefault(found[1], _unescaped(quoted) if quoted is not None else found[4])
        position = found.end()
    said_in = "msg" if "msg" in fields else "event"
    if position < len(text) or said_in not in fields:
        return None
    when = _rfc3339(_first_text(fields, _TIME_KEYS))
    if not (when or said_in == "event") or not _first_text(fields, _LEVEL_KEYS):
        return None
    known = {said_in, *_TIME_KEYS, *_LEVEL_KEYS, *_RANK_KEYS}
    rest = "".join(f' {key}="{value}"' for key, value in fields.items() if key not in known)
    first, end, more = fields[said_in].partition("\n")
    said = f"{first}{rest if not end else ''}{end}{more}"
    return _one_line(f"{when}{' ' if when else ''}{_level(fields, said)}{_rank(fields)}", said)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _of_google(record: dict[str, Any]) -> dict[str, Any]:
    """An entry of Google Cloud's log as the record of a container's line; any other record as it is."""
    payload, resource = record.get("jsonPayload"), record.get("resource")
    text = payload.get("message") if isinstance(payload, dict) else record.get("textPayload")
    if not isinstance(text, str):
        return record
    labels = resource.get("labels") if isinstance(resource, dict) else None
    kept: dict[str, Any] = {key: record[key] for key in ("timestamp", "severity") if key in record}
    return {"message": text.rstrip("\n"), "labels": labels, **kept}


def _of_hyperpod(record: dict[str, Any]) -> dict[str, Any]:
    """What the health agent of SageMaker HyperPod tells, as the kernel's line that it quotes; any other record as it is."""
    details = record.get("details: ", record.get("details"))
    text = details.get("message") if isinstance(details, dict) and "HealthMonitoringAgentDetectionEvent" in record else None
    if not isinstance(text, str):
        return record
    quoted = text.partition(', message: "')[2].rstrip('"')
    return {"message": quoted or text, "ts": record.get("ts")}


def _of_loguru(record: dict[str, Any]) -> dict[str, Any]:
    """What loguru serializes, as a record of its parts; what it formatted ends with the traceback."""
    own, text = record.get("record"), record.get("text")
    if not isinstance(own, dict) or not isinstance(text, str) or not isinstance(message := own.get("message"), str):
        return record
    level, time = own.get("level"), own.get("time")
    stamp = time.get("timestamp") if isinstance(time, dict) else None
    return {
        "message": message + text.rpartition(message)[2].rstrip("\n"),
        "level": level.get("name") if isinstance(level, dict) else None,
        "ts": f"{stamp:.6f}" if isinstance(stamp, (int, float)) else None,
        "extra": own.get("extra"),
    }


def _written(record: dict[str, Any], key: str) -> Written | None:
    text: str = record[key]
    speaker = _speaker(record)
    when = _rfc3339(_first_text(record, _TIME_KEYS))
    stream = record.get("stream")
    has_stream = stream in ("stdout", "stderr")
    if speaker is None and not when and not has_stream and not _first_text(record, _LEVEL_KEYS):
        return None  # a sample of a data set: {"text": "Traceback …"}
    prefix = f"{when} " if when else ""
    if has_stream and when:
        prefix += f"{stream} F "
    if speaker is not None:
        prefix += f"[pod/{speaker.pod}/{speaker.container}] "
    host = _first_text(record, _HOST_KEYS)
    if key != "log" and host and speaker is None:
        prefix += f"{host}{_ident(record)}: {_rank(record)}"  # without the level, which is no part of this form
    elif key != "log":  # nor of a pod's: `[pod/p/c] ERROR   File "train.py"` is no frame
        prefix += _rank(record) if speaker is not None else _level(record, text) + _rank(record)
    # Docker ends `log` with a line feed unless the line was cut at 16 KiB; fluent-bit drops it.
    is_partial = key == "log" and has_stream and "kubernetes" not in record and not text.endswith("\n")
    label = record.get("label")  # Ray's events say what happened there only: RAY_NODE_REMOVED
    if key == "message" and isinstance(label, str) and label:
        first, end, rest = text.partition("\n")
        text = f"{first.rstrip()} [{label}]{end}{rest}"
    parts = [_with_step(record, text), *(_detail(record) if key != "log" else ())]
    return Written(_one_line(prefix, "\n".join(parts)), is_partial, str(stream).encode())


def _with_step(record: dict[str, Any], text: str) -> str:
    """The words of a step that was logged with its numbers as fields: `{"event": "update", "step": 3, "loss": 0.41}`."""
    step = next((record[key] for key in _STEP_KEYS if type(record.get(key)) is int), None)
    loss, level = record.get("loss"), _first_text(record, _LEVEL_KEYS).lower() or "info"
    is_number = isinstance(loss, int | float) and math.isfinite(loss)
    is_moment = step is not None and is_number and level in ("info", "debug") and _MOMENT.match(text) is not None
    return f"step {step} loss {loss} ({text})" if is_moment else text


def _speaker(record: dict[str, Any]) -> _Speaker | None:
    kubernetes = record.get("kubernetes")
    if isinstance(kubernetes, dict):
        pod = _first_text(kubernetes, ("pod_name", "pod.name", "podName"))
        if not pod and isinstance(kubernetes.get("pod"), dict):  # filebeat
            pod = _first_text(kubernetes["pod"], ("name",))
        container = _first_text(kubernetes, ("container_name", "containerName"))
        if not container and isinstance(kubernetes.get("container"), dict):
            container = _first_text(kubernetes["container"], ("name",))
    else:
        labels = record.get("labels")
        where = labels if isinstance(labels, dict) else record  # logcli
        pod = _first_text(where, ("podName", "pod_name", "pod", "PodName"))
        container = _first_text(where, ("containerName", "container_name", "container", "ContainerName"))
    return _Speaker(pod, container or "main") if pod else None


def _journald(record: dict[str, Any]) -> Written | None:
    message = record["MESSAGE"]
    if isinstance(message, list):  # not UTF-8, or with control characters: an array of byte values
        values = [value for value in message if isinstance(value, int) and 0 <= value < 256]
        message = bytes(values).decode("utf-8", "replace")
    if not isinstance(message, str):
        return None
    host = _first_text(record, ("_HOSTNAME", "HOSTNAME")) or "localhost"
    stamp = _rfc3339(_first_text(record, ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP")))
    return Written(_one_line(f"{stamp}{' ' if stamp else ''}{host}{_ident(record)}: ", message), False, b"")


def _elastic(record: dict[str, Any]) -> Written | None:
    """Torchelastic's `error.json`: the traceback of the process that failed, else its message (before 1.9 not nested)."""
    inner = record["message"] if isinstance(record.get("message"), dict) else record
    extra, message = inner.get("extraInfo"), inner.get("message")
    if not isinstance(extra, dict) or not isinstance(message, str):
        return None
    callstack = extra.get("py_callstack")
    when = _rfc3339(_first_text(extra, ("timestamp",)))
    return Written(_one_line(f"{when} " if when else "", callstack if isinstance(callstack, str) else message), False, b"")


def _ident(record: dict[str, Any]) -> str:
    """The program behind a host, as syslog writes it; without a process it would not be known from what was said."""
    ident = _first_text(record, ("SYSLOG_IDENTIFIER", "_COMM", "source_type", "sourceType", "logger", "name"))
    pid = _first_text(record, ("_PID", "SYSLOG_PID", "pid", "source_pid"))
    if pid:
        return f" {ident or 'unknown'}[{pid}]"
    return " kernel" if ident == "kernel" else ""


def _rfc3339(when: str) -> str:
    """Gives a count since 1970 as a date, its unit told by its length (s, ms, us, ns); any other text as it is."""
    whole, _, fraction = when.partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) in (10, 13, 16, 19)):
        return when
    microseconds = int((whole + fraction if len(whole) == 10 else whole).ljust(16, "0")[:16])
    try:
        stamp = datetime.fromtimestamp(microseconds // 1_000_000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return when
    return stamp.replace(microsecond=microseconds % 1_000_000).isoformat(timespec="microseconds")


def _level(record: dict[str, Any], text: str) -> str:
    """The level, unless it would hide what the text begins with: a launcher's prefix, the blanks of a frame."""
    level = _first_text(record, _LEVEL_KEYS)
    return f"{level.upper()} " if level.isalpha() and not text.startswith(("(", "[", " ")) else ""


def _rank(record: dict[str, Any]) -> str:
    rank = _first_text(record, _RANK_KEYS)
    more = (record[key] for key in _MORE if isinstance(record.get(key), dict))
    rank = rank or next((told for each in more if (told := _first_text(each, _RANK_KEYS))), "")
    return f"[rank{int(rank)}]: " if rank.isascii() and rank.isdigit() and int(rank) < _MAX_RANK else ""


def _detail(record: dict[str, Any]) -> list[str]:
    values = (record.get(key) for key in _DETAIL_KEYS)
    return [text for value in values if (text := value if isinstance(value, str) else printed(value))]


def _first_text(record: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value[:256].replace("\n", " ")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
    return ""


def _one_line(prefix: str, text: str) -> bytes:
    """Parts the lines of a message by carriage returns and says before each who speaks."""
    lines = text.rstrip("\r\n").replace("\r\n", "\n").split("\n")
    return "\r".join([prefix + line for line in lines]).replace("\x00", "").encode("utf-8", "replace")
