"""How launchers, schedulers and people call the files of a job: patterns of paths, each with samples; no decisions."""

from __future__ import annotations

import re

from .lazy_pattern import lazy

# `gpu-node-07`, `dgx-731`, `h100-r5-n08`, `ip-10-77-1-11.ec2.internal`, `nid001234`; not `gpu0`, `llama3-8b`, `run-2`;
# of `logs-gpu-07` and `train.gpu-07` only the end
_HOST = (
    r"(?!logs?[-.]|(?:train|run|job|console|output|out|err|stdout|stderr)\.)"
    r"(?:[a-z][a-z0-9]{0,30}[-.]){0,4}"
    r"(?:(?:gpu)?node|host|gpuhost|server|srv|worker|dgx|hgx|compute|cn|nid|master|trainer|launcher|ip(?=-\d+-\d)|"
    r"(?:gpu|gpu-|roce|ib|n|r)(?=-?\d{2})|[abh][12348]00(?=-)|gb?200(?=-)|gh200(?=-)|mi\d00(?=-))"
    r"[-_]?(?:[a-z]{0,3}\d{1,7}(?:[-.][a-z0-9]{1,20}){0,6})"
)
IS_HOST = lazy(_HOST, re.IGNORECASE | re.ASCII)
ENDS_IN_HOST = lazy(rf"(?:^|.*?[-_.])({_HOST})", re.IGNORECASE | re.ASCII)
HOST_AFTER_WORD = lazy(
    r"(?:dmesg|kern|kernel|journal|syslog|messages|agent|console|nvidia-smi|smi|pyspy|py-spy|nccl|"
    r"(?:kubectl[-_.])?(?:describe|logs)(?:[-_.]pod)?)[-_.](?P<host>[\w.-]*?)"
    r"(?:[-_.](?P<pid>[1-9]\d{2,7}))?",  # `dmesg-gpu-05-028.txt`: a number that begins with 0 is no process's
    re.IGNORECASE | re.ASCII,
)
# `dmesg-lrdn1913.txt`: one kernel's log is called after its host, however a site calls its hosts; not `dmesg-run2.txt`
KERNEL_OF = lazy(
    r"(?:dmesg|kern|kernel)[-_.]"
    r"(?!(?:run|try|boot|attempt|part|log|test|case|job|rank|gpu|step|xid|v|t|after|before|crash|tail|last|full|all)(?:\d{0,3}$|[-_.]))"
    r"(?P<host>[a-z][a-z0-9]{0,30}(?:[-.][a-z0-9]{1,30}){0,5})",
    re.IGNORECASE | re.ASCII,
)

# Each with the texts of which one stands in every path of this form: of thousands of paths most are of none.
FORMS = tuple(
    (kind, tuple(needs.split()), lazy(pattern, re.ASCII))
    for kind, needs, pattern in (
        # torchrun --log-dir: `gpu-node-07/elastic/job1_ig3n5m9x/attempt_0/2/stderr.log`
        (
            "torchrun",
            "attempt_",
            r"(?:(?:^|/)(?P<job>[^/]{1,100})_[A-Za-z0-9_]{8}/)?(?:^|/)?attempt_(?P<attempt>\d{1,5})/"
            r"(?P<local_rank>\d{1,4})/(?:(?P<stream>stdout|stderr)\.log|error\.json)(?:\.\w{2,3})?$",
        ),
        # `pods/ml_llm-worker-3_7423bf58-be94-4782-9e3e-45d053626127/pytorch/0.log`
        (
            "pod",
            ".log",
            r"(?:^|/)[^/_]{1,63}_(?P<pod>[^/_]{1,253})_[0-9a-f-]{32,36}/(?P<container>[^/]{1,63})/"
            r"(?P<attempt>\d{1,5})\.log",
        ),
        # `/var/log/containers/llm-worker-3_ml_pytorch-<64 hex>.log`
        (
            "pod",
            ".log",
            r"(?:^|/)(?P<pod>[a-z0-9.-]{1,253})_[a-z0-9-]{1,63}_(?P<container>[a-z0-9-]{1,63})-[0-9a-f]{64}\.log",
        ),
        # Ray: `worker-63d9…bb54-01000000-28911.err`; job ffffffff is a worker started ahead of any job
        (
            "ray-worker",
            "worker-",
            r"(?:^|/)(?:io_)?worker-(?P<worker_id>[0-9a-f]{40,64})-(?:f{8}|(?P<job>[0-9a-f]{8}))-"
            r"(?P<pid>\d{1,8})\.(?:(?P<err>err)|(?P<out>out))",
        ),
        (
            "ray-core",
            "python-core-",
            r"(?:^|/)python-core-(?:worker|driver)-(?P<worker_id>[0-9a-f]{40,64})_(?P<pid>\d{1,8})\.log",
        ),
        ("ray-event", "event_CORE_WORKER_", r"(?:^|/)event_CORE_WORKER_(?P<pid>\d{1,8})\.log"),
        ("ray-event", "event_", r"(?:^|/)event_(?:GCS|RAYLET|AUTOSCALER|JOBS)[^/]{0,40}\.log"),
        (
            "ray-daemon",
            "raylet gcs_server monitor dashboard runtime_env_agent",
            r"(?:^|/)(?:raylet|gcs_server|monitor|log_monitor|dashboard\w{0,40}|runtime_env_agent)"
            r"(?:\.\d{1,3})?\.(?:log|out|err)",
        ),
        # paddle.distributed.launch --log_dir: `log/workerlog.3`, counted from 0 on each node
        ("rank", "workerlog.", r"(?:^|/)workerlog\.(?P<local_rank>\d{1,4})(?:\.\w{2,3})?$"),
        # mpirun --output-filename: `logs/1/rank.3/stderr`
        ("rank", "/rank.", r"(?:^|/)\d{1,10}/rank\.(?P<rank>\d{1,6})/(?P<stream>stdout|stderr)$"),
        # flight recorder: `nccl_trace_rank_3`, `trace_rank_0.json`
        ("recorder", "trace_rank", r"(?:^|/)(?:nccl_|comm_lib_)?trace_rank_?(?P<rank>\d{1,6})(?:\.(?:json|pkl|pickle))?$"),
        # Slurm: `slurm-123.out`, of an array `slurm-123_4.out`, with %t `slurm-123-7.out` (a set of names tells)
        ("slurm", "slurm-", r"(?:^|/)slurm-(?P<job>\d{1,10}(?:_\d{1,7})?)(?:[-.]\d{1,6})?\.(?:out|err|log)"),
        (
            "stack",
            "pyspy py-spy py_spy stack gdb faulthandler core",
            r"(?:^|/)(?:pyspy|py-spy|py_spy|stacks?|gdb|faulthandler|core)[._-](?P<pid>\d{2,8})(?:\.\w{1,4})?$",
        ),
        (
            "kernel",
            "dmesg kern journal syslog messages",
            r"(?:^|/)(?:dmesg|kern|kernel|journal|syslog|messages)(?:[-_.][^/]{0,100})?$",
        ),
    )
)
# `rank_3.log`, `log_rank7.txt`, `20261120174121_rank1.log`, `rank2_pid31562.txt`, `global_rank0_local_rank1.err`;
# not `lora_rank_64`, `low-rank-8`: the size of an adapter
_OTHER_RANK = "".join(rf"(?<!{word})(?<!{word}[_.-])" for word in ("local", "node", "machine", "lora", "low"))
WORDS = tuple(
    (name, tuple(needs.split()), lazy(rf"(?:^|[/_.-])(?:{words})[_.=-]?(\d{{1,{digits}}})(?=$|[_./-])", re.ASCII))
    for name, needs, words, digits in (
        ("local_rank", "rank", "local[_.-]?rank", 3),
        ("node_rank", "rank", "(?:node|machine)[_.-]?rank", 5),
        ("rank", "rank", rf"{_OTHER_RANK}(?:global[_.-]?)?rank", 6),
        ("task", "task proc", "task|proc|procid", 6),
        ("pid", "pid", "pid", 8),
    )
)
