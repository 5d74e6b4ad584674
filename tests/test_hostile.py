"""Input made to hurt: it costs bounded memory and time, acts in no form, and hides no failure that stands beside it."""

from __future__ import annotations

import gzip
import json
import re
import resource
import subprocess
import sys
import tarfile
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .command_line import OOM, Answer, tell
from .told import watchdog

LOG = OOM.read_bytes()
MIB = 1 << 20
SECRET = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
EVIL = (
    f"\x1b[31m\x1b]0;pwn\x07<script>alert(1)</script> ``` ~~~ | & \" ' {{{{7331*1337}}}} {{% x %}} </details> \u202e {SECRET}"
)
# VmHWM and not ru_maxrss, which begins with what the parent had when it forked.
WORKER = """
import re, sys
from diagnose.cli import main
try:
    main(sys.argv[1:])
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def cause(answer: Answer) -> str:
    """The cause in a JSON answer."""
    return json.loads(answer.out)["diagnosis"]["cause"]


def culprits(answer: Answer) -> list[int | None]:
    """The ranks at fault in a JSON answer."""
    return [c["rank"] for c in json.loads(answer.out)["diagnosis"]["culprits"]]


def is_found(path: Path) -> bool:
    """Whether the memory failure that the input holds is found."""
    return cause(tell(path, "--format", "json")) == "memory.cuda-oom"


# --- dress ------------------------------------------------------------------------------------------------------------


# --- size -------------------------------------------------------------------------------------------------------------


def measured(*words: object) -> tuple[Answer, int, float]:
    """An answer of a fresh process, its peak memory in MiB, and its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", WORKER, *map(str, words)], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    *said, peak_kib = done.stderr.splitlines()
    return Answer(done.returncode, done.stdout, "\n".join(said)), int(peak_kib) // 1024, seconds


def test_a_line_of_a_hundred_megabytes_hides_nothing_and_costs_little(tmp_path):
    with (tmp_path / "job.log").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * MIB)
        file.write(b"\n" + LOG)

    answer, peak_mib, _ = measured(tmp_path / "job.log", "--format", "json")

    assert "memory.cuda-oom" == cause(answer)
    assert peak_mib < 300


def test_twenty_gigabytes_are_judged_by_their_tails_within_the_budget(tmp_path):
    for rank in range(16):
        with (tmp_path / f"rank{rank}.log").open("wb") as file:
            file.write(b"step 1 loss 2.0\n")
            file.seek(1280 * MIB)
            file.write(b"\n" + (LOG if rank == 2 else watchdog(rank).encode()))

    answer, peak_mib, seconds = measured(tmp_path, "--budget", "5", "--format", "json")

    assert ("memory.cuda-oom", [2]) == (cause(answer), culprits(answer))
    assert peak_mib < 300
    assert seconds < 8


def test_a_log_that_is_all_matches_costs_bounded_memory_and_time(tmp_path):
    """8 MB here; 200 MB of it took 31 s and 119 MB on two busy cores."""
    block = "".join(watchdog(rank) for rank in range(64)).encode()
    (tmp_path / "job.log").write_bytes(block * (8 * MIB // len(block)))

    answer, peak_mib, seconds = measured(tmp_path / "job.log", "--format", "json")

    assert "collective.timeout" == cause(answer)
    assert peak_mib < 300
    assert seconds < 20


def test_a_thousand_small_files_are_one_job(tmp_path):
    for rank in range(1000):
        (tmp_path / f"rank{rank}.log").write_text(watchdog(rank) if rank != 77 else "[rank77]: ValueError: bad\n")
    found = json.loads(tell(tmp_path, "--format", "json").out)["diagnosis"]
    assert [77] == [c["rank"] for c in found["culprits"]]


# --- containers -------------------------------------------------------------------------------------------------------


def test_bombs_go_off_in_bounded_memory(tmp_path):
    with gzip.open(tmp_path / "bomb.gz", "wb", 1) as file:
        for _ in range(100):
            file.write(b"\n" * MIB)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.log", "w") as member:
            for _ in range(100):
                member.write(b"0" * MIB)
        archive.writestr("b.log", LOG)

    answer, peak_mib, _ = measured(tmp_path, "--format", "json")

    assert "memory.cuda-oom" == cause(answer)
    assert peak_mib < 300


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 100_000, '{"entries": [' + "1," * 1000, "\x80\x04\x95pickle"]
)
@pytest.mark.parametrize("name", ["trace_rank_1.json", "error.json", "config.json", "job.scan.json", "collect.yaml"])
def test_what_only_looks_like_data_does_no_harm(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="latin-1")
    (tmp_path / "job.log").write_bytes(LOG)
    assert is_found(tmp_path)


# --- text that wants to act -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Errors whose every part is hostile, in a file whose name is too."""
    folder = tmp_path_factory.mktemp("evil") / "```<b>\x1b[31m"
    folder.mkdir()
    lines = [f"[rank{rank}]: ValueError: {EVIL}" for rank in range(3)]
    lines += ["Traceback (most recent call last):", f'  File "{EVIL}", line 3, in {EVIL}', f"RuntimeError: {EVIL}"]
    (folder / "<img src=x onerror=alert(1)>.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder.parent


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.images, self.text = 0, 0, ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.scripts += tag == "script"
        self.images += tag == "img"


@pytest.mark.parametrize("form", ["terminal", "markdown", "html", "json", "slack", "github", "junit"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_form_lets_a_log_act_or_a_secret_out(evil, form, lang):
    answer = tell(evil, "--format", form, "--lang", lang)
    assert 1 == answer.code
    assert SECRET not in answer.out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", answer.out)
    assert str(7331 * 1337) not in answer.out  # no template computed it; fewer digits stand in the names of folders


def test_html_gets_no_element_from_a_log(evil, tmp_path):
    (tmp_path / "plain.log").write_text("[rank0]: ValueError: plain\n")
    counts = []
    for path in (evil, tmp_path / "plain.log"):
        page = _Elements()
        page.feed(tell(path, "--format", "html").out)
        counts.append((page.scripts, page.images))

    assert counts[0] == counts[1]


def test_a_case_to_send_holds_no_secret(evil, tmp_path):
    assert 0 == tell("case", evil, "-o", tmp_path / "case.tar.gz").code
    with tarfile.open(tmp_path / "case.tar.gz") as case:
        text = b"".join(case.extractfile(m).read() for m in case if m.isfile())
    assert SECRET.encode() not in text


def test_command_to_paste_takes_a_path_of_the_log_as_one_word(tmp_path):
    log = tmp_path / "rank_0.log"
    log.write_text(
        'Traceback (most recent call last):\n  File "train.py", line 3, in load\n    Image.open(p)\n'
        "PIL.UnidentifiedImageError: cannot identify image file '/data/a.png; reboot'\n"
    )
    commands = [s["command"] for s in json.loads(tell(log, "--format", "json").out)["diagnosis"]["remedy"]]

    assert "ls -l '/data/a.png; reboot'; sha256sum '/data/a.png; reboot'" in commands
