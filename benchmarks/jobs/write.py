"""Puts a finished job on disk: log files in the order of true time, some of them lost, and the truth beside them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from .job import OPEN, Job, Truth
from .layouts import Router

LOSS = 0.12  # share of multi-host jobs that hand over incomplete logs
EVIDENCE_MAX = 2048  # places an expert may point at: with like lines of every rank, any of them


def write_case(folder: Path, job: Job, truth: Truth, scenario: str) -> None:
    """Writes `logs/` and `truth.yaml`."""
    files, places = lay_out(job)
    lost = lose_some(job, truth, files, places)
    write_logs(folder / "logs", files)
    if job.launcher == "torchrun" and job.layout == "tree" and job.world <= 64:
        empty_files(folder / "logs", files)
    (folder / "truth.yaml").write_text(yaml.safe_dump(describe(folder.name, job, truth, scenario, places, lost), sort_keys=False, width=200, allow_unicode=True))


def write_logs(logs: Path, files: dict[str, list[str]]) -> None:
    """Writes each file into the folder, with the folders that its name asks for."""
    for name in sorted(files):
        path = logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(files[name]).encode())


def lay_out(job: Job) -> tuple[dict[str, list[str]], list[str]]:
    """File contents (pieces, with their line ends) and the places of evidence, `file:line`."""
    router = Router(job)
    files: dict[str, list[str]] = defaultdict(list)
    length: dict[str, int] = defaultdict(int)
    places = []
    glues = job.layout in {"tree", "task", "node"}  # collectors elsewhere keep whole lines
    if job.layout == "ray":
        for rank in range(job.world):
            for suffix in ("out", "err"):
                name = f"{job.host_of(rank).name}/session_latest/logs/worker-{router.workers[rank]}-01000000-{job.pid(rank)}.{suffix}"
                files[name].append(f":job_id:01000000\n:actor_name:{job.notes['actor']}\n")
                length[name] += 2
    for event in sorted(job.events, key=lambda e: (e.time_s, e.order)):
        name, text = router.place(event)
        if event.evidence:
            lines = text.split("\n")
            found = next(i for i, line in enumerate(lines) if event.evidence in line)
            places.append(f"{name}:{length[name] + found + 1}")
        text = text.replace(OPEN, "") if text.endswith(OPEN) and glues else text.replace(OPEN, "") + "\n"
        files[name].append(text)
        length[name] += text.count("\n")
    return files, places


def lose_some(job: Job, truth: Truth, files: dict[str, list[str]], places: list[str]) -> str:
    """Sometimes drops the files of one uninvolved rank or host; answers what is missing."""
    kept = {place.rpartition(":")[0] for place in places}
    if truth.keep_all or truth.cause == "healthy" or len(job.hosts) < 2 or job.layout == "merged" or job.rng.random() > LOSS:
        return ""
    guilty = {job.host_of(rank).name for rank in truth.ranks or []} | set(truth.hosts or []) | {job.hosts[0].name}
    spare = [host for host in job.hosts if host.name not in guilty]
    if not spare:
        return ""
    host = job.rng.choice(spare)
    ranks = {f"-{rank:0{width}d}.out" for rank in job.ranks_on(host) for width in (1, 3, 4)}
    gone = [name for name in files if name not in kept and (host.name in name.replace("_", "/").split("/") or host.name in name or (job.layout == "task" and any(name.endswith(r) for r in ranks)))]
    if any(host.name in other.name and other is not host for other in job.hosts) or any(name in kept for name in gone):
        return ""
    for name in gone:
        del files[name]
    return host.name if gone else ""


def empty_files(logs: Path, files: dict[str, list[str]]) -> None:
    """torchrun makes both files of a rank, whether it says anything or not."""
    for name in files:
        if name.endswith(("stdout.log", "stderr.log")):
            other = logs / (name.replace("stdout.log", "stderr.log") if name.endswith("stdout.log") else name.replace("stderr.log", "stdout.log"))
            other.touch()


def describe(case: str, job: Job, truth: Truth, scenario: str, places: list[str], lost: str) -> dict[str, Any]:
    shown = places[:EVIDENCE_MAX]
    page: dict[str, Any] = {
        "id": case, "title": truth.title, "origin": "simulated", "scenario": scenario, "torch": job.torch.name,
        "framework": job.framework, "launcher": job.launcher, "layout": job.layout, "root_cause": truth.cause, "accept": truth.accept,
        "culprit_ranks": truth.ranks, "culprit_hosts": truth.hosts, "world_size": job.world, "hosts": len(job.hosts),
        "first_evidence": None if not shown else shown[0] if len(shown) == 1 else shown,
        "evidence_text": next((e.evidence for e in sorted(job.events, key=lambda e: (e.time_s, e.order)) if e.evidence), None),
        "must_mention": truth.mention, "symptoms": truth.symptoms, "remedy": truth.remedy,
    }
    skewed = {host.name: round(host.skew_s) for host in job.hosts if abs(host.skew_s) >= 2}
    page |= {"clock_skew_s": skewed} if skewed else {}
    zones = [host.name for host in job.hosts if host.zone_h != job.hosts[0].zone_h]
    page |= {"other_time_zone": zones} if zones else {}
    page |= {"lost": lost} if lost else {}
    earlier = job.notes.get("earlier")
    return page | ({"earlier_attempt": earlier} if earlier else {})
