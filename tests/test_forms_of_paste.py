"""Logs that reach us quoted, glued, wrapped, folded or behind labels of a few values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.errors import SourceError
from diagnose.lines.prefix import read_lines
from diagnose.sources.blocks import is_newest_first, read_blocks
from diagnose.sources.escapes import without_escapes
from diagnose.sources.normalise import normalise
from diagnose.sources.quotes import FenceMask
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


# --- what an editor of Markdown puts into a log that was pasted without a fence: backslashes, and numbers of a list ---

MISSING = """\\[rank1\\]: Traceback (most recent call last):
\\[rank1\\]:   File "/data/jobs/train\\_ddp.py", line 187, in main
\\[rank1\\]:     from flash\\_attn import flash\\_attn\\_func
\\[rank1\\]: ModuleNotFoundError: No module named 'flash\\_attn'
"""


@pytest.mark.parametrize("name", ["issue.md", "issue.txt"])
def test_a_log_in_a_numbered_list_is_read_though_no_fence_is_there(name: str) -> None:
    lines = MISSING.replace("\\", "").splitlines() * 2
    report = diagnose(Text("".join(f"{n}. {line}\n" for n, line in enumerate(lines, 1)), name=name))
    assert ("software.import-error", 4) == (report.diagnosis.cause, report.diagnosis.evidence[0].line)


def test_a_page_that_speaks_of_a_message_holds_no_log() -> None:
    page = "# Memory\n\n1. Run the job.\n2. Look for this message.\n3. Lower the batch size.\n\n[rank0]: CUDA out of memory.\n"
    with pytest.raises(SourceError, match="no log is quoted in it"):
        diagnose(Text(page, name="guide.md"))


@pytest.mark.parametrize(
    "printed",
    [
        b"+ grep -c '\\[rank0\\]' train_0.log\n",
        b"sample: x\\_1 + x\\_2 in step_12\n",
        b'{"msg": "\\[rank0\\] x\\_1"}\n',
        b"loading C:\\_data\\[old\\]\\shard_1.tar\n",
    ],
)
def test_a_log_keeps_the_backslashes_that_it_printed(printed: bytes) -> None:
    assert printed == without_escapes(printed)


# --- A log behind a margin, as a reply quotes it or a code block indents it, is the log ---------------------------

RAISED = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/job/train.py", line 40, in <module>\n'
    "[rank3]:     main()\n"
    "\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB\n"
    "node-7: Memory access fault by GPU node-1 (Agent handle: 0x560f905a1640) on address 0x10044f0000.\n"
)


@pytest.mark.parametrize("margin", ["> ", ">", "    ", "> > "])
def test_a_log_behind_a_margin_is_read(margin: str) -> None:
    lines = [margin + line if line else line for line in RAISED.splitlines()]
    report = diagnose(Text("\n".join(lines), name="paste.txt"))
    assert "memory.cuda-oom" == report.diagnosis.cause
    assert 5 == report.diagnosis.evidence[0].line


@pytest.mark.parametrize("width", [0, 140])
def test_a_log_copied_with_the_box_that_showed_it_is_read(width: int) -> None:
    lines = [f"\u2502 {line:{width}}\u2502" if width else f"\u2502 {line}" for line in RAISED.splitlines()]
    report = diagnose(Text("\n".join(lines), name="paste.txt"))
    assert "memory.cuda-oom" == report.diagnosis.cause
    assert (5, 3) == (report.diagnosis.evidence[0].line, report.diagnosis.culprits[0].rank)


@pytest.mark.parametrize("margin", ["   ", "> "])
def test_a_fence_in_a_list_or_a_reply_has_the_margin_of_its_lines(margin: str) -> None:
    lines = ["1. My job fails:", "", margin + "```bash", *(margin + line for line in RAISED.splitlines()), margin + "```"]
    report = diagnose(Text("\n".join(lines), name="paste.md"))
    assert "memory.cuda-oom" == report.diagnosis.cause
    assert 8 == report.diagnosis.evidence[0].line


def test_a_line_of_ray_quoted_between_prose_is_read() -> None:
    """An issue quotes the one line that it asks about, and goes on in words."""
    said = "> (autoscaler +32s) Error: No available node types can fulfill resource request {'CPU': 1.0, 'GPU': 1.0}. Add suitable "
    report = diagnose(Text(f"I met this error:\n\n{said}node types to this cluster to resolve this issue.\n\nThen I waited.\n"))
    assert "ray.unschedulable" == report.diagnosis.cause


# --- headings above the fences of an issue that say whose log stands in them --------------------------------------

RAISED_BELOW = 'Traceback (most recent call last):\n  File "/srv/train.py", line 88, in <module>\n    main()\n{}'
KEY = RAISED_BELOW.format("KeyError: 'target'")
LOST = RAISED_BELOW.format("RuntimeError: [/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.2]:9431")
ISSUE = "Training on two machines stops.\n\n{}\n```\n{}\n```\n\n{}\n```\n{}\n```\n"


@pytest.mark.parametrize("heading", ["Node {0} (rank {0}):", "### Rank {0} log", "**rank {0}**", "Output of global rank {0}:"])
def test_a_fence_below_a_heading_of_a_rank_is_that_ranks_log(heading: str) -> None:
    """Neither log says who speaks; the lines above them do."""
    issue = ISSUE.format(heading.format(0), LOST, heading.format(1), KEY)
    found = diagnose(Text(issue, "issue.md")).diagnosis
    assert (found.cause, [c.rank for c in found.culprits]) == ("process.exception", [1])


@pytest.mark.parametrize(
    ("heading", "log"),
    [
        ("Node rank {0}:", KEY),
        ("Then rank {0} crashes with this message:", KEY),
        ("Ranks 0 and {0}", KEY),
        ("Rank {0}", "[rank3]: KeyError: 'target'"),
        ("Worker {0}", KEY),
    ],
)
def test_what_is_no_label_of_a_log_names_no_rank(heading: str, log: str) -> None:
    """A sentence tells what happened; a node's number and a list are no rank; the log itself knows better."""
    issue = ISSUE.format(heading.format(0), log, heading.format(1), log).encode()
    mask = FenceMask()
    kept = mask.feed(issue)
    assert mask.with_ranks(kept) == kept


def test_one_heading_alone_names_no_rank() -> None:
    """It may stand above the console of all of them."""
    issue = f"Rank 1:\n```\n{KEY}\n```\n".encode()
    mask = FenceMask()
    kept = mask.feed(issue)
    assert mask.with_ranks(kept) == kept


# --- A traceback that stands in one line is read as its lines, and the line keeps its number ----------------------

VERTEX = (
    "The replica worker 2 exited with a non-zero status of 1. Termination reason: Error. "
    'Traceback (most recent call last): File "/usr/lib/python2.7/runpy.py", line 174, in _run_module_as_main '
    '"__main__", fname, loader, pkg_name) File "/app/trainer/task.py", line 88, in main import pandas '
    "ImportError: No module named pandas"
)
CHAIN = (
    'Traceback (most recent call last): File "/app/a.py", line 3, in load return d[k] KeyError: \'x\' '
    "During handling of the above exception, another exception occurred: "
    'Traceback (most recent call last): File "/app/a.py", line 9, in main load(d) RuntimeError: no x'
)


def test_lines_of_a_folded_traceback_are_parted_where_they_were() -> None:
    written = normalise(f"step 1\n{VERTEX}\nstep 2\n".encode())
    assert written.count(b"\n") == 3
    assert written.split(b"\n")[1].split(b"\r")[-3:] == [
        b'  File "/app/trainer/task.py", line 88, in main',
        b"    import pandas",
        b"ImportError: No module named pandas",
    ]


def test_both_exceptions_of_a_folded_chain_stand_on_lines_of_their_own() -> None:
    lines = normalise(CHAIN.encode()).split(b"\r")
    assert {b"KeyError: 'x'", b"RuntimeError: no x"} <= set(lines)


# --- an export that lists the newest line first is read as it was printed -----------------------------------------

PRINTED = [
    "step 40 loss 2.1",
    "[rank3]: Traceback (most recent call last):",
    '[rank3]:   File "/job/train.py", line 40, in <module>',
    "[rank3]:     main()",
    "[rank3]: OSError: [Errno 5] Input/output error: '/data/part-2568.jsonl'",
    "[rank0]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:51234",
    "stopping",
    "stopped",
]


def stamped(lines: list[str]) -> list[str]:
    return [f"2026-11-20T17:03:{n:02d}.000Z {line}" for n, line in enumerate(lines, 10)]


@pytest.mark.parametrize("end", ["\n", ""])
def test_the_cause_is_read_from_the_end(end: str) -> None:
    report = diagnose(Text("\n".join(reversed(stamped(PRINTED))) + end, name="loki.txt"))
    assert ("storage.io-error", [3]) == (report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits])
    assert ["loki.txt: newest first: it was read from its end, and its lines are numbered so, as `tac` gives them"] == [
        gap.text for gap in report.gaps if "newest" in gap.text
    ]


def test_a_clock_that_is_set_back_once_turns_nothing_round() -> None:
    lines = stamped(PRINTED)
    assert not is_newest_first("\n".join(lines[4:] + lines[:4]).encode())


def test_lines_of_one_time_are_not_turned_round() -> None:
    assert not is_newest_first("\n".join(f"2026-11-20T17:03:10.000Z {line}" for line in PRINTED).encode())


def test_a_few_times_in_other_text_turn_nothing_round() -> None:
    lines = [line for pair in zip(reversed(stamped(PRINTED)), PRINTED, PRINTED, strict=True) for line in pair]
    assert not is_newest_first("\n".join(lines).encode())


def test_lines_of_one_second_go_back_where_a_traceback_stands_upside_down() -> None:
    lines = [f"2026-11-20T17:03:11Z {line}" for line in reversed(PRINTED)]
    assert is_newest_first("\n".join([*lines, ""]).encode())


def test_a_traceback_within_one_second_is_not_turned_round() -> None:
    assert not is_newest_first("\n".join(f"2026-11-20T17:03:11Z {line}" for line in [*PRINTED, ""]).encode())


# --- what the cells of a notebook printed is a log; the code in them is none --------------------------------------

CELL_PRINTED = [
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
        {"name": "stderr", "output_type": "stream", "text": CELL_PRINTED},
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
    notebook(tmp_path / "old.ipynb", {"name": "stderr", "output_type": "stream", "text": CELL_PRINTED})
    (tmp_path / "train.log").write_text("step 1 loss 2.1\n", encoding="utf-8")
    report = diagnose(tmp_path)
    assert report.diagnosis is None
    assert ["a notebook among other files"] == [i.skipped.split(":")[0] for i in report.inputs if i.skipped]


def test_a_folder_of_a_notebook_alone_is_read(tmp_path: Path) -> None:
    notebook(tmp_path / "old.ipynb", {"name": "stderr", "output_type": "stream", "text": CELL_PRINTED})
    assert diagnose(tmp_path).diagnosis is not None
