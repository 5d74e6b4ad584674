"""rich's tracebacks where its log handler, a launcher and a narrow console dress them; texts printed by rich 10 to 14."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose
from diagnose.lines.prefix import read_lines
from diagnose.sources.normalise import normalise
from diagnose.traces.traceback import Traceback, find_tracebacks

RAISED = "CUDA error: an illegal memory access was encountered while the optimizer stepped the embedding of rank 2"
HANDLER = """\
[11/23/26 05:32:24] INFO     step 10 loss 2.1                      train.py:22
                    ERROR    training failed                       train.py:24
                             ╭─ Traceback (most recent call last─╮
                             │ /srv/jobs/train.py:15 in step     │
                             │                                   │
                             │   12 │   raise RuntimeError("CUDA │
                             │ ❱ 15 │   return inner(batch, obje │
                             │                                   │
                             │ ╭───── locals ──────╮             │
                             │ │ batch = [1, 2, 3] │             │
                             │ ╰───────────────────╯             │
                             │                                   │
                             │ /srv/jobs/layers/embedding.py:12  │
                             │ in inner                          │
                             │                                   │
                             │ ❱ 12 │   raise RuntimeError("CUDA │
                             ╰───────────────────────────────────╯
                             RuntimeError: CUDA error: an illegal
                             memory access was encountered while
                             the optimizer stepped the embedding
                             of rank 2
                             Compile with `TORCH_USE_CUDA_DSA` to
                             enable device-side assertions.

                             The above exception was the direct
                             cause of the following exception:

                             ╭─ Traceback (most recent call last─╮
                             │ /srv/jobs/train.py:23 in main     │
                             ╰───────────────────────────────────╯
                             ValueError: step failed
[11/23/26 05:32:25] INFO     exiting                               train.py:26
"""
NARROW = """\
                    ERROR    training failed   train.py:30
                             ╭─ Traceback (m─╮
                             │ /srv/jobs/tra │
                             │ in.py:17 in   │
                             │ main          │
                             ╰───────────────╯
                             RuntimeError:
                             CUDA error: an
                             illegal memory
                             access was
                             encountered while
                             the optimizer
                             stepped the
                             embedding of rank
                             2
"""
PLAIN = """\
╭────────── Traceback (most recent call last) ──────────╮
│ /srv/jobs/train.py:15 in step                         │
╰───────────────────────────────────────────────────────╯
RuntimeError: CUDA error: an illegal memory access was
encountered while the optimizer stepped the embedding of
rank 2
step 11 loss 2.1
"""
ASCII = HANDLER.translate(str.maketrans({"╭": "+", "╮": "+", "╰": "+", "╯": "+", "─": "-", "│": "|", "❱": ">"}))
LAUNCHERS = {
    "none": "{}",
    "srun -l": "2: {}",
    "torch": "[rank2]: {}",
    "torchrun --tee": "[default2]:{}",
    "Ray": "(Trainer pid=2811, ip=10.0.0.2) {}",
    "Windows": "{}\r",
}


def dressed(text: str, launcher: str) -> str:
    return "".join(LAUNCHERS[launcher].format(line) + "\n" for line in text.splitlines())


def tracebacks(text: str) -> list[Traceback]:
    lines = normalise(text.encode()).decode().split("\n")
    return [tb for tb in find_tracebacks([x for n, line in enumerate(lines, 1) for x in read_lines(n, line)]) if tb.frames]


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("text", [HANDLER, ASCII], ids=["drawn", "ascii"])
def test_a_box_behind_the_time_column_is_a_traceback_with_its_chain(text: str, launcher: str) -> None:
    """Its title is cut, its messages are wrapped, and the sentence between two exceptions is, too."""
    (found,) = tracebacks(dressed(text, launcher))
    (cause,) = found.links
    assert (found.exception, found.message) == ("ValueError", "step failed")
    assert cause.message.split("\n") == [RAISED, "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."]
    assert [f.function for f in cause.frames] == ["step", "inner"]
    assert cause.frames[-1].file == "/srv/jobs/layers/embedding.py"


@pytest.mark.parametrize("text", [HANDLER, NARROW, PLAIN, ASCII], ids=["handler", "narrow", "plain", "ascii"])
@pytest.mark.parametrize("launcher", ["none", "srun -l", "Ray"])
def test_what_was_raised_is_recognised_though_it_was_wrapped(text: str, launcher: str) -> None:
    """No line of these holds `an illegal memory access`."""
    found = diagnose(Text(dressed(text, launcher), "job.log")).diagnosis
    assert found.cause == "gpu.illegal-access"
    assert "Error: CUDA error: an illegal" in found.evidence[0].text or "RuntimeError:" in found.evidence[0].text


def test_what_follows_a_box_at_the_edge_is_not_its_message() -> None:
    """The last word of the message had room for the next line's first one."""
    assert normalise(PLAIN.encode()).decode().split("\n")[3:7] == [f"RuntimeError: {RAISED}", "", "", "step 11 loss 2.1"]


def test_two_ranks_boxes_are_woven_line_by_line_and_stay_apart() -> None:
    """Each line bears its task's label."""
    other = HANDLER.replace("embedding", "attention")
    woven = "".join(
        f"{n}: {line}\n" for pair in zip(HANDLER.splitlines(), other.splitlines(), strict=True) for n, line in enumerate(pair)
    )
    assert {tb.links[0].frames[-1].file for tb in tracebacks(woven)} == {
        "/srv/jobs/layers/embedding.py", "/srv/jobs/layers/attention.py",
    }  # fmt: skip
