"""How the cost grows with the size of a job: 64 to 16,384 simulated ranks, eight to a host.

    python -m benchmarks.scale [--ranks 64,1024,16384] [--only hang-task] [--keep DIR] [--rounds N] [--json]

A culprit and the cascades that follow, hosts with wrong clocks, and 1 % of the log files missing; one file per rank, one
console per host, or one for all. Each size is measured in a process of its own: CPU seconds of reading and of every
stage of the reduce step, peak memory, size of the report, and whether the culprit was named. Of several rounds of the
reduce step, each begun anew from what was read, the quickest is told: on a machine that others use too, the slower ones
tell of these.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import yaml

from diagnose.advice.facts import read_facts
from diagnose.advice.known_bugs import settle_known_bugs
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.job.event_reader import EventReader
from diagnose.job.reduction import build_job
from diagnose.questions import correlate
from diagnose.report.account import Found, account
from diagnose.scan.reading import Deadline, read_all
from diagnose.scan.scan import Scan
from diagnose.scan.scanner import ScanRules
from diagnose.verdict.decision import decide
from diagnose.views.rendering import render

from .jobs import chatter
from .jobs.catalogue import FAULTS
from .jobs.generate import draw_hosts, draw_job
from .jobs.job import Job, Truth
from .jobs.versions import TORCHES
from .jobs.write import describe, lay_out, write_logs

SIZES = (64, 1024, 16384)
PER_HOST = 8
MISSING = 0.01  # share of log files that nobody handed over
SKEWED, SKEW_S = 0.05, 90.0  # share of hosts whose clocks are wrong, and by how much at most
WARMUP_S = (8.0, 3.0)  # start-up and training before the fault
STAGES = ("events", "job", "facts", "correlation", "diagnosis", "account")  # of the reduce step
COLUMNS = (
    "case",
    "ranks",
    "files",
    "mb",
    "events",
    "read_s",
    "reduce_s",
    "us_per_rank",
    "peak_mb",
    "md_lines",
    "html_kb",
    "json_kb",
    "right",
)


@dataclass(frozen=True)
class Case:
    """A fault, and how the cluster keeps its logs."""

    name: str
    fault: str
    layout: str
    launcher: str
    style: str = ""  # of one console for all: `srun -l` or torchrun's `--tee` on every host


CASES = (
    Case("hang-task", "silent-straggler", "task", "srun"),
    Case("hang-node", "silent-straggler", "node", "torchrun"),
    Case("oom-task", "cuda-oom", "task", "srun"),
    Case("oom-node", "cuda-oom", "node", "torchrun"),
    Case("hang-console", "silent-straggler", "merged", "srun", "srunl"),
    Case("oom-console", "cuda-oom", "merged", "torchrun", "tee"),
)


def write_job(folder: Path, case: Case, ranks: int, seed: int = 1) -> None:
    """Writes `logs/` and `truth.yaml`; the same arguments give the same bytes."""
    rng = Random(f"{seed} {case.name} {ranks}")
    job, truth = _play(rng, case, ranks)
    files, places = lay_out(job)
    guilty = {job.host_of(r).name for r in truth.ranks or []}
    kept = {p.rpartition(":")[0] for p in places[:1]}
    width = len(str(ranks))
    kept |= {
        n for n in files for r in truth.ranks or [] if n.endswith(tuple(f"-{r:0{w}d}.out" for w in range(1, width + 1)))
    }
    kept |= {n for n in files if any(host in n for host in guilty) or "slurm" in n}
    spare = sorted(set(files) - kept)
    lost = set(rng.sample(spare, int(len(spare) * MISSING)))
    write_logs(folder / "logs", {name: pieces for name, pieces in files.items() if name not in lost})
    page = describe(folder.name, job, truth, case.fault, places[:1], f"{len(lost)} files")
    (folder / "truth.yaml").write_text(yaml.safe_dump(page, sort_keys=False))


def _play(rng: Random, case: Case, ranks: int) -> tuple[Job, Truth]:
    job = draw_job(rng, FAULTS[case.fault], (ranks, ranks), case.layout)
    torch = next(t for t in TORCHES if t.since(2, 6))
    hosts = draw_hosts(rng, ranks // PER_HOST, PER_HOST, case.layout, job.name)
    for host in hosts:
        host.zone_h = 0
        host.skew_s = rng.uniform(-SKEW_S, SKEW_S) if rng.random() < SKEWED else rng.uniform(-0.4, 0.4)
    job = replace(
        job, hosts=hosts, per_host=PER_HOST, torch=torch, framework="ddp", launcher=case.launcher, style=case.style
    )
    job.notes |= {"script": "train.py", "batch": False, "kill_on_bad_exit": False, "nccl_debug": False}
    many, chatter.MANY = chatter.MANY, 0  # every rank says the same at every size, or costs could not be compared
    try:
        moment = chatter.train(job, chatter.start(job, job.start_s), WARMUP_S[0])
    finally:
        chatter.MANY = many
    return job, FAULTS[case.fault].play(job, moment + WARMUP_S[1])


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Reads one job in this process and reduces it in copies of it; answers seconds by stage, megabytes and sizes."""
    row: dict[str, Any] = {}
    catalogue = load_rules()
    with _timed(row, "read_s"):
        scan = read_all([str(folder / "logs")], ScanRules(catalogue), Deadline(), workers=1)
    row["peak_after_read_mb"] = _peak_mb()
    row["files"], row["mb"] = len(scan.sources), sum(s.bytes for s in scan.sources.values()) >> 20
    truth = yaml.safe_load((folder / "truth.yaml").read_text())
    told = [_in_a_copy(lambda: _reduce(scan, catalogue, truth)) for _ in range(rounds)]
    quickest = min(told, key=lambda each: each["reduce_s"])
    quickest["peak_mb"] = max(row["peak_after_read_mb"], quickest["peak_mb"])
    return row | quickest | {"rounds_s": [each["reduce_s"] for each in told]}


def _in_a_copy(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `ask` answers in a copy of this process, which begins with nothing that an earlier round has learnt."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(theirs, "w") as out:
            json.dump(ask(), out)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        text = told.read()
    os.waitpid(child, 0)
    answer: dict[str, Any] = json.loads(text)
    return answer


def _reduce(scan: Scan, catalogue: Catalogue, truth: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    gc.disable()  # as the engine does while it reduces
    with _timed(row, "events_s"):
        reader = EventReader(catalogue)
        sources = [reader.read(s) for s in scan.sources.values() if s.skipped is None]
    with _timed(row, "job_s"):
        job = build_job(sources)
    with _timed(row, "facts_s"):
        facts = read_facts(job)
        notices = (*facts.notices, *settle_known_bugs(job, facts, catalogue))
    with _timed(row, "correlation_s"):
        findings = correlate(job)
    with _timed(row, "diagnosis_s"):
        verdict = decide(job, findings, catalogue)
    with _timed(row, "account_s"):
        report = account(Found(job, verdict, facts, notices), catalogue, scan)
    gc.enable()
    row["reduce_s"] = round(sum(row[f"{stage}_s"] for stage in STAGES), 3)
    row["peak_mb"] = _peak_mb()
    with _timed(row, "markdown_s"):
        row["md_lines"] = render(report, "markdown").count("\n") + 1
    with _timed(row, "html_s"):
        row["html_kb"] = len(render(report, "html").encode()) >> 10
    with _timed(row, "json_s"):
        row["json_kb"] = len(render(report, "json").encode()) >> 10
    row["events"] = len(job.events)
    return row | _judge(report, truth)


def _judge(report: Any, truth: dict[str, Any]) -> dict[str, Any]:
    found = report.diagnosis
    culprits = [c.rank for c in found.culprits] if found else []
    cause = found.cause if found else None
    is_right = cause in {truth["root_cause"], *truth["accept"]} and culprits == truth["culprit_ranks"]
    return {
        "ranks": truth["world_size"],
        "right": is_right,
        "cause": cause,
        "culprits": culprits[:4],
        "truth": [truth["root_cause"], truth["culprit_ranks"]],
    }


@contextmanager
def _timed(row: dict[str, Any], name: str) -> Any:
    began = time.process_time()  # of one thread; wall time says as much about the neighbours
    yield
    row[name] = round(time.process_time() - began, 3)


def _peak_mb() -> int:
    # `ru_maxrss` would count what the process that started this one held.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) >> 10


def run(sizes: list[int], only: str, keep: Path | None, rounds: int, show: Callable[[dict[str, Any]], None]) -> None:
    """Writes each job, measures it in a fresh process, and shows the row."""
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            for ranks in sizes if only in case.name else []:
                folder = (keep or Path(scratch)) / f"{case.name}-{ranks}"
                if not folder.exists():
                    write_job(folder, case, ranks)
                command = [sys.executable, "-m", "benchmarks.scale", "--rounds", str(rounds), "--measure", str(folder)]
                row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                show({"case": case.name, **row, "us_per_rank": round(row["reduce_s"] * 1e6 / ranks)})


def main() -> None:
    """Measures what the command line names, and prints a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", default=",".join(map(str, SIZES)))
    parser.add_argument("--only", default="", help="part of a case's name: " + ", ".join(c.name for c in CASES))
    parser.add_argument("--keep", type=Path, help="write the jobs here, and use those that are there")
    parser.add_argument("--rounds", type=int, default=1, help="so often the reduce step; the quickest is told")
    parser.add_argument("--json", action="store_true", help="one JSON object per job, with all stages")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.rounds)))
        return
    if not args.json:
        print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))

    def show(row: dict[str, Any]) -> None:
        print(json.dumps(row) if args.json else "| " + " | ".join(str(row[c]) for c in COLUMNS) + " |", flush=True)

    run([int(n) for n in args.ranks.split(",")], args.only, args.keep, args.rounds, show)


if __name__ == "__main__":
    main()
