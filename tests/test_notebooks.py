"""What the cells of a notebook printed is a log; the code in them is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnose import diagnose

PRINTED = [
    "Traceback (most recent call last):\n",
    '  File "/job/train.py", line 40, in <module>\n',
    "    main()\n",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB\n",
]
SHOWN = [
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
    "\x1b[0;31mOutOfMemoryError\x1b[0m                          Traceback (most recent call last)",
    "Cell \x1b[0;32mIn[3], line 1\x1b[0m\n\x1b[0;32m----> 1\x1b[0m \x1b[43mtrainer\x1b[49m\x1b[38;5;241m.\x1b[39mtrain()\n",
    "\x1b[0;31mOutOfMemoryError\x1b[0m: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 14.75 GiB",
]


def notebook(path: Path, *outputs: dict[str, object]) -> Path:
    source = ["# ValueError: not printed\n", 'raise RuntimeError("nor this")']
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": source, "outputs": list(outputs)}
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "output",
    [
        {"name": "stderr", "output_type": "stream", "text": PRINTED},
        {"ename": "OutOfMemoryError", "evalue": "CUDA out of memory", "output_type": "error", "traceback": SHOWN},
    ],
    ids=["a command's output", "what a cell raised"],
)
def test_an_output_is_read_at_its_line(tmp_path: Path, output: dict[str, object]) -> None:
    path = notebook(tmp_path / "train.ipynb", output)
    report = diagnose(path)

    assert "memory.cuda-oom" == report.diagnosis.cause
    line = path.read_text(encoding="utf-8").split("\n")[(report.diagnosis.evidence[0].line or 0) - 1]
    assert "CUDA out of memory. Tried" in line


def test_notebooks_of_a_folder_are_not_read(tmp_path: Path) -> None:
    notebook(tmp_path / "old.ipynb", {"name": "stderr", "output_type": "stream", "text": PRINTED})
    (tmp_path / "train.log").write_text("step 1 loss 2.1\n", encoding="utf-8")
    report = diagnose(tmp_path)

    assert report.diagnosis is None
    assert ["a notebook among other files"] == [i.skipped.split(":")[0] for i in report.inputs if i.skipped]


def test_a_folder_of_a_notebook_alone_is_read(tmp_path: Path) -> None:
    notebook(tmp_path / "old.ipynb", {"name": "stderr", "output_type": "stream", "text": PRINTED})

    assert diagnose(tmp_path).diagnosis is not None
