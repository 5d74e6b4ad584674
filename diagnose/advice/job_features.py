"""What advice asks of the job beside the line that names the cause: so that no step is given that this job cannot take.

The conditions (`if`) and the blanks of remedies read these names; `rules/README.md` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from ..job.event import Event
from ..job.exhibit import Exhibit
from ..job.job import Job
from ..verdict.decision import Verdict
from .fact_store import Facts

_OF_PYTHON = ("/python-connect", "/client-library-")  # connections of Python code: no question of NCCL or Gloo
_KINDS = ("jax", "horovod", "slurm", "mpirun", "tpu", "streaming", "compile", "object", "ascend")  # rules' names begin so
_ALL_WAIT = ("mismatch", "standing")  # questions that find all ranks in one collective
_OF_KUBERNETES = ("kubernetes-", "kubelet-", "kubectl-", "k8s-")
KILL_REQUEST = "process.terminated/slurmctld-kill-request"
_SLURM_FILE = re.compile(r"^slurm-(\d{1,12})\b")
_ENGINES = ("vllm", "sglang", "lmdeploy")  # of inference
_TRAINERS = ("openrlhf", "verl", "trl", "llamafactory", "axolotl", "open-r1")  # which run such an engine beside


def seen(job: Job, verdict: Verdict, proof: Sequence[Exhibit], facts: Facts) -> dict[str, Any]:
    """Yield what is known of who is to blame, of the line shown first, and of what runs and keeps this job."""
    first = proof[0].event if proof else None
    rules = {e.rule.id for source in job.sources for e in source.events}
    names = {rule.rpartition("/")[2] for rule in rules}
    return {
        "has_stepped": any(info.last_step for info in job.ranks.values()),
        "has_stacks": any(source.stacks for source in job.sources),
        "has_recorder": bool(job.dumps),
        **_late(job, verdict, proof),
        **_blamed(job, verdict),
        **_of_the_line(first),
        "is_gloo": _is_gloo_alone(job, proof),
        "has_frames": _has_frames(verdict),
        "rule_name": _rule_name(verdict, first),
        "all_wait": _all_wait(verdict),
        "of_slurm": _is_of_slurm(job, names),
        "slurm_job": _slurm_job(job),
        "asked_by_uid": _asked_by(job),
        "is_hung": verdict.outcome == "hung",
        "of_kubernetes": _is_of_kubernetes(job, names),
        "of_ray": facts.get("ray_version") is not None or "ray" in facts.libraries,
        "of_inference": _is_of_inference(verdict, facts),
    }


def _late(job: Job, verdict: Verdict, proof: Sequence[Exhibit]) -> dict[str, Any]:
    late = job.ranks.get(verdict.culprits[0]) if verdict.culprits else None
    return {
        "late_ranks": tuple(verdict.culprits),
        "late_is_first": bool(proof) and proof[0].rank in verdict.culprits,
        "late_pid": late.pid if late else None,
        "late_host": late.host if late else None,
    }


def _blamed(job: Job, verdict: Verdict) -> dict[str, Any]:
    """The one host, GPU and path that commands are to be run on, for the blanks that would say HOST, GPU and PATH."""
    hosts = {*verdict.culprit_hosts, *(i.host for r in verdict.culprits if (i := job.ranks.get(r)) and i.host)}
    infos = [job.ranks[r] for r in verdict.culprits if r in job.ranks]
    first = verdict.roots[0].first
    device = first.fields.get("device") if first is not None else None
    if device is None and len(infos) == 1:
        device = infos[0].device  # a local rank is none: CUDA_VISIBLE_DEVICES may order the GPUs otherwise
    return {
        "blamed_host": hosts.pop() if len(hosts) == 1 and "localhost" not in hosts else None,
        "blamed_gpu": device if isinstance(device, int) and len(infos) <= 1 else None,
        "blamed_rank": verdict.culprits[0] if len(verdict.culprits) == 1 else None,
    }


def _of_the_line(first: Event | None) -> dict[str, Any]:
    return {
        "is_python": first is not None and any(part in first.rule.id for part in _OF_PYTHON),
        **{f"is_{kind}": first is not None and f"/{kind}-" in first.rule.id for kind in _KINDS},
    }


def _is_gloo_alone(job: Job, proof: Sequence[Exhibit]) -> bool:
    """Whether Gloo says what is shown, and nothing that was printed is NCCL's: a job over CPUs, or a second group."""
    if not any(x.event is not None and "/gloo-" in x.event.rule.id for x in proof):
        return False
    spoken = (e for source in job.sources for e in source.events if e.role != "harmless")  # c10d's sockets serve Gloo too
    return not any("nccl" in e.rule.id for e in spoken)


def _rule_name(verdict: Verdict, shown: Event | None) -> str:
    """The name of the rule that read the line: one cause has many messages, and not every step fits each of them."""
    event = verdict.roots[0].first or shown
    return event.rule.id.rpartition("/")[2] if event is not None else ""


def _has_frames(verdict: Verdict) -> bool:
    """Whether the log holds the traceback of what is told, or only its last line."""
    first = verdict.roots[0].first
    tb = first.traceback if first is not None else None
    return tb is not None and bool(tb.frames or any(link.frames for link in tb.links))


def _all_wait(verdict: Verdict) -> bool:
    finding = verdict.roots[0].finding
    return finding is not None and finding.question in _ALL_WAIT and verdict.cause == "collective.timeout"


def _is_of_slurm(job: Job, names: Iterable[str]) -> bool:
    files = (PurePosixPath(source.name).name for source in job.sources)
    return any(n.startswith(("slurm", "srun")) for n in names) or any(f.startswith(("slurm-", "slurmctld")) for f in files)


def _asked_by(job: Job) -> Any:
    """Who asked Slurm's controller to end the job, as its own log tells."""
    return next((e.fields["uid"] for e in job.events if e.rule.id == KILL_REQUEST and e.fields.get("uid")), None)


def _slurm_job(job: Job) -> str | None:
    """The number of the one job of Slurm's that files are named after, or that is told of, for `sacct -j`."""
    named = {m[1] for source in job.sources if (m := _SLURM_FILE.search(PurePosixPath(source.name).name))}
    steps = (str(e.fields.get("step") or "").partition(".")[0] for e in job.events if "/slurm-" in e.rule.id)
    told = named or {step for step in steps if step.isdigit()}
    return told.pop() if len(told) == 1 else None


def _is_of_kubernetes(job: Job, names: Iterable[str]) -> bool:
    has_pods = any(speaker.pod for source in job.sources for speaker in source.speakers)
    return has_pods or any(n.startswith(_OF_KUBERNETES) for n in names)


def _is_of_inference(verdict: Verdict, facts: Facts) -> bool:
    """Whether an engine of inference holds the GPU, and no training: there is no micro batch to make smaller."""
    if facts.get("framework") in _TRAINERS:
        return False
    if facts.get("framework") in _ENGINES:
        return True
    first = verdict.roots[0].first
    frames = first.traceback.frames if first is not None and first.traceback is not None else ()
    return any(f"/{engine}/" in frame.file for frame in frames for engine in _ENGINES)
