"""What paths in tracebacks tell: which libraries run, under which Python. Inferred, so every print beats it."""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from ..lines.lazy_pattern import lazy
from .commands import framework_of, trainer_of
from .fact_names import Stated

MAX_TRACEBACKS = 400
_INSTALLED = lazy(r"(?:site|dist)-packages/(?P<package>[A-Za-z]\w{1,60})(?:/|\.py)")
_PYTHON = lazy(r"/python(?P<version>\d\.\d{1,2})/")
_VERSIONED = lazy(
    r"(?:site|dist)-packages/(?P<package>[A-Za-z]\w{1,60})-(?P<version>\d[\w.]{0,30})(?:\+[\w.]{1,30})?[-.](?:py|dist|egg)"
)


def library_facts(job: Job) -> Iterator[Stated]:
    """Yield `library`, `framework` and `python_version` from the files that tracebacks name."""
    seen: set[tuple[str, str]] = set()
    files: set[str] = set()  # thousands of ranks have the same frames
    for source in job.sources:
        for tb in source.tracebacks[:MAX_TRACEBACKS]:
            frames = [*tb.frames, *(f for link in tb.links for f in link.frames)]
            for frame in frames:
                if frame.file in files:
                    continue
                files.add(frame.file)
                for name, value in path_facts(frame.file):
                    if (name, value) not in seen:
                        seen.add((name, value))
                        yield Stated(name, value, source.name, tb.line, 1)


def path_facts(path: str) -> Iterator[tuple[str, str]]:
    """Yield what one path of a frame tells."""
    installed = _INSTALLED.search(path)
    if installed:
        yield "library", installed["package"].lower()
    versioned = _VERSIONED.search(path)
    if versioned:
        yield f"{versioned['package'].lower()}_version", versioned["version"]
    python = _PYTHON.search(path)
    if python:
        yield "python_version", python["version"]
    trainer = trainer_of(path) if "/trl/" in path else None
    if trainer:
        yield "trainer", trainer
    framework = framework_of(path)
    if framework:
        yield "framework", framework
