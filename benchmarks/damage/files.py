"""A labelled case as the files that a user hands over, and what is known of each; and altered copies of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

STREAMS = (".log", ".out", ".err", ".txt")
TREE = re.compile(r"(?P<base>.*/)?(?P<run>[^/]+)/attempt_\d+/(?P<local>\d+)/[^/]+$")
RANK_FILE = re.compile(r"rank[_-]?(\d+)(?!\d)[^/]*$")
TASK_FILE = re.compile(r"(?P<stem>.*-\d+)-(?P<task>\d+)\.out$")
OF_ITSELF = re.compile(  # `[rank3]: …`, `| rank 3 |`, `| r3/8 |`, `[INFO] [rank3]`, `rank 3/8`, `default_pg) Rank 3]`
    r"\[rank(\d+)\]|\| rank (\d+) \||\| r(\d+)/\d+ \||^\[RANK[: ]?(\d+)\]|, rank (\d+)/\d+,|^\s?(\d+): |^\[\d+,(\d+)\]<std(?:out|err)>"
)
DUMP = re.compile(r"py-?spy|trace_rank|stack|gdb|dump", re.IGNORECASE)
HOST = re.compile(r"\bhost[= ]([\w.-]+)|^([A-Za-z][\w.-]*\d):\d+:\d+ \[\d+\] NCCL ")
PROMPT = re.compile(  # a launcher tells of a death, after the dead has spoken
    r"exitcode|closing signal|SIGTERM|Killing subprocess|failed \(exit|srun: error|has been killed|exits with|mpirun noticed"
)


@dataclass(frozen=True)
class Case:
    """What a user hands over, and what is true of it."""

    name: str
    truth: dict[str, Any]
    files: dict[str, bytes]

    @classmethod
    def read(cls, folder: Path) -> Case:
        """A folder with `logs/` and `truth.yaml`."""
        logs = folder / "logs"
        files = {str(p.relative_to(logs)): p.read_bytes() for p in sorted(logs.rglob("*")) if p.is_file()}
        return cls(folder.name, yaml.safe_load((folder / "truth.yaml").read_text(encoding="utf-8")), files)

    @property
    def culprits(self) -> set[int]:
        return set(self.truth.get("culprit_ranks") or [])

    @property
    def causes(self) -> frozenset[str]:
        """The ids of causes that are right."""
        accepted = {self.truth["root_cause"], *(self.truth.get("accept") or [])}
        return frozenset(accepted | ({"unknown", "healthy"} if accepted & {"unknown", "healthy"} else set()))

    @property
    def accepted_culprits(self) -> list[frozenset[int]]:
        """The sets of ranks that are right."""
        return [frozenset(self.culprits), *map(frozenset, self.truth.get("accept_culprits") or [])]

    @property
    def evidence(self) -> list[tuple[str, int]]:
        """(file, line) of each place that an expert would point at."""
        told = self.truth.get("first_evidence") or []
        places = [told] if isinstance(told, str) else told
        return [(name, int(line)) for name, _, line in (p.rpartition(":") for p in places) if name in self.files]

    def text(self, name: str) -> str | None:
        """A file's text; None for what is binary."""
        raw = self.files[name]
        return None if b"\0" in raw else raw.decode("utf-8", "surrogateescape")

    @cached_property
    def logs(self) -> dict[str, str]:
        """What processes and launchers printed: no dumps, no context files, nothing empty."""
        kept = {n: self.text(n) for n in self.files if n.endswith(STREAMS) and not DUMP.search(n)}
        return {n: text for n, text in kept.items() if text}

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The global rank of each file that one process wrote."""
        return {name: rank for name in self.files if (rank := self._rank(name)) is not None}

    def _rank(self, name: str) -> int | None:
        tree, tasks = TREE.match(name), TASK_FILE.match(name)
        if tree:
            folder = name.rpartition("/")[0] + "/"
            told = {r for n, text in self.logs.items() if n.startswith(folder) for r in ranks_told(text)}
            if len(told) == 1:
                return told.pop()
            alone = len({m["base"] for n in self.files if (m := TREE.match(n))}) == 1
            return int(tree["local"]) if alone else None
        if tasks:
            like = [n for n in self.files if (m := TASK_FILE.match(n)) and m["stem"] == tasks["stem"]]
            return int(tasks["task"]) if len(like) > 1 else None
        match = RANK_FILE.search(name)
        return int(match[1]) if match else None

    @cached_property
    def host_of(self) -> dict[str, str]:
        """The host of each file whose path or content names one."""
        told = {n: {a or b for text in [self.logs[n]] for a, b in HOST.findall(text)} for n in self.logs}
        names = {h for hosts in told.values() for h in hosts} | set(self.truth.get("culprit_hosts") or [])
        names |= {n.split("/")[0] for n in self.files if n.endswith("/agent.log")}
        found = {}
        for name in self.files:
            by_path = [h for h in sorted(names) if re.search(rf"(?<![\w]){re.escape(h)}(?![\w])", name)]
            inside = sorted(told.get(name, ()))
            if by_path or len(inside) == 1:
                found[name] = (by_path or inside)[0]
        return found

    @property
    def innocents(self) -> list[int]:
        """Ranks with files of their own, of which none is at fault and none holds what the expert points at."""
        guilty = self.culprits | {self.rank_of[n] for n, _ in self.evidence if n in self.rank_of}
        return sorted(set(self.rank_of.values()) - guilty)


@dataclass(frozen=True)
class Mutant:
    """An altered copy; `loses` where it holds less than the case did."""

    case: Case
    files: dict[str, bytes]
    loses: bool = False
    order: tuple[str, ...] = ()  # in which the files are handed over; empty: their folder is
    what: str = ""

    def write(self, folder: Path) -> list[Path]:
        """Put it on disk; answer what to hand over."""
        for name, raw in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        return [folder / name for name in self.order] or [folder]


def ranks_told(text: str) -> set[int]:
    """The ranks that lines name as their own speaker's."""
    return {int(next(filter(None, m))) for line in text.split("\n") if (m := self_told(line))}


def self_told(line: str) -> tuple[str, ...] | None:
    match = OF_ITSELF.search(line[:160])
    return tuple(g or "" for g in match.groups()) if match else None


def own_rank(line: str) -> int | None:
    told = self_told(line)
    return int(next(filter(None, told))) if told else None


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def changed_log(case: Case, name: str, change: Callable[[list[str]], list[str]]) -> bytes:
    """One log of a case, its lines changed."""
    return encoded("\n".join(change(case.logs[name].removesuffix("\n").split("\n"))) + "\n")
