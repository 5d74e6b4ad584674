"""What a collector that no table of prefixes knows puts before each line it delivers, found by its being on all of them.

In: a text's first lines. Out: a `Rewriting`, which takes it off whole blocks; the time before it stays, and so does a
name of a pod that some of the lines told, or one that is not the same on all lines. A label is believed only where lines as
logs begin stand behind it, so that the first words that a trainer prints in every line are none.

    2026-11-20T17:03:28Z {} [rank3]: KeyError: 12                     2026-11-20T17:03:28Z [rank3]: KeyError: 12
    2026-11-20 17:03:28.123 | Traceback (most recent call last):      2026-11-20 17:03:28.123 Traceback (most recent …
    llm-7k2p-main-123:   File "train.py", line 5, in <module>         [pod/llm-7k2p-main-123/main]   File "train.py" …
    gpu-a2> [rank9]: KeyError: 12                                     [pod/gpu-a2/main] [rank9]: KeyError: 12
    1207 │ [rank3]: KeyError: 12                                      [rank3]: KeyError: 12
    12. [rank3]: KeyError: 12                                         [rank3]: KeyError: 12
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil

from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.record import record
from ..lines.row import LEVEL, LOG_TEXT, SAID
from ..lines.timestamp import read_stamp
from .quotes import without_escapes

MIN_LINES = 4
SAMPLE_BYTES = 32 << 10
MAX_LINES = 200  # of the sample
FEW = 3  # lines are compared first: most texts end here
SHARE = 0.95  # of the lines that bear the label; a collector's own words are among the others
MIN_PROOFS = 2  # lines behind which a log's own beginning stands
MAX_LABEL = 200  # characters
MIN_NUMBERED = 8  # lines, before growing numbers are those of lines and not of ranks
MIN_EACH = 2  # lines of each name, on average, where the label names one of several

_LEVEL = lazy(LEVEL.replace("?P<level>", "?:") + r"[ \t]{1,8}")
_BEGINS, _BEGINS_OR_SAYS = lazy(LOG_TEXT), lazy(f"{LOG_TEXT}|{SAID}")
_SURELY = lazy(r"Traceback \(most recent|\[rank\d|\[?\d{4}-\d\d-\d\d[T ]\d")  # also behind nothing but blanks
_TOKEN = lazy(r"\d+|[A-Za-z_]+|[\s\S]")
_BOUNDARY = " \t:|>])}"  # ends a label
# a driver names its device in each line, and Slurm its own program: no collector put them there
_OWN = lazy(r"NVRM: |\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d\b|\b(?:slurmstepd|srun|sbatch)(?:-[\w.-]{1,63})?: error: ")
_NUMBERED = lazy(r" {0,8}(\d{1,9})( {0,4}(?:\||│)|[.)] |[ :-])")
_BARS = ("|", "│")  # `bat` and reports draw one behind the numbers, and one blank
_OF_A_LIST = (". ", ") ")  # an editor of Markdown numbers the lines of what is pasted into a list
_NAMES = ("pod", "container", "actor")
_WHO = ("rank", "local_rank", "task", "node_rank", "host", "ip")  # a label that tells these is a prefix of the tables
# One of several names; numbers of steps and of parts of a model are none, and ranks are left to `own_headers`.
_PLACE = lazy(
    r"(?P<open>[\[(<]?)(?P<who>(?!(?i:step|epoch|iter|batch|layer|stage|block|gpu|cuda|device|rank|rk|r|thread|\w{0,20}error)"
    r"[ _-]?\d{0,9}(?![\w.-]))[A-Za-z][\w.]{0,40}(?:-[\w.-]{1,40}|(?<=\d)))"
    r"(?P<close>[\])>]?:?)(?P<blank> {1,40}[|│] ?|(?:$| ))"
)


@record
class Rewriting:
    """Patterns of what stands at the beginning of lines, each with what is put in its place, for whole blocks."""

    forms: tuple[tuple[str, str], ...]

    def readable(self) -> Rewriting:
        """Yield it without what is no pattern: what was made of a stranger's lines may be none, and never ends a run."""
        return Rewriting(tuple(form for form in self.forms if _is_readable(form[0])))

    def feed(self, data: bytes) -> bytes:
        """Yield `data` with as many lines."""
        data = b"\n" + data
        for form, put in self.forms:
            data = _compiled(form).sub(b"\\g<line>" + put.encode(), data)
        return data[1:]

    def finish(self) -> bytes:
        """Yield nothing: no line is held back."""
        return b""


def _compiled(form: str) -> re.Pattern[bytes]:
    return re.compile(rf"(?P<line>[\n\r]){form}".encode())  # `re` keeps it


def _is_readable(form: str) -> bool:
    try:
        return bool(_compiled(form))
    except (re.error, UnicodeError, OverflowError, RecursionError):
        return False


def may_be_labelled(head: bytes) -> bool:
    """Tell from its first bytes whether a longer sample of a text is worth asking for a label."""
    return _guess(_lines(head, is_whole=True)) is not None


def label_of(sample: bytes, *, is_whole: bool) -> Rewriting | None:
    """Yield what takes the label off the lines that `sample` begins with; `is_whole`: the last of them is not cut off."""
    lines = _lines(sample, is_whole=is_whole)
    label = _guess(lines)
    if label is None:
        return None
    pattern, put = label
    compiled = re.compile(pattern)
    rests = [line[found.end() :] for line in lines if (found := compiled.match(line))]
    begins = _BEGINS_OR_SAYS if "?P<who>" in pattern else _SURELY if not put and not pattern.strip(r"\ ") else _BEGINS
    proofs = sum(begins.match(rest) is not None or _is_logged(rest) for rest in rests)
    return Rewriting((label,)) if len(rests) >= SHARE * len(lines) and proofs >= MIN_PROOFS else None


def _is_logged(rest: str) -> bool:
    """Whether a line's own beginning says more than a number could by chance."""
    prefix = split_prefix(rest)
    return any(x is not None for x in (prefix.stamp, prefix.severity, prefix.rank))


def _lines(sample: bytes, *, is_whole: bool) -> list[str]:
    lines = without_escapes(sample).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return [line for line in lines[: None if is_whole else -1] if line.strip()][:MAX_LINES]


def _guess(lines: Sequence[str]) -> tuple[str, str] | None:
    """The pattern of a label, and what is put in its place."""
    if len(lines) < MIN_LINES or lines[0].startswith(("{", "[{", '"')):
        return None
    return _numbers(lines) or _place(lines) or _constant(lines)


def _numbers(lines: Sequence[str]) -> tuple[str, str] | None:
    """The numbers of lines, as `less -N` and `grep -n` show them; those of ranks do not grow from line to line."""
    found = [_NUMBERED.match(line) for line in lines]
    marks = {m[2].lstrip(" ") or " " for m in found if m}
    fewest = MIN_LINES if marks <= {*_BARS, *_OF_A_LIST} else MIN_NUMBERED
    if len(lines) < fewest or None in found or len(marks) != 1:
        return None
    numbers = [int(m[1]) for m in found if m]
    steps = {b - a for a, b in pairwise(numbers)}
    mark = marks.pop()
    is_dense = mark in ":-" or numbers[-1] - numbers[0] < 3 * len(numbers)
    is_grown = steps == {1} if mark in _OF_A_LIST else min(steps) > 0 and is_dense
    behind = rf" {{0,4}}{re.escape(mark)} ?" if mark in _BARS else re.escape(mark)
    return (rf" {{0,8}}\d{{1,9}}{behind}", "") if is_grown and numbers[0] > 0 else None


def _place(lines: Sequence[str]) -> tuple[str, str] | None:
    """A name of one of a few hosts or workers in one manner: `[node-3] `, `gpu-a1> `, where the tables know none of it."""
    found = [m for line in lines if (m := _PLACE.match(line)) is not None and split_prefix(line).end == 0]
    if not found or len(found) < SHARE * len(lines):
        return None
    (manner, count), *_ = Counter((m["open"], m["close"], m["blank"].strip()) for m in found).most_common(1)
    names = {m["who"] for m in found if (m["open"], m["close"], m["blank"].strip()) == manner}
    if not any(manner) or count < SHARE * len(lines) or not 1 < len(names) <= count / MIN_EACH:
        return None
    opening, closing, bar = map(re.escape, manner)
    end = rf" {{1,40}}{bar} ?" if bar else r"(?: |(?=[\n\r])|$)"
    return rf"{opening}(?P<who>[A-Za-z][\w.-]{{0,80}}){closing}{end}", r"[pod/\g<who>/main] "


def _constant(lines: Sequence[str]) -> tuple[str, str] | None:
    """What the lines have in common, digits aside, behind their time."""
    ends = [_time_end(line) for line in lines[:FEW]]
    if len({end > 0 for end in ends}) > 1 or not (common := _common(lines[:FEW], ends)):
        return None
    ends += [_time_end(line) for line in lines[FEW:]]
    kept = [(line, end) for line, end in zip(lines, ends, strict=True) if (end > 0) == (ends[0] > 0)]
    common = _most_common(kept, common)
    text = "".join(common)
    if not text or len(text) > MAX_LABEL or not text.isascii() or _OWN.search(text):
        return None
    if any(name in told for told in _known(kept[:FEW], common) for name in _WHO):
        return None  # most texts end here: a launcher's prefix, which the tables know
    known = _known(kept, common)
    is_word = not ends[0] and text.strip() and text.rstrip()[-1] not in _BOUNDARY  # every line may begin with `GPU `
    if len(known) == len(kept) or any(name in told for told in known for name in _WHO) or (is_word and not known):
        return None
    line, end = kept[0]
    level = _LEVEL.match(line[:end])  # the collector's; it would hide a launcher's prefix in the line
    time = _exact(_TOKEN.findall(line[level.end() if level else 0 : end]))
    pod = next((told[key] for told in known for key in _NAMES if key in told), None)
    before = (r"[A-Z]{4,8}[ \t]{1,8}" if level else "") + (f"(?P<time>{time})" if time else "")
    return before + _exact(common), (r"\g<time> " if time else "") + (f"[pod/{pod}/main] " if pod else "")


def _time_end(line: str) -> int:
    """Where the time at a line's head ends, a level before it included; 0 where none stands there."""
    level = _LEVEL.match(line)
    stamp = read_stamp(line, level.end() if level else 0)
    return stamp.end if stamp else 0


def _common(lines: Sequence[str], ends: Sequence[int]) -> list[str]:
    common: list[str] | None = None
    for line, end in zip(lines, ends, strict=True):
        tokens = _TOKEN.findall(line[end : end + MAX_LABEL])
        common = tokens if common is None else [a for a, _ in _shared(common, tokens)]
    return _to_boundary(common or [])


def _most_common(kept: Sequence[tuple[str, int]], common: list[str]) -> list[str]:
    """What nearly all lines have of it; the collector's own words are not asked."""
    enough = ceil(SHARE * len(kept))
    first = lazy(r"\d" if common[0].isdigit() else re.escape(common[0]))
    if sum(first.match(line, end) is not None for line, end in kept) < enough:
        return []
    lengths = [sum(1 for _ in _shared(common, _TOKEN.findall(line[end : end + 2 * MAX_LABEL]))) for line, end in kept]
    return _to_boundary(common[: sorted(lengths, reverse=True)[max(0, enough - 1)]])


def _shared(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, str]]:
    for a, b in zip(one, other, strict=False):
        if a != b and not (a.isdigit() and b.isdigit()):
            return
        yield a, b


def _to_boundary(tokens: list[str]) -> list[str]:
    while tokens and tokens[-1] not in _BOUNDARY:
        tokens = tokens[:-1]
    return tokens


def _exact(tokens: Sequence[str]) -> str:
    return "".join(r"\d{1,20}" if token.isdigit() else re.escape(token) for token in tokens)


def _known(kept: Sequence[tuple[str, int]], common: list[str]) -> list[dict[str, object]]:
    """What the tables read in the common beginning of these lines, where they know it as a prefix."""
    told = (_told(line, end, common) for line, end in kept)
    return [x for x in told if x is not None]


def _told(line: str, end: int, common: list[str]) -> dict[str, object] | None:
    shared = [b for _, b in _shared(common, _TOKEN.findall(line[end : end + 2 * MAX_LABEL]))]
    end += sum(map(len, shared)) if len(shared) == len(common) else 0
    whole, rest = split_prefix(line), split_prefix(line[end:])
    names = (name for name in (*_NAMES, *_WHO) if getattr(rest, name) is None)
    return {x: value for x in names if (value := getattr(whole, x)) is not None} if whole.end >= end else None
