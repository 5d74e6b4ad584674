"""Texts of less common programs, read cause by cause: what was told wrongly, or not at all."""

from __future__ import annotations

import pytest

from diagnose import diagnose
from diagnose.sources.source import Text
from diagnose.sources.unwrap import as_typed


def cause_of(text: str) -> str | None:
    found = diagnose(Text(text, name="console.log")).diagnosis
    return found.cause if found else None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("forward compatibility was attempted on non supported HW", "gpu.driver-mismatch"),
        ("PTX JIT compiler library not found", "gpu.driver-mismatch"),
        ("invalid program counter", "gpu.illegal-access"),
        ("too many blocks in cooperative launch", "process.exception"),
        ("peer mapping resources exhausted", "nccl.topology"),
    ],
)
def test_an_error_of_the_cuda_runtime_keeps_its_cause_in_any_librarys_words(error: str, expected: str) -> None:
    assert expected == cause_of(f"RuntimeError: CUDA failed with error {error}\n")
    assert expected == cause_of(f"RuntimeError: CUDA error: {error}\n")


def test_a_record_in_json_keeps_its_curly_quotes() -> None:
    """A straight one would end the string that it stands in."""
    text = '{"severity": "ERROR", "message": "the file \u201ca.pt\u201d: CUDA out of memory. Tried to allocate 2.00 GiB"}\n'

    assert b"\xe2\x80\x9c" in as_typed(b"x\n  " + text.encode())
