"""`diagnose.integrations` beside the real libraries, in an environment of their own: `pip install '.[test-frameworks]'`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from diagnose.integrations import accelerate_run, lightning_callback, record, transformers_callback  # noqa: E402

WHY = "loss is nan at step 4211"


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "settings.toml").write_text("[hook]\nbudget = 300\n")
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(tmp_path / "settings.toml"))


class Model(torch.nn.Module):
    """Fails in its first step."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x=None, labels=None):
        raise FloatingPointError(WHY)


def told(path: str = "report.json") -> str:
    """What the report says happened."""
    return json.loads(Path(path).read_text())["diagnosis"]["summary"]


def test_lightning_tells_its_callback(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")

    class Fails(lightning.LightningModule):
        def training_step(self, batch, index):
            raise FloatingPointError(WHY)

        def configure_optimizers(self):
            return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)

    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[lightning_callback(output="report.json")],
    )  # fmt: skip
    with pytest.raises(FloatingPointError):
        trainer.fit(Fails(), torch.utils.data.DataLoader(torch.zeros(4, 4)))
    assert WHY in told()


def test_transformers_tells_its_callback_what_the_caller_catches(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    before, rows = sys.excepthook, [{"x": torch.zeros(4), "labels": torch.zeros(1)}] * 4
    callback = transformers_callback(output="report.json")
    arguments = transformers.TrainingArguments("out", report_to=[], use_cpu=True, max_steps=1)
    trainer = transformers.Trainer(Model(), arguments, train_dataset=rows, callbacks=[callback])
    with pytest.raises(FloatingPointError):
        trainer.train()
    assert WHY in told()
    assert sys.excepthook is before


def test_accelerate_tells_the_rank(tmp_path, capfd):
    accelerate = pytest.importorskip("accelerate")
    with pytest.raises(FloatingPointError), accelerate_run(accelerate.Accelerator(cpu=True), output="report.json"):
        Model()()
    assert "diagnose [rank0]: report: " in capfd.readouterr().err


def test_torchruns_record_writes_its_file_and_we_report(tmp_path):
    Path("train.py").write_text(
        "from diagnose.integrations import record\n@record(output='report.json')\n"
        f"def main(): raise FloatingPointError('{WHY}')\nmain()\n"
    )
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--log-dir", "logs", "train.py"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, len(list(Path("logs").rglob("error.json"))) > 0) == (1, True)
    assert (WHY in told(), done.stderr.count("]: report: ")) == (True, 1)


def test_record_is_torchelastics():
    assert "torch" in record(print).__code__.co_filename
