"""A scan file comes from elsewhere: cut, edited or hostile, it is refused in one sentence and never breaks what reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from diagnose import diagnose
from diagnose.catalogue.load import load_rules
from diagnose.errors import SourceError
from diagnose.scan.reading import Deadline, read_all
from diagnose.scan.scan import scan_from_json, scan_to_json
from diagnose.scan.scanner import ScanRules

from .command_line import FIXTURES

ODD = (None, True, -1, 2**70, 0.5, float("nan"), "", "x", [], [None], {}, {"a": 1})


def written(fixture: str) -> dict[str, Any]:
    return json.loads(scan_to_json(read_all([FIXTURES / fixture / "logs"], ScanRules(load_rules()), Deadline(), workers=1)))


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (holder, key) in a JSON value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from spots(value[key])


@pytest.mark.parametrize("fixture", ["recorder-size-mismatch", "cuda-oom-one-rank"])
def test_a_scan_is_read_back_as_it_was_written(fixture: str) -> None:
    text = json.dumps(written(fixture), ensure_ascii=False, separators=(",", ":"))
    assert scan_to_json(scan_from_json(text.encode(), "x")) == text


@pytest.mark.parametrize("fixture", ["two-nodes-one-exception", "recorder-size-mismatch", "cuda-oom-one-rank"])
def test_whatever_stands_in_a_scan_it_is_refused_or_read(fixture: str, tmp_path: Path) -> None:
    random, path, whole = Random(fixture), tmp_path / "x.scan.json", json.dumps(written(fixture))
    for _ in range(40):
        changed = json.loads(whole)
        every = list(spots(changed))
        for holder, key in random.sample(every, random.randint(1, 4)):
            holder[key] = random.choice(ODD)
        path.write_text(json.dumps(changed))
        try:
            diagnose(path)
        except SourceError:
            continue


def test_a_scan_nested_too_deep_is_no_whole_scan() -> None:
    with pytest.raises(SourceError, match="not a whole scan file"):
        scan_from_json(b'{"diagnose_scan":1,"x":' + b"[" * 100_000, "x.scan.json")


def test_a_call_that_a_dump_lacks_is_no_whole_scan() -> None:
    scan = written("recorder-size-mismatch")
    scan["dumps"][0]["columns"]["call"][0] = 999
    with pytest.raises(SourceError, match="not a whole scan file"):
        scan_from_json(json.dumps(scan).encode(), "x.scan.json")
