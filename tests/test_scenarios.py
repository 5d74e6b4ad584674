"""Small logs under `tests/scenarios/`, a file a subject: each has to give the cause, and where it says so the ranks, hosts and certainty.

A scenario holds the files that a user hands over, what is told beside them (`world_size`, `exit_code`), and what an expert
concludes from these alone. `why` says what the verdict turns on where the name does not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from .told import cause, culprits, told

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FOLDER = Path(__file__).parent / "scenarios"
SCENARIOS = [
    pytest.param(row, id=f"{path.stem}: {row['name']}")
    for path in sorted(FOLDER.glob("*.yaml"))
    for row in yaml.load(path.read_text(encoding="utf-8"), LOADER)
]
TOLD_BESIDE = ("world_size", "exit_code")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_gets_its_verdict(tmp_path: Path, scenario: dict[str, Any]) -> None:
    report = told(tmp_path, scenario["files"], **{name: scenario[name] for name in TOLD_BESIDE if name in scenario})

    found = report.diagnosis
    said = {
        "cause": cause(report),
        "outcome": report.outcome,
        "culprits": culprits(report),
        "hosts": [c.host for c in found.culprits if c.host] if found else [],
        "certainty": found.certainty if found else None,
    }
    wanted = {name: scenario[name] for name in said if name in scenario}
    assert wanted == {name: said[name] for name in wanted}
