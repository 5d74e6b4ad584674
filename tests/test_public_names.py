"""What the package shows is what it promises."""

from __future__ import annotations

import subprocess
import sys

import diagnose


def test_what_the_package_shows_is_its_public_names() -> None:
    assert dir(diagnose) == diagnose.__all__ == sorted(diagnose.__all__)
    assert all(getattr(diagnose, name) is not None for name in diagnose.__all__)
    assert "from diagnose import" in (diagnose.__doc__ or "")


def test_importing_the_package_loads_none_of_its_stages() -> None:
    code = "import sys, diagnose; print([m for m in sys.modules if m.startswith('diagnose.')])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


def test_no_submodule_has_the_name_of_a_public_function() -> None:
    """Importing such a module would put it in the function's place."""
    from pathlib import Path

    modules = {path.stem for path in Path(diagnose.__path__[0]).iterdir()}

    assert set() == modules & set(diagnose.__all__)
