"""Text as XML holds it, and the JUnit file that stands where no report could be made."""

from __future__ import annotations

from ..report.printable import printable


def xml(text: str) -> str:
    """Yield the text for between two tags."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quoted(text: str) -> str:
    """Yield the text as an attribute's value, with its quotes."""
    return '"' + xml(text).replace('"', "&quot;").replace("\n", " ") + '"'


def junit_without_verdict(name: str, why: str) -> str:
    """Yield one test case in error: who asked for a verdict and got none must not see a test pass."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites><testsuite name="diagnose" tests="1" failures="0" errors="1">\n'
        f'<testcase classname="diagnose" name={quoted(name)}><error message={quoted(why)}/></testcase>'
        "</testsuite></testsuites>\n"
    )
