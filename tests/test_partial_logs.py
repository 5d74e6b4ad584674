"""Logs as people have them: the end of a console, its middle left out, its summary without a head."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told

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
RULE = "============================================================\n"
NO_CHECKPOINT = """Traceback (most recent call last):
    File "/job/train.py", line 32, in main
      trainer.train(resume_from_checkpoint=resume)
    File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 3657, in _load_from_checkpoint
      raise ValueError(f"Can't find a valid checkpoint at {resume_from_checkpoint}")
  ValueError: Can't find a valid checkpoint at /ckpt/checkpoint-500
"""


def entry(number: int, rank: int, code: str, words: str = "To enable traceback see: https://pytorch.org/docs\n") -> str:
    """What torchrun's summary says of one process."""
    return (
        f"[{number}]:\n  time      : 2026-11-20_17:43:17\n  host      : gpu-07\n  rank      : {rank} (local_rank: {rank})\n"
        f"  exitcode  : {code} (pid: {20963 + rank})\n  error_file: <N/A>\n  traceback : {words}"
    )


def test_a_summary_without_its_head_names_who_crashed(tmp_path: Path) -> None:
    """The first lines of the last entry were not copied."""
    crash = entry(0, 0, "-11", "Signal 11 (SIGSEGV) received by PID 20963\n")
    report = told(tmp_path, {"console.log": "  rank" + crash.partition("\n  rank")[2] + RULE})

    assert (cause(report), culprits(report)) == ("process.segfault", [0])
    assert report.diagnosis is not None and report.diagnosis.certainty == "likely"  # who else crashed is not here


def test_a_summary_tells_of_each_rank_what_it_raised(tmp_path: Path) -> None:
    """A tail without the ranks' own lines: both entries hold the same exception, so that it is no rank's own."""
    summary = HEAD + entry(1, 0, "-15", NO_CHECKPOINT) + FIRST + entry(0, 1, "1", NO_CHECKPOINT) + RULE
    report = told(tmp_path, {"console.log": summary})

    assert (cause(report), culprits(report)) == ("storage.checkpoint-corrupt", [])


def test_the_last_entry_alone_makes_its_rank_no_more_than_likely(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": FIRST + entry(0, 1, "1", NO_CHECKPOINT) + RULE})

    assert report.diagnosis is not None
    assert (report.diagnosis.cause, report.diagnosis.certainty) == ("storage.checkpoint-corrupt", "likely")


LOST = """Traceback (most recent call last):
    File "/job/train.py", line 58, in main
      dist.all_reduce(grad)
    File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in all_reduce
      work.wait()
  RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:32641
"""


def test_who_is_not_in_the_end_of_a_list_has_not_left_early_for_that(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": entry(1, 0, "-15", LOST) + FIRST + entry(0, 2, "1", LOST) + RULE})

    assert (cause(report), culprits(report)) == ("network.connection-reset", [])


def test_another_rank_that_was_raising_too_makes_the_first_no_more_than_likely(tmp_path: Path) -> None:
    """The middle of the console is left out, and with it what rank 0 raised."""
    frames = '{0}Traceback (most recent call last):\n{0}  File "/job/train.py", line 7, in <module>\n{0}    main()\n'
    console = frames.format("[rank1]: ") + "[rank1]: KeyError: 'target'\n" + frames.format("[rank0]: ") + "[...]\n"
    report = told(tmp_path, {"console.log": console})

    assert report.diagnosis is not None
    assert (report.diagnosis.cause, report.diagnosis.certainty) == ("process.exception", "likely")


BANNER = "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded\n"
RAISED = '[rank0]: Traceback (most recent call last):\n[rank0]:   File "/job/train.py", line 7, in <module>\n[rank0]:     main()\n'


def test_an_exception_without_a_message_takes_no_line_of_the_next_run(tmp_path: Path) -> None:
    """`RendezvousTimeoutError` ends a run; below it the agent of the next one draws its first rule."""
    frame = 'Traceback (most recent call last):\n  File "/opt/torch/distributed/run.py", line 1028, in main\n    run(args)\n'
    timed_out = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n\n"
    report = told(tmp_path, {"train.log": frame + timed_out + "*" * 41 + "\n" + BANNER + "*" * 41 + "\n" + frame + timed_out})

    assert cause(report) == "rendezvous.timeout"


def test_a_summary_that_names_an_error_file_tells_of_a_rank_that_had_a_reason(tmp_path: Path) -> None:
    """What the file holds was not copied: that the rank printed no reason is not said of it."""
    lost = "[rank1]: " + LOST.replace("\n  ", "\n[rank1]:   ").rstrip("\n") + "\n"
    filed = entry(0, 0, "1").replace("<N/A>", "/tmp/torchelastic_x/none_y/attempt_0/0/error.json")
    report = told(tmp_path, {"console.log": lost + HEAD + entry(1, 1, "-15") + FIRST + filed})

    assert "printed no reason" not in (report.diagnosis.summary if report.diagnosis else "")


def test_an_exception_whose_end_was_left_out_is_no_more_than_likely(tmp_path: Path) -> None:
    """A viewer shows the first 120 columns: what the reason was may have stood behind them."""
    cut = "[rank0]: OSError: The tokenizer service has closed the third session of this client, and c..."
    report = told(tmp_path, {"train.log": RAISED + cut + "\n"})

    assert report.diagnosis is not None
    assert "certain" != report.diagnosis.certainty


DUMP = """Process 4121: /usr/bin/python3 -u train.py
Python v3.10.12 (/usr/bin/python3.10)

Thread 4121 (idle): "MainThread"
    {inner}
    main (train.py:140)
    <module> (train.py:171)
"""


def test_the_stack_of_one_process_in_a_collective_is_a_hang_of_nobody_known(tmp_path: Path) -> None:
    dump = DUMP.format(inner="all_reduce (torch/distributed/distributed_c10d.py:2815)\n    train_step (train.py:88)")
    report = told(tmp_path, {"dump.txt": dump})

    assert ("hung", "collective.timeout", []) == (report.outcome, cause(report), culprits(report))
    assert report.diagnosis is not None
    assert "possible" == report.diagnosis.certainty


def test_one_stack_beside_steps_is_no_hang(tmp_path: Path) -> None:
    """Somebody looked at a process of a job that goes on."""
    dump = DUMP.format(inner="all_reduce (torch/distributed/distributed_c10d.py:2815)\n    train_step (train.py:88)")
    steps = "2026-11-20 10:19:00,000 | INFO | rank 0 | step 120 loss 1.2345\n" * 3

    assert "unfinished" == told(tmp_path, {"dump.txt": dump, "train.log": steps}).outcome
