"""Logs that reach us quoted, glued, wrapped, folded or behind labels of a few values."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.lines.prefix import read_lines
from diagnose.sources.blocks import read_blocks
from diagnose.sources.source import find_sources
from diagnose.sources.unwrap import unwrapped

OOM = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB"
STEPS = [f"[rank{n}]: step 40 loss 2.{n}" for n in range(4)]
QUOTED = "\n".join(f"> > {line}" for line in [*STEPS, OOM])
MAIL = f"From: Ana\nSubject: Re: the run\n\nWhich of them is it?\n\n> On Monday Bo wrote:\n> It stops:\n>\n{QUOTED}\n\nThanks\n"
def read(text: str, name: str) -> list[str]:
    (source,) = find_sources([Text(text, name)])
    return b"".join(block.data for block in read_blocks(source)).decode().split("\n")


def found(text: str, name: str) -> tuple[str, list[int | None]]:
    diagnosis = diagnose(Text(text, name)).diagnosis
    return (diagnosis.cause, [c.rank for c in diagnosis.culprits]) if diagnosis else ("", [])


@pytest.mark.parametrize("name", ["mail.txt", "mail.eml", "issue.md", "<text>"])
def test_a_log_that_a_mail_quotes_is_read_and_its_words_are_not(name: str) -> None:
    lines = read(MAIL, name)

    assert [*STEPS, OOM] == [line for line in lines if line]
    assert MAIL.split("\n").index(f"> > {OOM}") == lines.index(OOM)


def test_a_log_that_prints_lines_behind_an_angle_is_no_mail() -> None:
    log = (
        "> initializing torch distributed ...\n> padded vocab (size: 50257) with 47 dummy tokens\n"
        + "\n".join(STEPS)
        + "\n"
    )

    assert log.split("\n") == read(log, "megatron.txt")


@pytest.mark.parametrize("label", ["[node-{}] ", "gpu-a{}> ", "({}-main-a1) ".replace("{}", "w{}"), "<host-{}> "])
def test_a_label_that_names_one_of_a_few_places_is_taken_for_a_place(label: str) -> None:
    lines = [label.format(n % 2) + line for n, line in enumerate([*STEPS, *STEPS, OOM])]
    name = label.format(0).strip("[]<>() ")

    assert f"[pod/{name}/main] {STEPS[0]}" == read("\n".join(lines) + "\n", "both.log")[0]
    assert ("memory.cuda-oom", [3]) == found("\n".join(lines) + "\n", "both.log")


def test_numbers_of_devices_and_steps_are_no_places() -> None:
    for label in ("[step {}] ", "gpu{}> ", "[epoch-{}] ", "(layer{}) "):
        text = "".join(f"{label.format(n % 2)}INFO loss 2.{n}\n" for n in range(12))
        assert "[pod/" not in "".join(read(text, "train.log"))


def test_a_label_whose_lines_say_their_own_rank_is_that_rank() -> None:
    lines = [f"(w{n}) rank={n} world=4 ready" for n in range(4)] + [
        "(w2) Fatal Python error: Segmentation fault",
        "(w1) step 3",
    ]

    assert "[rank2]: Fatal Python error: Segmentation fault" in read("\n".join(lines) + "\n", "launch.log")


def test_what_a_collector_broke_at_a_width_is_joined_behind_its_label() -> None:
    said = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."
    parts = [said[at : at + 60] for at in range(0, len(said), 60)]
    copied = "trainer-1  | step 1\n" + "".join(f"trainer-1  | {part}\n" for part in parts) + "trainer-1  | done\n"

    joined = unwrapped(copied.encode(), lambda text: [(at := text.find(b"bus error encountered"), at + 90)])

    assert f"trainer-1  | {said}" == joined.decode().split("\n")[1]
    assert copied.count("\n") == joined.count(b"\n")


def test_what_another_process_of_the_host_wrote_into_a_line_is_a_line_of_its_own() -> None:
    line = "dl-5:221:301 [1] NCCL INFO Channel 02/0 : 1[1] -> 2[2] via SHM/directdl-5:223:303 [3] misc/shmutils.cc:87 NCCL WARN Error: x"

    assert [221, 223] == [part.prefix.pid for part in read_lines(1, line)]


def test_notebooks_beside_a_log_stay_unread(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{\n "cells": []\n}\n')
    (tmp_path / "b.log").write_text(OOM)

    assert [True, False] == [s.skipped is not None for s in sorted(find_sources([tmp_path]), key=lambda s: s.name)]


def test_a_stream_of_mail_is_read_like_a_file() -> None:
    (source,) = find_sources([io.BytesIO(MAIL.encode())])

    assert "markdown" == source.kind
