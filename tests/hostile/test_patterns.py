"""Text that keeps patterns busy: work grows with the text, and a pattern that ran out of time once is off."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from diagnose import Text, diagnose
from diagnose.catalogue.load import load_rules
from diagnose.catalogue.matcher import Matcher, PatternTimeout

MOST_CPU_S = 10.0  # what one input may cost; both took more than a minute
LOGS = {
    "blanks behind words of a rule": 'Traceback (most recent call last):\n  File "t.py", line 1, in f\n'
    "ValueError: AutoEP with ZeRO Stage 3 does not support" + " " * 7900 + "\n",
    "a word of progress again and again": "step " * 200_000 + "\n",
}


@pytest.mark.parametrize("kind", LOGS)
def test_text_that_keeps_patterns_busy_ends_soon(kind: str) -> None:
    began = time.process_time()
    diagnose(Text(LOGS[kind], "train.log"))

    assert time.process_time() - began < MOST_CPU_S


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
