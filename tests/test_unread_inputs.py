"""What could not be read is told where everyone looks, and bounds how sure a verdict is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from diagnose import SourceError, diagnose

OOM = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB.\n"


def gaps(*paths: Path) -> list[str]:
    return [gap.text for gap in diagnose(*paths).gaps]


def test_a_log_that_may_not_be_opened_is_among_what_was_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(OOM)
    real = open

    def closed(path: object, *rest: object, **named: object) -> object:
        if str(path).endswith("b.log"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", closed)
    assert f"Not read: {tmp_path}/b.log: permission denied." in gaps(tmp_path)


def test_of_many_files_unread_for_one_reason_three_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM)
    for n in range(5):
        (tmp_path / f"{n}.7z").write_bytes(b"7z\xbc\xaf\x27\x1cxxxx")
    named = ", ".join(f"{tmp_path}/{n}.7z" for n in range(3))
    assert f"Not read: {named} and 2 more: a 7z archive, which is not opened." in gaps(tmp_path)


def test_what_holds_no_log_is_not_missed(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM)
    (tmp_path / "b.log").write_bytes(b"")
    (tmp_path / "model.pt").write_bytes(bytes(range(256)) * 40)
    assert not any("Not read" in gap for gap in gaps(tmp_path))


def test_a_verdict_on_what_a_budget_left_is_at_most_likely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Path(__file__).parent.parent / "fixtures" / "cuda-oom-one-rank" / "logs" / "h100-r6-n03.log"
    for n in range(9):
        (tmp_path / f"{n}.log").write_bytes(log.read_bytes() if n == 0 else b"step 1\n")
    whole = diagnose(tmp_path).diagnosis
    clock = iter(range(10_000))
    monkeypatch.setattr("diagnose.sources.bounds.time", SimpleNamespace(monotonic=lambda: next(clock) / 10))
    part = diagnose(tmp_path, budget_s=4).diagnosis
    assert whole is not None
    assert "certain" != part.certainty


def test_a_run_that_a_budget_cut_is_not_called_healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(9):
        (tmp_path / f"{n}.log").write_text(f"[rank{n}]: step 10 loss 1.5\nTraining completed successfully.\n")
    whole = diagnose(tmp_path).outcome
    clock = iter(range(10_000))
    monkeypatch.setattr("diagnose.sources.bounds.time", SimpleNamespace(monotonic=lambda: next(clock) / 10))
    assert (whole, diagnose(tmp_path, budget_s=4).outcome) == ("healthy", "unfinished")


def test_logs_that_nobody_may_read_are_no_folder_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "rank_0.log.7z").write_bytes(b"7z\xbc\xaf\x27\x1cxxxx")
    (tmp_path / "ds_config.json").write_text('{"train_batch_size": 8, "zero_optimization": {"stage": 3}}')
    with pytest.raises(SourceError, match=r"rank_0\.log\.7z: binary: a 7z archive, which is not opened \(and 1 more\)"):
        diagnose(tmp_path)
