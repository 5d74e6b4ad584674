"""Says whose file it is from the names of files and folders alone: a path goes in, a `PathIdentity` comes out.

A name is weaker than what stands in the file. What only a set of names can tell (a trailing task number, the rank of a
folder) needs `identities_from_paths`. A global rank is never computed from a node's number: nodes are not filled in order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from .cache import tables
from .lazy_pattern import lazy
from .record import record

_TABLES = tables(Path(__file__).with_name("paths.yaml"))
FORMS = tuple(
    ({"kind": row["kind"], **row.get("is", {})}, tuple(row["needs"]), lazy(row["pattern"], re.ASCII))
    for row in _TABLES["forms"]
)
WORDS = tuple((row["name"], tuple(row["needs"]), lazy(row["pattern"], re.ASCII)) for row in _TABLES["words"])
_HOST = _TABLES["hosts"]["name"]
IS_HOST, ENDS_IN_HOST, HOST_AFTER_WORD, KERNEL_OF = (
    lazy(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (_HOST, rf"(?:^|.*?[-_.])({_HOST})", _TABLES["hosts"]["after_a_word"], _TABLES["hosts"]["of_a_kernel"])
)

_PARTS = {name: lazy(pattern, re.ASCII) for name, pattern in _TABLES["parts"].items()}
_SCHEDULER = "scheduler.log"
_NUMBER = lazy(r"\d+", re.ASCII)
_NUMBERS = frozenset(("rank", "local_rank", "node_rank", "pid", "attempt", "task"))


@record
class PathIdentity:
    """Whose file it is, as far as its path says; `kind` is a guess for those who have not read it yet."""

    rank: int | None = None  # in the whole job
    local_rank: int | None = None
    node_rank: int | None = None
    host: str | None = None
    pid: int | None = None
    attempt: int | None = None  # of torchelastic, or the number of a container's restart; -1: the life before the others
    job: str | None = None
    task: int | None = None  # Slurm's: the rank only with one task per GPU
    pod: str | None = None
    container: str | None = None
    stream: str | None = None
    worker_id: str | None = None  # Ray's
    kind: str | None = None


def identity_from_path(name: str) -> PathIdentity:
    """What one path says by itself; archive members (`a.tar.gz!member`) count as folders."""
    path = _with_slashes(name)
    folder, stem = path.rpartition("/")[0], _stem(name)
    found: dict[str, int | str] = dict(_from_forms(path))
    if "kind" in found and found["kind"] not in ("rank", "recorder", "slurm", "kernel"):
        stem = ""  # spoken for; the folders may still name a host
    for field, value in _from_words(stem):
        found.setdefault(field, value)
    host = _host(folder, stem, found)
    if host and not ("job" in found and host.endswith(str(found["job"]))):  # of `server-6151947.out` it is no host's number
        found["host"] = host
    return PathIdentity(**found)  # type: ignore[arg-type]


def _from_forms(path: str) -> Iterator[tuple[str, int | str]]:
    for said, needs, pattern in FORMS:
        match = pattern.search(path) if any(map(path.__contains__, needs)) else None
        if match is None:
            continue
        yield from said.items()
        for field, value in match.groupdict().items():
            if value is None or (field == "job" and value == "none"):  # torchrun without --rdzv-id
                continue
            if field in ("err", "out"):
                yield "stream", "std" + field
            else:
                yield field, int(value) if field in _NUMBERS else value
        return


def _from_words(stem: str) -> Iterator[tuple[str, int | str]]:
    for field, needs, pattern in WORDS:
        if any(map(stem.__contains__, needs)) and (match := pattern.search(stem)):
            yield field, int(match[1])
            if field == "rank":
                yield "kind", "rank"
    stream = _PARTS["stream"].search(stem)
    if stream:
        yield "stream", stream[1]
    job = _PARTS["job_id"].search(stem)
    if job and not re.search("rank|py|pid|nccl", stem):  # there the number is a process or a time
        yield "job", job[1]


def _names_host(word: str) -> bool:
    return bool(IS_HOST.fullmatch(word)) or word.endswith(("host", "node"))


def _host(folder: str, stem: str, found: dict[str, int | str]) -> str | None:
    """The host a file or the nearest folder is named after; a worker's pod is its host name too."""
    stem = _PARTS["log_word"].sub("", stem)
    pod = str(found.get("pod", ""))
    if _PARTS["worker_pod"].match(pod):
        return pod
    after_word = HOST_AFTER_WORD.fullmatch(stem)
    word = after_word["host"] if after_word else ""
    if after_word and _names_host(word):
        if after_word["pid"]:  # NCCL_DEBUG_FILE=nccl.%h.%p: `nccl.gpu-07.4711.log`
            found.setdefault("pid", int(after_word["pid"]))
        return word
    if after_word and _names_host(rest := stem[after_word.start("host") :]):  # the number is the host's: `kern-gpu-025.log`
        return rest
    if ending := ENDS_IN_HOST.fullmatch(stem):  # `train-6151947-gpu-node-07.out` (%x-%j-%N)
        return ending[1]
    if host := next(filter(_is_host, reversed(folder.split("/"))), None):
        return host
    kernel = KERNEL_OF.fullmatch(stem)
    return kernel["host"] if kernel and _NUMBER.search(kernel["host"]) else None


@lru_cache(4096)
def _is_host(folder: str) -> bool:
    """Whether a folder is called like a host; remembered, for thousands of files lie in one."""
    return IS_HOST.fullmatch(folder) is not None


def identities_from_paths(names: Sequence[str], alone: Mapping[str, PathIdentity] | None = None) -> dict[str, PathIdentity]:
    """What each path says beside the others: a number of a task or of a folder counts only where some differ in it.
    `alone`: what each says by itself, where somebody has read that already."""
    identities = {name: alone[name] if alone else identity_from_path(name) for name in names}
    _add_folder_ranks(identities)
    tasks: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    nodes: dict[str, dict[str, int]] = defaultdict(dict)
    for name, identity in sorted(identities.items()):
        folder, _, base = _with_slashes(name).rpartition("/")
        match = _PARTS["task"].match(base) or _PARTS["plain_task"].match(base)
        array = match is not None and match["stem"] == "slurm" and base.startswith("slurm-") and "_" in base
        if match and not array and identity.rank is None and identity.kind in (None, "slurm"):
            job = match.groupdict().get("job") or ""
            tasks[folder, match["stem"] if job else "", job][name] = int(match["task"])
        node = _PARTS["node"].fullmatch(_stem(name))
        if node and identity.node_rank is None:
            nodes[folder][name] = int(node["node"])
    _add_tasks(identities, tasks)
    _add_workers(identities)
    for group in nodes.values():  # `node0.log`, `node1.log`: numbers of nodes when they count from 0 without a gap
        if sorted(set(group.values())) == list(range(len(set(group.values())))):
            for name, number in group.items():
                identities[name] = replace(identities[name], node_rank=number)
    return identities


def _add_folder_ranks(identities: dict[str, PathIdentity]) -> None:
    """`rank_3/stderr.log`: a folder tells files apart where another one bears its name with another number. What all inputs
    lie in (`known_rank_0/`, a case that somebody called so; `rank_64/`, an adapter's) is said of the job, not of a process,
    unless the file is one that launchers make for each."""
    for field, _, pattern in WORDS:
        if field not in ("rank", "node_rank"):
            continue
        told = {n: found for n in identities if (found := _folder_number(_with_slashes(n).rpartition("/")[0], pattern))}
        numbers: dict[str, set[int]] = defaultdict(set)
        for shape, number in told.values():
            numbers[shape].add(number)
        for name, (shape, number) in told.items():
            held = identities[name]
            is_own = len(numbers[shape]) > 1 or _PARTS["of_one_process"].search(_with_slashes(name)) is not None
            if getattr(held, field) is None and is_own:
                of_rank = {"rank": number, "kind": held.kind or "rank"}
                identities[name] = replace(held, **(of_rank if field == "rank" else {field: number}))


def _stem(name: str) -> str:
    base = _with_slashes(name).rpartition("/")[2]
    return _PARTS["suffix"].sub("", base) or base


@lru_cache(4096)
def _folder_number(folders: str, pattern: re.Pattern[str]) -> tuple[str, int] | None:
    """The nearest folder that bears such a number: its name without digits, and the number."""
    for part in reversed(folders.split("/")):
        if match := pattern.search(part):
            return _NUMBER.sub("#", part), int(match[1])
    return None


def _with_slashes(name: str) -> str:
    return name.replace("\\", "/").replace("!", "/")


def _add_tasks(identities: dict[str, PathIdentity], tasks: dict[tuple[str, str, str], dict[str, int]]) -> None:
    for (_, _, job), group in sorted(tasks.items()):
        numbers = sorted(set(group.values()))
        counts_from_zero = numbers == list(range(len(numbers)))
        if len(numbers) < 2 or not (job or counts_from_zero):
            continue
        for name, task in group.items():
            held = identities[name]
            identities[name] = replace(held, task=task, job=job or held.job, kind="slurm" if job else held.kind)


def _add_workers(identities: dict[str, PathIdentity]) -> None:
    """`worker_11.log` beside `scheduler.log`: msrun counts on from node to node, and from 0 on each if it has no number."""
    numbers: dict[str, int] = {}
    for name in identities:
        base = _with_slashes(name).rpartition("/")[2]
        if (match := _PARTS["worker"].fullmatch(base)) and f"{name[: len(name) - len(base)]}{_SCHEDULER}" in identities:
            numbers[name] = int(match["number"])
    field = "rank" if len(set(numbers.values())) == len(numbers) else "local_rank"
    for name, number in numbers.items():
        held = identities[name]
        own = {"host": held.host if held.host != _stem(name) else None, "kind": held.kind or "rank"}
        identities[name] = replace(held, **{field: number, **own})  # type: ignore[arg-type]
