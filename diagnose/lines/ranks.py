"""How a process names its own rank at the head of a line, and the headers of c10: the commonest forms."""

from __future__ import annotations

from .row import LETTERS, LEVEL, LOG_TEXT, SAID, Row, after, row

# How a line about what a rank does goes on: its rule reads the rank with the rest, as `rank 0: saving to /ckpt`.
ACTIVITY = (
    r"(?!sav|load|check|down|up|writ|gather|eval|valid|gener|tokeni|pack|build|preproc|fetch|data|wait|stuck|compil|train|"
    r"finish|done|end|start|begin|resum|runn|epoch|step|iter|batch|my |all |no |out )"
)
RANKS: tuple[Row, ...] = (
    row(  # `%(levelname)s [rank 0] %(name)s: %(message)s`; what was raised has the form of a name too
        "rank tag and logger",
        ("[r",),
        r"\[rank ?[:=]? ?(?P<rank>\d{1,6})\]:? (?!wandb:|[\w.]{0,60}(?:Error|Exception|Interrupt|Exit|Warning)\b)"
        rf"(?P<origin>[a-z_][\w.]{{0,60}})(?:: | - ){SAID}",
        "[rank 0] train: step 2/12 loss=0.4821 lr=0.833 8.1 it/s",
    ),
    row(  # Lightning's main process so labels what it says of a child, `[rank: 1] Child process with PID 9 terminated …`
        "rank tag",
        ("[r",),
        r"\[rank ?[:=]? ?(?P<rank>\d{1,6})\](?::(?: |$)?| (?!Child process with PID)|$)",
        "[rank3]: Traceback (most recent call last):",
    ),
    row(  # what is left of a progress bar that was wiped, or an item of a list in a paste: the tag follows as its own row
        "blanks before a rank tag",
        " ",
        r" {1,300}(?=\[rank ?[:=]? ?\d{1,6}\]:)",
        "                    [rank3]: Traceback (most recent call last):",
        needs="[rank",
    ),
    row("RANK tag", ("[R",), r"\[RANK[ :=]?(?P<rank>\d{1,6})\]:? ?", "[RANK:0] config loaded"),
    row(  # c10 says so of a rank in a group, behind a header of its own, and of what it waited for
        "Rank tag",
        ("[R",),
        rf"\[Rank (?P<rank>\d{{1,6}})\]:? {LOG_TEXT}",
        "[Rank 3] Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "short rank tag",
        ("(", "[r"),
        r"[(\[]r(?P<rank>\d{1,5})[)\]]:? (?=\S)",
        "(r1) augmentation failed, leaving the loop",
    ),
    row("PID tag", ("[P",), r"\[PID:(?P<pid>\d{1,8})\] ", "[PID:603] [RANK:3] loaded"),
    row(
        "bare rank tag",
        "r",
        r"rank(?P<rank>\d{1,6}): ?(?=\[| |[A-Z])",
        "rank0: Traceback (most recent call last):",
        needs=":",
    ),
    row(
        "rank in words",
        "rR",
        rf"[Rr]ank (?P<rank>\d{{1,6}})(?::| \|) {LOG_TEXT}",
        "rank 3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ),
    row(
        "rank in words, before words",  # `print(f"rank {rank}: …")`; numbers behind it are a table of ranks
        "rR",
        rf"[Rr]ank (?P<rank>\d{{1,6}}): {ACTIVITY}(?=[a-z]{{2,20}}(?: [a-z]|,))",
        "rank 2: loss is inf, stopping training",
    ),
    row(
        "olmo",
        after("[", LETTERS),
        r"\[(?P<origin>[\w.]{1,80}:\d{1,6}), rank=(?P<rank>\d{1,6})\] ?",
        "[olmo.util:158, rank=6] loading",
        needs=", rank=",
    ),
    row(
        "composer",
        "r",
        rf"rank(?P<rank>\d{{1,6}})\[(?P<pid>\d{{1,8}})\]\[\w{{1,40}}\]: {LEVEL}: (?P<origin>[\w.]{{1,80}}): ",
        "rank0[1234][MainThread]: ERROR: composer.cli.launcher: Global rank 0 exited",
    ),
    row(
        "c10 2.4",
        after("[", "IWEFV"),
        r"\[(?P<at>(?P<level>[IWEFV])\d{3,4} \d\d:\d\d:\d\d\.\d{9}) (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught",
    ),
    row(
        "c10",
        after("[", "IWEF"),
        r"\[(?P<level>[IWEF]) (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[E ProcessGroupNCCL.cpp:737] [Rank 3] Watchdog caught collective operation timeout",
    ),
    row(  # a selection that began one character late, in the first line of many a paste
        "c10, its bracket lost",
        "IWEF",
        r"(?:(?P<at>(?P<level>[IWEF])\d{3,4} \d\d:\d\d:\d\d\.\d{9}) |[IWEF] )(?P<origin>[\w./]{1,120}\.[ch]pp:\d{1,6})\] ?",
        "W715 09:24:02.297720466 TCPStore.cpp:330] [c10d] TCP client failed to connect/validate to host",
        needs="pp:",
    ),
)
