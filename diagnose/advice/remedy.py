"""The steps of a remedy (`cause.yaml`) for this job: what is known of it answers each `if` and fills text and command.

`rules/README.md` lists the names that a step may ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Any

from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause, Rule
from ..catalogue.sentences import holds, sentence, shell_command
from ..job.event import Event, Exhibit
from ..job.job import Job
from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..traces.traceback import Traceback
from ..verdict.decision import Verdict
from .fact_store import Facts
from .facts import OF_AN_OPERATOR
from .known_bugs import BUGS, package_of
from .sizes import batch_numbers, memory_numbers, resource_numbers, timeout_numbers
from .statement import Flags, RemedyStep, When

ORDER: tuple[When, ...] = ("now", "fix", "prevent", "collect")
Solver = Callable[[Mapping[str, Any], Facts], dict[str, Any]]
SOLVERS: tuple[tuple[str, Solver], ...] = (  # by the start of the cause's id
    ("config.batch-size-mismatch", batch_numbers),
    ("config.world-size-mismatch", resource_numbers),
    ("ray.unschedulable", resource_numbers),
    ("memory.cuda-oom", memory_numbers),
    ("storage.slow-save", timeout_numbers),
    ("collective.", timeout_numbers),
)
# Facts, whatever a line captures under such a name
PLATFORM = ("scheduler", "stack", "library", "toolkit", "launcher", "framework", "hosts", "system")
SHARED = Path(__file__).with_name("shared.yaml")
ENGINES = ("vllm", "sglang", "lmdeploy")  # of inference
TRAINERS = ("openrlhf", "verl", "trl", "llamafactory", "axolotl", "open-r1")  # which run such an engine beside
NATIVE = "cntk"  # the toolkit whose processes run no Python
ALL_WAIT = ("mismatch", "standing")  # questions that find all ranks in one collective
BUG_COMMANDS = {"bug_command": "command", "upgrade": "upgrade"}
MOST_RANKS = 1 << 16  # of which those without a log are listed
ABOVE, BELOW, LEAST_SAID, MOST_QUOTED = 40, 13, 12, 120  # lines read beside a failure; characters that a step quotes
AROUND_S = 300.0  # of the kernel log before and after a failure
_SLURM_FILE, _ADDRESS, _NAME, _MODULE, _POD, _WORD, _PACKAGES, _PATH, _NATIVE_FRAME, _OF_A_HANDLER = (
    lazy(pattern) for pattern in tables(SHARED)["patterns"].values()
)
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")


def steps(cause: Cause, values: Mapping[str, Any]) -> tuple[RemedyStep, ...]:
    """Yield the steps of a cause that fit `values`, filled, in order of when."""
    asked = (x for step in cause.remedy for x in (step.condition, step.text, step.command) if x)
    known, found = with_shared(values, " ".join(asked)), []
    for step in (x for x in cause.remedy if x.condition is None or holds(x.condition, known)):
        with suppress(ValueError):  # it names what is not known of this job
            command = (shell_command(step.command, known).strip() or None) if step.command else None
            if command and command.startswith("export ") and values.get("launcher") == "ray":
                command += tables(SHARED)["of_ray_workers"]
            found.append(RemedyStep(step.when, sentence(step.text, known), command))
    found.sort(key=lambda step: ORDER.index(step.when))
    return (*found, *(RemedyStep("collect", item) for item in cause.collect_next_time))


def restart_of(cause: Cause, rule: Rule | None, values: Mapping[str, Any]) -> str:
    """Whether a restart helps, where the evidence decides that; empty otherwise. A message goes before its cause."""
    if rule is not None and rule.restart:
        return rule.restart
    decides = cause.restart_if is None or holds(cause.restart_if, with_shared(values, cause.restart_if))
    return (cause.restart or "") if decides else ""


def with_shared(values: Mapping[str, Any], asked: str) -> dict[str, Any]:
    """Yield `values` with the conditions and pieces of commands that many remedies share; a piece that is empty is none.

    Only what the words of `asked`, a template or several, name is added: to fill all of them takes 0.1 s.
    """
    known, words, shared = dict(values), set(_WORD.findall(asked)), tables(SHARED)
    for pieces in (shared["commands"], shared["conditions"]):  # each may ask for those above it
        for name in reversed(pieces):
            words.update(_WORD.findall(pieces[name]) if name in words else ())
    for name in (x for x in shared["conditions"] if x in words):
        known[name] = holds(shared["conditions"][name], known)
    for name in (x for x in shared["commands"] if x in words):
        command = shell_command(shared["commands"][name], known)
        known.update({name: Flags(command)} if command.strip() else {})
    return known


def step_values(
    job: Job, verdict: Verdict, proof: Sequence[Exhibit], facts: Facts, catalogue: Catalogue, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Yield all that the steps for a verdict may ask: facts, the job, who is at fault, `fields`, and solved numbers."""
    told = verdict.roots[0].first or (proof[0].event if proof else None)
    known = {
        **_of_the_job(job, facts),
        **_of_the_culprit(job, verdict, proof, facts),
        **_of_the_line(job, verdict, told),
        **fields,
        "is_inference": _is_inference(told, facts),
    }
    values = {**facts.values(), **known, **solved(verdict.cause or "", known, facts), **package_of(known, catalogue)}
    return {**values, **{name: facts.get(name) for name in PLATFORM}, "named_library": fields.get("library")}


def solved(cause: str, fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield the numbers and names that follow for this cause from what its line captured and the facts."""
    found = _peer(fields)
    for start, solver in SOLVERS:
        if cause.startswith(start):
            found.update(solver(fields, facts))
    if cause == BUGS:  # what our table states, not a log
        found |= {name: Flags(str(fields[key])) for name, key in BUG_COMMANDS.items() if fields.get(key)}
    return found


def _of_the_job(job: Job, facts: Facts) -> dict[str, Any]:
    dumps = [str(e.fields["recorder_path"]) for e in job.events if e.fields.get("recorder_path")]
    is_seen = facts.get("toolkit") is not None or any(source.tracebacks for source in job.sources)
    first = 1 if len(job.sources) == 1 else 0  # what stands in a console without a name is rank 0's
    return {
        "has_finished": any(info.finished for info in job.ranks.values()),
        "missing_ranks": tuple(r for r in range(first, min(job.world_size or 0, MOST_RANKS)) if not job.is_heard(r)),
        "has_stepped": any(info.last_step for info in job.ranks.values()),
        "has_stacks": any(source.stacks for source in job.sources),
        "is_python": facts.get("toolkit") != NATIVE and (facts.get("library") != "mpi" or is_seen),
        "has_recorder": bool(job.dumps),
        "has_error_files": "error.json" in {PurePosixPath(x).name for x in (*job.files, *(s.name for s in job.sources))},
        "recorder_files": f"{dumps[0].rstrip('0123456789')}*" if dumps else None,
        "job_id": slurm_job(job),
        "other_host": job.hosts[1] if len(job.hosts) > 1 else None,
        "killed_by_uid": next((e.fields["uid"] for e in job.events if e.fields.get("uid")), None),
    }


def slurm_job(job: Job) -> str | None:
    """Yield the number of the one job of Slurm's that files are named after, or that is told of, for `sacct -j`."""
    named = {m[1] for source in job.sources if (m := _SLURM_FILE.match(PurePosixPath(source.name).name))}
    steps = (e.fields.get("step") for e in {*job.events}.difference(job.earlier))  # in words: a rank's is a number
    told = named or {number for x in steps if isinstance(x, str) and (number := x.partition(".")[0]).isdigit()}
    return told.pop() if len(told) == 1 else None


def _of_the_culprit(job: Job, verdict: Verdict, proof: Sequence[Exhibit], facts: Facts) -> dict[str, Any]:
    """The ranks, host, GPU, process and pod that commands are to name."""
    infos = [job.ranks[r] for r in verdict.culprits if r in job.ranks]
    hosts = {*verdict.culprit_hosts, *(i.host for i in infos if i.host)} - {"localhost"}
    first, finding = verdict.roots[0].first, verdict.roots[0].finding  # which may tell of a process without a rank
    device = first.fields.get("device") if first is not None else None
    if device is None and len(infos) == 1:
        device = infos[0].device  # a local rank is none: CUDA_VISIBLE_DEVICES may order the GPUs otherwise
    pods = {speaker.pod for source in job.sources for speaker in source.speakers if speaker.pod}
    host = min(hosts) if len(hosts) == 1 else None
    logs = {source for info in infos for source in info.sources}
    others = {source for info in job.ranks.values() if info not in infos for source in info.sources}
    last = next((x for i in infos if (x := job.last_line_of(i.rank))), None)
    named = _POD.match(host or "")
    is_pod = host in pods or (facts.get("scheduler") == "kubernetes" and OF_AN_OPERATOR.fullmatch(host or ""))
    stated = first.fields.get("pod") if first is not None else None
    pod = stated or (named[1] if named else host if is_pod else min(pods) if len(pods) == 1 else None)
    return {
        "culprit_ranks": tuple(verdict.culprits),
        "culprit_rank": verdict.culprits[0] if len(verdict.culprits) == 1 else None,
        "culprit_host": host,
        "culprit_hosts": ",".join(sorted(hosts)) or None,
        "culprit_gpu": device if isinstance(device, int) and len(infos) <= 1 else None,
        "culprit_pid": infos[0].pid if len(infos) == 1 else None if infos or finding is None else finding.fields.get("pid"),
        "culprit_pod": pod,
        "last_file": last[0] if last else None,
        "last_line": last[1].number if last else None,
        "last_text": _quoted(last[1]) if last else None,
        "culprit_log": min(logs) if len(infos) == len(logs) == 1 and not logs & others else None,
        "late_is_first": bool(proof) and proof[0].rank in verdict.culprits,
    }


def _of_the_line(job: Job, verdict: Verdict, told: Event | None) -> dict[str, Any]:
    first, finding = verdict.roots[0].first, verdict.roots[0].finding
    activities = (x.event.rule.activity for x in finding.exhibits if x.event) if finding is not None else ()
    path = _PATH.search(told.text) if told is not None else None
    all_wait = finding.question in ALL_WAIT if finding is not None else _all_waited(job, verdict)
    return {
        "activity": next(filter(None, activities), None),
        "log_file": told.source if told is not None else None,
        "named_path": path[0] if path else None,
        "rule_name": told.rule.id.rpartition("/")[2] if told is not None else "",
        "is_hung": verdict.outcome == "hung",
        "all_wait": verdict.cause == "collective.timeout" and all_wait,
        **_raised(first.traceback if first is not None else None),
        "is_inferred": "inferred-rank" in verdict.reasons,  # the rank at fault: no line of the error names it
        **_beside(job, told),
        **_window(told),
    }


def _all_waited(job: Job, verdict: Verdict) -> bool:
    """Whether every rank reports that it waited in one and the same collective."""
    told = {(e.rank, e.fields.get("seq")) for root in verdict.roots for e in root.events if e.fields.get("seq") is not None}
    waited = {rank for rank, _ in told} - {None}
    return 1 < len(waited) == job.world_size and len({seq for _, seq in told}) == 1


def _raised(tb: Traceback | None) -> dict[str, Any]:
    """The innermost frame: its code and, of an installed package, its place, `deepspeed/runtime/zero/stage3.py:2117`."""
    found: dict[str, Any] = {"has_frames": tb is not None and bool(tb.frames or any(link.frames for link in tb.links))}
    if tb is None or not tb.frames or (tb.form == "headless" and not tb.frames[-1].code):  # lines below it were not kept
        return found
    inner = tb.frames[-1]
    package = _PACKAGES.split(inner.file)[-1]
    return {**found, "raised_at": f"{package}:{inner.line}" if package != inner.file else None, "raised_code": inner.code}


def _beside(job: Job, told: Event | None) -> dict[str, Any]:
    """What was printed last above a line, by whom no prefix says, and what a native stack below it begins with."""
    at = (told.line or 0) if told is not None else 0
    near = [x for s in job.sources if told and s.name == told.source for x in s.lines(range(at - ABOVE, at + BELOW))]
    said = [_quoted(x) for x in near if x.number < at and x.prefix.rank is None]
    inside = (m for x in near if x.number > at for m in _NATIVE_FRAME.finditer(x.message) if not _OF_A_HANDLER.search(m[0]))
    inner = next(inside, None)
    return {
        "line_above": next((text for text in reversed(said) if len(text) >= LEAST_SAID), None),
        "crashed_in": inner and (f"{inner[1]} ({inner[2]})" if inner[2] else inner[1] or inner[3]),
    }


def _quoted(line: Line) -> str:
    return " ".join(line.message.split())[:MOST_QUOTED].rstrip()


def _window(told: Event | None) -> dict[str, Any]:
    """The minutes around a failure, for `journalctl --since --until`: as its host's clock shows them, UTC where stated."""
    stamp = told.stamp if told is not None else None
    if stamp is None or not (stamp.has_date and stamp.has_year) or stamp.since_boot or not 0 < stamp.seconds < 2**32:
        return {"since": None, "until": None}
    moments = {"since": stamp.seconds - AROUND_S, "until": stamp.seconds + AROUND_S}
    form = "%Y-%m-%d %H:%M:%S" + (" UTC" if stamp.has_zone else "")
    return {name: datetime.fromtimestamp(at, timezone.utc).strftime(form) for name, at in moments.items()}


def _is_inference(told: Event | None, facts: Facts) -> bool:
    """Whether an engine of inference holds the GPU, and no training: there is no micro batch to make smaller."""
    framework = facts.get("framework")
    frames = told.traceback.frames if told is not None and told.traceback is not None else ()
    in_engine = any(f"/{engine}/" in frame.file for frame in frames for engine in ENGINES)
    return framework in ENGINES or (framework not in TRAINERS and in_engine)


def _peer(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The other end of a connection, where its name may stand in a command."""
    stated = str(fields.get("peer_host") or fields.get("peer_ip") or "")
    match = _ADDRESS.search(str(fields.get("last_error") or ""))
    peer = stated.strip("[]").removeprefix("::ffff:") if _NAME.fullmatch(stated) else match[1] if match else None
    port = fields.get("peer_port")
    return {
        "peer": peer,
        "peer_port": port if isinstance(port, int) else None,
        "peer_is_here": (peer or "").startswith(_LOOPBACK),
        "peer_is_address": bool(re.fullmatch(r"[\d.]+|.*:.*", peer or "")),
    }
