"""Compiles the catalogue into the wheel: a user's first run parses no YAML and builds no automaton.

What is built here is data: JSON, and the native library's own form of the literals, which it refuses where it was built by
another version or for another processor; then a run builds its own. An editable install has none: its rules change.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCatalogue(BuildHookInterface):
    """Puts `diagnose/built/` into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the files, and say where in the wheel they go."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        self._scratch = tempfile.TemporaryDirectory()
        for name, data in built(Path(self.root)).items():
            path = Path(self._scratch.name, name)
            path.write_bytes(data)
            build_data["force_include"][str(path)] = f"diagnose/built/{name}"


def built(root: Path) -> dict[str, bytes]:
    """Yield the files by name: the catalogue, the automaton of its literals, and the tables of each room."""
    import yaml

    from diagnose.catalogue.automaton import built_name, compiled
    from diagnose.catalogue.compiled import to_bytes
    from diagnose.catalogue.load import load_rules
    from diagnose.scan.scan_rules import ScanRules

    catalogue = load_rules(fresh=True)
    literals = ScanRules(catalogue).literals
    tables = sorted(path for path in root.glob("diagnose/*/*.yaml") if path.parent.name != "rules")
    plain = {path: json.dumps(yaml.safe_load(path.read_bytes())).encode() for path in tables}
    files = {f"{path.parent.name}-{path.stem}.json": data for path, data in plain.items()}
    assert len(files) == len(tables), "two tables of one name"
    files["catalogue.json"] = to_bytes(catalogue)
    with suppress(ImportError):  # a system for which it has no wheel
        import hyperscan

        files[built_name(literals)] = hyperscan.dumpb(compiled(hyperscan, literals))
    return files
