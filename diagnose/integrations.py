"""`diagnose.hook` in the form that each framework wants; none of them has to be installed, and none is imported here.

from diagnose.integrations import lightning_callback, transformers_callback

Trainer(callbacks=[lightning_callback(output="report.md")])              # Lightning
Trainer(..., callbacks=[transformers_callback(output="report.md")])      # Transformers, in a notebook too
with accelerate_run(accelerator, output="report.md"): ...                # Accelerate
TorchTrainer(ray_train_loop(train, output="report.md"), ...)             # Ray Train: on each worker
with ray_driver(output="report.md"): ...                                 # Ray: the driver, and this node's logs
@record(output="report.md")                                              # torchrun: in place of torchelastic's
def main(): ...
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from .hook import diagnose_on_failure, report_failure

__all__ = [
    "accelerate_run", "lightning_callback", "ray_driver", "ray_session_logs", "ray_train_loop", "record",
    "transformers_callback",
]  # fmt: skip
Path = str | os.PathLike[str]


def lightning_callback(*paths: Path, **options: Any) -> Any:
    """Yield a Lightning callback that reports what its `on_exception` is told."""
    base = _named(("lightning.pytorch", "pytorch_lightning"), "Callback") or object

    class DiagnoseCallback(base):  # type: ignore[misc,valid-type]
        def on_exception(self, trainer: object, pl_module: object, exception: BaseException) -> None:
            """Report what ends a fit, test or predict; Lightning raises the exception again afterwards."""
            if not isinstance(exception, KeyboardInterrupt):
                report_failure(exception, *paths, **options)

    return DiagnoseCallback()


def transformers_callback(*paths: Path, **options: Any) -> Any:
    """Yield a callback for `transformers.Trainer`, which has no event for failures: `Trainer.train` looks for it.

    So what leaves `train` is reported also where a notebook shows it or the caller catches it.
    """
    base = _named(("transformers",), "TrainerCallback") or object

    class DiagnoseCallback(base):  # type: ignore[misc,valid-type]
        def diagnose_failure(self, error: Exception) -> None:
            """Report what left `train`."""
            report_failure(error, *paths, **options)

    _watch_train(_named(("transformers",), "Trainer"))
    return DiagnoseCallback()


def _watch_train(trainer: Any) -> None:
    """Have `Trainer.train` tell our callbacks what leaves it; once, however many callbacks are made."""
    inner = getattr(trainer, "train", None)
    if inner is None or hasattr(inner, "__diagnose_inner__"):
        return

    @functools.wraps(inner)
    def train(self: Any, *words: Any, **named: Any) -> Any:
        try:
            return inner(self, *words, **named)
        except Exception as error:
            for callback in getattr(getattr(self, "callback_handler", None), "callbacks", ()):
                if hasattr(callback, "diagnose_failure"):
                    callback.diagnose_failure(error)
            raise

    train.__diagnose_inner__ = inner  # type: ignore[attr-defined]
    trainer.train = train


def accelerate_run(accelerator: Any = None, *paths: Path, **options: Any) -> diagnose_on_failure:
    """Yield a context manager (and decorator) for a run under Accelerate, which knows the rank where no variable does."""

    def place() -> Mapping[str, Any]:
        return {"rank": accelerator.process_index, "world_size": accelerator.num_processes} if accelerator else {}

    return diagnose_on_failure(*paths, place=place, **options)


def ray_driver(*paths: Path, **options: Any) -> diagnose_on_failure:
    """Yield a context manager (and decorator) for a Ray driver, which reads the session's logs of this node too."""
    return diagnose_on_failure(*paths, more_paths=ray_session_logs, **options)


def ray_train_loop(function: Callable[..., Any], *paths: Path, **options: Any) -> Callable[..., Any]:
    """Yield a `train_loop_per_worker` that reports what leaves it, with the worker's rank and its node's logs."""
    return diagnose_on_failure(*paths, more_paths=ray_session_logs, place=_ray_place, **options)(function)


def _ray_place() -> Mapping[str, Any]:
    with suppress(Exception):  # no worker of Ray Train, or another version of it
        context = sys.modules["ray.train"].get_context()
        return {"rank": context.get_world_rank(), "world_size": context.get_world_size()}
    return {}


def ray_session_logs() -> Sequence[str]:
    """Yield where the running Ray session writes its logs on this node; Ray itself is not imported."""
    with suppress(Exception):  # not connected, a client, or another version of Ray
        return [str(sys.modules["ray"]._private.worker._global_node.get_logs_dir_path())]
    return [os.path.join(os.environ.get("RAY_TMPDIR") or "/tmp/ray", "session_latest", "logs")]


def record(function: Callable[..., Any] | None = None, *paths: Path, **options: Any) -> Any:
    """Yield `main` under torchelastic's own `record`, where torch is there, and under `diagnose_on_failure`.

    Written as `@record` or as `@record(output="report.md")`.
    """
    if not callable(function):
        return lambda main: record(main, *(() if function is None else (function,)), *paths, **options)
    elastic = _named(("torch.distributed.elastic.multiprocessing.errors",), "record")
    watched = diagnose_on_failure(*paths, **options)(function)
    return elastic(watched) if elastic else watched


def _named(modules: Sequence[str], name: str) -> Any:
    """The framework's class or function; None where it is not installed, since a hook never stops a job."""
    for module in modules:
        with suppress(Exception):  # a broken installation raises anything
            return getattr(import_module(module), name)
    return None
