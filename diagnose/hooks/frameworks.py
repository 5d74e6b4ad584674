"""Hooks in the form that frameworks want; each is made when asked for, so that none of them has to be installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..hook import diagnose_on_failure, install, report_failure, uninstall

__all__ = ["lightning_callback", "ray_driver", "ray_session_logs", "transformers_callback"]


def lightning_callback(*paths: str | os.PathLike[str], **options: Any) -> Any:
    """Returns a Lightning callback that reports what its `on_exception` is told."""
    base = _class_of(("lightning.pytorch", "pytorch_lightning"), "Callback")

    class DiagnoseCallback(base):  # type: ignore[misc,valid-type]
        """Reports on the exception that ends a fit, test or predict."""

        def on_exception(self, trainer: object, pl_module: object, exception: BaseException) -> None:
            """Reports; Lightning raises the exception again afterwards."""
            if not isinstance(exception, KeyboardInterrupt):
                report_failure(exception, *paths, **options)

    return DiagnoseCallback()


def transformers_callback(*paths: str | os.PathLike[str], **options: Any) -> Any:
    """Returns a callback for `transformers.Trainer`, which has no event for failures: it watches `sys.excepthook`."""
    base = _class_of(("transformers",), "TrainerCallback")

    class DiagnoseCallback(base):  # type: ignore[misc,valid-type]
        """Stands behind `sys.excepthook` while `train` runs."""

        def on_train_begin(self, args: object, state: object, control: object, **_more: object) -> None:
            """Installs the hook."""
            install(*paths, **options)

        def on_train_end(self, args: object, state: object, control: object, **_more: object) -> None:
            """Takes the hook out: what fails after training is not its business."""
            uninstall()

    return DiagnoseCallback()


def ray_driver(*paths: str | os.PathLike[str], **options: Any) -> diagnose_on_failure:
    """Returns a context manager (and decorator) for a Ray driver, which reads the session's logs of this node too."""
    return diagnose_on_failure(*paths, more_paths=ray_session_logs, **options)


def ray_session_logs() -> Sequence[str]:
    """Returns where the running Ray session writes its logs on this node; Ray itself is not imported."""
    ray = sys.modules.get("ray")
    try:
        node = ray._private.worker._global_node  # type: ignore[union-attr]
        return [str(node.get_logs_dir_path())]
    except Exception:  # not connected, a client, or another version of Ray
        base = os.environ.get("RAY_TMPDIR") or "/tmp/ray"
        return [os.path.join(base, "session_latest", "logs")]


def _class_of(modules: Sequence[str], name: str) -> type:
    """The framework's base class; `object` where it is not installed, since a hook never stops a job."""
    for module in modules:
        try:
            found = getattr(import_module(module), name)
        except Exception:  # a broken installation raises anything
            continue
        if isinstance(found, type):
            return found
    return object
