"""What may follow a time at the head of a line, and may only follow one: one row per form, a sample beside each."""

from __future__ import annotations

from .piped import LEVELLED_PIPES, PIPED
from .resiliency import STAMPED_MONITORS
from .row import DIGITS, HOST, LETTERS, LEVEL, LOG_TEXT, LOGGER, LOWER, SAID, SOURCE, Row, after, row

# A logger's name, file or thread with what sets it off
NAME = (
    r"(?!\[?\(?[Rr](?:ank|ANK)|\[?\d)(?:\[(?P<origin>[\w./:<> -]{1,60})\](?: - |[ :|]{1,3})|"
    r"[\w./<>-]{1,60}(?::[\w<>]{1,40}){0,2}(?: ?[|:\]] ?| - ))"
)

SECOND_NAME = NAME.replace("?P<origin>", "?:")

AFTER_STAMP: tuple[Row, ...] = (
    *STAMPED_MONITORS,
    row(
        "CRI",
        (" s",),
        r" (?P<stream>stdout|stderr) [FP](?::\w{1,20})?(?: |$)",
        "2026-05-15T12:14:08.815954978Z stderr F W0515 12:14:08.815000 82",
        kind="zone",
    ),
    row(
        "logcli, Loki's labels",
        (" {",),
        r" \{(?:\w{1,60}=\"[^\"]{0,200}\", ){0,20}?(?:pod=\"(?P<pod>[^\"]{1,253})\"(?:, \w{1,60}=\"[^\"]{0,200}\"){0,20}"
        r"|\w{1,60}=\"[^\"]{0,200}\")\}(?: |$)",
        '2026-11-20T10:00:05Z {container="pytorch", pod="llm-worker-3"} [rank3]: KeyError: 12',
        kind="zone",
        needs='="',
    ),
    row(
        "aws logs tail",
        after(" ", LETTERS),
        rf" (?:[\w.-]{{1,100}}/){{0,3}}(?:(?P<host>algo-\d{{1,4}})(?:-\d{{10,13}})?|[0-9a-f]{{32}}) {LOG_TEXT}",
        "2026-11-20T10:00:05.123000+00:00 algo-1-1795168700 [rank3]: KeyError: 12",
        kind="zone",
    ),
    row(
        "uvicorn, after time",
        " ",
        r" (?P<level>INFO(?=: {5}\S)|WARNING(?=: {2}\S)|(?:ERROR|DEBUG)(?=: {4}\S)): +",
        "[2025-08-02 19:24:20] INFO:     Application startup complete.",
    ),
    row(
        "syslog",
        after(" ", LETTERS + DIGITS),
        rf" (?P<host>(?!\d{{4}}-\d\d-){HOST}) (?:kernel|(?P<origin>[\w./()@-]{{1,60}}?)(?:\[(?P<pid>\d{{1,8}})\])?): ?",
        "Mar 21 07:18:53 node0056 kernel: [2752089.385738] pcieport 0000:00:1c.4: AER",
        kind="syslog",
        needs=": ",
    ),
    row(
        "slurm, LogTimeFormat=thread_id",
        " ",
        r" \d{1,8} slurm\w{1,8} {1,6}0x[0-9a-f]{4,16}: (?=\S)",
        "May 20 07:32:44.587076 360746 slurmstepd   0x40000004af00: error: pyxis: couldn't start container",
        needs=": ",
    ),
    row(
        "journal, ISO",
        after(" ", LETTERS + DIGITS),
        rf" (?P<host>{HOST}) (?:kernel|mmfs|(?P<origin>[\w./()@-]{{1,60}})\[(?P<pid>\d{{1,8}})\]): ?",
        "2026-11-20T17:03:28.123456+08:00 node7 slurmd[811]: error: oom",
        kind="zone",
        needs=": ",
    ),
    row(
        "journal, seconds since boot",
        after(" ", LETTERS + DIGITS),
        rf" (?:(?P<host>{HOST}) )?kernel: ",
        "[ 3318.829119] kernel: INFO: task python:17963 blocked for more than 122 seconds.",
        needs=" kernel: ",
    ),
    row("mpirun --timestamp-output", "[", r"(?=\[\d)", "Fri Nov 20 16:59:19 2026[1,0]<stdout>:step 3"),
    row(
        "logging, level first",
        (" -",),
        rf" - {LEVEL} - (?P<origin>[A-Za-z_][\w.]{{1,120}}) - ",
        "11/20/2026 17:03:56 - INFO - llmtuner.hparams.parser - Process rank: 0",
    ),
    row(
        "logging, name first",
        (" -",),
        rf" - (?P<origin>[A-Za-z_][\w.-]{{0,120}}) - {LEVEL}(?: - |: ?)(?:[\w./-]{{1,80}}\.py:\d{{1,6}} - )?",
        "2026-11-20 17:03:56,100 - lmdeploy - ERROR - base.py:53 - RuntimeError: PyTorch is not available.",
    ),
    row("logging, level", (" -",), rf" - {LEVEL} {{0,5}}(?:-|:) ", "2026-11-20 17:03:56,100 - ERROR - failed"),
    row(
        "pbs",
        ";",
        r";[0-9a-fA-F]{4};[\w@.-]{1,80};(?:Job|Svr|Node|Req|Que|Fil|Act|Hook);[^;\n]{0,120};",
        "04/18/2016 22:55:25;0008;PBS_Server.12149;Job;7082041.sched1;Job deleted at request of root@sched1",
    ),
    row("logging, [level]", (" -",), rf" - \[{LEVEL}\] {{0,5}}(?:-|:) ", "2025-05-22 03:33:36 - [ERROR] - failed"),
    *LEVELLED_PIPES,
    row(
        "loguru",
        (" |",),
        rf" \| {LEVEL} {{0,6}}\| (?P<origin>[\w.<>]{{1,120}}:[\w<>]{{1,80}}:\d{{1,6}}) - ",
        "2026-11-20 17:03:28.123 | ERROR    | __main__:main:12 - failed",
    ),
    row(
        "logging, level and name",
        (" |", " -", " [", " ", "\t", "[", ":", ","),
        rf" ?[|:,-]? ?\[?{LEVEL}\]?[\t ]{{0,10}}[|:-]? ?{NAME}(?:{SECOND_NAME})?{SAID}",
        "2026-11-22 11:17:33,609 [INFO] trainer: step 4 loss 0.8181",
    ),
    row(
        "logging, name and level",
        (" |", " -", " [", " ", "\t", "[", ":", ","),
        rf" ?[|:,-]? ?{NAME}\[?{LEVEL}\]?[\t ]{{0,10}}[|:-]? ?{SAID}",
        "2026-11-22 11:17:33,609 [trainer] [INFO] step 4 loss 0.8181",
    ),
    row(
        "name, rank of size and level",
        after(" ", LETTERS + "_"),
        rf" (?P<origin>[A-Za-z_][\w.-]{{0,40}})\[(?P<rank>\d{{1,6}})/\d{{1,6}}\]:? {{1,3}}{LEVEL}"
        r"(?::|[\t ]{1,5}|$)[\t ]?",
        "2026-11-20T17:03:28.123Z trainer[2/8] WARN  caught SIGTERM, leaving",
        needs="/",
    ),
    *PIPED,
    row("viewer of a log", (" |",), r" \| ", "2026-05-01 18:52:10.983 | (EngineCore pid=256) KeyError: failed"),
    row(
        "hydra",
        "[",
        rf"\[(?P<origin>[\w.]{{1,120}})\]\[{LEVEL}\](?: - | |$)",
        "[2026-11-20 17:38:31,819][train][INFO] [rank2] world size 3",
    ),
    row("rank in brackets", (" [",), r" \[(?P<rank>\d{1,6})\]: ?", "[2026-11-20T17:03:28] [3]: loss 2.1", kind="bracket"),
    row(
        "the first letter of a level, name and source",
        (" D", " I", " W", " E", " F"),
        r" (?P<level>[DIWEF]) {1,3}(?:[\w.-]{1,40} )?(?P<origin>[\w./-]{1,80}:\d{1,6})\] ?",
        "2026-11-20 17:03:28,123 I proc0 trainer:66] ep 0 it 2 loss 1.3567",
        needs="] ",
    ),
    row(
        "the first letter of a level",
        (" D", " I", " W", " E", " F"),
        r" (?P<level>[DIWEF]) (?=\S)",
        "11-22 22:43:49 E license server returned code 9",
    ),
    row(
        "structlog",
        (" [",),
        r" \[(?P<level>debug|info|warning|error|critical) {0,5}\] ",
        "2026-11-22 23:20:09 [error    ] cannot parse the metadata       rank=1",
    ),
    row(
        "metaflow",
        (" [",),
        r" \[\d{1,12}/[\w.-]{1,60}/\d{1,12} \(pid (?P<pid>\d{1,8})\)\] (?:\[[0-9a-f-]{36}\] )?",
        "2023-04-26 05:30:12.100 [177/train/578 (pid 27411)] {'loss': 2.1}",
    ),
    row(
        "tensorrt-llm",
        (" [",),
        r" \[TRT-LLM\] (?:\[(?:RANK|MPI_Rank) (?P<rank>\d{1,6})\] )?\[(?P<level>[FEWIVD])\] "
        r"(?:\[(?P<origin>[a-z][\w.]{1,40})\] )?",
        "[07/07/2026-03:31:36] [TRT-LLM] [RANK 1] [E] [executor] Traceback (most recent call last):",
        needs="[TRT-LLM] [",
    ),
    row(
        "ucx",
        (" [",),
        rf" \[(?P<host>{HOST}):(?P<pid>\d{{1,8}}) ?:\d{{1,6}}\] {{1,20}}(?P<origin>[\w.]{{1,60}}:\d{{1,6}}) {{1,6}}"
        r"UCX {1,5}(?P<level>FATAL|ERROR|WARN|DIAG|INFO|DEBUG|TRACE|REQ|DATA|ASYNC|FUNC|POLL) {1,5}",
        "[1645552289.027611] [n31:723275:0]      ib_mlx5_dv.c:161  UCX  ERROR   mlx5dv_devx_obj_create(QP) failed",
        needs="UCX ",
    ),
    row(
        "slurm daemon",
        (" [",),
        r" \[\d{1,10}\.\w{1,12}\] ",
        "[2026-11-20T17:03:28.123] [285996.0] error: Detected 1 oom-kill event(s)",
    ),
    row(
        "vllm",
        (" [",),
        rf" \[(?P<origin>{SOURCE})\](?!:) ?",
        "08-12 04:11:20 [core.py:1136] EngineCore encountered a fatal error.",
    ),
    row(
        "vllm, old",
        after(" ", LETTERS + "_"),
        r" (?P<origin>[\w./]{1,120}\.py:\d{1,6})\] ?",
        "08-12 04:11:20 llm_engine.py:161] Initializing an LLM engine",
        needs="] ",
    ),
    row(
        "determined",
        after(" ", DIGITS + "abcdef"),
        r" (?P<container>[0-9a-f]{8}) (?:\[rank=(?P<rank>\d{1,6})\] )?\|\| ",
        "[2024-05-01T10:00:00.123Z] fa88a9df [rank=1] || Traceback",
        needs="||",
    ),
    row(
        "ray serve",
        after(" ", LETTERS + "_"),
        r" [A-Za-z_][\w.-]{0,80} (?:\d{1,8}|[a-z\d]{8}|(?:\d{1,3}\.){3}\d{1,3}|[\w.-]{1,80}#\w{6})"
        r"(?: [\da-f-]{36})?(?: /\S{0,80})?(?: [\w-]{1,60})? (?:-- |(?P<origin>[\w./]{1,80}\.py:\d{1,6}) - )",
        "2025-06-11 13:15:51,444 controller 45327 -- Exception in Replica",
        needs="- ",
    ),
    row(
        "torch 2.1",
        after(" ", LOWER + "_"),
        rf" (?P<origin>[a-z_][\w.]{{1,160}}): \[{LEVEL}\] ?",
        "[2024-01-02 03:04:05,678] torch.distributed.elastic.agent.server.api: [WARNING] Received 1 death signal",
        needs=": [",
    ),
    row(
        "torch_npu",
        (" (",),
        r" \(PID:(?P<pid>\d{1,8}), Device:(?:(?P<device>\d{1,3})|-1), RankID:(?:(?P<rank>\d{1,6})|-1)\) ",
        "2026-11-20-17:03:28 (PID:603, Device:0, RankID:3) ERR02200 DIST call hccl api failed.",
    ),
    row(
        "ray python",
        "\t ",
        rf"[\t ]{LEVEL} (?P<origin>[\w./]{{1,120}}\.py:\d{{1,6}}) -- (?::event_summary:)?",  # what drivers get
        "2026-11-20 17:08:38,422\tINFO worker.py:2038 -- Started a local Ray instance.",
        needs=" -- ",
    ),
    row(
        "olmo, tabs",
        "\t",
        rf"\t(?P<host>{HOST}):(?P<local_rank>\d{{1,3}})\t(?P<origin>[\w.]{{1,80}}:\d{{1,6}})\t{LEVEL}\t",
        "2026-11-20 17:03:28.123\tgpu-7.example:3\tolmo_core.train:123\tINFO\tstep 3",
    ),
    row(
        "tensorflow",
        ":",
        r": (?P<level>[IWEF]) (?P<origin>[^\]\s]{1,200}:\d{1,6})\] ?",
        "2018-08-27 11:00:20.310201: I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU",
    ),
    row(
        "transformers, after time",
        " ",
        r" >> ",
        "2026-07-07 01:27:59,666 >> ***** Running training *****",
        needs=" >> ",
    ),
    row(
        "level and source",
        " ",
        rf" {{1,4}}{LEVEL} {{1,5}}\[(?P<origin>{SOURCE}|{LOGGER})\] ?",
        "2026-11-20 17:03:28 INFO     [trainer.py:88] started",
        needs="] ",
    ),
    row(
        "basicConfig, after time",
        " \t",
        rf"[ \t]{{1,4}}{LEVEL}:(?P<origin>[A-Za-z_]\w{{0,60}}(?:\.\w{{1,60}}){{1,9}}|root|__main__):(?! )",
        "2026-11-20 17:03:28,123 ERROR:composer.cli.launcher:Rank 2 crashed with exit code -11.",
    ),
    row(
        "level",
        " \t",
        rf"[ \t]{{1,4}}{LEVEL}(?:: ?| - |[ \t]{{1,5}}|$)",
        "2024-05-30 14:20:00.104 INFO: MACE version: 0.3.5",
    ),
    row(
        "slime",
        after(" ", LETTERS + "_"),
        r" (?P<origin>[\w./-]{1,120}\.py:\d{1,6}) - ",
        "[2025-12-17 14:10:28] timer.py:32 - Timer actor_train end (elapsed: 81.3s)",
        needs=" - ",
    ),
    row(
        "areal, ignite",
        after(" ", LETTERS),
        rf" (?P<origin>[A-Za-z][\w.-]{{0,80}}(?: [A-Z][\w-]{{0,20}}){{0,2}}) {LEVEL}: ",
        "20260320-11:20:06.245 Generation Manager ERROR: Error cleaning up worker actor/0",
    ),
    row(
        "lepton",
        ("  ",),
        r" {2}\[[a-z]\w{0,20}\]: ",
        "2025-12-15 14:39:19.047571115  [s6]: RuntimeError: CUDA error: an illegal memory access was encountered",
        needs="]: ",
    ),
    row("stamp alone", " \t", r"[ \t]", "2026-02-16T10:48:25.681Z Exception raised from checkTimeout"),
    row("stamp and colon", ":", r": ?", "2026-11-20 17:03:28: started"),
)
