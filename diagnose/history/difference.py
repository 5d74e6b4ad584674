"""Two runs of the same job in, what the bad one has that the good one has not out: by their reports, and step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isclose, isnan

from ..advice.remedy import PLATFORM
from ..advice.statement import Fact
from ..catalogue.load import Catalogue
from ..errors import UsageError
from ..lines.rank_ranges import rank_ranges
from ..lines.record import record
from ..report.report import Report, from_dict
from ..scan.passages import TextBlock
from ..scan.progress import ProgressLines, all_signs
from ..scan.scan_rules import ScanRules
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.source import Input, Source, find_sources

# Facts that differ in any two runs, or are what was found out and no cause of it.
_OF_ONE_RUN = (
    "free", "used", "allocated", "reserved", "requested", "time", "seconds", "elapsed", "throughput", "longest", "reached",
    "package", "hosts", "log_dir", "_address",
)  # fmt: skip
_VERSION = ("_version", "driver", "_commit")
SHARP = 0.01  # two losses at one step are alike within this part of the greater one
MAX_SHOWN = 200  # characters of a value


@record
class Difference:
    """One thing that differs: `kind` is outcome, world, hosts, version, setting or step; empty text: it is not there."""

    kind: str
    name: str
    good: str = ""
    bad: str = ""
    good_place: str = ""  # file:line
    bad_place: str = ""


def differences(good: Report, bad: Report) -> list[Difference]:
    """Yield what differs between two reports, outcome and world first."""
    return [*_whole(good, bad), *_facts(good.facts, bad.facts)]


def first_step_apart(good: Mapping[int, Loss], bad: Mapping[int, Loss]) -> list[Difference]:
    """Yield the first step at which the losses part, and where the shorter run ends."""
    found = []
    for step in sorted(good.keys() & bad.keys()):
        a, b = good[step], bad[step]
        if a.value is not None and b.value is not None and _parts(a.value, b.value):
            texts = (f"loss {a.value:g}", f"loss {b.value:g}")
            found.append(Difference("step", f"step {step}", *texts, a.place, b.place))
            break
    if good and bad and max(good) != max(bad):
        last = (max(good), max(bad))
        found.append(Difference("step", "last step", str(last[0]), str(last[1]), good[last[0]].place, bad[last[1]].place))
    return found


def _parts(a: float, b: float) -> bool:
    return not (isclose(a, b, rel_tol=SHARP) or (isnan(a) and isnan(b)))


def _whole(good: Report, bad: Report) -> Iterator[Difference]:
    """What differs of the whole job; of hosts those that one run alone has."""
    causes = [report.diagnosis.cause if report.diagnosis else "" for report in (good, bad)]
    ranks = [rank_ranges({row.rank for row in report.ranks}) for report in (good, bad)]
    a, b = ({row.host for row in report.ranks if row.host} for report in (good, bad))
    hosts = [", ".join(sorted(own)) for own in (a - b, b - a)]
    rows = (("outcome", "outcome", good.outcome, bad.outcome), ("outcome", "cause", *causes), ("world", "ranks", *ranks))
    yield from (Difference(*row) for row in (*rows, ("hosts", "hosts", *hosts)) if row[2] != row[3])


def _facts(good: Mapping[str, Fact], bad: Mapping[str, Fact]) -> Iterator[Difference]:
    found = []
    for name in sorted(good.keys() | bad.keys()):
        a, b = good.get(name), bad.get(name)
        texts = (_shown(a), _shown(b))
        is_guess = name in PLATFORM and not all(texts)  # from what a run happens to print
        if not (_is_same(*texts) or is_guess or any(word in name for word in _OF_ONE_RUN)):
            is_version = any(word in name for word in _VERSION)
            kind = "world" if name in ("world_size", "nnodes") else "version" if is_version else "setting"
            found.append(Difference(kind, name, *texts, a.source if a else "", b.source if b else ""))
    order = ("world", "version", "setting")
    # What one of the runs does not state may be the same all the same: behind what both state.
    yield from sorted(found, key=lambda d: (not (d.good and d.bad), order.index(d.kind)))


def _is_same(a: str, b: str) -> bool:
    """Whether two values differ in form only: `True` and `true`, `1e-3` and `0.001`, `0, 1` and `0,1`."""
    forms = [text.lower().replace(" ", "").strip("'\"") for text in (a, b)]
    try:
        return float(forms[0]) == float(forms[1])
    except ValueError:
        return forms[0] == forms[1]


def _shown(fact: Fact | None) -> str:
    if fact is None:
        return ""
    values = sorted({str(fact.value), *(str(other.value) for other in fact.others)})
    return ", ".join(values)[:MAX_SHOWN]


def written_report(path: str) -> Report | None:
    """Yield the report that `diagnose -o FILE.json` wrote; None where the file is something else. Raises `UsageError`."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        return from_dict(data) if isinstance(data, dict) and "schema_version" in data else None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, TypeError, AttributeError):  # a log in JSON lines; or of another version
        return None


# --- all steps of a log, where a scan keeps the first and the last ---------------------------------------------------

MAX_STEPS = 1_000_000


@record
class Loss:
    """What a step's first line says: its loss (None: none), and where it stands."""

    value: float | None
    place: str  # file:line


def losses(inputs: Sequence[Input], catalogue: Catalogue, deadline: Deadline) -> dict[int, Loss]:
    """Yield the steps in `inputs`, each as the first line that names it says; of several ranks those of one file."""
    lines = ScanRules(catalogue).progress
    found: dict[int, Loss] = {}
    for source in find_sources(inputs, deadline):
        if source.skipped is None and source.kind in ("text", "markdown") and not deadline.passed():
            for step, loss in _of(source, lines, deadline).items():
                if step not in found or (found[step].value is None and loss.value is not None):
                    found[step] = loss
    return found


def _of(source: Source, lines: ProgressLines, deadline: Deadline) -> dict[int, Loss]:
    found: dict[int, Loss] = {}
    number = 0
    previous: TextBlock | None = None
    for block in read_blocks(source, deadline=deadline):
        text = TextBlock(block.data, number, previous, continues=block.continues, overlap=block.overlap)
        for hit in all_signs(lines, text):
            step, loss = (hit.fields or {}).get("step"), (hit.fields or {}).get("loss")
            if isinstance(step, int) and len(found) < MAX_STEPS:
                found.setdefault(step, Loss(loss if isinstance(loss, float) else None, f"{source.name}:{hit.line}"))
        number, previous = text.lines, None
        if deadline.passed():
            break
    return found
