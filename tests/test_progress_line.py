"""The progress line: a bar on a terminal once reading takes a second, lines now and then elsewhere, gone at the end."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from diagnose.commands import progress_line
from diagnose.commands.progress_line import ProgressLine

from .command_line import OOM, tell


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file of a million bytes."""
    path = tmp_path / "x.log"
    path.write_bytes(b"x" * 1_000_000)
    return path


def test_terminal_shows_which_share_is_read(log, monkeypatch):
    monkeypatch.setattr(progress_line, "PATIENCE_S", 0.0)
    screen = Terminal()
    line = ProgressLine(screen, [str(log)])
    line(str(log), 500_000)
    assert "[############------------]  50% of 1 MB" in screen.getvalue()


def test_line_is_gone_when_the_report_comes(log, monkeypatch):
    monkeypatch.setattr(progress_line, "PATIENCE_S", 0.0)
    screen = Terminal()
    line = ProgressLine(screen, [str(log)])
    line(str(log), 500_000)
    line.finish()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_reading_within_a_second_shows_nothing(log):
    screen = Terminal()
    line = ProgressLine(screen, [str(log)])
    line(str(log), 1_000_000)
    line.finish()
    assert screen.getvalue() == ""


def test_what_unpacks_to_more_than_it_weighs_is_counted_without_a_share(log, monkeypatch):
    monkeypatch.setattr(progress_line, "PATIENCE_S", 0.0)
    screen = Terminal()
    ProgressLine(screen, [str(log)])(str(log), 9_000_000)
    assert screen.getvalue() == "\rdiagnose: read 9.0 MB of 1 files"


def test_pipe_gets_no_progress():
    assert "" == tell(OOM, "--format", "json").err


def test_v_says_how_each_input_was_taken(tmp_path):
    (tmp_path / "job.log").write_bytes(OOM.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"\x80\x00\x00\x00\x00\x00\x00\x00" + b'{"w":{"dtype":"F32"}}')
    told = tell(tmp_path, "-v", "-q").err
    assert f"{tmp_path}/job.log: text, 107.7 KiB" in told
    assert f"{tmp_path}/model.safetensors: not read: binary" in told
