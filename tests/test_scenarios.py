"""Small logs under `tests/scenarios/`, a file a subject: each has to give the cause, and where it says so the ranks, hosts and certainty.

A scenario holds the files that a user hands over, what is told beside them (`world_size`, `exit_code`), and what an expert
concludes from these alone: `line` is that of the first proof, `shows` what stands in it, `summary_has` what the summary says,
and `not_…` what must not be concluded. `why` says what the verdict turns on where the name does not.
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
    proof = found.evidence[0] if found and found.evidence else None
    said = {
        "cause": cause(report),
        "outcome": report.outcome,
        "culprits": culprits(report),
        "hosts": [c.host for c in found.culprits if c.host] if found else [],
        "certainty": found.certainty if found else None,
        "line": proof.line if proof else None,
    }
    wanted = {name: scenario[name] for name in said if name in scenario}
    assert wanted == {name: said[name] for name in wanted}
    assert [name for name in said if scenario.get(f"not_{name}", ...) == said[name]] == []
    assert scenario.get("not_culprit") not in said["culprits"]
    assert [text for text in scenario.get("summary_has", ()) if not found or text not in found.summary] == []
    assert [text for text in scenario.get("shows", ()) if not proof or text not in proof.text] == []
