"""A known bug: what the table says of it, as steps. The fields come from `known_bugs`, which knows the version too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fact_store import Facts
from .step import Advice


def bug_advice(_cause: str, fields: Mapping[str, Any], _facts: Facts) -> tuple[Advice, ...]:
    """Yield the version that mends it and the way round until then."""
    library, fixed, around = fields.get("library"), fields.get("fixed_in"), fields.get("way_round")
    if not library:
        return ()
    steps: list[Advice] = []
    beside = f", beside {fields['beside']}" if fields.get("beside") else ""
    installed = f" ({fields['installed']} is installed{beside})" if fields.get("installed") else ""
    if fixed:
        text = f"Upgrade {library} to {fixed} or later{installed}, on every host."
        command = _text(fields.get("upgrade")) or upgrade_command(str(library), str(fixed))
        steps.append(Advice("now", text, command, replaces=True))
    if around and fixed:
        steps.append(Advice("fix", f"Until then: {around}", _text(fields.get("command"))))
    elif around:
        steps.append(Advice("now", f"{str(around)[:1].upper()}{str(around)[1:]}", _text(fields.get("command")), True))
    return tuple(steps)


def upgrade_command(library: str, version: str) -> str | None:
    """Yield the command that installs `version`; NCCL and the driver do not come by pip."""
    if library in ("driver", "kernel", "cuda"):
        return None
    if library == "nccl":
        return 'python -c "import torch; print(torch.cuda.nccl.version())"'
    return f"pip install -U '{library}>={version}'"


def _text(value: object) -> str | None:
    return str(value) if value else None
