"""One row of the tables of prefixes, and the pieces that several rows are made of.

A pattern's named groups are fields of `Prefix`; `at` is where a stamp stands, `level` a severity in any spelling.
"""

from __future__ import annotations

import string

from .record import record

LOWER, DIGITS, LETTERS = string.ascii_lowercase, string.digits, string.ascii_letters
LEVEL = r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|ERRO|ERR|CRIT|NOTICE|TRACE|SUCCESS|SUCC|VINFO)"
HOST = r"[A-Za-z0-9][\w.-]{0,62}"
SOURCE = r"[\w./<>+-]{1,160}:\d{1,6}"
LOGGER = r"[A-Za-z_]\w{0,40}(?:\.\w{1,60}){1,9}"
IP = r"[\da-fA-F.:]{3,45}"
HIDDEN = r"[^\s,()]{1,40}"  # what stands where somebody struck an address out: `x.x.x.x`, `<ip>`, `***`
# What a line's text must begin with before `word: ` or `word | ` in front of it is taken as a name.
LOG_TEXT = (
    r"(?=\[(?:rank|default|[IWEF][ \d]|\d{4}-|\d\d/\d\d/\d{4}-|INFO|WARN|ERROR)|\d{4}-\d\d-\d\d[T ]|"
    r"\d\d/\d\d/\d{2,4} \d\d:|[IWEF](?:\d{3,4}|\d{8}) \d\d:|(?:INFO|WARNING|ERROR|DEBUG)[ :]|"
    r"Traceback \(most|[\w.]{1,80}(?:Error|Exception)(?:: |$)|"
    r" {2,12}File \"| {4}|[\w.-]{1,63}:\d+:\d+ \[\d|NCCL version|terminate called|Fatal Python error|"
    r"Exception (?:ignored (?:in|on)|in thread)[ :]|During handling of the above |The above exception was |"
    r"-- Process \d{1,7} |--- Logging error|Process (?:\d{1,9}: |[\w.-]{1,80}:$)|Python v\d|"
    r"(?:Current thread|Thread) (?:0x|\d)|Timeout \(\d|#\d{1,3} {1,2}\S|"
    r"\[ {0,6}\d{1,9}\.\d{6}\] |\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\] |"  # `dmesg` of many hosts
    r" ?iteration {1,12}\d{1,9}/| {0,2}\d{1,3}%\||\*{3}|Killing subprocess|\{['\"]loss['\"])"
)
# How a program that prints its steps, and what else it does, begins a line; with a log's text all that a name of a
# logger may stand before.
SAID = (
    rf"(?:{LOG_TEXT}|(?=\[?\(?(?:[Gg]lobal[_ ]|[Tt]rain(?:ing)?[_ :]{{1,2}})?"
    r"(?:[Ss]teps?|[Ii]ter(?:ation)?s?|[Ee]p(?:och)?|[Bb]atch)\]?[ :=\[(]{1,3}\[?\d|(?:\[?[Rr]ank[ :=]{0,2}\d)|"
    r"(?:[Ss]av|[Ll]oad|[Rr]unn|[Ee]valuat|[Vv]alidat|[Rr]esum|[Uu]pload|[Dd]ownload|[Ww]rit|[Tt]okeni[sz])ing [a-z]|"
    r"(?:[Ss]aved|[Ll]oaded|[Ff]inished) [a-z]|[Tt]raining (?:finished|done|complete)))"
)
# An exception, as it is printed; in a module of exceptions any name is one.
RAISED = r"(?:[a-z_]\w{0,60}\.){0,8}(?:[A-Z]\w{0,80}(?:Error|Exception|Interrupt)|(?:errors|exceptions|exc)\.[A-Z]\w{1,80})"
# `python3: can't open file`, `fp16: True`, `cuda0: ...` are words with digits, not hosts.
NOT_HOST = (
    r"(?!(?:python|pip|cuda|gpu\d?:|nccl|rank|step|epoch|iter|layer|stage|mlx|ib|eth|fp|bf|int|utf|sm_?\d|v\d)"
    r"\d*\.?\d*:)"
)
# Severities that are not the first letter of their word.
SEVERITIES = {
    "CRITICAL": "F",
    "CRIT": "F",
    "FATAL": "F",
    "ABORT": "F",
    "C": "F",
    "NOTICE": "I",
    "SUCCESS": "I",
    "SUCC": "I",
    "VINFO": "I",
    "VERSION": "I",
    "CALL": "D",
    "TRACE": "D",
    "V": "D",
}


@record
class Row:
    """One form of prefix."""

    name: str
    starts: str | tuple[str, ...]  # characters that may begin it; two-character strings for a bracket and what follows
    pattern: str  # compiled when a line first begins so: a run meets few of these forms
    sample: str
    outer: bool = False  # printed by a launcher around the process: never found after a rank or logger header
    anywhere: bool = False  # a launcher's too, but so much its own that a logger may stand before it, and pass lines on
    needs: str = ""  # literal that must occur in the line: a cheap test before the pattern
    kind: str = ""  # of the stamp before it ("zone", "syslog", "bracket"), for rows that follow one


def row(name: str, starts: str | tuple[str, ...], pattern: str, sample: str, **more: bool | str) -> Row:
    """Yield a row of a table."""
    return Row(name, starts, pattern, sample, **more)  # type: ignore[arg-type]


def after(opening: str, second: str) -> tuple[str, ...]:
    """Yield the pairs of characters that begin with `opening`."""
    return tuple(opening + character for character in second)
