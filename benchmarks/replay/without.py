"""Takes a function out of the package: what it returned becomes a constant, for everybody who has imported it."""

from __future__ import annotations

import sys
from ast import literal_eval
from importlib import import_module
from typing import Any


def take_out(spec: str) -> None:
    """Replace a function by a constant: `verdict.blame:is_shared=False`, `job.attempt:Attempts.holds=None`."""
    place, _, value = spec.partition("=")
    module_name, _, path = place.partition(":")
    module = import_module(f"diagnose.{module_name}")
    *owners, name = path.split(".")
    owner: Any = module
    for each in owners:
        owner = getattr(owner, each)
    was, constant = getattr(owner, name), literal_eval(value or "False")

    def replacement(*_args: Any, **_keywords: Any) -> Any:
        return constant

    setattr(owner, name, replacement)
    for other in [m for n, m in sys.modules.items() if n.startswith("diagnose") and m is not None]:
        for bound, held in list(vars(other).items()):
            if held is was:
                setattr(other, bound, replacement)
