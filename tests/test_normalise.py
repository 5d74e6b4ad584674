"""What collectors put around a line is taken off, and every line keeps its number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.scan.scan_rules import ScanRules
from diagnose.sources.normalise import Normaliser, marks_of, normalise

STAMP = "2026-11-20T17:00:00.123456789Z"


def docker(text: str, stream: str = "stderr") -> str:
    return json.dumps({"log": text, "stream": stream, "time": STAMP}) + "\n"


@pytest.mark.parametrize(
    ("dressed", "written"),
    [
        (b"\x1b[36m(Trainer pid=28717)\x1b[0m CUDA error\n", b"(Trainer pid=28717) CUDA error\n"),
        (b"CUDA \x1b[1;31mout\x1b[0m of \x1b[38;5;196mmemory\x1b[K\n", b"CUDA out of memory\n"),
        (b"\x1b]0;title\x07CUDA\x1b(B error\x1b[m\n", b"CUDA error\n"),
        (b"#033[31mCUDA error#033[0m\n", b"CUDA error\n"),
        (b"\\x1b[31mCUDA error\\x1b[0m\n", b"CUDA error\n"),
        (b"\\u001b[36mray::step()\\u001b[39m CUDA error\n", b"ray::step() CUDA error\n"),
        (b"\\033[31mCUDA\\e[0m ^[[1merror^[[0m\n", b"CUDA error\n"),
        (b"[36m(Trainer pid=28717)[0m CUDA error\n", b"(Trainer pid=28717) CUDA error\n"),
        (b"[33m(raylet) A worker died\n", b"(raylet) A worker died\n"),
        (b"10%|#  | 1/10\x1b[A\nCUDA error\n", b"10%|#  | 1/10\r\nCUDA error\n"),
        (b"\xef\xbb\xbfCUDA error\n", b"CUDA error\n"),
        (b"CU\0DA err\0or\n", b"CUDA error\n"),
    ],
)
def test_terminal_sequences_are_removed(dressed, written):
    assert marks_of(dressed)
    assert normalise(dressed) == written


@pytest.mark.parametrize("rank", [3, "3"])
def test_json_logger_s_rank_becomes_the_one_people_know(rank):
    line = json.dumps({"time": "2026-11-20T17:00:00Z", "level": "error", "rank": rank, "msg": "boom"}).encode()
    assert b"2026-11-20T17:00:00Z ERROR [rank3]: boom\n" == normalise(line + b"\n")


@pytest.mark.parametrize("rank", [True, -1, "first", 3.5, None, 10**9])
def test_what_is_no_rank_is_left_out(rank):
    line = json.dumps({"time": "2026-11-20T17:00:00Z", "level": "error", "rank": rank, "msg": "boom"}).encode()
    assert b"2026-11-20T17:00:00Z ERROR boom\n" == normalise(line + b"\n")


@pytest.mark.parametrize(
    "line",
    [
        b"[rank3]: [PG 5 Rank 0] Watchdog caught collective operation timeout\n",
        b"C:\\x1\\e033 path #033 and ^[ x\n",
        b"array([0m, 1])\n",
        b"grad[36m] is fine\n",
        b"{'loss': 2.34, 'epoch': 0.1}\n",
        b'{"step": 3, "loss": 2.1}\n',
        b'{"text": "Traceback (most recent call last):"}\n',
        b'{"log": {"level": "error"}}\n',
        b"{not json}\n",
        b"2026-11-20T17:00:00.123456789Z stdout F text\n",
        b"a\rb\r\n",
    ],
)
def test_other_text_is_left_alone(line):
    assert normalise(line) == line


@pytest.mark.parametrize(
    ("record", "written"),
    [
        ({"log": "CUDA \"error\" \u003cx\u003e\n", "stream": "stderr", "time": STAMP}, f'{STAMP} stderr F CUDA "error" <x>'),
        (
            {"log": "CUDA error\n", "time": STAMP, "kubernetes": {"pod_name": "t-worker-3", "container_name": "pytorch"}},
            f"{STAMP} [pod/t-worker-3/pytorch] CUDA error",
        ),
        (
            {"message": "CUDA error", "kubernetes": {"pod": {"name": "w-1"}, "container_name": "c"}, "stream": "stdout"},
            "[pod/w-1/c] CUDA error",
        ),
        (
            {"textPayload": "CUDA error\n", "resource": {"type": "k8s_container", "labels": {"pod_name": "p"}},
             "timestamp": "2026-03-18T05:25:01.1Z", "severity": "ERROR"},
            "2026-03-18T05:25:01.1Z [pod/p/main] CUDA error",
        ),
        (
            {"MESSAGE": "Out of memory: Killed process 7", "_HOSTNAME": "n7", "SYSLOG_IDENTIFIER": "kernel",
             "__REALTIME_TIMESTAMP": "1763600000123456"},
            "2025-11-20T00:53:20.123456+00:00 n7 kernel: Out of memory: Killed process 7",
        ),
        (
            {"host_name": "ctl-1", "label": "RAY_NODE_REMOVED", "message": "The node has been marked dead", "pid": "65",
             "severity": "ERROR", "source_type": "GCS", "timestamp": 1750669108},
            "2025-06-23T08:58:28.000000+00:00 ctl-1 GCS[65]: The node has been marked dead [RAY_NODE_REMOVED]",
        ),
        ({"content": {"message": "CUDA error", "timestamp": STAMP, "host": "n7"}, "id": "A"}, f"{STAMP} CUDA error"),
        ({"preview": False, "result": {"_raw": "CUDA error", "_time": STAMP}}, f"{STAMP} CUDA error"),
        ({"ts": 1763600000.5, "level": "error", "msg": "x"}, "2025-11-20T00:53:20.500000+00:00 ERROR x"),
        ({"ts": STAMP, "level": "error", "msg": "CUDA error"}, f"{STAMP} ERROR CUDA error"),
        (
            {"asctime": STAMP, "levelname": "ERROR", "message": "failed", "exc_info": "Traceback:\nKeyError: 'x'"},
            f"{STAMP} ERROR failed\r{STAMP} ERROR Traceback:\r{STAMP} ERROR KeyError: 'x'",
        ),
        (
            {"log": "Traceback:\n  File x\nKeyError\n", "time": STAMP, "stream": "stderr"},
            f"{STAMP} stderr F Traceback:\r{STAMP} stderr F   File x\r{STAMP} stderr F KeyError",
        ),
        ({"log": "\u001b[31mCUDA\u001b[0m \u0000error\n", "stream": "stdout", "time": STAMP}, f"{STAMP} stdout F CUDA error"),
    ],
)  # fmt: skip
def test_json_line_becomes_the_text_that_was_logged(record, written):
    line = json.dumps(record).encode() + b"\n"
    assert marks_of(line)
    assert normalise(line) == written.encode() + b"\n"


def test_docker_line_cut_at_16_kib_is_joined_at_its_first_place():
    data = docker("CUDA out") + docker("other\n", "stdout") + docker(" of") + docker(" memory\n") + docker("next\n")
    assert normalise(data.encode()).decode().split("\n") == [
        f"{STAMP} stderr F CUDA out of memory",
        f"{STAMP} stdout F other",
        "",
        "",
        f"{STAMP} stderr F next",
        "",
    ]


def test_cri_parts_are_joined_per_stream():
    lines = ["stderr P CUDA out", "stdout P 1", "stderr F  of memory", "stdout F 2"]
    data = "".join(f"{STAMP} {line}\n" for line in lines).encode()
    assert normalise(data).decode().split("\n") == [
        f"{STAMP} stderr F CUDA out of memory",
        f"{STAMP} stdout F 12",
        "",
        "",
        "",
    ]


def test_chain_of_parts_without_end_is_bounded():
    normaliser = Normaliser()
    line = f"{STAMP} stderr P {'x' * 16000}\n".encode()
    out = [len(normaliser.feed(line)) for _ in range(200)]
    assert max(out) < 3 << 20
    assert sum(out) + len(normaliser.finish()) > 200 * 16000


def test_deeply_nested_json_is_left_alone():
    line = b'{"log":' + b"[" * 100_000 + b"}\n"
    assert normalise(line) == line


def test_line_without_reset_costs_linear_time():
    line = b"[36m " * 200_000 + b"\n"
    assert normalise(line * 2 + b"[1m x [0m\n") == line * 2 + b" x \n"


DRESSED = st.lists(
    st.sampled_from(
        [b"\x1b", b"[", b"0m", b"31m", b"\n", b"\r", b"\0", b"{", b"}", b'"log"', b":", b'"a\\n"', b',"stream":"stdout"',
         b" stdout P ", b"2026-11-20T17:00:00Z stdout P x", b"2026-11-20T17:00:00Z stdout F y", b"#033[", b"\\x1b[",
         b"\xef\xbb\xbf", b"CUDA error", b"\x1b]", b'{"MESSAGE":[1,2]}', b'{"message":"a\\nb","level":"x"}', b"[0m",
         b"[1,0]<stderr>:", b"[1,1]<stdout>:", b'\ntime="2026-11-20T17:00:00Z" level=info msg="a b" rank=2\n', b" event='x'",
         b'\n{"log":"part","stream":"stderr"}\n']
    )
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(DRESSED)
def test_number_of_lines_never_changes(parts):
    data = b"".join(parts)
    assert normalise(data).count(b"\n") == data.count(b"\n")


@settings(max_examples=200, deadline=None)
@given(DRESSED, st.integers(0, 20))
def test_feeding_line_by_line_gives_the_same(parts, every):
    data = b"".join(parts)
    lines = data.splitlines(keepends=True) if b"\r" not in data else [p + b"\n" for p in data.split(b"\n")[:-1]]
    whole = b"".join(lines)
    normaliser = Normaliser()
    step = every + 1
    fed = [normaliser.feed(b"".join(lines[i : i + step])) for i in range(0, len(lines), step)]
    assert b"".join(fed) + normaliser.finish() == normalise(whole)


@settings(max_examples=100, deadline=None)
@given(DRESSED)
def test_marks_that_the_matcher_saw_are_all_that_need_be_looked_for(parts):
    data = b"".join(parts)
    normaliser = Normaliser()
    assert normaliser.feed(data, ScanRules([]).marks_of(data)) + normaliser.finish() == normalise(data)


def test_a_line_is_read_as_a_record_whatever_its_neighbours_are():
    """A line of keys and values was changed only where a line of JSON stood in the same block."""
    line = b'level=info msg="started" time=2026-11-20T17:00:00Z\n'
    json_line = b'{"message":"x","level":"info","time":"2026-11-20T17:00:00Z"}\n'
    assert normalise(json_line + line) == normalise(json_line) + normalise(line)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        (
            b"[1,1]<stderr>:ValueError[1,1]<stderr>:: [1,1]<stderr>:shard 3 is empty[1,1]<stderr>:\n",
            b"[1,1]<stderr>:ValueError: shard 3 is empty\n",
        ),
        (b"[1,0]<stdout>:step 4[1,2]<stdout>:step 4\n", b"[1,0]<stdout>:step 4\r[1,2]<stdout>:step 4\n"),
        (b"saw [1,0]<stderr>:a[1,0]<stderr>:b\n", b"saw [1,0]<stderr>:a[1,0]<stderr>:b\n"),
    ],
)
def test_each_process_keeps_one_of_mpirun_s_tags_in_a_line(line, written):
    assert normalise(line) == written


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ('time="2026-11-20T10:00:00Z" level=error msg="CUDA \\"error\\""', '2026-11-20T10:00:00Z ERROR CUDA "error"'),
        ('ts=2026-11-20T10:00:00Z level=warn msg="lost" err="EOF: x" rank=3', '2026-11-20T10:00:00Z WARN [rank3]: lost err="EOF: x"'),
        ('time=2026-11-20T10:00:00Z level=error msg="a\\nb"', "2026-11-20T10:00:00Z ERROR a\r2026-11-20T10:00:00Z ERROR b"),
        ('set msg="x" then go', 'set msg="x" then go'),
        ('time="2026-11-20T10:00:00Z" msg="no level"', 'time="2026-11-20T10:00:00Z" msg="no level"'),
    ],
)
def test_logfmt_line_becomes_the_text_that_was_logged(line, written):
    assert written.encode() + b"\n" == normalise(line.encode() + b"\n")


ESCAPED = [
    (
        b"  File &quot;/app/train.py&quot;, line 5, in &lt;module&gt;\nKeyError: &#39;a&#39; &amp;lt;\n",
        b"  File \"/app/train.py\", line 5, in <module>\nKeyError: 'a' &lt;\n",
    ),
    (
        b"failed: ['Traceback (most recent call last):\\n', '  File \"a.py\", line 1, in f\\n    g()\\n', 'KeyError: 1\\n']\n",
        b"failed: ['\rTraceback (most recent call last):\r  File \"a.py\", line 1, in f\r    g()\rKeyError: 1\n",
    ),
    (
        b'      "py_callstack": "Traceback (most recent call last):\\n  File \\"a.py\\", line 1, in f\\n    g()\\nKeyError: 1\\n",\n',
        b'      "py_callstack": "\rTraceback (most recent call last):\r  File "a.py", line 1, in f\r    g()\rKeyError: 1\n',
    ),
    (
        b'[\n  {\n    "severity": "ERROR",\n    "textPayload": "KeyError: \\"a\\"\\n",\n    "timestamp": "2026"\n',
        b'[\n  {\n    "severity": "ERROR",\nKeyError: "a"\n    "timestamp": "2026"\n',
    ),
    (b'      "message": "KeyError: 1",\n      "ingestionTime": 17\n', b'KeyError: 1\n      "ingestionTime": 17\n'),
]


@pytest.mark.parametrize(("escaped", "printed"), ESCAPED, ids=["html", "repr", "elastic", "gcloud", "cloudwatch"])
def test_what_a_printer_escaped_becomes_what_was_printed(escaped, printed):
    assert marks_of(escaped)
    assert printed == normalise(escaped)
