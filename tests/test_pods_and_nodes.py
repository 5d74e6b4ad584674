"""A pod and the node it is on: Kubernetes says which, and the kernel knows the node alone."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, told

LOST = """[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/data/jobs/train.py", line 187, in main
[rank{rank}]:     loss.backward()
[rank{rank}]: {raised}
"""
REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2251, remote "
    "process exited or there was a network error, NCCL version 2.21.5"
)
FAILED = "torch.AcceleratorError: CUDA error: unspecified launch failure"
OFF_BUS = "[Fri Nov 20 10:19:05 2026] NVRM: Xid (PCI:0000:4e:00): 79, pid=4411, name=python, GPU has fallen off the bus.\n"
DESCRIBED = """Name:             llm-worker-{n}
Namespace:        ml
Priority:         0
Service Account:  default
Node:             {node}/10.0.3.12
"""


def _logs(**more: str) -> dict[str, str]:
    ranks = {"rank0/llm-worker-0.log": LOST.format(rank=0, raised=REMOTE), "rank1/llm-worker-1.log": LOST.format(rank=1, raised=FAILED)}
    return {**ranks, "gpu-node-12/dmesg.txt": OFF_BUS, **more}


def test_two_pods_on_one_node_stay_apart(tmp_path: Path) -> None:
    """Each counts its GPUs from 0, so that the node's name would make one process of two."""
    both = "".join(DESCRIBED.format(n=n, node="gpu-node-12") for n in range(2))
    report = told(tmp_path, _logs(**{"describe.txt": both}))

    assert {"llm-worker-0", "llm-worker-1"} >= {r.host for r in report.ranks if r.host}


KLOG = "I0820 22:35:42.000000       1 event.go:{line}] "
NAME = "research-team-training.llama-pretrain-v2-2024-08-20-053447-worker-3"
OBJECT = (
    'v1.ObjectReference{Kind:"PyTorchJob", Namespace:"research-team-training", Name:"llama-pretrain-v2-2024-08-20-053447", '
    'UID:"803a4aca-561b-4609-9ee3-8953f075b66c", APIVersion:"kubeflow.org/v1", ResourceVersion:"860397344", FieldPath:""}'
)
STRUCTURED = (
    '"Event occurred" object="research-team-training/llama-pretrain-v2-2024-08-20-053447" fieldPath="" kind="PyTorchJob" '
    'apiVersion="kubeflow.org/v1" type="{type}" reason="{reason}" message="{message}"'
)


def test_the_log_of_an_operator_names_the_object_at_length_before_what_it_says(tmp_path: Path) -> None:
    """As in kubeflow/trainer #2220; klog has the number of the process, 1 in each pod, right-aligned."""
    said = f"Pod: {NAME} exited with code 1"
    old = KLOG.format(line=221) + f"Event({OBJECT}): type: 'Normal' reason: 'ExitedWithCode' {said}\n"
    new = KLOG.format(line=307) + STRUCTURED.format(type="Normal", reason="ExitedWithCode", message=said) + "\n"
    for log in (old, new):
        report = told(tmp_path, {"operator.log": log})
        assert "process.exit-code" == cause(report)
        assert NAME in report.diagnosis.summary
