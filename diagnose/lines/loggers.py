"""Headers of loggers that do not begin with a time: one row per form, a sample line beside each."""

from __future__ import annotations

from .resiliency import MONITORS
from .row import LETTERS, LEVEL, LOGGER, LOWER, RAISED, SAID, SOURCE, Row, after, row

LOGGERS: tuple[Row, ...] = (
    *MONITORS,
    row(
        "glog python, thread",
        "IWECFV",
        r"(?P<at>(?P<level>[IWECFV])\d{4} \d\d:\d\d:\d\d\.\d{6}) {1,6}(?P<tid>\d{10,20}) "
        r"(?:\[rank(?P<rank>\d{1,6})\]:)?(?P<origin>[^\]\s]{1,200}\.py:\d{1,6})\] ?",
        "W0622 19:47:13.438000 140373504014144 torch/distributed/elastic/multiprocessing/api.py:851] Sending process",
    ),
    row(
        "glog python",
        "IWECFV",
        r"(?P<at>(?P<level>[IWECFV])\d{4} \d\d:\d\d:\d\d\.\d{6}) {1,6}(?P<pid>\d{1,9}) "
        r"(?:\[rank(?P<rank>\d{1,6})\]:)?(?P<origin>[^\]\s]{1,200}\.py:\d{1,6})\] ?",
        "W1120 17:43:00.792000 20960 torch/distributed/run.py:874] ",
    ),
    row(  # Kubernetes' klog fills the number up to seven places: `18:44:12.123456       1 event.go:221] `
        "glog, absl",
        "IWEF",
        r"(?P<at>(?P<level>[IWEF])\d{4} \d\d:\d\d:(?:\d\d|\d{10})\.\d{6}) {1,8}(?P<tid>\d{1,20}) "
        r"(?P<origin>[^\]\s]{1,200}:\d{1,6})\] ?",
        "I0619 18:44:12.123456 12345 ProcessGroupNCCL.cpp:835] starting",
    ),
    row(
        "glog, with the year",  # since glog 0.5, unless told otherwise
        "IWEF",
        r"(?P<at>(?P<level>[IWEF])\d{8} \d\d:\d\d:\d\d\.\d{6}) {1,6}(?P<tid>\d{1,20}) "
        r"(?P<origin>[^\]\s]{1,200}:\d{1,6})\] ?",
        "E20251031 10:52:42.193126 106986 transfer_engine.cpp:75] Failed to register memory",
    ),
    row(
        "tensorflow, no time",  # until 1.6
        "IWEF",
        r"(?P<level>[IWEF]) (?P<origin>(?:\./)?(?:tensorflow|external|third_party)/[^\]\s]{1,200}\.(?:cc|h):\d{1,6})\] ?",
        "W tensorflow/core/framework/op_kernel.cc:968] Resource exhausted: OOM when allocating tensor",
    ),
    row(
        "glog python, begun in its path",
        "tsd",
        r"(?P<origin>(?:(?:site|dist)-packages/)?torch/distributed/[\w/]{1,80}\.py:\d{1,6})\] (?=\S)",
        "torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 0 (pid: 930) of fn: f",
        needs="torch/distributed/",
    ),
    row(
        "ascend",
        after("[", "DIWE"),
        rf"\[{LEVEL}\] {{0,3}}\w{{2,20}}\((?P<pid>\d{{1,8}}),[^)]{{0,60}}\):"
        rf"(?P<at>\d{{4}}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{{3}})"
        r"(?:\.\d{3})? \[(?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[ERROR] HCCL(12345,python):2026-11-20-17:03:28.123.456 [task_exception.cc:527] [12350]Task run failed",
    ),
    row(
        "level in brackets",
        after("[", "DIWECFN"),
        rf"\[{LEVEL}\](?: {{0,5}}\[(?P<origin>[^\]\s]{{1,160}}:\d{{1,6}}(?::\w{{1,80}})?|{LOGGER})\])?:? {{0,4}}"
        r"(?=\[|\d{4}-|\S)",
        "[INFO] [launch.py:253:sigkill_handler] Killing subprocess 26811",
    ),
    row(
        "transformers",
        after("[", "DIWECF"),
        rf"\[{LEVEL}[|:](?P<origin>[A-Za-z_][\w./]{{0,160}}(?::\d{{1,6}})?)\] ?",
        "[INFO|trainer.py:2414] 2026-07-07 01:27:59,666 >> ***** Running training *****",
    ),
    row(
        "transformers, time first",
        after("[", "DIWECF"),
        rf"\[{LEVEL}\|(?P<at>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)\] (?P<origin>{SOURCE}) >> ",
        "[INFO|2025-03-02 11:22:33] llamafactory.hparams.parser:143 >> Process rank: 3",
    ),
    row(
        "level and time in one bracket",
        after("[", "DIWECF"),
        rf"\[{LEVEL}[ |:]{{1,2}}(?P<at>(?:\d{{4}}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d{{1,6}})?)\]:? ",
        "[INFO 11:17:33] step 4 loss 0.8181",
    ),
    row(
        "time, name and level in one bracket",
        after("[", "2"),
        rf"\[(?P<at>\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{{1,6}})?) ?\| ?"
        rf"(?:(?P<origin>[A-Za-z_][\w.:-]{{0,80}}) ?\| ?)?{LEVEL} {{0,5}}\]:? ",
        "[2026-11-20 17:03:28,123|trainer.worker|INFO] step 4 loss 0.8181",
        needs="|",
    ),
    row(
        "nemo",
        ("[N",),
        r"\[NeMo (?P<level>[DIWEC]) (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<origin>[^\]]{1,120})\] ?",
        "[NeMo W 2026-01-15 17:03:28 nemo_logging:349] wandb is off",
    ),
    row(  # `%(levelname)s|%(asctime)s|%(pathname)s|%(lineno)d| %(message)s` of Kubeflow's launchers, around what they run
        "kubeflow",
        "DIWEC",
        rf"{LEVEL}\|(?P<at>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d)\|(?P<origin>[\w./-]{{1,160}})\|\d{{1,6}}\| ?",
        "INFO|2020-05-19T07:02:18|/opt/launcher.py|27| Running benchmark",
        outer=True,
        needs="|",
    ),
    row(
        "titan",
        after("[", LOWER),
        r"\[[a-z][\w.-]{1,30}\] (?=\d{4}-\d\d-\d\d \d\d:)",
        "[titan] 2026-03-21 15:24:04,053 - root - INFO - Starting",
    ),
    row(
        "vllm, VLLM_LOGGING_PREFIX",
        after("[", LETTERS),
        r"\[[A-Za-z][\w .:-]{0,40}\] ?(?=(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[)",
        "[Stage-0] ERROR 03-12 08:22:28 [multiproc_executor.py:800] ValueError: no room",
    ),
    row(
        "vllm, copied from its source file on",
        after("[", LOWER),
        rf"\[(?P<origin>[a-z][\w./]{{1,120}}\.py:\d{{1,6}})\] (?={RAISED}: )",
        "[multiproc_executor.py:492] ValueError: no room",
        needs=".py:",
    ),
    row(
        "ray c++",
        after("[", "2"),
        r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<level>[DIWEC]) (?P<pid>\d{1,8}) (?P<tid>\d{1,8})\] "
        r"(?:\((?P<actor>\w{1,40})\) )?(?:(?P<origin>[\w./]{1,120}:\d{1,6}): ?)?",
        "[2026-11-20 17:14:55,183 E 1829 1846] (raylet) dlmalloc.cc:204: out of memory",
    ),
    row(
        "horovod c++",
        after("[", "2"),
        r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9}): (?P<level>[DIWEF])"
        r" (?P<origin>[^\]\s]{1,160}:\d{1,6})\] ?",
        "[2026-11-20 17:03:28.123456: W /tmp/horovod/common/stall_inspector.cc:107] One or more tensors were submitted",
    ),
    row(
        "gtest, of what a test threw",
        "C",
        r"C\+\+ exception with description \"(?=\S)",
        'C++ exception with description "CUDA error: no kernel image is available for execution on the device',
    ),
    row(
        "tensorrt-llm, rank behind the level",
        ("[T",),
        r"\[TRT-LLM\] \[(?P<level>[FEWIVD])\] (?:\[[A-Za-z_][\w.]{0,40}\])?\[RANK (?P<rank>\d{1,6})\] ",
        "[TRT-LLM] [E] [_torch][RANK 7] Executor loop crashed on this rank; hard-killing all 8 ranks in 10s",
    ),
    row(
        "tensorrt-llm, without a time",
        ("[T",),
        r"\[TRT-LLM\] (?:\[(?:RANK|MPI_Rank) (?P<rank>\d{1,6})\] )?\[(?P<level>[FEWIVD])\] ",
        "[TRT-LLM] [E] Failed to initialize executor on rank 0: tuple index out of range",
    ),
    row(
        "sglang",
        after("[", "012"),
        r"\[(?P<at>(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?) (?P<actor>[A-Z]{2}\d{1,5}(?:"
        r" [A-Z]{2}\d{1,5}){0,4})\] ?",
        "[2026-11-20 17:03:28 DP0 TP3] Scheduler hit an exception",
    ),
    row(
        "detectron2",
        after("[", "01"),
        r"\[(?P<at>\d\d/\d\d \d\d:\d\d:\d\d) (?P<origin>[\w.]{1,120})\]: ?",
        "[10/20 11:00:00 d2.utils.events]: eta: 8:00:13  iter: 10019",
    ),
    row(
        "basicConfig",
        "DIWECF",
        rf"{LEVEL}:(?P<origin>[A-Za-z_][\w.]{{0,120}}):(?! )",
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 812914 closing signal SIGTERM",
        needs=":",
    ),
    row(
        "logrus",  # operators of Kubernetes, containerd, the Docker daemon
        "t",
        r"time=\"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\"\s]{0,16})\" level=(?P<level>[a-z]{4,7}) msg=\"",
        'time="2024-02-21T09:32:29Z" level=info msg="Pod: kubeflow.llm-worker-0 exited with code 1" job=kubeflow.llm',
        needs="level=",
    ),
    row(  # of an operator's recorder: which object it is about, and the reason and what it says behind it
        "kubernetes event",
        "E",
        r"Event\(v1\.ObjectReference\{[^{}]{1,900}\}\): type: '\w{1,20}' (?=reason: )",
        'Event(v1.ObjectReference{Kind:"TFJob", Namespace:"ml", Name:"llm"}): type: \'Normal\' reason: \'Exited\' Pod',
    ),
    row(
        "kubernetes event, structured",
        '"',
        r"\"Event occurred\" (?:\w{1,20}=\"[^\"\n]{0,300}\" ){1,8}?(?=reason=\")",
        '"Event occurred" object="team/llm" fieldPath="" type="Normal" reason="ExitedWithCode" message="Pod: team.llm"',
    ),
    row(
        "level before time",
        "DIWECF",
        rf"{LEVEL} {{1,5}}(?=\d{{4}}-\d\d|\d\d-\d\d \d\d:|\d\d/\d\d[/ ])",
        "INFO 03-25 10:28:01 [executor_base.py:111] # cuda blocks: 18110",
    ),
    row(
        "level, colon and time",
        "DIWECF",
        rf"{LEVEL}: ?(?=\d{{4}}-\d\d-\d\d[ T]\d\d:)",
        "ERROR:2026-03-26 21:59:41,526:Traceback (most recent call last):",
    ),
    row(
        "level before what a program says",
        "DIWECS",
        rf"{LEVEL} {{1,8}}(?=\S){SAID}",
        "SUCCESS training finished",
    ),
    row(
        "level before an exception",
        "ECF",
        rf"(?P<level>ERROR|CRITICAL|FATAL)(?::| -)? {{1,4}}(?=\[rank\d{{1,6}}\]:|{RAISED}: |Traceback \(most )",
        "ERROR: RuntimeError: NCCL communicator was aborted on rank 3.",
    ),
    row(
        "level and bar",  # behind a rank that stands between the time and the level
        "DIWECF",
        rf"{LEVEL} {{0,8}}\| (?=\S)",
        "INFO     | step 270 loss 2.1",
    ),
    row(
        "letter before time",
        "DIWEC",
        r"(?P<level>[DIWEC]) (?=\d\d-\d\d \d\d:\d\d:\d\d[. ])",
        "I 05-04 00:52:46 controller.py:100] The cluster is preempted.",
    ),
    row(
        "paddle launcher",
        "L",
        rf"LAUNCH {LEVEL} (?=\d{{4}}-\d\d-\d\d )",
        "LAUNCH ERROR 2022-07-21 11:58:59,452 Container failed !!!",
    ),
    row(
        "areal",
        "(",
        r"\(AReaL\) (?=20\d{6}-)",
        "(AReaL) 20260320-11:20:06.243 LocalScheduler INFO: Deleting 2 workers for role 'actor'",
    ),
    row(
        "rich",
        "DIWEC",
        r"(?P<level>INFO {5}|WARNING {2}|ERROR {4}|DEBUG {4})(?=\S)",
        "WARNING  Sending process 197 closing signal SIGTERM          api.py:699",
    ),
    row(
        "rich, same second",
        " ",
        r" {1,25}(?P<level>INFO {5}|WARNING {2}|ERROR {4}|DEBUG {4})(?=\S)",
        "                    INFO     colossalai - colossalai - INFO: process rank 0 is bound to device 0",
    ),
    row(
        "pytest, what a test raised",
        "E",
        r"E {3,60}(?=[A-Za-z_][\w.]{2,120}(?:Error|Exception|Interrupt)(?::|$))",
        "E       torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ),
    row(
        "ComfyUI",
        "!",
        r"!!! Exception during processing !!! ?",
        "!!! Exception during processing !!! CUDA out of memory. Tried to allocate 2.00 GiB.",
    ),
    row(
        "indented stamp",
        " ",
        r" (?=\[\d{4}-\d\d-\d\d \d\d:)",
        " [2026-04-18 13:29:30] iteration       15/   12000 | consumed samples: 7680",
    ),
)
