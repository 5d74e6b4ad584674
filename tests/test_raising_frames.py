"""The same exception means different things by where it was raised and what was asked there."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources.source import Text

from .told import cause


def raised(file: str, function: str, code: str, exception: str) -> str:
    """The verdict on one rank's traceback."""
    lines = (
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 88, in <module>',
        "    main()",
        f'  File "{file}", line 57, in {function}',
        f"    {code}",
        exception,
    )
    return cause(diagnose(Text("".join(f"[rank0]: {line}\n" for line in lines), name="console.log")))


def test_a_search_for_transformer_engine_s_library_tells_that_it_is_missing() -> None:
    code = 'so_path = next(so_dir.glob(f"{name}.*.so"))'
    told = raised("/opt/transformer_engine/pytorch/__init__.py", "_load_library", code, "StopIteration")
    assert "software.import-error" == told
