"""Names the one root cause of a failed or hung distributed training job from its logs.

The public names are loaded when they are first used, so that `import diagnose` (and `diagnose run` while it waits) costs
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalogue.load import load_rules
    from .engine import diagnose
    from .errors import DiagnoseError, RuleError, SourceError
    from .job.job import JobContext
    from .report.report import Report
    from .sources.source import Text
    from .views.rendering import render

__all__ = [
    "DiagnoseError",
    "JobContext",
    "Report",
    "RuleError",
    "SourceError",
    "Text",
    "diagnose",
    "load_rules",
    "render",
]

_HOMES = {
    "DiagnoseError": "errors",
    "JobContext": "job.job",
    "Report": "report.report",
    "RuleError": "errors",
    "SourceError": "errors",
    "Text": "sources.source",
    "diagnose": "engine",
    "load_rules": "catalogue.load",
    "render": "views.rendering",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
