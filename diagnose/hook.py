"""For code inside a job: reports on the exception that ends it, and never hurts it.

    from diagnose.hook import diagnose_on_failure, install

    @record                              # torchelastic's, above or below
    @diagnose_on_failure("logs/", output="report.md")
    def main() -> None: ...
"""

from __future__ import annotations

from .hooks.failure import diagnose_on_failure, install, report_failure, uninstall

__all__ = ["diagnose_on_failure", "install", "report_failure", "uninstall"]
