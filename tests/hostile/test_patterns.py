"""Text that keeps patterns busy: work grows with the text, and a pattern that ran out of time once is off."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from diagnose.catalogue.load import load_rules
from diagnose.catalogue.matcher import Matcher, PatternTimeout


def test_a_pattern_that_ran_out_of_time_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def search(text: str, timeout: float) -> None:
        asked.append(text)
        raise TimeoutError

    rule = next(r for r in load_rules().rules.values() if r.forms[0].prefix is None)
    matcher = Matcher([rule])
    monkeypatch.setattr(matcher, "compiled", lambda *_: SimpleNamespace(search=search))
    for text in ("one", "two"):
        with pytest.raises(PatternTimeout):
            matcher.verify(rule.forms[0], text)

    assert asked == ["one"]
