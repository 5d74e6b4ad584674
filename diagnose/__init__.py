"""Names the one root cause of a failed or hung distributed training job from its logs.

    from diagnose import JobContext, diagnose, render

    report = diagnose("logs/", job=JobContext(exit_code=1, world_size=8))
    if report.diagnosis:                       # None: the job is healthy, or no cause was found
        print(report.diagnosis.cause, [culprit.rank for culprit in report.diagnosis.culprits])
    print(render(report, "markdown"))          # secrets are taken out; redact=False leaves them in

`diagnose(*inputs)` takes paths, globs, archives, `Text` and binary files; `load_rules(*folders)` yields the catalogue.
Everything raised is a `DiagnoseError`: `SourceError`, `RuleError`, `UsageError` or `MissingExtra`. For code inside a job
there are `diagnose.hook` and `diagnose.integrations`.
"""

# The public names are loaded when they are first used, so that `import diagnose` (and `diagnose run` while it waits) costs
# nothing, not even the module that has this constant.
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .catalogue.load import load_rules as load_rules
    from .engine import diagnose as diagnose
    from .errors import DiagnoseError as DiagnoseError
    from .errors import MissingExtra as MissingExtra
    from .errors import RuleError as RuleError
    from .errors import SourceError as SourceError
    from .errors import UsageError as UsageError
    from .job.job import JobContext as JobContext
    from .report.report import Report as Report
    from .sources.source import Text as Text
    from .views.rendering import render as render

    __version__: str

_HOMES = {
    "DiagnoseError": "errors",
    "JobContext": "job.job",
    "MissingExtra": "errors",
    "Report": "report.report",
    "RuleError": "errors",
    "SourceError": "errors",
    "Text": "sources.source",
    "UsageError": "errors",
    "__version__": "",
    "diagnose": "engine",
    "load_rules": "catalogue.load",
    "render": "views.rendering",
}
__all__ = list(_HOMES)


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        value = _version()
    elif name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    """The version of the distribution; of a checkout that nobody installed, `0+unknown`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("diagnose-training")
    except PackageNotFoundError:
        return "0+unknown"
