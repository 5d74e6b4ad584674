"""Reads PyTorch flight-recorder dumps (pickle or JSON, any version) without ever loading one in this process.

In: a name and bytes. Out: a `Dump`, or one line that says why there is none. A child process
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
from typing import IO, Any

from ..lines.lazy_pattern import lazy
from .dump import Dump, RankFrom

MAX_DUMP_BYTES = 96 * 2**20  # 20,000 entries with 50 frames each take 50 MB; this process holds them for a moment, too
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


def too_large(size: int) -> str:
    """Says that so many bytes are no dump."""
    return f"{size:,} bytes; a dump may have {MAX_DUMP_BYTES:,}"


def rank_from_name(name: str) -> tuple[int | None, RankFrom | None]:
    """Reads the rank from a file's own name such as `nccl_trace_rank_12`; what a folder says takes all names to tell."""
    base = re.split(r"[/!\\]", name)[-1]
    if found := _NAME_RANK.findall(base):
        return int(found[-1]), "name"
    number = _NAME_NUMBER.search(base)
    return (int(number[1]), "number") if number else (None, None)


class DumpReader:
    """Loads dumps in one process of its own: started when first needed, and again after a dump has ended it."""

    def __init__(self, cpu_s: int = CPU_PER_DUMP_S) -> None:
        self._cpu_s = cpu_s
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, name: str, data: bytes) -> Dump | str:
        """Returns the dump reduced, or in one line why it cannot be read."""
        if len(data) > MAX_DUMP_BYTES:
            return too_large(len(data))
        memory_bytes = min(BASE_MEMORY_BYTES + MEMORY_PER_DUMP_BYTE * len(data), MAX_MEMORY_BYTES)
        answer = self._exchange((len(data), memory_bytes, self._cpu_s + len(data) // BYTES_PER_CPU_S), data)
        if "error" in answer:
            return str(answer["error"])
        rank, told_by = (answer["rank"], "content") if answer["rank"] is not None else rank_from_name(name)
        return Dump.from_json({**answer, "name": name, "rank": rank, "rank_from": told_by})

    def _exchange(self, request: tuple[int, int, int], data: bytes) -> dict[str, Any]:
        process = self._process = self._process or _start()
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
        if sys.platform != "win32" and process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return {"error": f"takes more than {request[2]} s of CPU or more memory than a dump may take"}
        return {"error": f"ended the reader (exit status {process.returncode})"}

    def close(self) -> None:
        """Ends the process."""
        if self._process is None:
            return
        process, self._process = self._process, None
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
