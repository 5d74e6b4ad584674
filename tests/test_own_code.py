"""A traceback names the places in the user's own code: there a reader starts."""

from __future__ import annotations

from pathlib import Path

from diagnose.views.rendering import render

from .told import told

LIBRARY = '  File "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py", line 54, in fetch\n    data = [self.dataset[idx]]\n'
HEAD = "Traceback (most recent call last):\n"


def places(folder: Path, text: str) -> list[str]:
    found = told(folder, {"console.log": text}).diagnosis
    return [f"{c.file}:{c.line} {c.function}" for c in found.evidence[0].own_code]


def frame(file: str, line: int, function: str, code: str = "x = f(y)") -> str:
    return f'  File "{file}", line {line}, in {function}\n    {code}\n'


def test_frames_of_libraries_are_left_out_and_the_innermost_comes_first(tmp_path: Path) -> None:
    text = HEAD + frame("/app/train.py", 137, "main") + LIBRARY + frame("/app/shards.py", 113, "parse") + "ValueError: bad float\n"
    assert ["/app/shards.py:113 parse", "/app/train.py:137 main"] == places(tmp_path, text)


def test_a_comprehension_is_told_as_the_function_around_it(tmp_path: Path) -> None:
    text = HEAD + frame("/app/shards.py", 113, "parse") + frame("/app/shards.py", 113, "<listcomp>") + "ValueError: bad float\n"
    assert ["/app/shards.py:113 parse"] == places(tmp_path, text)


def test_the_call_of_main_at_the_end_of_a_script_is_not_told_beside_main(tmp_path: Path) -> None:
    text = HEAD + frame("/app/train.py", 137, "<module>", "main()") + frame("/app/train.py", 113, "main") + "ValueError: bad float\n"
    assert ["/app/train.py:113 main"] == places(tmp_path, text)


def test_no_more_than_three_places_are_told(tmp_path: Path) -> None:
    text = HEAD + "".join(frame("/app/train.py", n, f"f{n}") for n in range(1, 6)) + "ValueError: bad float\n"
    assert ["/app/train.py:5 f5", "/app/train.py:4 f4", "/app/train.py:3 f3"] == places(tmp_path, text)


def test_the_worker_s_code_is_told_and_not_the_place_that_started_it(tmp_path: Path) -> None:
    text = (
        HEAD
        + frame("/app/launch.py", 49, "launch", "mp.spawn(")
        + "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 3 terminated with the following error:\n"
        + HEAD
        + frame("/app/images.py", 12, "load")
        + "OSError: Caught OSError in DataLoader worker process 1.\n"
        + "Original "
        + HEAD
        + LIBRARY
        + "OSError: image file is truncated (9 bytes not processed)\n"
    )

    assert ["/app/images.py:12 load"] == places(tmp_path, text)


def test_where_only_libraries_raised_the_code_that_called_them_is_told(tmp_path: Path) -> None:
    text = (
        HEAD
        + LIBRARY
        + "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has "
        + "been disabled. To enable hf.co look-ups and downloads online, set 'local_files_only' to False.\n\n"
        + "The above exception was the direct cause of the following exception:\n\n"
        + HEAD
        + frame("/app/train.py", 24, "main")
        + LIBRARY
        + "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.\n"
    )

    assert ["/app/train.py:24 main"] == places(tmp_path, text)


def test_the_source_line_is_told_where_the_evidence_does_not_show_it(tmp_path: Path) -> None:
    call = 'model = AutoModel.from_pretrained("acme/7b")'
    text = HEAD + frame("/app/train.py", 24, "main", call) + LIBRARY * 3 + "ValueError: bad float\n"
    page = render(told(tmp_path, {"console.log": text}), "markdown")
    assert f"`/app/train.py:24, main: {call}`" in page


def test_code_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    call = "x = `</code><script>alert(1)</script>` # [a](http://evil)"
    text = HEAD + frame("/app/train.py", 24, "main", call) + LIBRARY * 3 + "ValueError: bad float\n"
    report = told(tmp_path, {"console.log": text})
    assert "<script>alert" not in render(report, "html")
    assert "``/app/train.py:24" in render(report, "markdown")


def test_libraries_of_windows_are_left_out_too(tmp_path: Path) -> None:
    library = frame("C:\\AI\\venv\\lib\\site-packages\\torch\\cuda\\__init__.py", 9, "_lazy_init")
    python = frame("C:\\Users\\lab\\anaconda3\\envs\\x\\lib\\runpy.py", 86, "_run_code")
    text = HEAD + frame("D:\\work\\train.py", 12, "main") + python + library + "ValueError: bad float\n"

    assert ["D:\\work\\train.py:12 main"] == places(tmp_path, text)


STORE_FULL = """Traceback (most recent call last):
  File "/home/mei/tune.py", line 12, in <module>
    ref = ray.put(weights)
  File "/opt/conda/lib/python3.8/site-packages/ray/worker.py", line 1480, in put
    object_ref = worker.put_object(value)
  File "python/ray/_raylet.pyx", line 142, in ray._raylet.check_status
ray.exceptions.ObjectStoreFullError: Failed to put object ffffffff in object store because it is full. Object size is 25892330588 bytes.
"""


def test_frames_that_cython_compiled_are_not_the_users_own(tmp_path: Path) -> None:
    report = told(tmp_path, {"tune.log": STORE_FULL})
    assert [c.file for c in report.diagnosis.evidence[0].own_code] == ["/home/mei/tune.py"]
