"""Who speaks and when, from the head of one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.lines.prefix import Prefix, read_lines, speaker_key, split_prefix
from diagnose.lines.prefix_rows import rows_of
from diagnose.scan.voices import fast_speaker

C10 = "[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] "


def said(text: str) -> dict[str, object]:
    """The fields that are set, but for the stamp, with the message."""
    prefix = split_prefix(text)
    fields = {field: getattr(prefix, field) for field in Prefix._fields}
    named = {name: value for name, value in fields.items() if value is not None and name not in ("stamp", "end")}
    return {**named, "message": text[prefix.end:]}


@pytest.mark.parametrize("row", rows_of("leading") + rows_of("after_a_stamp"), ids=lambda row: row.name)
def test_every_row_strips_its_sample(row):
    assert split_prefix(row.sample) != Prefix()


CASES = {
    "[rank3]: Traceback (most recent call last):": {"rank": 3, "message": "Traceback (most recent call last):"},
    '[rank3]:   File "x.py", line 1, in f': {"rank": 3, "message": '  File "x.py", line 1, in f'},
    "[default2]:[rank10]:     main()": {"rank": 10, "local_rank": 2, "message": "    main()"},
    f"[rank4]:{C10}[PG 5 Rank 0] Timeout": {
        "rank": 4, "group_rank": 0, "severity": "E", "origin": "ProcessGroupNCCL.cpp:607", "message": "[PG 5 Rank 0] Timeout"},
    "W0622 19:47:13.438000 140373504014144 torch/distributed/elastic/api.py:851] Sending": {
        "tid": 140373504014144, "severity": "W", "origin": "torch/distributed/elastic/api.py:851", "message": "Sending"},
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9)": {
        "severity": "E", "origin": "torch.distributed.elastic.multiprocessing.api", "message": "failed (exitcode: -9)"},
    "node0:115:273 [3] NCCL INFO transport/net_ib.cc:93 -> 2": {
        "host": "node0", "pid": 115, "tid": 273, "device": 3, "severity": "I", "origin": "NCCL",
        "message": "transport/net_ib.cc:93 -> 2"},
    "2026-05-15T12:14:08.815954978Z stderr F [rank1]: x": {"stream": "stderr", "rank": 1, "message": "x"},
    " 3: [rank11]:[W socket.cpp:464] [c10d] x": {
        "task": 3, "rank": 11, "severity": "W", "origin": "socket.cpp:464", "message": "[c10d] x"},
    "(VllmWorker rank=1 pid=4009) ERROR 08-12 04:11:20 [core.py:1136] x": {
        "actor": "VllmWorker", "rank": 1, "pid": 4009, "severity": "E", "origin": "core.py:1136", "message": "x"},
    "(Worker pid=22) [Stage-0] ERROR 03-12 08:22:28 [multiproc_executor.py:800] x": {
        "actor": "Worker", "pid": 22, "severity": "E", "origin": "multiproc_executor.py:800", "message": "x"},
    "[pod/llm-worker-0/pytorch] 2026-11-20T17:03:28.1Z [rank3]: x": {
        "pod": "llm-worker-0", "container": "pytorch", "rank": 3, "message": "x"},
    "[2026-09-11 13:02:50,898] [INFO] [logging.py:128:log_dist] [Rank 0] x": {
        "group_rank": 0, "severity": "I", "origin": "logging.py:128:log_dist", "message": "[Rank 0] x"},
    "2023-12-15 18:01:40 10.0.1.11: [2023-12-15 18:01:40,510] [INFO] [axolotl.cfg:200] [PID:3310] [RANK:0] x": {
        "host": "10.0.1.11", "severity": "I", "origin": "axolotl.cfg:200", "pid": 3310, "rank": 0, "message": "x"},
    "[1,3]<stderr>:x": {"rank": 3, "stream": "stderr", "message": "x"},
    "Mar 21 07:18:53 node0056 kernel: [2752089.385738] NVRM: Xid": {"host": "node0056", "message": "NVRM: Xid"},
    "rank0[1234][MainThread]: ERROR: composer.cli: x": {
        "rank": 0, "pid": 1234, "severity": "E", "origin": "composer.cli", "message": "x"},
    "trainer-1  | " + 60 * "several words ": {"container": "trainer-1", "message": 60 * "several words "},
    "llm.pretrain/1 E0215 08:29:11.020000 485 torch/distributed/elastic/api.py:869] failed": {
        "actor": "llm.pretrain", "node_rank": 1, "pid": 485, "severity": "E",
        "origin": "torch/distributed/elastic/api.py:869", "message": "failed"},
    "llm.pretrain/0   rank      : 3 (local_rank: 3)": {
        "actor": "llm.pretrain", "node_rank": 0, "message": "  rank      : 3 (local_rank: 3)"},
    "[trainer2|0]:Last error:": {"rank": 2, "local_rank": 0, "message": "Last error:"},
    "[rank1]: **RuntimeError: world_size (8) is not equal**": {
        "rank": 1, "message": "RuntimeError: world_size (8) is not equal**"},
}


@pytest.mark.parametrize("text", CASES)
def test_prefix_says(text):
    assert said(text) == CASES[text]


@pytest.mark.parametrize("text", [
    "Error: x", "host: something", "foo 3: bar", "", " ", "  File \"x.py\", line 3, in f", "python3: can't open file 'x'",
    "fp16: True", "srun: error: node0056: task 2: Killed", "slurmstepd: error: Detected 1 oom_kill event",
    "[11] is setting up NCCL communicator and retrieving ncclUniqueId", "[1]:", "[c10d] The client socket",
    "[/__w/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed", "ncclSystemError: System call", "[Errno 12] x",
    "RuntimeError: [rank3]: x", "2: eth0: <BROADCAST,MULTICAST,UP>", "[state-dump] x", "mpirun noticed that process rank 1",
    "Name | Value", "0 | embed | Embedding | 11 K", "WARNING: x", "wandb: WARNING x", "Rank 11: Device: 3, node: h",
    "[1/3] c++ -MMD", "train/0 images, 12 backgrounds", "ValueError: bad", "rank 3 failed", "[Rank 3] Watchdog"])
def test_ordinary_text_is_left_whole(text):
    assert split_prefix(text).end == 0


def test_the_zoned_stamp_is_kept_of_nested_ones():
    prefix = split_prefix(f"2026-12-06T10:44:13.1Z stderr F [rank0]:{C10}x")
    assert prefix.stamp.has_zone


@pytest.mark.parametrize("text", [
    f"Training: 40%|####  | 4/10 [00:10<00:12]{C10}[Rank 1] x",
    "Training: 40%|####  | 4/10 [00:10<00:12]2026-11-20 17:03:28,001 - ERROR - x",
    f"  2%|#    | 13/620 [01:04<50:22, 4.98s/it][rank3]:{C10}x",
    "Train: 0%|  | 1/531 [00:56<8:16:19, 56.19s/it]W0620 19:47:13.212000 140373504014144 torch/x.py:1] x",
    "66%|##| 2/3 [00:36<00:18, 18.42s/it] WARNING:torch.distributed.elastic.multiprocessing.api:x",
    "66%|##| 2/3 [00:36<00:18, 18.42s/it]Traceback (most recent call last):",
    "epoch 3 done[rank1]:[E ProcessGroupNCCL.cpp:563] x",
    "step 3 done[W1206 18:44:12.715298746 CUDAAllocatorConfig.h:28] Warning: x",
])
def test_a_log_line_glued_to_text_becomes_a_line_of_its_own(text):
    assert len(read_lines(7, text)) == 2
    assert "".join(line.raw for line in read_lines(7, text)) == text


@pytest.mark.parametrize("text", [
    f"[default1]:[rank1]:{C10}[PG 3 Rank 2] [PG 3 Rank 2] stuck", "saved at 2026-11-20 17:03:28,001 to [x]",
    "[rank0]: see '[rank3]: Traceback' above", "Epoch 0:  15%|# | 4000/25420 [0:16:40, 4.02it/s, v_num=17, loss=0.380]",
    "  0%|          | 1/20000 [00:05<29:05:31,  5.24s/it]"])
def test_a_line_that_holds_one_message_stays_one(text):
    assert [line.raw for line in read_lines(7, text)] == [text]


def test_carriage_returns_split_and_the_launcher_s_prefix_holds_for_all():
    lines = read_lines(7, " 4: 10%|# | 1/10\r 20%|## | 2/10\r\rdone")
    assert [line.raw for line in lines] == [" 4: 10%|# | 1/10", " 20%|## | 2/10", "done"]
    assert {line.prefix.task for line in lines} == {4}


def test_a_glued_line_keeps_its_own_rank_and_the_host_of_the_line():
    first, second = read_lines(7, f"gpu004: [rank0]: done[rank1]:{C10}x")
    assert (first.prefix.rank, second.prefix.rank) == (0, 1)
    assert second.prefix.host == "gpu004"


@pytest.mark.parametrize(("text", "key"), [
    ("[rank3]: x", "rank3"), ("[gpu-07:2]: x", "local2@gpu-07"), ("(Trainer pid=7, ip=10.0.0.1) x", "Trainer:7@10.0.0.1"),
    (" 4: x", "task4"), ("plain", ""), ("node0:115:273 [3] NCCL INFO x", "pid115@node0"), ("[E x.cpp:1] [Rank 3] y", "group3")])
def test_speaker_key_is_canonical(text, key):
    assert speaker_key(split_prefix(text)) == key


@given(st.text(alphabet="[]():|<> \r0123456789rankRE:E1206T-.,/=pidstaoutF%", max_size=80))
def test_no_line_raises_and_no_text_is_lost(text):
    lines = read_lines(1, text)
    assert "".join(line.raw for line in lines) == text.replace("\r", "")
    assert all(0 <= line.prefix.end <= len(line.raw) for line in lines)
    fast_speaker(text.encode())


def test_a_bar_that_never_ended_a_line_is_read_in_linear_time():
    text = "x" * 200_000 + "[rank1]: y" * 2_000
    assert len(read_lines(1, text)) == 100


@pytest.mark.parametrize(
    "text",
    [
        "Killed",
        "Segmentation fault (core dumped)",
        "Fatal Python error: Segmentation fault",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.",
        "run.sh: line 12:  4121 Killed                  torchrun train.py",
        "F0000 00:00:1717141650.890307    9276 pjrt_computation_client.cc:487] Non-OK-status: status",
        "Loss is nan, stopping training",
    ],
)
def test_what_ends_a_job_is_read_behind_the_bar_that_it_interrupts(text):
    bar, said_last = read_lines(7, "  5%|▌         | 12/240 [01:10<22:13,  5.97s/it]" + text)
    assert bar.raw.endswith("s/it]")
    assert said_last.raw == text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "(4KTX0eWorkerDict_0:5 pid=57856, ip=10.0.0.2) step 3",
            {"actor": "4KTX0eWorkerDict_0:5", "pid": 57856, "ip": "10.0.0.2", "message": "step 3"},
        ),
        (
            "(4l0bidWorkerDict_1:13 WorkerDict pid=204487, ip=[2001:db8:cd51::530e]) step 3",
            {"actor": "4l0bidWorkerDict_1:13 WorkerDict", "pid": 204487, "ip": "2001:db8:cd51::530e", "message": "step 3"},
        ),
    ],
)
def test_an_actor_whose_random_name_begins_with_a_digit_is_one_and_its_address_may_be_in_brackets(line, expected):
    assert expected == said(line)


@pytest.mark.parametrize(
    "text",
    [
        "  time      : 2026-11-20_17:36:11",
        "  host      : gpu004",
        "  rank      : 2 (local_rank: 0)",
        "  exitcode  : 1 (pid: 25864)",
        "  error_file: <N/A>",
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
    ],
)
def test_each_line_of_torchruns_summary_is_of_the_host_before_it(text: str) -> None:
    (line,) = read_lines(1, f"g1021: {text}")
    assert (line.prefix.host, line.message) == ("g1021", text)
