"""A label that a collector puts before each line is told from a line's own beginning, whoever the collector is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import Text, diagnose
from diagnose.sources.blocks import read_blocks, read_range
from diagnose.sources.labels import Rewriting, label_of
from diagnose.sources.source import find_sources

RAISED = [
    "Loading the data",
    "[rank3]: Traceback (most recent call last):",
    '[rank3]:   File "/job/train.py", line 40, in <module>',
    "[rank3]:     main()",
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.1 GiB",
    "python3: failed to map segment from shared object",
    "W1120 17:03:29.000000 61 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 77 closing signal SIGTERM",
    "E1120 17:03:30.000000 61 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 76)",
]
FORMS = {
    "logcli without labels": "2026-11-20T17:03:{n:02d}Z {{}} ",
    "aws logs tail": "2026-11-20T17:03:{n:02d}.120000+00:00 train/run-7/0f3c1e ",
    "a pipe behind the time": "2026-11-20 17:03:{n:02d}.123 | ",
    "a stream behind the time": "2026-11-20T17:03:{n:02d}.123Z [stderr] ",
    "Vertex AI": "ERROR 2026-11-20 17:03:{n:02d}.123456 +0000 workerpool0-0 ",
    "less -N": "{n:7d} ",
    "grep -n": "{n}:",
    "bat": "{n:4d}   │ ",
    "three blanks": "   ",
    "a name in brackets": "[llm train] ",
}


def labelled(form: str) -> str:
    return "".join(form.format(n=n) + line + "\n" for n, line in enumerate(RAISED, 7))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_stands_before_each_line_hides_no_line(form: str) -> None:
    report = diagnose(Text(labelled(form), name="export.log"))
    assert report.diagnosis is not None
    found = report.diagnosis
    assert ("memory.cuda-oom", [3]) == (found.cause, [c.rank for c in found.culprits])
    assert 5 == found.evidence[0].line


AMDGPU = [
    "[mmhub0] retry page fault (src_id:0 ring:0 vmid:3 pasid:32790)",
    "[mmhub0] no-retry page fault (src_id:0 ring:160 vmid:3 pasid:32790)",
    " for process python3.12 pid 6071 thread python3.12 pid 6071)",
    "  in page starting at address 0x0000709843600000 from IH client 0x12 (VMC)",
    "  cookie node_id 0 fault from die AID0",
    "VM_L2_PROTECTION_FAULT_STATUS:0x00360251",
    "     Faulty UTCL2 client ID: SDMA1 (0x101)",
    "     MORE_FAULTS: 0x1",
]


@pytest.mark.parametrize(
    "lines",
    [
        [f"GPU {n}: 00000000:{n}7:00.0 NVIDIA A100 80GB PCIe" for n in range(8)],
        [f"step {n}: loss {n / 7:.3f}" for n in range(20)],
        [f"{n}: started" for n in range(12)],
        [f"  {n:3d} | {2.5 - n / 10:.2f} | 1e-4" for n in range(1, 12)],
        [f"[rank{n % 4}]: Traceback (most recent call last):" for n in range(12)],
        [f'{{"time": "2026-11-20T17:03:{n:02d}Z", "msg": "x"}}' for n in range(12)],
        ["    Raises:", *["        ValueError: if it is wrong", "        KeyError: if it is gone"] * 4],
        [f"[19277.97555{n}] amdgpu 0000:3d:00.0: amdgpu: {x}" for n, x in enumerate(AMDGPU)],
        ["  Traceback", "no blanks here", *["  [rank0]: x"] * 6],
    ],
    ids=["devices", "steps", "tasks of srun", "a table of losses", "ranks", "JSON", "docstring", "a driver", "some lines only"],
)
def test_a_line_s_own_beginning_is_no_label(lines: list[str]) -> None:
    assert label_of("\n".join(lines).encode(), is_whole=True) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12), max_size=30))
def test_a_label_comes_off_with_every_line_in_its_place(lines: list[str]) -> None:
    data = "".join(f"[job 7] {line}\n" for line in lines).encode()
    assert "".join(f"{line}\n" for line in lines).encode() == Rewriting(((r"\[job\ \d{1,20}\]\ ", ""),)).feed(data)


def test_a_pod_s_name_in_a_label_is_kept(tmp_path) -> None:
    path = tmp_path / "pod.log"
    path.write_text("".join(f"llm-worker-3 pytorch {line}\n" for line in RAISED), encoding="utf-8")
    (source,) = find_sources([path])
    assert b"[pod/llm-worker-3/main] Loading the data\n" in b"".join(block.data for block in read_blocks(source))


def test_ranges_of_a_labelled_file_read_as_the_whole_does(tmp_path) -> None:
    path = tmp_path / "export.log"
    path.write_text(labelled(FORMS["Vertex AI"]) * 40, encoding="utf-8")
    (source,) = find_sources([path])
    cuts = [0, 1000, 7777, 20_000, None]
    parts = [block.data for start, end in pairwise(cuts) for block in read_range(source, start or 0, end)]

    assert source.label is not None
    assert b"".join(block.data for block in read_blocks(source)) == b"".join(parts)
