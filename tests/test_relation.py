"""Which suspect may explain which: by the words of a cause's `explains`."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose

CAUSE = """title: {name}
means: It is a {name}.
owner: platform
restart: 'yes'
explains: [{explains}]
remedy:
  - {{when: now, text: Look at it.}}
references: [https://example.com/{name}]
"""
RULE = """title: a {name} was said
role: cause
match: line
why: The machine says so.
forms:
  - literals: [acme {name}]
    pattern: '^acme {name} broke'
    examples: [{{text: acme {name} broke}}]
says: The {name} broke.
references: [https://example.com/{name}]
counter_examples: [{{text: the {name} works, because: nothing broke}}]
"""


def test_what_begins_too_long_after_a_cause_is_not_its_consequence(tmp_path: Path) -> None:
    for name, explains in (("pump", "{cause: acme.valve, because: a pump shuts it, within_s: 60}"), ("valve", "")):
        folder = tmp_path / "acme" / name
        folder.mkdir(parents=True)
        (folder / "cause.yaml").write_text(CAUSE.format(name=name, explains=explains))
        (folder / "says-so.yaml").write_text(RULE.format(name=name))
    log = "2026-11-20 10:00:00,000 acme pump broke\n2026-11-20 10:20:00,000 acme valve broke\n"

    report = diagnose(Text(log, name="x.log"), rules=tmp_path)

    assert report.diagnosis is not None
    assert not any(link.to == "acme.valve" for link in report.chain)


@pytest.mark.parametrize(("flag", "root"), [("told_late: true", "acme.pump"), ("where: any", "acme.valve")])
def test_cause_that_may_be_told_after_one_consequence_wins_against_it(tmp_path: Path, flag: str, root: str) -> None:
    """pyxis prints `container start failed` first and the log of enroot, which has the reason, below."""
    for name, explains in (("pump", f"{{cause: acme.valve, because: a pump shuts it, {flag}}}"), ("valve", "")):
        folder = tmp_path / "acme" / name
        folder.mkdir(parents=True)
        (folder / "cause.yaml").write_text(CAUSE.format(name=name, explains=explains))
        (folder / "says-so.yaml").write_text(RULE.format(name=name))

    report = diagnose(Text("acme valve broke\nacme pump broke\n", name="x.log"), rules=tmp_path)

    assert root == report.diagnosis.cause
