"""What launchers and shippers put in front of a process's line: one row per form, a sample beside each."""

from __future__ import annotations

from .row import DIGITS, HIDDEN, HOST, IP, LETTERS, LEVEL, LOG_TEXT, LOWER, NOT_HOST, Row, after, row

# A line of torchelastic's summary of what failed: `  rank      : 3 (local_rank: 3)` between rulers.
ELASTIC_BOX = (
    r"(?=[=-]{20,}$|Failures:$|Root Cause \(first|\[\d{1,5}\]:$|\S{1,200} FAILED$|torch\.|  <NO_OTHER_FAILURES>|"
    r"  (?:time|host|rank|exitcode|error_file|traceback) {0,6}: )"
)

# Names that only hosts have: behind these pdsh's `node-7: ` is a prefix whatever follows, as with an address.
HOST_NAME = (
    r"(?!slurm\w{0,12}-)(?:[a-z][\w.-]{0,30}?[-.])?"
    r"(?:(?:node|host|worker|dgx|hgx|compute|nid|server|master|instance)[-_.]?\d[\w.-]{0,40}"
    r"|gpu-?\d{2,4}|[abhv]\d{2,3}-\d{1,4}|ip(?:-\d{1,3}){4}[\w.-]{0,40})"
)

# An actor is called what its class prints of itself: `Trainer`, `MapWorker(MapBatches(Stage)->MapBatches(Write))`.
# A name may begin with a digit: verl puts six random letters and digits before it, `(4l0bidWorkerDict_1:13 pid=28717)`.
ACTOR = r"\w[^()\n]{0,80}?(?:\([^()\n]{0,80}(?:\([^()\n]{0,60}\)[^()\n]{0,40}){0,4}\)[^()\n]{0,40}?){0,2}"

LAUNCHERS: tuple[Row, ...] = (
    row(
        "srun -l",
        " " + DIGITS,
        r" {0,5}(?P<task>\d{1,6}):(?:$| (?![a-z][\w.@-]{0,30}: <| File \"| {3}\S"  # `12:  File` is grep's
        r"|\[[\w./:-]{0,200}(?i:allreduce|allgather|broadcast|alltoall)))",  # Horovod's `3: [Allreduce/grad_1` is its list
        " 1: frame #4: <unknown function> + 0xdbbf4",
        outer=True,
        needs=":",
    ),
    row("srun -l, heterogeneous", "P", r"P\d{1,3} {1,6}(?P<task>\d{1,6}): ?", "P0  3: loading", outer=True),
    row(
        "pyxis, the log of enroot",
        "se",
        r"(?:slurmstepd(?:-(?P<host>[\w.-]{1,63}))?: )?error: pyxis: {4,6}(?=\S)",
        "slurmstepd: error: pyxis:     Write failed because No space left on device",
        outer=True,
        needs="pyxis:    ",
    ),
    row(
        "pdsh by address",
        DIGITS,
        r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3}): ?",
        "10.0.1.11: [2023-12-15 18:01:40,510] [INFO] [axolotl:200] [PID:3310] [RANK:0] config",
        outer=True,
        needs=": ",
    ),
    row(
        "monarch",
        after("[", DIGITS),
        r"(?:\[\d{1,5}\] ){1,3}" + LOG_TEXT,
        "[0] [0] RuntimeError: Data processing error: CAS service error : Request failed after 5 retries",
        outer=True,
    ),
    row(
        "determined, level",
        "<",
        r"<(?:trace|debug|info|warning|error|critical|fatal)?> {1,10}(?=\[\d{4}-)",
        "<error>   [2021-12-07 10:42:16] 6ed813d5 || Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "kubectl --prefix",
        ("[p",),
        r"\[pod/(?P<pod>[^/\]\s]{1,253})/(?P<container>[^\]\s]{1,253})\] ?",
        "[pod/llm-worker-0/pytorch] [rank3]: Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "stern",
        LOWER,
        r"(?P<pod>[a-z0-9][a-z0-9-]{0,200}-(?:worker|master|launcher|head|chief|server|node|replica|ps)"
        r"-\d{1,5}(?:-[a-z0-9-]{1,20})?) (?P<container>[a-z][a-z0-9-]{0,62}) " + LOG_TEXT,
        "llm-worker-3 pytorch [rank3]: Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "mpirun --tag-output",
        ("[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9", "[0", "[p"),
        rf"\[(?:\d{{1,10}},|\d{{1,10}},mpirank:|prterun-[^\]\s]{{1,120}}@\d{{1,10}},)?(?P<rank>\d{{1,6}})"
        rf"(?:,(?P<host>{HOST}))?\](?:<(?P<stream>stdout|stderr|stddiag)>):(?: (?! ))?",
        "[1,3]<stderr>:Traceback (most recent call last):",
        outer=True,
        needs="]<std",
    ),
    row(
        "Open MPI's TCP layer",
        after("[", LETTERS),
        rf"\[(?P<host>{HOST})\]\[\[\d{{1,6}},\d{{1,4}}\],(?P<rank>\d{{1,6}})\]"
        r"\[(?P<origin>[\w./-]{1,160}:\d{1,6}):\w{1,80}\] ",
        "[gpu-07][[21785,1],35][btl_tcp_frag.c:216:mca_btl_tcp_frag_recv] mca_btl_tcp_frag_recv: readv failed",
        needs="][[",
    ),
    row(
        "torchrun --tee",
        after("[", LOWER),
        r"\[(?!rank)[a-z][a-z_-]{0,40}(?P<local_rank>\d{1,4})\]:(?: (?! ))?",
        "[default2]:[rank2]: KeyError: 'target'",
        needs="]:",
    ),
    row(
        "torchrun --tee, role without a name",
        after("[", DIGITS),
        r"\[(?P<local_rank>\d{1,4})\]:" + LOG_TEXT,
        "[0]:[W socket.cpp:558] [c10d] The IPv6 network addresses of (a, 50176) cannot be retrieved",
        needs="]:",
    ),
    row(
        "torchelastic, rank and local rank",
        after("[", LOWER),
        r"\[[a-z][a-z_-]{0,40}(?P<rank>\d{1,6})\|(?P<local_rank>\d{1,4})\]:",
        "[trainer0|0]:Traceback (most recent call last):",
        outer=True,
        anywhere=True,
        needs="]:",
    ),
    row(
        "nccl, host cut off",
        after("[", DIGITS),
        r"\[(?P<device>\d{1,3})\] (?:(?P<origin>[^\s\[\]]{1,120}:\d{1,6}) )?NCCL (?P<level>WARN|INFO) ",
        "[0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer",
        needs=" NCCL ",
    ),
    row(  # as it is quoted in a sentence, and as a title
        "nccl, all but its file cut off",
        "/" + LOWER,
        r"(?P<origin>[\w./-]{1,120}\.(?:cc|cu|h):\d{1,6}) NCCL (?P<level>WARN) ",
        "misc/socket.cc:441 NCCL WARN socketFinalizeAccept: wrong type 4 != 3",
        needs=" NCCL ",
    ),
    row(
        "host and local rank",
        after("[", LETTERS),
        rf"\[(?P<host>{HOST}):(?P<local_rank>\d{{1,2}})\]: ?",
        "[gpu-node-07:0]: Traceback (most recent call last):",
        outer=True,
        needs="]:",
    ),
    row(
        "a child's stream, accelerate test",
        "s",
        rf"(?P<stream>stderr|stdout): ?(?={LOG_TEXT[3:-1]}|{ELASTIC_BOX[3:-1]})",
        "stderr: Traceback (most recent call last):",
        outer=True,
    ),
    row(
        "a child's stream, in brackets",
        ("[s",),
        r"\[(?P<stream>stderr|stdout)\] ",
        "[stderr] LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.fdot2.bf16.bf16",
        outer=True,
        needs="[std",
    ),
    row(
        "torchx",
        LETTERS,
        rf"(?P<actor>[A-Za-z][\w.-]{{0,60}})/(?P<node_rank>\d{{1,5}}) (?:{LOG_TEXT}|{ELASTIC_BOX})",
        "B-nemo-ft3/0 [default1]:[rank1]: Traceback (most recent call last):",
        outer=True,
        needs="/",
    ),
    row(
        "milabench device",
        LOWER,
        r"(?P<actor>[a-z][\w-]{0,60})\.D(?P<device>\d{1,2}) \[(?P<stream>stdout|stderr)\] ",
        "llama.D0 [stderr] Traceback (most recent call last):",
        outer=True,
        needs=" [std",
    ),
    row(
        "milabench",
        LOWER,
        rf"(?P<actor>[a-z][\w-]{{0,60}})\.(?P<host>{HOST}) \[(?P<stream>stdout|stderr)\] ",
        "diffusion-nodes.cn-n001 [stderr] [rank14]: RuntimeError",
        outer=True,
        needs=" [std",
    ),
    row(
        "nccl",
        LETTERS + DIGITS,
        rf"(?P<host>{HOST}):(?P<pid>\d{{1,8}}):(?P<tid>\d{{1,8}}) (?:\[(?P<device>\d{{1,3}})\] )?"
        r"(?:[\d.]{1,20} )?(?:(?P<origin>[^\s\[\]]{1,120}:\d{1,6}) )?NCCL"
        r" (?P<level>WARN|INFO|TRACE|CALL|ABORT|VERSION)(?: |$)",
        "node0:115:273 [3] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect failed",
        needs=" NCCL ",
    ),
    row(
        "neuron's collectives, made from nccl",
        DIGITS,
        r"\d{4}-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d\.\d{1,9} (?P<pid>\d{1,8}):(?P<tid>\d{1,8}) \[(?P<device>\d{1,3})\] "
        r"(?:(?P<origin>[^\s\[\]]{1,120}:\d{1,6}) )?CCOM (?P<level>WARN|INFO) ",
        "2023-Aug-01 16:14:43.0210 332066:332508 [31] bootstrap.cc:89 CCOM WARN Call to accept failed : Too many files",
        needs=" CCOM ",
    ),
    row(
        "nccl before 2.3",
        LETTERS + DIGITS,
        rf"(?P<host>{HOST}):(?P<pid>\d{{1,8}}):(?P<tid>\d{{1,8}}) \[(?P<device>\d{{1,3}})\] "
        r"(?:(?P<origin>[\w./-]{1,120}\.(?:cc|cu|c|h):\d{1,6}) )?(?P<level>WARN|INFO) ",
        "gpu-07:4711:4802 [3] include/socket.h:361 WARN Call to connect returned Connection refused",
        needs="] ",
    ),
    row(
        "pdsh",
        LETTERS,
        rf"{NOT_HOST}(?P<host>localhost|(?=[A-Za-z.-]{{0,40}}\d){HOST}): (?:{LOG_TEXT}|{ELASTIC_BOX})",
        'gpu004:   File "/data/v/src/train_bash.py", line 14, in <module>',
        outer=True,
        needs=": ",
    ),
    row(
        "pdsh by a name that is a host's",
        LOWER,
        rf"(?P<host>{HOST_NAME}): (?=\S| )(?!Permission denied|Host key verification failed)",
        "node-7: Memory access fault by GPU node-1 (Agent handle: 0x560f905a1640) on address 0x10044f0000.",
        outer=True,
        needs=": ",
    ),
    row(
        "compose, docker service logs",  # `train.2.k3x9@gpu-07    | `
        LETTERS + DIGITS,
        rf"(?!{LEVEL.replace('?P<level>', '?:')}\b)(?P<container>(?:\d{{1,9}}\.)?[A-Za-z][\w.@-]{{0,80}}) {{1,40}}\| "
        + LOG_TEXT,
        "trainer-1  | [rank0]: Traceback (most recent call last):",
        outer=True,
        needs=" | ",
    ),
    row(
        "compose, plain text",
        LOWER,
        r"(?P<container>[a-z][\w.]{0,40}-\d{1,4} {0,40}|[a-z][\w.-]{0,40}  )\ {0,40}\| (?=[^|]{0,4000}$)",
        "service  | starting",
        outer=True,
        needs=" | ",
    ),
    row(
        "ray, vllm",
        "(",
        rf"\((?:(?P<actor>{ACTOR})(?:[ \[]rank=(?P<rank>\d{{1,6}})\]?)? )?pid=(?P<pid>\d{{1,8}})"
        rf"(?:, ip=(?:\[?(?P<ip>{IP})\]?|{HIDDEN}))?\) ?",
        "(Trainer pid=28717, ip=10.0.0.2) step 3",
        outer=True,
        anywhere=True,
        needs="pid=",
    ),
    row(
        "ray daemon",
        "(",
        rf"\((?P<actor>raylet|gcs_server|autoscaler|scheduler)(?: \+[\dhms]{{1,12}})?"
        rf"(?:, ip=(?:\[?(?P<ip>{IP})\]?|{HIDDEN}))?\) ?",
        "(raylet, ip=10.0.0.2) Workers (tasks / actors) killed due to memory pressure",
        outer=True,
        anywhere=True,
    ),
    row(
        "skypilot",
        "(",
        rf"\((?P<actor>[a-z][\w-]{{0,40}})(?:, rank=(?P<node_rank>\d{{1,5}}))?, pid=(?P<pid>\d{{1,8}})(?:,"
        rf" ip=(?:\[?(?P<ip>{IP})\]?|{HIDDEN}))?\) ?",
        "(worker1, rank=1, pid=2102, ip=10.0.0.5) step 3",
        outer=True,
    ),
    row(
        "RFC 5424",
        "<",
        rf"<\d{{1,3}}>1 (?P<at>[\dT:.Z+-]{{19,40}}) (?P<host>{HOST}) (?P<origin>\S{{1,48}}) (?:"
        rf"(?P<pid>\d{{1,8}})|-) \S{{1,32}} (?:-|\[[^\]]{{0,400}}\]) ?",
        "<34>1 2026-11-20T17:03:28.003Z node7 python 4711 - - RuntimeError",
        outer=True,
    ),
    row(
        "open mpi signal",
        after("[", LETTERS),
        rf"\[(?P<host>{HOST}):(?P<pid>\d{{2,8}})\] (?=\*\*\*|Signal|Failing|\[ ?\d|PMIX|OPAL|ORTE)",
        "[node7:12345] *** Process received signal ***",
    ),
)
