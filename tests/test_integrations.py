"""Hooks in the form of each framework, against stand-ins that have the framework's own names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from . import test_hook
from .test_hook import OOM, ROOT, python

_surroundings = test_hook._surroundings

STAND_INS = {
    "pytorch_lightning": "class Callback:\n    def setup(self, *a): pass\n",
    "transformers": (
        "class TrainerCallback: pass\n"
        "class Trainer:\n"
        "    def __init__(self, *callbacks):\n"
        "        self.callback_handler = type('Handler', (), {'callbacks': callbacks})\n"
        "    def train(self, *words):\n"
        "        raise ValueError('in train')\n"
    ),
    "torch/distributed/elastic/multiprocessing/errors": (
        "def record(f):\n    def inner(*a):\n        print('recorded')\n        return f(*a)\n    return inner\n"
    ),
    "ray/train": (
        "class Context:\n    def get_world_rank(self): return 5\n    def get_world_size(self): return 8\n"
        "def get_context(): return Context()\n"
    ),
}
START = "import sys\nfrom diagnose.integrations import *\n"


@pytest.fixture
def frameworks(tmp_path, _surroundings):
    """The stand-ins, where Python finds them."""
    for name, text in STAND_INS.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}


def test_lightning_callback_reports_what_on_exception_gets(frameworks):
    script = (
        "import pytorch_lightning\nc = lightning_callback(output='report.md')\n"
        "assert isinstance(c, pytorch_lightning.Callback)\n"
        "try: 1 / 0\nexcept ZeroDivisionError as e: c.on_exception(None, None, e)\n"
    )
    assert (python(START + script, **frameworks).returncode, Path("report.md").exists()) == (0, True)


def test_transformers_callback_reports_what_the_caller_catches(frameworks):
    """A notebook shows an exception by other means than `sys.excepthook`, which then stands as it did."""
    script = (
        "from transformers import Trainer\nb = sys.excepthook\nmine = transformers_callback(output='report.md')\n"
        "try: Trainer(mine).train()\nexcept ValueError: pass\nassert sys.excepthook is b\n"
        "try: Trainer().train()\nexcept ValueError: print('caught')"
    )
    done = python(START + script, **frameworks)
    assert (done.returncode, done.stdout, done.stderr.count("diagnose: report:")) == (0, "caught\n", 1)


def test_record_is_torchelastics_with_a_report(frameworks):
    script = "@record\ndef main(): raise ValueError('x')\n@record(output='report.md')\ndef other(): raise ValueError('y')\n"
    done = python(START + script + "try: main()\nexcept ValueError: other()", **frameworks)
    assert (done.returncode, done.stdout, Path("report.md").exists()) == (1, "recorded\nrecorded\n", True)


def test_worker_of_ray_train_is_named_by_its_rank(frameworks):
    script = "import ray.train\nray_train_loop(lambda config: 1 / 0, output='report.md')({})"
    assert "diagnose [rank5]: report: " in python(START + script, **frameworks).stderr


def test_accelerate_tells_the_rank_where_no_variable_does(frameworks):
    script = (
        "place = type('Accelerator', (), {'process_index': 3, 'num_processes': 4})\n"
        "with accelerate_run(place, output='report.md'): 1 / 0"
    )
    assert "diagnose [rank3]: report: " in python(START + script, **frameworks).stderr


def test_ray_driver_reads_the_sessions_logs(tmp_path, frameworks):
    logs = tmp_path / "ray" / "session_latest" / "logs"
    logs.mkdir(parents=True)
    (logs / "worker-abc.err").write_text(OOM)
    script = "with ray_driver(output='r.json'): raise ValueError('task')"
    done = python(START + script, RAY_TMPDIR=str(tmp_path / "ray"), **frameworks)
    files = [row["file"] for row in json.loads(Path("r.json").read_text())["inputs"]]
    assert (done.returncode, str(logs / "worker-abc.err") in files) == (1, True)


def test_no_framework_is_needed_and_the_older_place_still_has_the_names():
    calls = "lightning_callback()\ntransformers_callback()\nray_driver()\naccelerate_run()\nrecord(print)()\n"
    assert python(f"{START}{calls}from diagnose.hooks.frameworks import *\n{calls}").returncode == 0
