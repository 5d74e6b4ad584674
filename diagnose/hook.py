"""For code inside a job: reports on the exception that ends it, and never hurts it.

    from diagnose.hook import diagnose_on_failure, install

    @record                              # torchelastic's, above or below
    @diagnose_on_failure("logs/", output="report.md")
    def main() -> None: ...

Nothing here raises into the job, changes its exit code, reads a log, or takes longer than the budget: another process
does the work, and of several ranks that fail together on a node the first one has it done.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator
from dataclasses import replace
from types import TracebackType
from typing import Any

from .hooks.config import say
from .hooks.environment import attempt_folder, read_environment
from .hooks.request import HookRequest, ask, prepare_request
from .lines.record import record

__all__ = ["diagnose_on_failure", "install", "report_failure", "uninstall"]
_WHO = "diagnose"
_MOST_TEXT = 256 << 10  # characters of one traceback; a recursion or a tensor in a message can be endless
_MARK = "__diagnose_reported__"


@record
class _Settings:
    """What one hook was asked to do; None means the configuration's value."""

    paths: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    budget_s: float | None = None
    webhook: str | None = None
    shared: str | None = None
    every_rank: bool = False
    more_paths: Callable[[], Sequence[str]] | None = None  # asked for at the failure
    place: Callable[[], Mapping[str, Any]] | None = None  # rank and world_size, where no variable says them


class diagnose_on_failure(ContextDecorator):
    """Reports when an exception leaves the block or function, which then goes on its way unchanged.

    `paths` are the job's logs; without them, torchelastic's folder of this attempt and the traceback itself.
    `output`: files to write, the suffix chooses the form. `every_rank`: not only the first that fails on this node.
    """

    def __init__(self, *paths: str | os.PathLike[str], **options: Any) -> None:
        self._settings = _safe_settings(paths, options)

    def __enter__(self) -> diagnose_on_failure:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and _is_failure(error):
            _report(error, self._settings)


def install(*paths: str | os.PathLike[str], **options: Any) -> None:
    """Reports on every exception that nobody catches: puts itself behind `sys.excepthook`."""
    settings, before = _safe_settings(paths, options), sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        if _is_failure(error):
            _report(error, settings)

    hook.__diagnose_before__ = before  # type: ignore[attr-defined]
    sys.excepthook = hook


def uninstall() -> None:
    """Takes the newest installed hook out again, if no other stands on it."""
    before = getattr(sys.excepthook, "__diagnose_before__", None)
    if before is not None:
        sys.excepthook = before


def report_failure(error: BaseException, *paths: str | os.PathLike[str], **options: Any) -> None:
    """Reports on an exception that you caught."""
    _report(error, _safe_settings(paths, options))


def _safe_settings(paths: Sequence[str | os.PathLike[str]], options: dict[str, Any]) -> _Settings:
    """A misspelt option must not stop a job that would have trained for a week."""
    try:
        output = options.pop("output", ())
        outputs = [output] if isinstance(output, str | os.PathLike) else output
        shared = options.pop("shared", None)
        return _Settings(
            paths=tuple(os.path.abspath(path) for path in paths),
            output=tuple(os.path.abspath(path) for path in outputs),
            shared=os.path.abspath(shared) if shared else None,
            **options,
        )
    except Exception as error:
        say(_WHO, f"hook used with wrong arguments ({error}); going on with the defaults")
        return _Settings()


def _is_failure(error: BaseException) -> bool:
    return error.code not in (None, 0) if isinstance(error, SystemExit) else isinstance(error, Exception)


def _report(error: BaseException, settings: _Settings) -> None:
    try:
        if getattr(error, _MARK, False):
            return  # an inner hook had it
        with contextlib.suppress(Exception):
            setattr(error, _MARK, True)
        ask(_request(error, settings))
    except BaseException as trouble:  # KeyboardInterrupt too: the job's own exception is the one that counts
        say(_WHO, f"no report: {type(trouble).__name__}: {trouble}")


def _request(error: BaseException, settings: _Settings) -> HookRequest:
    facts = read_environment()
    if settings.place and facts.rank is None:
        facts = replace(facts, **settings.place())
    elastic = attempt_folder()
    paths = settings.paths or ((elastic,) if elastic else ())
    paths = (*paths, *settings.more_paths()) if settings.more_paths else paths
    name = f"rank{facts.rank}.log" if facts.rank is not None else "exception.log"
    who = _WHO if facts.rank is None else f"{_WHO} [rank{facts.rank}]"
    request = prepare_request(
        who, replace(facts, tasks=None), output=settings.output, budget_s=settings.budget_s,
        webhook=settings.webhook, shared=settings.shared,
    )  # fmt: skip
    said = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines() or [type(error).__name__]
    return replace(
        request, reason=said[0][:300], inputs=paths, texts={name: _traceback_text(error, facts.rank)}, exit_code=1,
        once=None if settings.every_rank else _node_key(facts.rank),
    )  # fmt: skip


def _traceback_text(error: BaseException, rank: int | None) -> str:
    """The traceback as PyTorch's own hook prints it: `[rank3]: Traceback (most recent call last):`."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if len(text) > _MOST_TEXT:
        text = text[: _MOST_TEXT // 2] + "\n" + text[-_MOST_TEXT // 2 :]
    prefix = f"[rank{rank}]: " if rank is not None else ""
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def _node_key(rank: int | None) -> str | None:
    """What the ranks of one attempt on one node have in common: the launcher that started them, and the attempt."""
    if rank is None:
        return None
    parent, started = os.getppid(), ""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as f:
        started = f.read().rpartition(")")[2].split()[19]  # field 22, start time in ticks: pids come round again
    return f"{parent}-{started}-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
