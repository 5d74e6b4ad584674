"""The tables of `prefixes.py`: one row per launcher or logger form, with a sample line beside each.

A pattern's named groups are fields of `Prefix`; `at` is where a stamp stands, `level` a severity in any spelling.
Rows are tried in order among those that may start with the character at hand.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

from .lazy_pattern import lazy

__all__ = ["AFTER_STAMP", "GLUED", "GLUED_AFTER_BAR", "IN_GROUP", "LEADING", "SPEAKER", "Row"]

_LOWER, _DIGITS, _ALPHA = string.ascii_lowercase, string.digits, string.ascii_letters
_LEVEL = r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|ERR|NOTICE|TRACE|SUCCESS|SUCC|VINFO)"
_HOST = r"[A-Za-z0-9][\w.-]{0,62}"
_SOURCE = r"[\w./<>+-]{1,160}:\d{1,6}"
_LOGGER = r"[A-Za-z_]\w{0,40}(?:\.\w{1,60}){1,9}"
_IP = r"[\da-fA-F.:]{3,45}"
# What a line's text must begin with before `word: ` or `word | ` in front of it is taken as a name.
_LOG_TEXT = (
    r"(?=\[(?:rank|default|[IWEF][ \d]|\d{4}-|INFO|WARN|ERROR)|\d{4}-\d\d-\d\d[T ]|\d\d/\d\d/\d{2,4} \d\d:|"
    r"[IWEF]\d{3,4} \d\d:|(?:INFO|WARNING|ERROR|DEBUG)[ :]|Traceback \(most|[\w.]{1,80}(?:Error|Exception): |"
    r" {2,12}File \"| {4}|[\w.-]{1,63}:\d+:\d+ \[\d|NCCL version|terminate called|Fatal Python error|"
    r" {0,2}\d{1,3}%\||\*{3}|Killing subprocess|\{['\"]loss['\"])"
)
# `python3: can't open file`, `fp16: True`, `cuda0: ...` are words with digits, not hosts.
_NOT_HOST = (
    r"(?!(?:python|pip|cuda|gpu\d?:|nccl|rank|step|epoch|iter|layer|stage|mlx|ib|eth|fp|bf|int|utf|sm_?\d|v\d)"
    r"\d*\.?\d*:)"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One form of prefix."""

    name: str
    starts: str | tuple[str, ...]  # characters that may begin it; two-character strings for a bracket and what follows
    pattern: str  # compiled when a line first begins so: a run meets few of these forms
    sample: str
    outer: bool = False  # printed by a launcher around the process: never found after a rank or logger header
    needs: str = ""  # literal that must occur in the line: a cheap test before the pattern
    kind: str = ""  # of the stamp before it ("zone", "syslog", "bracket"), for rows that follow one


def _row(name: str, starts: str | tuple[str, ...], pattern: str, sample: str, **more: bool | str) -> Row:
    return Row(name, starts, pattern, sample, **more)  # type: ignore[arg-type]


def _after(opening: str, second: str) -> tuple[str, ...]:
    return tuple(opening + character for character in second)


LEADING = (
    # -- rank tags and the headers of c10 first, being the commonest
    _row(
        "rank tag",
        ("[r",),
        r"\[rank ?[:=]? ?(?P<rank>\d{1,6})\](?::(?: |$)?| |$)",
        "[rank3]: Traceback (most recent call last):",
    ),
    _row("RANK tag", ("[R",), r"\[RANK[ :=]?(?P<rank>\d{1,6})\]:? ?", "[RANK:0] config loaded"),
    _row("PID tag", ("[P",), r"\[PID:(?P<pid>\d{1,8})\] ", "[PID:603] [RANK:3] loaded"),
    _row(
        "bare rank tag",
        "r",
        r"rank(?P<rank>\d{1,6}): ?(?=\[| |[A-Z])",
        "rank0: Traceback (most recent call last):",
        needs=":",
    ),
    _row(
        "olmo",
        _after("[", _ALPHA),
        r"\[(?P<origin>[\w.]{1,80}:\d{1,6}), rank=(?P<rank>\d{1,6})\] ?",
        "[olmo.util:158, rank=6] loading",
        needs=", rank=",
    ),
    _row(
        "composer",
        "r",
        rf"rank(?P<rank>\d{{1,6}})\[(?P<pid>\d{{1,8}})\]\[\w{{1,40}}\]: {_LEVEL}: (?P<origin>[\w.]{{1,80}}): ",
        "rank0[1234][MainThread]: ERROR: composer.cli.launcher: Global rank 0 exited",
    ),
    _row(
        "c10 2.4",
        _after("[", "IWEFV"),
        r"\[(?P<at>(?P<level>[IWEFV])\d{3,4} \d\d:\d\d:\d\d\.\d{9}) (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught",
    ),
    _row(
        "c10",
        _after("[", "IWEF"),
        r"\[(?P<level>[IWEF]) (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[E ProcessGroupNCCL.cpp:737] [Rank 3] Watchdog caught collective operation timeout",
    ),
    # -- launchers
    _row(
        "srun -l",
        " " + _DIGITS,
        r" {0,5}(?P<task>\d{1,6}):(?:$| (?![a-z][\w.@-]{0,30}: <))",
        " 1: frame #4: <unknown function> + 0xdbbf4",
        outer=True,
        needs=":",
    ),
    _row("srun -l, heterogeneous", "P", r"P\d{1,3} {1,6}(?P<task>\d{1,6}): ?", "P0  3: loading", outer=True),
    _row(
        "pdsh by address",
        _DIGITS,
        r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3}): ?",
        "10.0.1.11: [2023-12-15 18:01:40,510] [INFO] [axolotl:200] [PID:3310] [RANK:0] config",
        outer=True,
        needs=": ",
    ),
    _row(
        "kmsg",
        _DIGITS,
        r"\d{1,3},\d{1,12},(?P<boot_us>\d{1,18}),[^;\s]{1,20};",
        "6,1234,3667090810,-;python3 invoked oom-killer",
        outer=True,
        needs=";",
    ),
    _row(
        "kubectl --prefix",
        ("[p",),
        r"\[pod/(?P<pod>[^/\]\s]{1,253})/(?P<container>[^\]\s]{1,253})\] ?",
        "[pod/llm-worker-0/pytorch] [rank3]: Traceback (most recent call last):",
        outer=True,
    ),
    _row(
        "stern",
        _LOWER,
        r"(?P<pod>[a-z0-9][a-z0-9-]{0,200}-(?:worker|master|launcher|head|chief|server|node|replica|ps)"
        r"-\d{1,5}(?:-[a-z0-9-]{1,20})?) (?P<container>[a-z][a-z0-9-]{0,62}) " + _LOG_TEXT,
        "llm-worker-3 pytorch [rank3]: Traceback (most recent call last):",
        outer=True,
    ),
    _row(
        "mpirun --tag-output",
        ("[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9", "[0", "[p"),
        rf"\[(?:\d{{1,10}},|\d{{1,10}},mpirank:|prterun-[^\]\s]{{1,120}}@\d{{1,10}},)?(?P<rank>\d{{1,6}})"
        rf"(?:,(?P<host>{_HOST}))?\](?:<(?P<stream>stdout|stderr|stddiag)>): ?",
        "[1,3]<stderr>:Traceback (most recent call last):",
        outer=True,
        needs="]<std",
    ),
    _row(
        "torchrun --tee",
        _after("[", _LOWER),
        r"\[(?!rank)[a-z][a-z_-]{0,40}(?P<local_rank>\d{1,4})\]:(?: (?! ))?",
        "[default2]:[rank2]: KeyError: 'target'",
        needs="]:",
    ),
    _row(
        "torchelastic, rank and local rank",
        _after("[", _LOWER),
        r"\[[a-z][a-z_-]{0,40}(?P<rank>\d{1,6})\|(?P<local_rank>\d{1,4})\]:",
        "[trainer0|0]:Traceback (most recent call last):",
        outer=True,
        needs="]:",
    ),
    _row(
        "nccl, host cut off",
        _after("[", _DIGITS),
        r"\[(?P<device>\d{1,3})\] (?:(?P<origin>[^\s\[\]]{1,120}:\d{1,6}) )?NCCL (?P<level>WARN|INFO) ",
        "[0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer",
        needs=" NCCL ",
    ),
    _row(
        "host and local rank",
        _after("[", _ALPHA),
        rf"\[(?P<host>{_HOST}):(?P<local_rank>\d{{1,2}})\]: ?",
        "[gpu-node-07:0]: Traceback (most recent call last):",
        outer=True,
        needs="]:",
    ),
    _row(
        "torchx",
        _ALPHA,
        r"(?P<actor>[A-Za-z][\w.-]{0,60})/(?P<node_rank>\d{1,5}) (?=\[(?:default|rank|[IWEF][ \d]))",
        "B-nemo-ft3/0 [default1]:[rank1]: Traceback (most recent call last):",
        outer=True,
        needs="/",
    ),
    _row(
        "milabench device",
        _LOWER,
        r"(?P<actor>[a-z][\w-]{0,60})\.D(?P<device>\d{1,2}) \[(?P<stream>stdout|stderr)\] ",
        "llama.D0 [stderr] Traceback (most recent call last):",
        outer=True,
        needs=" [std",
    ),
    _row(
        "milabench",
        _LOWER,
        rf"(?P<actor>[a-z][\w-]{{0,60}})\.(?P<host>{_HOST}) \[(?P<stream>stdout|stderr)\] ",
        "diffusion-nodes.cn-n001 [stderr] [rank14]: RuntimeError",
        outer=True,
        needs=" [std",
    ),
    _row(
        "nccl",
        _ALPHA + _DIGITS,
        rf"(?P<host>{_HOST}):(?P<pid>\d{{1,8}}):(?P<tid>\d{{1,8}}) (?:\[(?P<device>\d{{1,3}})\] )?"
        r"(?:[\d.]{1,20} )?(?:(?P<origin>[^\s\[\]]{1,120}:\d{1,6}) )?NCCL"
        r" (?P<level>WARN|INFO|TRACE|CALL|ABORT|VERSION)(?: |$)",
        "node0:115:273 [3] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect failed",
        needs=" NCCL ",
    ),
    _row(
        "pdsh",
        _ALPHA,
        rf"{_NOT_HOST}(?P<host>localhost|(?=[A-Za-z.-]{{0,40}}\d){_HOST}): " + _LOG_TEXT,
        'gpu004:   File "/data/v/src/train_bash.py", line 14, in <module>',
        outer=True,
        needs=": ",
    ),
    _row(
        "compose",
        _ALPHA,
        rf"(?!{_LEVEL.replace('?P<level>', '?:')}\b)(?P<container>[A-Za-z][\w.-]{{0,60}}) {{1,40}}\| " + _LOG_TEXT,
        "trainer-1  | [rank0]: Traceback (most recent call last):",
        outer=True,
        needs=" | ",
    ),
    _row(
        "compose, plain text",
        _LOWER,
        r"(?P<container>[a-z][\w.]{0,40}-\d{1,4} {0,40}|[a-z][\w.-]{0,40}  )\ {0,40}\| (?=[^|]{0,400}$)",
        "service  | starting",
        outer=True,
        needs=" | ",
    ),
    _row(
        "ray, vllm",
        "(",
        rf"\((?:(?P<actor>[A-Za-z_][^()=]{{0,80}}?)(?: rank=(?P<rank>\d{{1,6}}))? )?pid=(?P<pid>\d{{1,8}})"
        rf"(?:, ip=(?P<ip>{_IP}))?\) ?",
        "(Trainer pid=28717, ip=10.0.0.2) step 3",
        outer=True,
        needs="pid=",
    ),
    _row(
        "ray daemon",
        "(",
        rf"\((?P<actor>raylet|gcs_server|autoscaler|scheduler)(?: \+[\dhms]{{1,12}})?(?:, ip=(?P<ip>{_IP}))?\) ?",
        "(raylet, ip=10.0.0.2) Workers (tasks / actors) killed due to memory pressure",
        outer=True,
    ),
    _row(
        "skypilot",
        "(",
        rf"\((?P<actor>[a-z][\w-]{{0,40}})(?:, rank=(?P<node_rank>\d{{1,5}}))?, pid=(?P<pid>\d{{1,8}})(?:,"
        rf" ip=(?P<ip>{_IP}))?\) ?",
        "(worker1, rank=1, pid=2102, ip=10.0.0.5) step 3",
        outer=True,
    ),
    _row(
        "RFC 5424",
        "<",
        rf"<\d{{1,3}}>1 (?P<at>[\dT:.Z+-]{{19,40}}) (?P<host>{_HOST}) (?P<origin>\S{{1,48}}) (?:"
        rf"(?P<pid>\d{{1,8}})|-) \S{{1,32}} (?:-|\[[^\]]{{0,400}}\]) ?",
        "<34>1 2026-11-20T17:03:28.003Z node7 python 4711 - - RuntimeError",
        outer=True,
    ),
    _row("printk level", "<", r"<\d{1,3}>(?=\[)", "<6>[ 3667.090810] python3 invoked oom-killer", outer=True),
    _row(
        "talos", "k", r"kern: {1,8}\w{3,8}: (?=\[)", "kern: warning: [2025-03-01T10:00:00.123Z]: NVRM: Xid", outer=True
    ),
    _row(
        "dmesg delta",
        ("[ ",),
        r"\[ {1,8}\+\d{1,8}\.\d{6}\] ?",
        "[  +0.000200] pcieport 0000:00:03.0: AER: error",
        outer=True,
    ),
    _row(
        "viewer line number",
        _after("[", _DIGITS),
        r"\[\d{1,7}\] (?=\[(?:rank\d|[IWEF] |[IWEF]\d{3}))",
        "[1763] [rank3]:[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] [Rank 3]",
        outer=True,
    ),
    _row(
        "open mpi signal",
        _after("[", _ALPHA),
        rf"\[(?P<host>{_HOST}):(?P<pid>\d{{2,8}})\] (?=\*\*\*|Signal|Failing|\[ ?\d|PMIX|OPAL|ORTE)",
        "[node7:12345] *** Process received signal ***",
    ),
    # -- logger headers
    _row(
        "glog python, thread",
        "IWECFV",
        r"(?P<at>(?P<level>[IWECFV])\d{4} \d\d:\d\d:\d\d\.\d{6}) {1,6}(?P<tid>\d{10,20}) "
        r"(?:\[rank(?P<rank>\d{1,6})\]:)?(?P<origin>[^\]\s]{1,200}\.py:\d{1,6})\] ?",
        "W0622 19:47:13.438000 140373504014144 torch/distributed/elastic/multiprocessing/api.py:851] Sending process",
    ),
    _row(
        "glog python",
        "IWECFV",
        r"(?P<at>(?P<level>[IWECFV])\d{4} \d\d:\d\d:\d\d\.\d{6}) {1,6}(?P<pid>\d{1,9}) "
        r"(?:\[rank(?P<rank>\d{1,6})\]:)?(?P<origin>[^\]\s]{1,200}\.py:\d{1,6})\] ?",
        "W1120 17:43:00.792000 20960 torch/distributed/run.py:874] ",
    ),
    _row(
        "glog, absl",
        "IWEF",
        r"(?P<at>(?P<level>[IWEF])\d{4} \d\d:\d\d:(?:\d\d|\d{10})\.\d{6}) {1,6}(?P<tid>\d{1,20}) "
        r"(?P<origin>[^\]\s]{1,200}:\d{1,6})\] ?",
        "I0619 18:44:12.123456 12345 ProcessGroupNCCL.cpp:835] starting",
    ),
    _row(
        "ascend",
        _after("[", "DIWE"),
        rf"\[{_LEVEL}\] {{0,3}}\w{{2,20}}\((?P<pid>\d{{1,8}}),[^)]{{0,60}}\):"
        rf"(?P<at>\d{{4}}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{{3}})"
        r"(?:\.\d{3})? \[(?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[ERROR] HCCL(12345,python):2026-11-20-17:03:28.123.456 [task_exception.cc:527] [12350]Task run failed",
    ),
    _row(
        "level in brackets",
        _after("[", "DIWECFN"),
        rf"\[{_LEVEL}\](?: {{0,5}}\[(?P<origin>[^\]\s]{{1,160}}:\d{{1,6}}(?::\w{{1,80}})?|{_LOGGER})\])?:? {{0,4}}"
        r"(?=\[|\d{4}-|\S)",
        "[INFO] [launch.py:253:sigkill_handler] Killing subprocess 26811",
    ),
    _row(
        "transformers",
        _after("[", "DIWECF"),
        rf"\[{_LEVEL}[|:](?P<origin>[A-Za-z_][\w./]{{0,160}}(?::\d{{1,6}})?)\] ?",
        "[INFO|trainer.py:2414] 2026-07-07 01:27:59,666 >> ***** Running training *****",
    ),
    _row(
        "transformers, time first",
        _after("[", "DIWECF"),
        rf"\[{_LEVEL}\|(?P<at>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)\] (?P<origin>{_SOURCE}) >> ",
        "[INFO|2025-03-02 11:22:33] llamafactory.hparams.parser:143 >> Process rank: 3",
    ),
    _row(
        "nemo",
        ("[N",),
        r"\[NeMo (?P<level>[DIWEC]) (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<origin>[^\]]{1,120})\] ?",
        "[NeMo W 2026-01-15 17:03:28 nemo_logging:349] wandb is off",
    ),
    _row(
        "titan",
        _after("[", _LOWER),
        r"\[[a-z][\w.-]{1,30}\] (?=\d{4}-\d\d-\d\d \d\d:)",
        "[titan] 2026-03-21 15:24:04,053 - root - INFO - Starting",
    ),
    _row(
        "ray c++",
        _after("[", "2"),
        r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<level>[DIWEC]) (?P<pid>\d{1,8}) (?P<tid>\d{1,8})\] "
        r"(?:\((?P<actor>\w{1,40})\) )?(?:(?P<origin>[\w./]{1,120}:\d{1,6}): ?)?",
        "[2026-11-20 17:14:55,183 E 1829 1846] (raylet) dlmalloc.cc:204: out of memory",
    ),
    _row(
        "horovod c++",
        _after("[", "2"),
        r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9}): (?P<level>[DIWEF])"
        r" (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[2026-11-20 17:03:28.123456: W /tmp/horovod/common/stall_inspector.cc:107] One or more tensors were submitted",
    ),
    _row(
        "sglang",
        _after("[", "012"),
        r"\[(?P<at>(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?) (?P<actor>[A-Z]{2}\d{1,5}(?:"
        r" [A-Z]{2}\d{1,5}){0,4})\] ?",
        "[2026-11-20 17:03:28 DP0 TP3] Scheduler hit an exception",
    ),
    _row(
        "detectron2",
        _after("[", "01"),
        r"\[(?P<at>\d\d/\d\d \d\d:\d\d:\d\d) (?P<origin>[\w.]{1,120})\]: ?",
        "[10/20 11:00:00 d2.utils.events]: eta: 8:00:13  iter: 10019",
    ),
    _row(
        "basicConfig",
        "DIWECF",
        rf"{_LEVEL}:(?P<origin>[A-Za-z_][\w.]{{0,120}}):(?! )",
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 812914 closing signal SIGTERM",
        needs=":",
    ),
    _row(
        "level before time",
        "DIWECF",
        rf"{_LEVEL} {{1,5}}(?=\d{{4}}-\d\d|\d\d-\d\d \d\d:|\d\d/\d\d[/ ])",
        "INFO 03-25 10:28:01 [executor_base.py:111] # cuda blocks: 18110",
    ),
    _row(
        "rich",
        "DIWEC",
        r"(?P<level>INFO {5}|WARNING {2}|ERROR {4}|DEBUG {4})(?=\S)",
        "WARNING  Sending process 197 closing signal SIGTERM          api.py:699",
    ),
    _row(
        "rich, same second",
        " ",
        r" {10,25}(?P<level>INFO {5}|WARNING {2}|ERROR {4}|DEBUG {4})(?=\S)",
        "                    INFO     colossalai - colossalai - INFO: process rank 0 is bound to device 0",
    ),
    _row(
        "indented stamp",
        " ",
        r" (?=\[\d{4}-\d\d-\d\d \d\d:)",
        " [2026-04-18 13:29:30] iteration       15/   12000 | consumed samples: 7680",
    ),
)

AFTER_STAMP = (
    _row(
        "CRI",
        (" s",),
        r" (?P<stream>stdout|stderr) [FP](?::\w{1,20})?(?: |$)",
        "2026-05-15T12:14:08.815954978Z stderr F W0515 12:14:08.815000 82",
        kind="zone",
    ),
    _row(
        "syslog",
        _after(" ", _ALPHA + _DIGITS),
        rf" (?P<host>{_HOST}) (?:kernel|(?P<origin>[\w./()@-]{{1,60}}?)(?:\[(?P<pid>\d{{1,8}})\])?): ?",
        "Mar 21 07:18:53 node0056 kernel: [2752089.385738] pcieport 0000:00:1c.4: AER",
        kind="syslog",
        needs=": ",
    ),
    _row(
        "journal, ISO",
        _after(" ", _ALPHA + _DIGITS),
        rf" (?P<host>{_HOST}) (?:kernel|(?P<origin>[\w./()@-]{{1,60}})\[(?P<pid>\d{{1,8}})\]): ?",
        "2026-11-20T17:03:28.123456+08:00 node7 slurmd[811]: error: oom",
        kind="zone",
        needs=": ",
    ),
    _row("mpirun --timestamp-output", "[", r"(?=\[\d)", "Fri Nov 20 16:59:19 2026[1,0]<stdout>:step 3"),
    _row(
        "logging, level first",
        (" -",),
        rf" - {_LEVEL} - (?P<origin>[A-Za-z_][\w.]{{1,120}}) - ",
        "11/20/2026 17:03:56 - INFO - llmtuner.hparams.parser - Process rank: 0",
    ),
    _row(
        "logging, name first",
        (" -",),
        rf" - (?P<origin>[A-Za-z_][\w.-]{{0,120}}) - {_LEVEL}(?: - |: ?)",
        "2026-11-20 17:03:56,100 - root - INFO - Step 367000",
    ),
    _row("logging, level", (" -",), rf" - {_LEVEL} {{0,5}}(?:-|:) ", "2026-11-20 17:03:56,100 - ERROR - failed"),
    _row(
        "piped, rank",
        (" |",),
        rf" \| {_LEVEL} {{0,6}}\| rank (?P<rank>\d{{1,6}}) \| ",
        "2026-11-20 16:59:37,706 | INFO | rank 2 | initialized: world_size=3",
    ),
    _row(
        "loguru",
        (" |",),
        rf" \| {_LEVEL} {{0,6}}\| (?P<origin>[\w.<>]{{1,120}}:[\w<>]{{1,80}}:\d{{1,6}}) - ",
        "2026-11-20 17:03:28.123 | ERROR    | __main__:main:12 - failed",
    ),
    _row(
        "piped, name",
        (" |",),
        rf" \| {_LEVEL} {{0,6}}\| (?P<origin>[a-z_][\w]{{0,40}}(?:\.\w{{1,60}}){{1,9}}|root|__main__) \| ",
        "2026-08-20 14:08:11 | INFO | nemo_automodel.recipes.llm.train_ft | step 270",
    ),
    _row("piped", (" |",), rf" \| {_LEVEL} {{0,6}}\| ", "2026-11-20 16:59:37,706 | INFO | started"),
    _row(
        "hydra",
        "[",
        rf"\[(?P<origin>[\w.]{{1,120}})\]\[{_LEVEL}\](?: - | |$)",
        "[2026-11-20 17:38:31,819][train][INFO] [rank2] world size 3",
    ),
    _row(
        "rank in brackets", (" [",), r" \[(?P<rank>\d{1,6})\]: ?", "[2026-11-20T17:03:28] [3]: loss 2.1", kind="bracket"
    ),
    _row(
        "metaflow",
        (" [",),
        r" \[\d{1,12}/[\w.-]{1,60}/\d{1,12} \(pid (?P<pid>\d{1,8})\)\] (?:\[[0-9a-f-]{36}\] )?",
        "2023-04-26 05:30:12.100 [177/train/578 (pid 27411)] {'loss': 2.1}",
    ),
    _row(
        "slurm daemon",
        (" [",),
        r" \[\d{1,10}\.\w{1,12}\] ",
        "[2026-11-20T17:03:28.123] [285996.0] error: Detected 1 oom-kill event(s)",
    ),
    _row(
        "vllm",
        (" [",),
        rf" \[(?P<origin>{_SOURCE})\] ?",
        "08-12 04:11:20 [core.py:1136] EngineCore encountered a fatal error.",
    ),
    _row(
        "vllm, old",
        _after(" ", _ALPHA + "_"),
        r" (?P<origin>[\w./]{1,120}\.py:\d{1,6})\] ?",
        "08-12 04:11:20 llm_engine.py:161] Initializing an LLM engine",
        needs="] ",
    ),
    _row(
        "determined",
        _after(" ", _DIGITS + "abcdef"),
        r" (?P<container>[0-9a-f]{8}) \[rank=(?P<rank>\d{1,6})\] \|\| ",
        "[2024-05-01T10:00:00.123Z] fa88a9df [rank=1] || Traceback",
        needs="||",
    ),
    _row(
        "torch 2.1",
        _after(" ", _LOWER + "_"),
        rf" (?P<origin>[a-z_][\w.]{{1,160}}): \[{_LEVEL}\] ?",
        "[2024-01-02 03:04:05,678] torch.distributed.elastic.agent.server.api: [WARNING] Received 1 death signal",
        needs=": [",
    ),
    _row(
        "torch_npu",
        (" (",),
        r" \(PID:(?P<pid>\d{1,8}), Device:(?:(?P<device>\d{1,3})|-1), RankID:(?:(?P<rank>\d{1,6})|-1)\) ",
        "2026-11-20-17:03:28 (PID:603, Device:0, RankID:3) ERR02200 DIST call hccl api failed.",
    ),
    _row(
        "ray python",
        "\t ",
        rf"[\t ]{_LEVEL} (?P<origin>[\w./]{{1,120}}\.py:\d{{1,6}}) -- ",
        "2026-11-20 17:08:38,422\tINFO worker.py:2038 -- Started a local Ray instance.",
        needs=" -- ",
    ),
    _row(
        "olmo, tabs",
        "\t",
        rf"\t(?P<host>{_HOST}):(?P<local_rank>\d{{1,3}})\t(?P<origin>[\w.]{{1,80}}:\d{{1,6}})\t{_LEVEL}\t",
        "2026-11-20 17:03:28.123\tgpu-7.example:3\tolmo_core.train:123\tINFO\tstep 3",
    ),
    _row(
        "tensorflow",
        ":",
        r": (?P<level>[IWEF]) (?P<origin>[^\]\s]{1,200}:\d{1,6})\] ?",
        "2018-08-27 11:00:20.310201: I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU",
    ),
    _row(
        "transformers, after time",
        " ",
        r" >> ",
        "2026-07-07 01:27:59,666 >> ***** Running training *****",
        needs=" >> ",
    ),
    _row(
        "level and source",
        " ",
        rf" {{1,4}}{_LEVEL} {{1,5}}\[(?P<origin>{_SOURCE}|{_LOGGER})\] ?",
        "2026-11-20 17:03:28 INFO     [trainer.py:88] started",
        needs="] ",
    ),
    _row(
        "level",
        " \t",
        rf"[ \t]{{1,4}}{_LEVEL}(?:: ?| - |[ \t]{{1,5}}|$)",
        "2024-05-30 14:20:00.104 INFO: MACE version: 0.3.5",
    ),
    _row("stamp alone", " \t", r"[ \t]", "2026-02-16T10:48:25.681Z Exception raised from checkTimeout"),
    _row("stamp and colon", ":", r": ?", "2026-11-20 17:03:28: started"),
)

# The rank in a process group stays in the message, where rules look for it: `[PG ID 0 PG GUID 0(default_pg) Rank 2]`.
IN_GROUP = lazy(r"\[(?:PG [^\[\]]{1,200} )?Rank (\d{1,6})\]")

# Headers so particular that they begin a new line even without a bar: `epoch 3 done[rank1]:[E1206 18:44:12.715298746`.
GLUED = lazy(
    r"(?<=[^\s'\"(=,:`])(?:"
    r"(?:\[[a-z]{1,20}\d{1,4}\]:)?(?:\[rank\d{1,6}\]:(?:\[[IWEF][ \d]| (?=\S))|\[[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d{9} )|"
    r"\[[IWEF] [\w./]{1,80}\.(?:cpp|hpp|cc|h):\d{1,6}\]|"
    r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} {1,6}\d{1,20} [\w./-]{1,160}:\d{1,6}\])"
)
# Headers that begin a new line only behind a progress bar: `4/10 [00:10<00:12]2026-11-20 17:03:28,001 - ERROR`.
GLUED_AFTER_BAR = lazy(
    r"(?:it/s|s/it|B/s|examples/s|<\d\d:\d\d|<\?)[^\]\n]{0,200}\] {0,3}(?=\[rank\d|\[default\d|\[[IWEF][ \d]|"
    r"[IWE]\d{4} \d\d:|\[?\d{4}-\d\d-\d\d[ T]\d\d:|\d\d/\d\d/\d{4} \d\d:|\[(?:INFO|WARNING|ERROR)|"
    r"(?:INFO|WARNING|ERROR|CRITICAL)[: ]|Traceback \(most recent|\{['\"]\w|\([A-Za-z_]\w{0,60} pid=|"
    r"[\w.]{1,80}(?:Error|Exception): |[\w.-]{1,63}:\d+:\d+ \[\d)"
)

# The leading bytes that tell speakers apart; times between them are skipped, so that one speaker has one text.
SPEAKER = lazy(
    rb"""(?:\x1b\[[0-9;]{0,12}m)*
    (?:(?:\d{4}-\d\d?-\d\d?[T ][\d:.,]{5,25}(?:Z|[+-]\d\d:?\d\d)?|\d\d/\d\d/\d{2,4}\ [\d:]{8}|
        \w{3}\ [\ \w]{1,4}\ \d\d:\d\d:\d\d(?:\ \d{4})?)
        [ \t]{0,2})?
    ((?:std(?:out|err)\ [FP]\ )?)
    (\[pod/[^\]\s]{1,300}\]\ |[ ]{0,5}\d{1,6}:(?=[ ])|\[\d[\d,a-z:]{0,30}\]<std\w{3}>:|
        [A-Za-z0-9][\w.-]{0,62}(?:/\d{1,5}|:|[ ]\S{1,60}:|[ ]\[std\w{3}\]|[ ]{1,40}\|)(?=[ ])|)
    [ ]?
    ((?:\x1b\[[0-9;]{0,12}m)?\([^()]{0,80}(?:pid|ip)=[^()]{1,60}\)|)
    (?:\x1b\[[0-9;]{0,12}m)?[ ]?
    (\[(?!rank)[A-Za-z][\w.-]{0,60}(?:[:|]?\d{1,4}\]:|:\d{1,8}(?:,[ ]rank=\d{1,6})?\](?=[ ]))|)
    (\[rank[ :=]{0,2}\d{1,6}\]:?|rank\d{1,6}[:\[]|)[ ]?
    (?:\[[IWEF][^\[\]]{1,200}\][ ]|(?:\[[^\[\]]{4,200}\][ ]{0,2}){1,5}?(?=\[(?i:rank)|\w{1,63}:\d)|
        (?:-[ ][\w.]{1,60}[ ]){1,3}-[ ]|[\d:.,-]{8,35}[ ]\|[ ]\w{4,8}[ ]{1,6}\|[ ]|\|[ ]\w{4,8}[ ]{1,6}\|[ ]|)
    (\[(?:PG\ [^\[\]]{1,200}\ )?[Rr](?:ank|ANK)[ :]{0,2}\d{1,6}\]|rank\ \d{1,6}(?=\ \|)|
        [A-Za-z0-9][\w.-]{0,62}:\d{1,8}(?=:\d{1,8}\ )|)""",
    re.VERBOSE,
)
