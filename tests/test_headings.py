"""Headings above the fences of an issue that say whose log stands in them."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.sources.quotes import FenceMask, name_fences

RAISED = 'Traceback (most recent call last):\n  File "/srv/train.py", line 88, in <module>\n    main()\n{}'
KEY = RAISED.format("KeyError: 'target'")
LOST = RAISED.format("RuntimeError: [/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.2]:9431")
ISSUE = "Training on two machines stops.\n\n{}\n```\n{}\n```\n\n{}\n```\n{}\n```\n"


@pytest.mark.parametrize("heading", ["Node {0} (rank {0}):", "### Rank {0} log", "**rank {0}**", "Output of global rank {0}:"])
def test_a_fence_below_a_heading_of_a_rank_is_that_ranks_log(heading: str) -> None:
    """Neither log says who speaks; the lines above them do."""
    issue = ISSUE.format(heading.format(0), LOST, heading.format(1), KEY)
    found = diagnose(Text(issue, "issue.md")).diagnosis
    assert (found.cause, [c.rank for c in found.culprits]) == ("process.exception", [1])


@pytest.mark.parametrize(
    ("heading", "log"),
    [
        ("Node rank {0}:", KEY),
        ("Then rank {0} crashes with this message:", KEY),
        ("Ranks 0 and {0}", KEY),
        ("Rank {0}", "[rank3]: KeyError: 'target'"),
        ("Worker {0}", KEY),
    ],
)
def test_what_is_no_label_of_a_log_names_no_rank(heading: str, log: str) -> None:
    """A sentence tells what happened; a node's number and a list are no rank; the log itself knows better."""
    issue = ISSUE.format(heading.format(0), log, heading.format(1), log).encode()
    kept = FenceMask().feed(issue)
    assert name_fences(issue, kept) == kept


def test_one_heading_alone_names_no_rank() -> None:
    """It may stand above the console of all of them."""
    issue = f"Rank 1:\n```\n{KEY}\n```\n".encode()
    kept = FenceMask().feed(issue)
    assert name_fences(issue, kept) == kept
