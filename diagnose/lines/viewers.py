"""What the kernel's log, and the tools that lines are read with, put in front: one row per form, a sample beside each."""

from __future__ import annotations

from .row import DIGITS, LETTERS, LOG_TEXT, RAISED, Row, after, row

VIEWERS: tuple[Row, ...] = (
    row(
        "Markdown quote",
        ">",
        rf"> (?:(?=\((?:raylet[,)]|[A-Za-z]\w{{0,60}} (?:pid=|\+)\d))|{LOG_TEXT})",
        "> Traceback (most recent call last):",
        outer=True,
    ),
    row("Ctrl-C that the terminal echoed", "^", r"\^C(?=\S)", "^CTraceback (most recent call last):", outer=True),
    row(
        "Markdown emphasis",
        "*`",
        rf"(?:\*{{2,3}}|`{{1,2}})(?:(?=\[rank\d{{1,6}}\]:|{RAISED}: |\([A-Za-z]\w{{0,40}} pid=\d)|{LOG_TEXT})",
        "**RuntimeError: CUDA error: an illegal memory access was encountered**",
        outer=True,
        anywhere=True,  # people make bold what follows `[rank1]: `
    ),
    row(
        "Markdown code of one line",
        "`",
        r"`{1,3}(?=[^`\s][^`\n]{8,2000}`{1,3}\s{0,3}$)",
        "`Memory access fault by GPU node-2 (Agent handle: 0x5a0d7202eab0) on address 0x7d35a0c00000. Reason: Unknown.`",
        outer=True,
    ),
    row(
        "pytest",
        "E",
        r"E {3,60}(?=\S)",
        "E       RuntimeError: Process 1 exited with error code 10 and exception:",
        outer=True,
    ),
    row(
        "cat -n",
        " " + DIGITS,
        r" {0,5}\d{1,6}\t",
        "    17\t[rank3]: Traceback (most recent call last):",
        outer=True,
        needs="\t",
    ),
    row(
        "numbers with leading zeros",
        "0",
        r"0\d{5} {3}(?=\S| {2,12}File \"| {4}|$)",
        "000306   Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "gh run view --log",
        LETTERS,
        r"[^\t]{1,120}\t[^\t]{1,120}\t\ufeff?(?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z )",
        "train\tRun torchrun\t2026-11-20T10:00:01.1234567Z [rank3]: Traceback (most recent call last):",
        outer=True,
        needs="\t20",
    ),
    row(
        "grep -n",
        DIGITS,
        r"\d{1,9}[:-]" + LOG_TEXT,
        "1207:[rank3]: Traceback (most recent call last):",
        outer=True,
    ),
    *(
        row(
            f"grep, several files, .{suffix}",
            LETTERS + "./",
            rf"[\w./-]{{1,200}}\.{suffix}:(?:\d{{1,9}}:(?=\S| )|{LOG_TEXT}|(?=slurmstepd: |srun: ))",
            sample,
            outer=True,
            needs=f".{suffix}:",
        )
        for suffix, sample in (
            ("log", "logs/train.log:1207:[rank3]: Traceback (most recent call last):"),
            ("out", "runs/slurm-4711.out:slurmstepd: error: *** JOB 4711 ON n7 CANCELLED AT 2026-07-01T16:28:11 ***"),
            ("err", "./slurm-4711.err:12:srun: error: n7: task 0: Killed"),
            ("txt", "out/rank0.txt:[rank0]: Traceback (most recent call last):"),
        )
    ),
    row(
        "kmsg",
        DIGITS,
        r"\d{1,3},\d{1,12},(?P<boot_us>\d{1,18}),[^;\s]{1,20};",
        "6,1234,3667090810,-;python3 invoked oom-killer",
        outer=True,
        needs=";",
    ),
    row(
        "modal",
        after("[", "g"),
        r"\[gpu-health\] \[(?P<level>CRITICAL|WARN|INFO)\] (?:GPU-[\w-]{1,40}: )?[\w ]{2,30}: ",
        "[gpu-health] [CRITICAL] GPU-1234: XID: NVRM: Xid (PCI:0000:c6:00): 79, pid=1101234, GPU has fallen off the bus.",
        outer=True,
    ),
    row("printk level", "<", r"<\d{1,3}>(?=\[)", "<6>[ 3667.090810] python3 invoked oom-killer", outer=True),
    row("kernel, host cut off", "k", r"kernel: (?=\S)", "kernel: NVRM: Xid (PCI:0000:dc:00): 45", outer=True),
    row(
        "dmesg --decode",
        "kduas",
        r"(?:kern|daemon|user|auth|syslog) {0,4}:(?:emerg|alert|crit|err|warn|notice|info|debug) {0,4}: (?=\S)",
        "kern  :err   : [ 3667.090810] NVRM: Xid (PCI:0000:dc:00): 79",
        outer=True,
        needs=" : ",
    ),
    row("talos", "k", r"kern: {1,8}\w{3,8}: (?=\[)", "kern: warning: [2025-03-01T10:00:00.123Z]: NVRM: Xid", outer=True),
    row(
        "dmesg delta",
        ("[ ",),
        r"\[ {1,8}\+\d{1,8}\.\d{6}\] ?",
        "[  +0.000200] pcieport 0000:00:03.0: AER: error",
        outer=True,
    ),
    row(
        "cell before a time, as in a table copied from a log viewer",
        " |",
        r" {0,8}\|(?: {1,8}\|){0,4} (?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,Z+:-]{0,20} ?\| )",
        "  | 2025-05-16T16:39:51.208-07:00 | ip-10-36-29-253:79:79 [0] NCCL INFO cudaDriverVersion 12040",
        outer=True,
        needs=" | ",
    ),
    row(
        "viewer line number",
        after("[", DIGITS),
        r"\[\d{1,7}\] (?=\[(?:rank\d|[IWEF] |[IWEF]\d{3}))",
        "[1763] [rank3]:[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] [Rank 3]",
        outer=True,
    ),
)
