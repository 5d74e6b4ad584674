"""Altered copies of a case that change nothing about what happened: the verdict stays.

Each alteration says in its docstring where it is physically meaningful; where it is not, it yields no copy. None knows
a case by name: who is who is read from file names and from what processes print about themselves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from .clocks import NO_YEAR, seconds, shift, stamp_of
from .files import HOST, PROMPT, TASK_FILE, TREE, Case, Mutant, encoded, own_rank, ranks_told

DROPS = 3  # innocent ranks dropped from one case, each in a copy of its own
HEALTHY_LINES = 10_000
PID_STEP, PORT_STEP, HOST_STEP = 7000, 1, 500  # what sets a copied process apart from the one it was copied from


def shuffled_files(case: Case, rng: Random) -> Iterator[Mutant]:
    """The files handed over one by one in another order. Meaningful for two files or more."""
    names = list(case.files)
    if len(names) > 1:
        rng.shuffle(names)
        yield Mutant(case, case.files, order=tuple(names))


def merged_console(case: Case, rng: Random) -> Iterator[Mutant]:
    """All ranks' streams in one console, labelled as `srun -l` or torchrun's `--tee` label them.

    Meaningful where at least two ranks have streams of their own. A launcher that teed them already holds them: then
    its log alone is the console. Lines go in order of time; a stream without any clock spoke before the launcher told
    of a death, round robin with its like; what follows a stream's last clock follows all that its rank said with one.
    """
    streams = {n: r for n, r in case.rank_of.items() if n in case.logs}
    if len(set(streams.values())) < 2:
        return
    tree = any(TREE.match(n) for n in streams)
    others = {n: raw for n, raw in case.files.items() if n not in streams and not n.endswith("error.json")}
    launchers = [n for n in others if n in case.logs and re.search(r"(console|agent|slurm-\d+)[^/]*$", n)]
    if any(re.search(r"^\[default\d+\]:", case.logs[n], re.MULTILINE) for n in launchers):
        yield Mutant(case, others, what="the teed console alone")
        return
    width = len(str(max(streams.values())))
    host_of_rank = {r: case.host_of[n] for n, r in streams.items() if n in case.host_of}
    hosts = len(set(host_of_rank.values())) if tree else 1
    pieces = []
    for name, rank in streams.items():
        match = TREE.match(name)
        host = f"{host_of_rank.get(rank)}: " if hosts > 1 else ""
        label = f"{host}[default{match['local']}]:" if match else f"{rank:>{width}}: "
        pieces.append((label, case.logs[name].splitlines()))
    for name in launchers:
        pieces.append((f"{case.host_of.get(name)}: " if hosts > 1 else "", case.logs[name].splitlines()))
        del others[name]
    yield Mutant(case, others | {"console.log": encoded("\n".join(in_time(pieces)) + "\n")})


def in_time(pieces: list[tuple[str, list[str]]]) -> list[str]:
    """Labelled lines of all streams in one order."""
    clocks = [[stamp_of(line) for line in lines] for _, lines in pieces]
    year = next((s.year for stamps in clocks for s in stamps if s and s.year > NO_YEAR), 2026)
    prompted = min((t for label, lines in pieces if "[" not in label for t in prompts(lines, year)), default=0.0)
    last: dict[str, float] = defaultdict(lambda: prompted - 0.001)
    for (label, _), stamps in zip(pieces, clocks, strict=True):
        last[label] = max(
            [seconds(s, year) for s in stamps if s] + [last[label]] * (label in last), default=last[label]
        )
    keyed: list[tuple[float, int, int, str]] = []
    for index, ((label, lines), stamps) in enumerate(zip(pieces, clocks, strict=True)):
        final = max((i for i, s in enumerate(stamps) if s), default=-1)
        now = next((seconds(s, year) for s in stamps if s), last[label])
        for number, (line, stamp) in enumerate(zip(lines, stamps, strict=True)):
            now = max(now, seconds(stamp, year)) if stamp else now
            at = now if number <= final or not label else max(now, last[label])
            keyed.append((at, number // 40, index, label + line))
    return [line for *_, line in sorted(keyed, key=lambda k: k[:3])]


def prompts(lines: list[str], year: int) -> Iterator[float]:
    now = None
    for line in lines:
        stamp = stamp_of(line)
        now = max(now or 0.0, seconds(stamp, year)) if stamp else now  # its summary repeats earlier times
        if now is not None and PROMPT.search(line):
            yield now


def split_console(case: Case, rng: Random) -> Iterator[Mutant]:
    """The lines of a console that say which rank speaks, each rank's in a file of its own; the rest stays.

    Meaningful where one log holds such lines of two ranks or more, and of the culprits: a rank that has no file where
    the others have one is not known to be silent.
    """
    for name, text in case.logs.items():
        lines = text.split("\n")
        ranks = {r for line in lines if (r := own_rank(line)) is not None}
        if name in case.rank_of or len(ranks) < 2 or not case.culprits <= ranks:
            continue
        parts: dict[int | None, list[str]] = defaultdict(list)
        for line in lines:
            parts[own_rank(line)].append(line)
        base = name.rpartition("/")[0]
        stem = f"{base}/" if base else ""
        stem += f"{case.host_of[name]}/" if case.host_of.get(name) and not base else ""
        rest = {n: raw for n, raw in case.files.items() if n != name}
        rest |= {f"{stem}rank_{r}.log": encoded("\n".join(p) + "\n") for r, p in parts.items() if r is not None}
        yield Mutant(case, rest | {name: encoded("\n".join(parts[None]))}, what=name)


def dropped_innocent(case: Case, rng: Random) -> Iterator[Mutant]:
    """Everything that one innocent rank left is gone. Meaningful where two ranks or more left files.

    Of two innocents the loss of one is a loss of evidence: who differs is told by what most others have in common.
    """
    if len(set(case.rank_of.values())) < 2:
        return
    few = len(set(case.rank_of.values()) - case.culprits) < 3
    for rank in rng.sample(case.innocents, min(DROPS, len(case.innocents))):
        kept = {n: raw for n, raw in case.files.items() if case.rank_of.get(n) != rank}
        yield Mutant(case, kept, loses=few, what=f"rank {rank}")


def shifted_clock(case: Case, rng: Random) -> Iterator[Mutant]:
    """One host's clock is an hour off. Meaningful where files are known to be of two hosts or more."""
    hosts = sorted(set(case.host_of.values()))
    if len(hosts) < 2:
        return
    for host in rng.sample(hosts, min(2, len(hosts))):
        hour = timedelta(hours=rng.choice([-1, 1]))
        own = [n for n, h in case.host_of.items() if h == host]
        moved = {n: encoded(shift(text, hour)) for n in own if (text := case.text(n)) is not None}
        if any(moved[n] != case.files[n] for n in moved):
            yield Mutant(case, case.files | moved, what=f"{host} {hour.total_seconds() / 3600:+.0f} h")


def doubled_ranks(case: Case, rng: Random) -> Iterator[Mutant]:
    """Copies of innocent ranks join, with rank, host, process, port and world size renumbered.

    Meaningful where innocent ranks have files of their own, or lines in a console that name their rank, and where
    nothing lists the members of a group (flight recorders do): a list cannot be renumbered by copying.
    """
    if any(b'"pg_config"' in raw for raw in case.files.values()):
        return
    in_consoles = [n for n in case.logs if n not in case.rank_of and len(ranks_told(case.logs[n])) > 1]
    told = {r for n in in_consoles for r in ranks_told(case.logs[n])}
    innocents = sorted((set(case.innocents) if case.rank_of else told) - case.culprits)
    world = case.truth.get("world_size") or len(told | set(case.rank_of.values()))
    if not innocents or case.truth["root_cause"] == "healthy" or world < 2:
        return
    copies = {rank: world + n for n, rank in enumerate(innocents)}
    files = {}
    for name, raw in case.files.items():
        text = case.text(name)
        files[name] = raw if text is None else encoded(with_world(text, world, world + len(copies)))
        rank = case.rank_of.get(name)
        if text is not None and rank in copies:
            files[copied_path(case, name, copies[rank])] = encoded(
                with_world(copied(case, text, rank, copies[rank]), world, world + len(copies))
            )
        elif name in in_consoles and not case.rank_of:
            lines = [x for line in text.split("\n") for x in (line, *copied_line(case, line, copies))]
            files[name] = encoded(with_world("\n".join(lines), world, world + len(copies)))
    yield Mutant(case, files)


def copied_line(case: Case, line: str, copies: dict[int, int]) -> Iterator[str]:
    rank = own_rank(line)
    if rank in copies:
        yield copied(case, line, rank, copies[rank])


def copied(case: Case, text: str, rank: int, new: int) -> str:
    """A process's text as the copy of it on another host would have printed it."""
    text = re.sub(rf"(?<![\w])((?:[Rr]ank|RANK)[ \t]*[:=]?[ \t]*){rank}\b", rf"\g<1>{new}", text)
    text = re.sub(rf"(\| r){rank}(/\d+ \|)", rf"\g<1>{new}\g<2>", text)
    text = re.sub(rf"^(\s?){rank}(: )", rf"\g<1>{new}\g<2>", text, flags=re.MULTILINE)
    for pid in sorted({int(p) for p in re.findall(r"\bpid[=: ]+(\d{2,7})", text)}):
        text = re.sub(rf"\b{pid}\b", str(pid + PID_STEP), text)
    for host in sorted(
        {h for n, h in case.host_of.items() if case.rank_of.get(n) in (rank, None)} | set(HOST_LIKE(text))
    ):
        text = re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", other_host(host), text)
    return re.sub(r"(\d+\.\d+\.\d+\.\d+\]?:)(\d{4,5})\b", lambda m: f"{m[1]}{int(m[2]) + PORT_STEP}", text)


def HOST_LIKE(text: str) -> list[str]:
    return [a or b for a, b in HOST.findall(text)]


def other_host(host: str) -> str:
    number = re.search(r"(\d+)$", host)
    return f"{host[: number.start()]}{int(number[1]) + HOST_STEP}" if number else f"{host}-2"


def copied_path(case: Case, name: str, new: int) -> str:
    """Where the copy's file lies: another host's folder, or another agent's run folder in a shared one."""
    tree, task = TREE.match(name), TASK_FILE.match(name)
    host = case.host_of.get(name)
    if tree and host and name.startswith(f"{host}/"):
        return other_host(host) + name[len(host) :]
    if tree:
        return name.replace(f"{tree['run']}/", f"{tree['run'][:-1]}{'x' if tree['run'][-1] != 'x' else 'y'}/", 1)
    if task:
        return f"{task['stem']}-{new}.out"
    return re.sub(r"(rank[_-]?)\d+(?!\d)([^/]*)$", rf"\g<1>{new}\g<2>", name)


def with_world(text: str, old: int, new: int) -> str:
    """Every statement of the number of ranks renumbered."""
    told = rf"((?:world[_ ]?size|WORLD_SIZE|nranks|num_processes)\W{{1,3}}|(?:\brank |\| r)\d+/){old}\b"
    return re.sub(told, rf"\g<1>{new}", text)

def healthy_lines(case: Case, rng: Random) -> Iterator[Mutant]:
    """Ten thousand more metric lines before the first, typed as the framework in the log types them.

    Meaningful for every case in which a process or launcher logs: into rank 0's stream, else the longest console.
    """
    chosen = [n for n, r in case.rank_of.items() if r == 0 and n in case.logs]
    chosen = chosen or sorted((n for n in case.logs if not KERNEL.search(n)), key=lambda n: -len(case.logs[n]))[:1]
    for name in chosen[:1]:
        lines = case.logs[name].split("\n")
        at = next((i for i, line in enumerate(lines) if METRIC.search(line)), 0)
        begin = next((s for line in lines[at:] if (s := stamp_of(line))), datetime(2026, 11, 20, 17))
        style = next((s for s in STYLES if s in case.logs[name]), STYLES[0])
        label = re.match(r"\s{0,3}\d+: |\[default\d\]:", lines[at])
        more = [(label[0] if label else "") + metric(style, n, begin, rng) for n in range(HEALTHY_LINES)]
        yield Mutant(case, case.files | {name: encoded("\n".join([*lines[:at], *more, *lines[at:]]))}, what=name)


KERNEL = re.compile(r"dmesg|kern|journal|slurmctld|events|nvidia-smi|df\.txt", re.IGNORECASE)
METRIC = re.compile(r"loss\W|iteration +\d|step[ :=]+\d")
STYLES = ("{'loss'", "[titan]", " iteration ", "| INFO | rank 0 |", "][train][INFO]", "steps: ")


def metric(style: str, n: int, begin: datetime, rng: Random) -> str:
    """One healthy line, `HEALTHY_LINES - n` seconds before `begin`."""
    now = begin.replace(year=max(begin.year, 1970)) - timedelta(seconds=HEALTHY_LINES - n)
    stamp = f"{now.isoformat(' ', 'seconds')},{n % 1000:03d}"
    loss, norm = 2 + rng.random(), rng.random()
    forms = {  # only the one asked for is written: this is done a million times
        "{'loss'": lambda: f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'learning_rate': 1.9e-05, 'epoch': {n / 1e6:.2f}}}",
        "[titan]": lambda: f"[titan] {stamp} - root - INFO - step: {n:5d}  loss: {loss:7.4f}  grad_norm: {norm:.4f}  memory: 63.71GiB(80.54%)  tps: 2,103  tflops: 178.26  mfu: 18.02%",
        " iteration ": lambda: f" [{stamp[:19]}] iteration {n:8d}/  500000 | consumed samples: {n * 512:12d} | elapsed time per iteration (ms): {norm * 9000:.1f} | learning rate: 1.500000E-04 | lm loss: {loss:.6E} | grad norm: {norm:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |",
        "| INFO | rank 0 |": lambda: f"{stamp} | INFO | rank 0 | step {n}/{HEALTHY_LINES * 2} | loss {loss:.5f} | lr 1.00e-02",
        "][train][INFO]": lambda: f"[{stamp}][train][INFO] [rank0] step {n} loss {loss:.4f}",
        "steps: ": lambda: f"steps: {n} loss: {loss:.4f} iter time (s): {norm:.3f} samples/sec: {32 / (norm + 0.1):.3f}",
    }
    return forms[style]()

