"""Reads PyTorch flight-recorder dumps (pickle or JSON, any version) without ever loading one in this process.

In: names with bytes or paths. Out: a `Dump` or an `Unreadable` with one reason, in the same order. A child process
under memory and CPU limits (`child.py`) does the loading; when a dump kills it, the next gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .dump import Dump, RankFrom

MAX_DUMP_BYTES = 512 * 2**20  # 20,000 entries with 50 frames each take 50 MB
BASE_MEMORY_BYTES = 512 * 2**20  # of address space: the interpreter, and room for small dumps
MEMORY_PER_DUMP_BYTE = 32  # plain values take up to 20 times the bytes of their pickle
MAX_MEMORY_BYTES = 2 * 2**30  # whatever the dump's size: 50 MB, the most that was seen, take half of it
CPU_PER_DUMP_S = 5  # 2,000 entries take 0.02 s
BYTES_PER_CPU_S = 8 * 2**20  # more for a long dump

# A bare package under the real one's name, so that the child imports three modules and nothing else of the package.
_CHILD = """
import sys, types
package = types.ModuleType("diagnose")
package.__path__ = [sys.argv[1]]
sys.modules["diagnose"] = package
from diagnose.recorder.child import main
main()
"""
# `nccl_trace_rank_12`, `trace_rank_0.json`, `comm_traces/rank_3`, `fr-dump-r7.pkl`, `dump12`; not `dump_20261120`
_NAME_RANK = lazy(r"(?:rank|\br)[-_.=]{0,2}(\d{1,7})(?!\d)", re.IGNORECASE)
_NAME_NUMBER = lazy(r"(?<!\d)(\d{1,7})(?:\.[a-z0-9]{1,8}){0,3}$", re.IGNORECASE)


@record
class Unreadable:
    """A dump that could not be read, and why, in one line."""

    name: str
    reason: str


@record
class Limits:
    """What one dump may take of the child process."""

    max_bytes: int = MAX_DUMP_BYTES
    memory_bytes: int = BASE_MEMORY_BYTES
    cpu_s: int = CPU_PER_DUMP_S


Content = bytes | Path | Callable[[], bytes]


def rank_from_name(name: str) -> tuple[int | None, RankFrom | None]:
    """Reads the rank from a file's own name such as `nccl_trace_rank_12`; what a folder says takes all names to tell."""
    base = re.split(r"[/!\\]", name)[-1]
    if found := _NAME_RANK.findall(base):
        return int(found[-1]), "name"
    number = _NAME_NUMBER.search(base)
    return (int(number[1]), "number") if number else (None, None)


class DumpReader:
    """Loads dumps in one process of its own: started when first needed, and again after a dump has ended it."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> DumpReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, name: str, content: Content) -> Dump | Unreadable:
        """Returns the dump reduced, or why it cannot be read."""
        try:
            answer = self._ask(content() if callable(content) else content)
        except OSError as error:
            return Unreadable(name, f"cannot be read: {error.strerror or type(error).__name__}")
        if "error" in answer:
            return Unreadable(name, answer["error"])
        rank, told_by = (answer["rank"], "content") if answer["rank"] is not None else rank_from_name(name)
        return Dump.from_json({**answer, "name": name, "rank": rank, "rank_from": told_by})

    def _ask(self, content: bytes | Path) -> dict[str, Any]:
        limits = self.limits
        try:
            size = content.stat().st_size if isinstance(content, Path) else len(content)
        except OSError as error:
            return {"error": f"cannot be read: {error.strerror}"}
        if size > limits.max_bytes:
            return {"error": f"{size:,} bytes; a dump may have {limits.max_bytes:,}"}
        request = {
            "max_bytes": limits.max_bytes,
            "memory_bytes": min(limits.memory_bytes + MEMORY_PER_DUMP_BYTE * size, MAX_MEMORY_BYTES),
            "cpu_s": limits.cpu_s + size // BYTES_PER_CPU_S,
        }
        more = {"path": str(content.absolute())} if isinstance(content, Path) else {"bytes": size}
        return self._exchange({**request, **more}, b"" if isinstance(content, Path) else content)

    def _exchange(self, request: dict[str, Any], data: bytes) -> dict[str, Any]:
        process = self.process = self.process or _start()
        sink, source = _pipes(process)
        line = b""
        try:
            sink.write(json.dumps(request).encode() + b"\n")
            sink.write(data)
            sink.flush()
            line = source.readline()
        except BrokenPipeError:
            pass
        if line.endswith(b"\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        process.wait()
        self.close()
        return {"error": _death(process.returncode, request["cpu_s"])}

    def close(self) -> None:
        """Ends the process."""
        if self.process is None:
            return
        process, self.process = self.process, None
        process.kill()
        process.wait()
        for pipe in _pipes(process):
            with contextlib.suppress(BrokenPipeError):  # what was written last never reached the child
                pipe.close()


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", "-B", "-c", _CHILD, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def _death(returncode: int, cpu_s: int) -> str:
    if sys.platform != "win32" and returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"takes more than {cpu_s} s of CPU or more memory than a dump may take"
    return f"ended the reader (exit status {returncode})"
