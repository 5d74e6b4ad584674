"""The errors a user can meet; `cli` shows each as one line and ends with its exit code. Imports nothing of ours.

DiagnoseError
├── SourceError     an input is missing, or nothing given could be read
├── RuleError       a rule, a cause or a rule folder is wrong
├── UsageError      arguments or a configuration file contradict each other or make no sense
└── MissingExtra    an optional dependency is needed; the message says which extra to install
"""

from __future__ import annotations


class DiagnoseError(Exception):
    """Anything `diagnose` refuses to go on with; its text is one line that says what to do."""

    exit_code = 2


class SourceError(DiagnoseError):
    """An input is missing, or nothing that was given could be read."""


class RuleError(DiagnoseError):
    """A rule, a cause or a rule folder is wrong."""


class UsageError(DiagnoseError):
    """Arguments or a configuration file contradict each other or make no sense."""


class MissingExtra(DiagnoseError):
    """An optional dependency is needed for what was asked."""
