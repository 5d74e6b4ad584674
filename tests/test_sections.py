"""A text that shows several files: what `tail`, `head`, `more`, a loop or `grep -r` print is read file by file."""

from __future__ import annotations

import io
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose import Text, diagnose
from diagnose.sources.log_forms import MAX_SHOWN_BYTES, has_sections, read_sections
from diagnose.sources.source import find_sources

STEP = "step 12 loss 2.1734\n"
FAILED = (
    'Traceback (most recent call last):\n  File "/app/train.py", line 31, in <module>\n    x = int(field)\n'
    "ValueError: invalid literal for int() with base 10: 'abc'\n"
)
LOST = (
    'Traceback (most recent call last):\n  File "/app/train.py", line 40, in <module>\n    dist.all_reduce(x)\n'
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:4173\n"
)
FILES = {"logs/rank0.log": STEP + LOST, "logs/rank1.log": STEP + FAILED, "logs/rank2.log": STEP + LOST}


def shown(text: str) -> dict[str, str]:
    return {source.name: (source.open().read() or b"").decode() for source in find_sources([Text(text, "<stdin>")])}


def as_tail(files: dict[str, str]) -> str:
    return "\n".join(f"==> {name} <==\n{text}" for name, text in files.items())


def as_more(files: dict[str, str]) -> str:
    return "".join(f"{':' * 14}\n{name}\n{':' * 14}\n{text}" for name, text in files.items())


def as_loop(files: dict[str, str]) -> str:
    return "".join(f"=== {name} ===\n{text}" for name, text in files.items())


def as_grep(files: dict[str, str]) -> str:
    return "".join(f"{name}:{n}:{line}\n" for name, text in files.items() for n, line in enumerate(text.splitlines(), 1))


def as_grep_around(files: dict[str, str]) -> str:
    def line_of(name: str, n: int, line: str) -> str:
        mark = ":" if "Error" in line else "-"
        return f"{name}{mark}{n}{mark}{line}\n"

    return "--\n".join(
        "".join(line_of(name, n, line) for n, line in enumerate(text.splitlines(), 1)) for name, text in files.items()
    )


@pytest.mark.parametrize("show", [as_tail, as_more, as_loop, as_grep, as_grep_around])
def test_the_rank_is_told_by_the_name_of_the_file_that_a_paste_shows(show):
    report = diagnose(Text(show(FILES), "<stdin>"))
    assert [culprit.rank for culprit in report.diagnosis.culprits] == [1]
    assert report.diagnosis.evidence[0].file == "<stdin>!logs/rank1.log"


@pytest.mark.parametrize("show", [as_more, as_loop, as_grep])
def test_every_line_of_every_file_is_given(show):
    assert shown(show(FILES)) == {f"<stdin>!{name}": text for name, text in FILES.items()}


def test_tail_itself_is_read(tmp_path):
    for name in ("a.log", "b"):
        (tmp_path / name).write_text(STEP)
    text = subprocess.run(
        ["tail", "-n", "5", "a.log", "b"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown(text) == {"<stdin>!a.log": STEP + "\n", "<stdin>!b": STEP}


def test_what_tail_follows_in_turns_is_joined():
    text = "==> a.log <==\none\n\n==> b.log <==\ntwo\n\n==> a.log <==\nthree\n"
    assert shown(text) == {"<stdin>!a.log": "one\n\nthree\n", "<stdin>!b.log": "two\n\n"}


def test_a_prompt_above_the_first_file_is_kept():
    text = "me@node-3:~$ tail -n 1 *.log\n==> a.log <==\none\n"
    assert shown(text) == {"<stdin>!a.log": "me@node-3:~$ tail -n 1 *.log\none\n"}


def test_what_lies_behind_the_bytes_looked_through_goes_with_the_file_that_was_open_there():
    text = b"==> a.log <==\none\n==> b.log <==\n" + b"x" * MAX_SHOWN_BYTES + b"\nlast"
    assert [(name, (stream.read() or b"")[-4:]) for name, stream in read_sections(io.BytesIO(text))] == [
        ("a.log", b"one\n"), ("b.log", b"last"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "==> Starting training <==\nstep 1\n",
        "=== Epoch 1 ===\nstep 1\n",
        "==================\ntrain.py FAILED\n------------------\n",
        "# rank0.log holds the traceback\nstep 1\n",
        "train.py:31: UserWarning: a.log\ntrain.py:32: x\ntrain.py:33: y\n",
        "a.log:1:one\nstep 1\nstep 2\n",
        "2026-11-20 10:00:00 INFO writes to out.log\n" * 4,
    ],
)
def test_a_banner_is_not_the_head_of_a_file(text):
    assert not has_sections(text.encode())


@given(
    st.dictionaries(st.sampled_from(["a.log", "b/c.err", "rank 3.out"]), st.text("xy:-> .log\n", max_size=60), min_size=1)
)
def test_nothing_of_a_paste_is_lost(files):
    files = {name: text + "\n" for name, text in files.items()}
    sections = {
        name: (stream.read() or b"").decode() for name, stream in read_sections(io.BytesIO(as_loop(files).encode()))
    }
    assert sections == files
