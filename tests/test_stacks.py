"""Stack dumps as py-spy, faulthandler, gdb, eu-stack and pystack print them."""

from __future__ import annotations

import io
import json
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.lines.prefix import Line, read_lines
from diagnose.sources.exports import lines_of_threads
from diagnose.traces.stack_forms import StackDump
from diagnose.traces.stacks import find_stacks


def lines_of(text: str) -> list[Line]:
    numbered = enumerate(textwrap.dedent(text).strip("\n").split("\n"), 1)
    return [line for number, raw in numbered for line in read_lines(number, raw)]


def dump_of(text: str) -> StackDump:
    found = find_stacks(lines_of(text))
    assert len(found) == 1, found
    return found[0]


PYSPY = """
Process 6889: /data/jobs/venv/bin/python -u train_coll.py --local_rank=1
Python v3.11.7 (/opt/python3.11/bin/python3.11)

Thread 6889 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:3252)
    sync_gradients (train_coll.py:58)
    <module> (train_coll.py:156)
Thread 0x7F1184A42520 (active+gil): "Thread-1 (_monitor)"
    wait (threading.py:331)
    run (tqdm/_monitor.py:60)
"""


def test_pyspy_process():
    dump = dump_of(PYSPY)
    assert (dump.form, dump.pid, dump.local_rank, dump.line, dump.end_line) == ("py-spy", 6889, 1, 1, 10)


def test_pyspy_locals_are_no_frames():
    text = PYSPY.replace(
        "    sync_gradients", '        Arguments:\n            group: <ProcessGroup at 0x7f (x:1)>\n    sync_gradients', 1
    )
    assert len(dump_of(text).threads[0].frames) == 3


@pytest.mark.parametrize("heading", ["local rank 3", "=== local_rank 3 ===", "pid 6888 rank 2\npid 6887 rank 3"])
def test_heading_of_a_local_rank_and_a_list_without_the_process_name_no_rank(heading: str):
    assert dump_of(heading + "\n" + PYSPY.strip()).rank is None


def test_pyspy_json():
    frames = [{"name": "all_reduce", "short_filename": "c10d.py", "line": 3}, {"name": "<module>", "filename": "a.py"}]
    text = json.dumps([{"pid": 7, "thread_id": 1, "thread_name": "MainThread", "active": False, "frames": frames}])
    dump = dump_of("\n".join(lines_of_threads(io.BytesIO(text.encode()).read, [])))
    assert (dump.pid, [f.function for f in dump.threads[0].frames]) == (7, ["<module>", "all_reduce"])


FAULT = """
step 5/40
Fatal Python error: Segmentation fault

Thread 0x00007fb86ebc0000 (most recent call first):
  File "/opt/python3.11/lib/python3.11/threading.py", line 331 in wait
  File "/opt/python3.11/lib/python3.11/threading.py", line 1002 in _bootstrap

Current thread 0x00007fb86ebc0b80 (most recent call first):
  File "/opt/python3.11/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/data/jobs/shards.py", line 59 in native_tokenize
  File "/data/jobs/mpi_train.py", line 9 in <module>

Extension modules: numpy.linalg._umath_linalg, torch._C (total: 44)
step 6/40
"""


def test_faulthandler_current_thread_is_main_by_its_module():
    current = dump_of(FAULT).threads[1]
    assert (current.state, current.is_main) == ("current", True)
    assert [f.function for f in current.frames] == ["<module>", "native_tokenize", "string_at"]


GDB = """
Attaching to process 4711
[New LWP 4712]
Thread 2 (Thread 0x7f11 (LWP 4712) "pt_nccl_watchdg"):
#0  0x00007f1184a9 in __futex_abstimed_wait_common (futex_word=0x55) at futex-internal.c:57
#1  0x00007f1184aa in std::condition_variable::wait(std::unique_lock<std::mutex>&) () from /lib/libstdc++.so.6
Thread 1 (Thread 0x7f10 (LWP 4711) "python"):
#0  0x00007f1184a9 in ncclGroupEnd ()
    at group.cc:102
#1  main (argc=1, argv=0x7ffe) at main.c:9
"""


def test_gdb_wrapped_place():
    assert dump_of(GDB).threads[1].frames[-1].file == "group.cc"


TERMINATE = """
[rank3]:[E1129 11:56:58.246921347 ProcessGroupNCCL.cpp:1834] Timeout at NCCL work: 28956
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=96119, OpType=ALLREDUCE)
Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:618 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f5328576207 in /opt/lib/libc10.so)
frame #1: <unknown function> + 0x94ac3 (0x7ff29bd03ac3 in /lib/x86_64-linux-gnu/libc.so.6)

Aborted (core dumped)
"""


PIECES = [*PYSPY.split("\n"), *FAULT.split("\n"), *GDB.split("\n"), *TERMINATE.split("\n")]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=40), max_size=40))
def test_any_mix_of_lines_is_read(texts):
    lines = [line for number, text in enumerate(texts, 1) for line in read_lines(number, text)]
    for found in find_stacks(lines):
        assert 1 <= found.line <= found.end_line <= len(texts)


@settings(max_examples=100, deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["pid", "frames", "thread_id", "name", "line"]), inner, max_size=4), max_leaves=12))
def test_any_json_is_read(value):
    lines_of_threads(io.BytesIO(json.dumps([value, {"thread_id": 1}]).encode()).read, [])
