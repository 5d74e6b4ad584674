"""What the package shows is what it promises."""

from __future__ import annotations

import subprocess
import sys

import diagnose


def test_public_names_are_sorted_and_all_there() -> None:
    assert sorted(diagnose.__all__) == diagnose.__all__
    assert all(getattr(diagnose, name) is not None for name in diagnose.__all__)


def test_a_submodule_import_does_not_hide_the_function_of_the_same_name() -> None:
    from diagnose import diagnose as function
    from diagnose import render

    assert callable(function)
    assert callable(render)


def test_importing_the_package_loads_none_of_its_stages() -> None:
    code = "import sys, diagnose; print([m for m in sys.modules if m.startswith('diagnose.')])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


def test_no_submodule_has_the_name_of_a_public_function() -> None:
    """Importing such a module would put it in the function's place."""
    from pathlib import Path

    modules = {path.stem for path in Path(diagnose.__path__[0]).iterdir()}

    assert set() == modules & set(diagnose.__all__)
