"""Loads flight-recorder dumps in a process of its own that can run nothing and not grow, and prints them reduced.

In: requests on stdin (a JSON line of the dump's length and limits, then its bytes). Out: one JSON line per dump. The
parent (`reader.py`) starts it without site packages; it imports the standard library and the reduction, no more.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import pickle  # the C unpickler, below, with every way to reach code refused
import re
import sys
import time
from typing import Any

from .reduction import BadDumpError, reduce_values

if sys.platform != "win32":
    import resource


class _Unpickler(pickle.Unpickler):
    # Builds plain values only: both ways by which a pickle reaches code are refused.

    def find_class(self, module: str, name: str) -> Any:
        raise BadDumpError(f"refused: the pickle asks for {_shown(module)}.{_shown(name)}; nothing of it was run")

    def persistent_load(self, _pid: Any) -> Any:
        raise BadDumpError("refused: the pickle asks for a persistent object; nothing of it was run")


def _shown(text: str) -> str:
    return ascii(str(text)[:60])[1:-1]


def _load(data: bytearray) -> Any:
    """Return the plain values in a dump, pickle or JSON; its bytes are freed before they are built."""
    if not data:
        raise BadDumpError("empty file")
    is_json = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    if not is_json and data[:1] != b"\x80":
        raise BadDumpError("starts neither like a pickle nor like JSON")
    size = len(data)
    try:
        if is_json:
            text = data.decode(json.detect_encoding(data), "surrogatepass")
            data.clear()
            return json.loads(text)
        # A BufferedReader has `peek`, without which the unpickler asks for every opcode by a call of its own.
        return _Unpickler(io.BufferedReader(io.BytesIO(data), 2**17)).load()
    except (BadDumpError, MemoryError):
        raise
    except RecursionError:
        raise BadDumpError("nests too deeply for a dump (recursion bomb)") from None
    except Exception as error:
        form = "JSON" if is_json else "pickle"
        raise BadDumpError(f"truncated or damaged {form} of {size:,} bytes: {_shown(str(error))}") from None


def _entry_lines(data: bytearray) -> list[int]:
    """Return the line of each entry in JSON that was laid out over lines; empty where all is on line 1."""
    if data[:1] == b"\x80" or not re.search(rb"\n\s*\S", data):
        return []
    lines, line, at = [], 1, 0
    for found in re.finditer(rb'"profiling_name"', data):
        line += data.count(b"\n", at, found.start())
        at = found.start()
        lines.append(line)
    return lines


def reduce_dump(data: bytes | bytearray) -> dict[str, Any]:
    """Return what the comparison needs of a dump, as plain JSON values; raises `BadDumpError` with the reason."""
    own = data if isinstance(data, bytearray) else bytearray(data)
    is_json, lines = own[:1] != b"\x80", _entry_lines(own)
    reduced = reduce_values(_load(own))
    reduced["is_json"] = is_json
    reduced["columns"]["line"] = lines if len(lines) == len(reduced["columns"]["call"]) else []
    return reduced


def _limit(memory_bytes: int, cpu_s: int) -> None:
    if sys.platform == "win32":  # has no such limits; the parent's checks and the refusals hold there too
        return
    for what, soft in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, int(time.process_time()) + 1 + cpu_s),
    ):
        hard = resource.getrlimit(what)[1]
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _answer(data: bytearray) -> dict[str, Any]:
    """Reduce one dump; whatever goes wrong becomes one line."""
    try:
        return reduce_dump(data)
    except BadDumpError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "needs more memory than a dump may take"}
    except Exception as error:
        return {"error": f"not a flight-recorder dump: {type(error).__name__}"}


def main() -> None:
    """Answer requests until stdin ends."""
    gc.disable()  # a dump is a tree of plain values; collecting it again and again takes a third of the time
    for line in iter(sys.stdin.buffer.readline, b""):
        size, memory_bytes, cpu_s = json.loads(line)
        data = bytearray(sys.stdin.buffer.read(size))
        _limit(memory_bytes, cpu_s)
        answer = _answer(data)
        sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
        if "error" in answer:
            gc.collect()  # lists that hold themselves
