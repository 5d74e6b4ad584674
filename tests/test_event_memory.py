"""What events hold of their sources: no lines, which are read again where a question asks for them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.job.event import SourceEvents
from diagnose.job.event_reader import EventReader
from diagnose.lines.prefix import Line
from diagnose.scan import reading
from diagnose.scan.reading import Deadline, read_all
from diagnose.scan.scanner import ScanRules

FILES = 3
LOG = """\
[rank{n}]: 2026-11-20 17:34:50 INFO step 1 loss 2.5{n}
the second line
[rank{n}]: Traceback (most recent call last):
[rank{n}]:   File "/home/u/train.py", line 36, in step
[rank{n}]:     loss.backward()
[rank{n}]: ValueError: could not convert string to float: '0.{n}'
[rank{n}]: 2026-11-20 17:34:59 INFO step 9 loss 2.4{n}
the last line
"""


@pytest.fixture(params=[1, FILES + 1], ids=["packed", "as read"])
def sources(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SourceEvents]]:
    monkeypatch.setattr(reading, "MANY_SOURCES", request.param)
    for n in range(FILES):
        (tmp_path / f"{n}.log").write_text(LOG.format(n=n))
    catalogue = load_rules()
    scan = read_all([str(tmp_path)], ScanRules(catalogue), Deadline(), workers=1)
    reader = EventReader(catalogue)
    yield [reader.read(s) for s in scan.sources.values()]


def test_events_keep_no_line_of_their_source(sources: list[SourceEvents]) -> None:
    gc.collect()
    assert all(source.events for source in sources)
    assert [] == [x for x in gc.get_objects() if isinstance(x, Line)]


def test_the_lines_of_a_source_are_read_again_when_asked_for(sources: list[SourceEvents]) -> None:
    assert LOG.format(n=2).splitlines() == [line.raw for line in sources[2].lines()]
    assert "the last line" == sources[2].tail()[-1].message
    assert {2} == {line.prefix.rank for line in sources[2].head()} - {None}


def test_a_sign_of_life_tells_the_line_that_its_scan_keeps(sources: list[SourceEvents]) -> None:
    told = [[sign.raw for sign in pair] for source in sources for pair in source.progress]
    lines = [LOG.format(n=n).splitlines() for n in range(FILES)]
    assert [[own[0], own[6]] for own in lines] == told


def test_a_line_without_a_clock_is_near_the_stamp_above_it(sources: list[SourceEvents]) -> None:
    (failure,) = (e for e in sources[1].events if e.traceback is not None)
    first, last = sources[1].progress[0]
    assert failure.stamp is None
    assert failure.near == first.stamp != last.stamp
