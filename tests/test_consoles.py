"""Consoles as people have them: their end, a part of them, what a launcher prints around the one thing that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.lines.prefix import split_prefix

from .told import cause, culprits, told, watchdog
from .told import cause as verdict_of

# --- the last lines of a console: torchrun's summary, and what little was printed above it ------------------------

RULE = "=" * 60
LOST = """\
      loss.backward()
    File "/opt/torch/autograd/graph.py", line 979, in _engine_run_backward
      return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
  RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.80.0.1]:55020.
"""


def entry(rank: int, raised: str, code: str = "1") -> str:
    return (
        f"  time      : 2026-11-23_08:50:41\n  host      : gpu-node-07\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {19136 + rank})\n  error_file: /tmp/none/attempt_0/{rank}/error.json\n  traceback : {raised}"
    )


def raised_by(rank: int, lines: str) -> str:
    return f"{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n" + entry(rank, f"Traceback (most recent call last):\n{lines}  \n{RULE}\n")


def test_what_the_summary_says_was_raised_outweighs_a_lost_peer_above_it(tmp_path):
    quit_ = '    File "/data/jobs/train/ddp.py", line 87, in train\n      if self.quitting: raise BdbQuit\n  bdb.BdbQuit\n'
    report = told(tmp_path, {"console.log": LOST + raised_by(0, quit_)})
    assert "process.exception" == cause(report)
    assert culprits(report) in ([], [0])


# --- consoles of small runs on the CPU: what JAX, mpi4py, Ray and the like print around the one thing that failed ---

GOES_FIRST = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/align.py", line 43, in <module>
[rank0]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 502, in __init__
[rank0]:     train_dataset = train_dataset.map(self.tokenize_row)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 750, in tokenize_row
[rank0]:     chosen = features["chosen"]
[rank0]: KeyError: 'chosen'
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/align.py", line 43, in <module>
[rank1]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line {line}, in __init__
[rank1]:     with PartialState().local_main_process_first():
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/accelerate/state.py", line 381, in wait_for_everyone
[rank1]:     torch.distributed.barrier()
[rank1]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:26300
"""


@pytest.mark.parametrize(("line", "blamed"), [(499, []), (520, [0])], ids=["before it", "behind it"])
def test_what_rank_zero_meets_is_its_own_only_where_the_others_are_past_it(tmp_path: Path, line: int, blamed: list[int]) -> None:
    assert culprits(told(tmp_path, {"console.log": GOES_FIRST.format(line=line)})) == blamed


# --- torchrun reports one failed worker in a line of its own, all of them in its summary: the one that left may stand there only ---

CONSOLE = """[init] rank 2/3 pid 13567
[init] rank 1/3 pid 13566
[init] rank 0/3 pid 13565
step 5 loss 8.5966 rank 1
step 5 loss 8.5966 rank 0
step 5 loss 8.5966 rank 2
{lost}W1124 00:08:07.011000 13560 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 13565 closing signal SIGTERM
W1124 00:08:07.011000 13560 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 13566 closing signal SIGTERM
E1124 00:08:07.132000 13560 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -15) local_rank: 0 \
(pid: 13565) of binary: /job/venv/bin/python3
Traceback (most recent call last):
  File "/job/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\x20
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[0]:
  time      : 2026-11-24_00:08:07
  host      : {host}
  rank      : 2 (local_rank: 2)
  exitcode  : 3 (pid: 13567)\x20
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
[2]:
  time      : 2026-11-24_00:08:06
  host      : {host}
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 13566)  (SIGTERM)
  error_file: /var/log/elastic/attempt_0/1/error.json
------------------------------------------------------------
Root Cause (first observed failure):
[1]:
  time      : 2026-11-24_00:08:06
  host      : {host}
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 13565)  (SIGTERM)
  error_file: /var/log/elastic/attempt_0/0/error.json
============================================================
"""
LOST_PEER = """[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/job/train.py", line 112, in main
[rank{rank}]:     loss.backward()
[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:45967: \
Connection reset by peer. This is typically caused by a remote worker hanging or bugs in the application.
"""


def verdict(above: str = "") -> tuple[str, list[int | None]]:
    lost = above + "".join(LOST_PEER.format(rank=rank) for rank in (1, 0))
    found = diagnose(Text(CONSOLE.format(lost=lost, host="localhost"), name="console.log")).diagnosis
    return found.cause, [c.rank for c in found.culprits]


def test_the_one_that_only_the_summary_shows_to_have_left_with_a_code_is_whom_the_others_lost() -> None:
    """`localhost` is the host of the summary alone, not of the lines of the closing: what follows them is no word of that rank."""
    assert verdict() == ("process.exit-code", [2])


def test_what_a_rank_without_a_name_said_before_the_closing_stays_the_reason() -> None:
    raised = 'Traceback (most recent call last):\n  File "/job/train.py", line 9, in main\n    f()\nValueError: bad shard\n'
    assert verdict(raised) == ("process.exception", [2])


# --- logs as people have them: the end of a console, its middle left out, its summary without a head --------------

HEAD = """Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
"""
FIRST = "------------------------------------------------------------\nRoot Cause (first observed failure):\n"
RULER = "============================================================\n"
NO_CHECKPOINT = """Traceback (most recent call last):
    File "/job/train.py", line 32, in main
      trainer.train(resume_from_checkpoint=resume)
    File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 3657, in _load_from_checkpoint
      raise ValueError(f"Can't find a valid checkpoint at {resume_from_checkpoint}")
  ValueError: Can't find a valid checkpoint at /ckpt/checkpoint-500
"""


def summary_entry(number: int, rank: int, code: str, words: str = "To enable traceback see: https://pytorch.org/docs\n") -> str:
    """What torchrun's summary says of one process."""
    return (
        f"[{number}]:\n  time      : 2026-11-20_17:43:17\n  host      : gpu-07\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {20963 + rank})\n  error_file: <N/A>\n  traceback : {words}"
    )


def test_a_summary_tells_of_each_rank_what_it_raised(tmp_path: Path) -> None:
    """A tail without the ranks' own lines: both entries hold the same exception, so that it is no rank's own."""
    summary = HEAD + summary_entry(1, 0, "-15", NO_CHECKPOINT) + FIRST + summary_entry(0, 1, "1", NO_CHECKPOINT) + RULER
    report = told(tmp_path, {"console.log": summary})
    assert (cause(report), culprits(report)) == ("storage.checkpoint-corrupt", [])


LOST_IN_A_SUMMARY = """Traceback (most recent call last):
    File "/job/train.py", line 58, in main
      dist.all_reduce(grad)
    File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in all_reduce
      work.wait()
  RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:32641
"""


def test_a_summary_that_names_an_error_file_tells_of_a_rank_that_had_a_reason(tmp_path: Path) -> None:
    """What the file holds was not copied: that the rank printed no reason is not said of it."""
    lost = "[rank1]: " + LOST_IN_A_SUMMARY.replace("\n  ", "\n[rank1]:   ").rstrip("\n") + "\n"
    filed = summary_entry(0, 0, "1").replace("<N/A>", "/tmp/torchelastic_x/none_y/attempt_0/0/error.json")
    report = told(tmp_path, {"console.log": lost + HEAD + summary_entry(1, 1, "-15") + FIRST + filed})
    assert "printed no reason" not in (report.diagnosis.summary if report.diagnosis else "")


# --- A file that ends in the middle of a line tells half of an exception: of others that say all of it, or of nobody at all ---

HEAD_OF_A_TRACE = 'Traceback (most recent call last):\n  File "/data/jobs/train.py", line 91, in step\n    dist.all_reduce(loss)\n'
CLOSED = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[127.0.0.1]:16805. This is typically caused by a remote worker crashing. Check the logs of the remote worker before "
    "reporting an error.\n"
)
STEP = "iter 8: loss 4.3063, time 234.44ms, mfu 7.51%\n"


def labelled(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def test_half_a_runtime_error_that_nobody_tells_whole_blames_no_rank(tmp_path: Path) -> None:
    logs = {r: (STEP + labelled(r, HEAD_OF_A_TRACE + CLOSED))[:-190] for r in range(3)}
    report = told(tmp_path, {f"rank{r}.log": text for r, text in logs.items()})
    assert ([], "likely") >= (culprits(report), report.diagnosis.certainty)


# --- A text that breaks off inside a traceback shows that something was raised, and not what ----------------------

BROKEN = """Added key: store_based_barrier_key:1 to store for rank: 0
Traceback (most recent call last):
  File "train.py", line 600, in <module>
    main(opt)
  File "train.py", line 494, in main
    dist.init_process_group(backend="nccl" if dist.is_nccl_available() else "gloo")
  File "/opt/conda/lib/pytho"""


def test_a_traceback_that_breaks_off_is_a_failure_without_a_name(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": BROKEN})
    assert ("failed", "unknown") == (report.outcome, cause(report))
    assert 7 == report.diagnosis.evidence[0].line
    assert any("rest of console.log" in step.text for step in report.diagnosis.remedy)


def test_a_launcher_that_cleans_up_and_breaks_off_was_not_told_to_end_from_outside(tmp_path: Path) -> None:
    cleaned = "[2021-11-21 08:32:07,148] [INFO] [launch.py:131:sigkill_handler] Killing subprocess 250621\n"
    assert "process.terminated" == cause(told(tmp_path / "whole", {"console.log": cleaned}))
    assert "unknown" == cause(told(tmp_path / "cut", {"console.log": cleaned + BROKEN.split("\n", 1)[1]}))


@pytest.mark.parametrize("begun", ["[rank3]:[E ProcessGroupNCCL.cpp:523] [R", "[rank3]:[E Proc"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_who_was_about_to_report_when_the_text_broke_off_is_not_silent(tmp_path: Path, begun: str, end: str) -> None:
    """Ranks 0 and 2 may have reported below it: nobody knows."""
    said = (
        "[rank{0}]:[E ProcessGroupNCCL.cpp:523] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=167, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600272 milliseconds before timing out.\n"
    )
    waited = "".join(said.format(rank) for rank in (5, 4, 1, 6, 7))

    report = told(tmp_path / "cut", {"console.log": waited + begun + end})

    assert ("collective.timeout", []) == (cause(report), culprits(report))
    whole = "[rank3]: INFO epoch 2 begins\n" + waited + said.format(0) + said.format(2)
    assert [3] == culprits(told(tmp_path / "whole", {"console.log": whole}))


# --- what goes wrong while a job is put away, and what a paste cuts off, is not why it failed ---------------------

SCROLLED = """[rank2]:[E816 00:34:01.133910474 ProcessGroupNCCL.cpp:629] [Rank 2] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=812, OpType=ALLRE[451/1919]
"""


def test_an_operation_cut_off_by_the_terminal_differs_from_none(tmp_path: Path) -> None:
    text = SCROLLED + "".join(watchdog(rank) for rank in (0, 1, 3))
    report = told(tmp_path, {"run.log": text})
    assert ("collective.timeout", {""}) == (cause(report), {row.verdict for row in report.collectives})


# --- what several processes of a console say in the same words is no rank's own reason ----------------------------

CLOSING = (
    "W1123 08:22:24.640000 31835 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 31845 closing signal SIGTERM\n"
    "E1123 08:22:24.810000 31835 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 1 (pid: 31846)"
    " of binary: /data/jobs/venv/bin/python3.11\n"
)
BEGAN = "".join(
    f"2026-11-23 08:22:13,2{n} [INFO] [rank {n}] train: rank {n} of 2 on gpu-node-07, pid {31845 + n}\n" for n in range(2)
)
SAID = "train.py: unknown tokenizer 'en-33k' in config.yaml\n"


@pytest.mark.parametrize("times", [1, 2])
def test_a_rank_that_the_launcher_saw_leave_is_named_whoever_printed_its_words_too(tmp_path, times):
    report = told(tmp_path, {"console.log": BEGAN + SAID * times + CLOSING})
    assert ("process.exit-code", [1]) == (cause(report), culprits(report))


# --- A launcher that ends all of its processes is no cause; what made it end them is ------------------------------

SENT = "W1122 11:08:37.092000 79 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 8{rank} closing signal SIGTERM\n"
FAILED = "E1122 11:08:37.112000 79 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: {code}) local_rank: {rank} \
(pid: 8{rank}) of binary: /usr/bin/python3\n"
LISTED = """  time      : 2026-11-22_11:08:37
  host      : localhost
  rank      : {rank} (local_rank: {rank})
  exitcode  : {code} (pid: 8{rank})
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
"""


def test_size_of_the_job_is_read_from_the_agents_lists(tmp_path: Path) -> None:
    """Rank 3 hangs and prints steps only; that there is one is told by the list of its agent, which calls its host localhost."""
    waited = (
        "[rank{rank}]: Traceback (most recent call last):\n"
        "[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
        "Timed out waiting 8000ms for recv operation to complete\n"
    )
    folder = "node{node}/elastic/job4711_f6vxjcp{node}/attempt_0/{local}/{stream}.log"
    files = {}
    for rank in range(4):
        node, local = divmod(rank, 2)
        step = f"2026-11-22 11:08:2{rank},180 [INFO] trainer: step 4 loss 0.8181\n"
        files[folder.format(node=node, local=local, stream="stdout")] = step
        files[folder.format(node=node, local=local, stream="stderr")] = waited.format(rank=rank) if rank != 3 else ""
    for node, code in ((0, 1), (1, -15)):
        listed = "".join(
            LISTED.replace("(local_rank: {rank})", f"(local_rank: {local})").format(rank=2 * node + local, code=code if local else 1)
            for local in (0, 1)
        )
        files[f"node{node}/agent.log"] = SENT.format(rank=2 * node + 1) + FAILED.format(rank=0, code=1) + listed
    report = told(tmp_path, files)

    (culprit,) = report.diagnosis.culprits
    assert ("collective.straggler", 3, "node1") == (report.diagnosis.cause, culprit.rank, culprit.host)


def test_rank_of_each_of_many_entries_of_summaries_is_read(tmp_path: Path) -> None:
    """Each entry has four lines that may begin what is left of one; they are not counted with the entries."""
    entry = (
        "[{n}]:\n  time      : 2026-04-09_05:33:19\n  host      : n{node}\n  rank      : {rank} (local_rank: {n})\n"
        "  exitcode  : {code} (pid: {pid})\n  error_file: <N/A>\n  traceback : Signal {signal} received by PID {pid}\n"
    )
    head = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60 + "\n"
    boxes = ""
    for node in range(8):
        boxes += head + "Failures:\n"
        for n in range(8):
            signal = 11 if (node, n) == (3, 5) else 15
            boxes += entry.format(n=n, node=node, rank=8 * node + n, code=-signal, pid=4000 + 8 * node + n, signal=signal)

    report = told(tmp_path, {"slurm.out": boxes})
    assert ("process.segfault", [29]) == (verdict_of(report), culprits(report))


# --- what `ft_launcher` of NVIDIA's resiliency extension prints: its monitors kill the ranks that they take for hung ---

SILENT = "[{at}] [WARNING] [RankMonitorServer40{rank}@node01:{rank}] [Cycle 0] Did not get subsequent heartbeat. Waited 180.00 seconds.\n"
OLD = "[WARNING] [RankMonitorServer:2] Did not get subsequent heartbeat. Waited 171.92 seconds.\n"
HEARD = SILENT.format(at="2026-02-01 12:10:31,402", rank=2)


@pytest.mark.parametrize(
    ("line", "rank", "host"),
    [
        (HEARD, 2, "node01"),
        (OLD, 2, None),
        (HEARD.replace(":2]", ":<none>]"), None, "node01"),
        ("2026-02-01 12:00:40,123 [WARNING] [node07] [workload:59(3) infra:7(3)] health_check.py:705 GPU 3", 59, "node07"),
        ("2026-02-01 12:00:40,123 [WARNING] [node07] [workload:?(?) infra:7(0)] health_check.py:705 GPU 3", None, "node07"),
    ],
)
def test_the_headers_say_who_is_meant(line: str, rank: int | None, host: str | None) -> None:
    prefix = split_prefix(line.rstrip())
    assert (rank, host) == (prefix.rank, prefix.host)


# --- runs that end well, or go on, say many things that look bad; and of jobs in one file only the last one is told of ---

PADDLE_STEP = "2022-06-09 22:48:17 [INFO]\t[TRAIN] epoch: 1, iter: 5/200, loss: 2.6422, lr: 0.009820, batch_cost: 1.3029\n"


@pytest.mark.parametrize(
    "line",
    [
        "/bin/sh: /usr/local/cuda/bin/nvcc: No such file or directory\n",
        "/var/spool/slurm/job96/slurm_script: line 5: conda: command not found\n",
        "python: can't open file 'get_mpi_rank.py': [Errno 2] No such file or directory\n",
        "CondaError: Run 'conda init' before 'conda deactivate'\n",
        "rm: cannot remove '/usr/local/cuda/compat/lib': Read-only file system\n",
    ],
)
def test_what_a_script_missed_before_the_training_began_ended_nothing(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, {"console.log": line + PADDLE_STEP}).diagnosis is None
