"""Tracebacks as Python, torch, Ray, rich and IPython print them."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.lines.prefix import read_lines
from diagnose.traces.traceback import Traceback, find_tracebacks, innermost


def tracebacks_of(text: str) -> list[Traceback]:
    numbered = enumerate(textwrap.dedent(text).strip("\n").split("\n"), 1)
    return find_tracebacks([line for number, raw in numbered for line in read_lines(number, raw)])


def only(text: str) -> Traceback:
    found = tracebacks_of(text)
    assert len(found) == 1, found
    return found[0]


PLAIN = """
Traceback (most recent call last):
  File "/data/train.py", line 36, in step
    loss = model(batch["target"])
           ^^^^^^^^^^^^^^^^^^^^^^
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1511, in _call_impl
    return forward_call(*args, **kwargs)
KeyError: 'target'
step 6/40 loss 0.1
"""


def test_plain_traceback_has_its_exception_and_lines():
    found = only(PLAIN)
    assert (found.line, found.end_line, found.exception_line) == (1, 7, 7)
    assert (found.exception, found.message) == ("KeyError", "'target'")


def test_interleaved_ranks_are_put_apart():
    text = """
    [rank1]: Traceback (most recent call last):
    [rank3]: Traceback (most recent call last):
    [rank1]:   File "/data/train.py", line 10, in main
    [rank3]:   File "/data/train.py", line 20, in main
    [rank3]:     save()
    [rank1]:     load()
    [rank3]: OSError: [Errno 28] No space left on device
    [rank1]: KeyError: 'y'
    """
    found = tracebacks_of(text)
    assert [(t.speaker, t.exception, t.frames[0].line, t.frames[0].code) for t in found] == [
        ("rank1", "KeyError", 10, "load()"),
        ("rank3", "OSError", 20, "save()"),
    ]


def test_interleaved_lines_without_a_speaker_follow_their_frames():
    text = """
    Traceback (most recent call last):
    Traceback (most recent call last):
      File "train.py", line 1, in <module>
      File "train.py", line 1, in <module>
        main()
        main()
      File "train.py", line 2, in main
        step()
      File "train.py", line 2, in main
        step()
    RuntimeError: boom
    RuntimeError: boom
    """
    found = tracebacks_of(text)
    assert [(t.exception, [f.line for f in t.frames]) for t in found] == [("RuntimeError", [1, 2])] * 2


def test_blank_lines_without_prefix_belong_to_the_rank():
    text = """
    [rank0]: Traceback (most recent call last):
    [rank0]:   File "/a/serialization.py", line 1003, in save
    [rank0]:     _save(
    [rank0]: RuntimeError: basic_ios::clear: iostream error

    [rank0]: During handling of the above exception, another exception occurred:

    [rank0]: Traceback (most recent call last):
    [rank0]:   File "/a/train.py", line 66, in save
    [rank0]:     torch.save(x)
    [rank0]: RuntimeError: [enforce fail at inline_container.cc:672] . unexpected pos 1088 vs 982
    """
    found = only(text)
    assert found.message.startswith("[enforce fail")
    assert [(link.relation, link.message) for link in found.links] == [("context", "basic_ios::clear: iostream error")]


def test_native_frames_are_left_out_of_the_message():
    text = """
    Traceback (most recent call last):
      File "/a/train.py", line 66, in save
        dist.barrier()
    RuntimeError: Socket Timeout
    Exception raised from recvBytes at ../torch/csrc/distributed/c10d/Utils.hpp:580 (most recent call first):
    frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x42 (0x7f1e403731c2 in /x/libc10.so)
    . This may indicate a possible application crash on rank 0 or a network set up issue.
    """
    found = only(text)
    assert "frame #0" not in found.message
    assert found.message.endswith("network set up issue.") and found.end_line == 7


@pytest.mark.parametrize("more", ["", " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication)"])
def test_what_ray_says_of_repeated_lines_is_no_part_of_a_traceback(more: str):
    lines = ["Traceback (most recent call last):", '  File "q.py", line 4, in dequeue', "    raise TimeoutError", "TimeoutError"]
    found = only("\n".join(f"(WorkerDict pid=7, ip=10.0.0.3) {line} [repeated 7x across cluster]{more}" for line in lines))
    assert ("TimeoutError", "", "dequeue") == (found.exception, found.message, found.frames[0].function)


def test_ray_input_that_was_lost_is_what_the_tasks_failed_of():
    """Ray leaves its own frames out, so that the inner error stands right below the task."""
    text = """
Traceback (most recent call last):
  File "ray_sample7.py", line 28, in <module>
    results = ray.get(object_ids)
ray.exceptions.RayTaskError: ray::f() (pid=42963, ip=10.0.35.208)
  At least one of the input arguments for this task could not be computed:
ray.exceptions.RayTaskError: ray::g() (pid=32204, ip=10.0.35.208)
  At least one of the input arguments for this task could not be computed:
ray.exceptions.OwnerDiedError: Failed to retrieve object 00ffff. To see information about where this ObjectRef was created

The object's owner has exited. This is the Python worker that first created the ObjectRef via `.remote()` or `ray.put()`.
"""
    assert "ray.exceptions.OwnerDiedError" == innermost(only(text)).exception


def test_unknown_label_on_every_line_is_followed():
    text = """
    <<w0/a>> Traceback (most recent call last):
    <<w1/a>> Traceback (most recent call last):
    <<w0/a>>   File "/app/train.py", line 91, in setup
    <<w1/a>>   File "/app/train.py", line 92, in setup
    <<w1/a>> KeyError: 'b'
    <<w0/a>> ValueError: a
    """
    text = text.replace("<<", "[").replace(">>", "|0]:")
    assert [(t.exception, t.frames[0].line) for t in tracebacks_of(text)] == [("ValueError", 91), ("KeyError", 92)]


def test_exception_group_members_are_links():
    text = """
      + Exception Group Traceback (most recent call last):
      |   File "/data/train.py", line 5, in main
      |     async with TaskGroup() as group:
      | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
      +-+---------------- 1 ----------------
        | Traceback (most recent call last):
        |   File "/data/io.py", line 7, in fetch
        |     raise ValueError("bad shard")
        | ValueError: bad shard
        +---------------- 2 ----------------
        | TypeError: no shard
        +------------------------------------
    """
    found = only("x\n" + text.replace("\n    ", "\n"))
    assert found.exception == "ExceptionGroup"
    assert [(link.relation, link.exception) for link in found.links] == [("member", "ValueError"), ("member", "TypeError")]
    assert innermost(found).message == "bad shard"


def test_ipython():
    text = """
    ---------------------------------------------------------------------------
    KeyError                                  Traceback (most recent call last)
    Cell In[3], line 2
          1 batch = next(loader)
    ----> 2 train(batch)

    File ~/train.py:36, in train(batch)
         35 def train(batch):
    ---> 36     return batch["y"]

    KeyError: 'y'
    """
    found = only(text)
    assert [(f.file, f.line, f.function) for f in found.frames] == [("Cell In[3]", 2, ""), ("~/train.py", 36, "train")]
    assert (found.exception, found.form) == ("KeyError", "ipython")


def test_faulthandler_frames_are_no_traceback():
    assert tracebacks_of('Current thread 0x00007f (most recent call first):\n  File "/a.py", line 519 in string_at\n') == []


PIECES = [
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in f',
    "    x = 1",
    "      ^^^^",
    "KeyError: 'x'",
    "Loss: 1.2",
    "",
    "The above exception was the direct cause of the following exception:",
    "Original Traceback (most recent call last):",
    "-- Process 1 terminated with the following error:",
    "ray.exceptions.RayTaskError(KeyError): ray::T.f() (pid=1)",
    "  + Exception Group Traceback (most recent call last):",
    "  | ExceptionGroup: x (1 sub-exception)",
    "  +-+---------------- 1 ----------------",
    "    | ValueError: y",
    "    +------------------------------------",
    "╭── Traceback (most recent call last) ──╮",
    "│ a.py:1 in f                           │",
    "╰───────────────────────────────────────╯",
    "KeyError        Traceback (most recent call last)",
    "----> 3 code",
    '"""',
    "  traceback : Traceback (most recent call last):",
]
SPEAKERS = ["", "[rank0]: ", "[rank1]: ", "(Trainer pid=3) "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SPEAKERS), st.sampled_from(PIECES) | st.text(max_size=30)), max_size=40))
def test_any_mix_of_lines_is_read(pieces):
    lines = [line for n, (who, text) in enumerate(pieces, 1) for line in read_lines(n, who + text)]
    for found in find_tracebacks(lines):
        assert 1 <= found.line <= found.end_line <= len(pieces)
        innermost(found)


def test_chain_that_is_cut_off_ends_with_the_exception_that_was_printed_whole():
    found = only("""
        Traceback (most recent call last):
          File "/data/save.py", line 68, in atomic_save
            f.write(data)
        OSError: [Errno 107] Transport endpoint is not connected

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "/data/train.py", line 174, in <module>
            main()
    """)
    assert (found.exception, found.exception_line) == ("OSError", 4)


def test_header_that_lost_its_margin_in_a_paste_does_not_hide_the_exception_below_its_frames():
    """The first line of a copied passage begins where the mouse did; the other lines keep their margin."""
    log = """traceback : Traceback (most recent call last):
    File "/app/train.py", line 10, in main
      set_model_state_dict(model, state)
  AssertionError: found no DeviceMesh from dtensor args
"""
    assert only(log).exception == "AssertionError"
