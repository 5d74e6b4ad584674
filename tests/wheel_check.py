"""Run by CI with the installed wheel's `diagnose`: the same verdicts as the checkout, and every command without it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = ("cuda-oom-one-rank", "healthy-console", "two-nodes-one-exception")  # copied: the checkout is out of reach
LOG = "[rank0]: step 1 loss 4.0\n[rank0]: FarmError: the coolant of aisle 7 is gone\n"
CLIENT = """
import anyio, json, sys
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    async with Client(stdio_client(StdioServerParameters(command=sys.argv[1], args=["mcp", sys.argv[2]]))) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("diagnose_logs", {"paths": ["cuda-oom-one-rank/logs"]})
        print(json.dumps([len(tools), answer.structured_content["cause"]]))

anyio.run(main)
"""
Call = Callable[..., "subprocess.CompletedProcess[str]"]


def verdict(tool: list[str], case: Path) -> object:
    """What a `diagnose` says of one case, without the seconds it took."""
    done = subprocess.run([*tool, "--format", "json", str(case / "logs")], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    report["stats"].pop("seconds", None)
    return report


def main() -> None:
    """Compare the wheel's reports with the checkout's on every fixture; then try each command."""
    wheel, checkout = [sys.argv[1]], [sys.executable, "-m", "diagnose"]
    cases = sorted(p.parent for p in FIXTURES.glob("*/truth.yaml"))
    differing = [case.name for case in cases if verdict(wheel, case) != verdict(checkout, case)]
    print(f"wheel and checkout agree on {len(cases) - len(differing)} of {len(cases)} fixtures")
    if differing:
        sys.exit(f"the wheel says something else on: {', '.join(differing)}")
    with tempfile.TemporaryDirectory() as scratch:
        faults = list(try_commands(Path(sys.argv[1]), Path(scratch)))
    if faults:
        sys.exit("the wheel alone cannot do all of it:\n" + "\n".join(faults))
    print("the wheel alone does all of it")


def try_commands(tool: Path, scratch: Path) -> list[str]:
    """Yield what went wrong, one line a command."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DIAGNOSE"))}
    environment |= {"XDG_STATE_HOME": str(scratch / "state"), "TMPDIR": str(scratch)}
    for case in CASES:
        shutil.copytree(FIXTURES / case, scratch / case)
    (scratch / "farm.log").write_text(LOG)

    def call(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(tool), *words], capture_output=True, text=True, check=False, cwd=scratch, env=environment, input=stdin
        )

    faults = []
    for name, words, code, said in tries(tool):
        done = call(*words, stdin=(scratch / "cuda-oom-one-rank/logs/h100-r6-n03.log").read_text() if name == "paste" else "")
        if done.returncode != code or said not in done.stdout + done.stderr:
            faults.append(f"{name}: left with {done.returncode}, not {code}, and {said!r}: {(done.stdout + done.stderr)[-300:]}")
    return [*faults, *try_own_rule(call, scratch), *try_watch(tool, scratch, environment), *try_agent(tool, scratch, environment)]


def tries(tool: Path) -> list[tuple[str, list[str], int, str]]:
    """Yield each command: its name, its words, its exit code, and something that it says."""
    oom, good, both = (f"{case}/logs" for case in CASES)
    fails = [sys.executable, "-c", "import sys; print('RuntimeError: CUDA error: out of memory'); sys.exit(3)"]
    return [
        ("version", ["-V"], 0, "diagnose 0."),
        ("help", ["--help"], 0, "Exit codes"),
        ("folder", [both, "-o", "report.html", "-o", "report.json", "-o", "report.md"], 1, "rank 3"),
        ("paste", [], 1, "out of memory"),
        ("zh", ["--lang", "zh", both], 1, "rank 3"),
        ("why", [both, "--why", "rank 0"], 1, "rank 0"),
        ("facts", ["facts", both], 0, "world_size"),
        ("scan", ["scan", both, "-o", "both.scan.json.gz"], 0, "wrote"),
        ("of a scan", ["both.scan.json.gz"], 1, "rank 3"),
        ("case", ["case", both, "-o", "case.tar.gz"], 0, "truth.yaml"),
        ("schema", ["schema"], 0, "urn:diagnose:report:1"),
        ("explain", ["explain", "xid-79"], 0, "gpu."),
        ("rules", ["rules", "list", "memory.cuda-oom"], 0, "rules over"),
        ("remember", ["--remember", oom], 1, "out of memory"),
        ("history", ["history"], 0, "memory.cuda-oom"),
        ("diff", ["diff", good, oom], 1, "memory.cuda-oom"),
        ("run", ["run", "-o", "run.md", "--", *fails], 3, "report"),
        ("hook", ["hook", "--exit-code", "1", "-o", "hook.md", oom], 0, "report"),
        ("no such path", ["nothing-here"], 2, "no such file"),
    ]  # fmt: skip


def try_own_rule(call: Call, scratch: Path) -> list[str]:
    """A rule of one's own, from the template: written, tested, used."""
    call("rules", "new", "hub.farm/coolant-gone", "--folder", "my-rules")
    rule = scratch / "my-rules/hub/farm/coolant-gone.yaml"
    if not rule.is_file():
        return ["rules new: wrote nothing"]
    rule.write_text(
        "title: the coolant is gone\nrole: cause\nmatch: line\nwhy: Printed by the farm's own watcher.\nforms:\n"
        "  - literals: [the coolant of aisle]\n    pattern: '^FarmError: the coolant of aisle (?P<aisle>\\d{1,4}) is gone'\n"
        "    examples:\n      - text: 'FarmError: the coolant of aisle 7 is gone'\n        fields: {aisle: 7}\n"
        "      - text: 'FarmError: the coolant of aisle 12 is gone'\n        fields: {aisle: 12}\n"
        "fields: {aisle: int}\nsays: The coolant of aisle {{ aisle }} is gone.\n"
        "counter_examples:\n  - text: the coolant of aisle 7 is back\n    because: no error\n"
    )
    cause = rule.with_name("cause.yaml")
    cause.write_text(cause.read_text().replace("what it is in 8 words", "the farm is too hot").replace("What happens", "It stops"))
    tested, used = call("rules", "test", "my-rules"), call("--rules", "my-rules", "farm.log")
    return [f"{name}: {(done.stdout + done.stderr)[-400:]}" for name, done, code in
            (("rules test", tested, 0), ("--rules", used, 1)) if done.returncode != code]  # fmt: skip


def try_watch(tool: Path, scratch: Path, environment: dict[str, str]) -> list[str]:
    """A log is followed until Ctrl-C, which leaves a report."""
    command = [str(tool), "watch", "cuda-oom-one-rank/logs", "--every", "0.2"]
    with subprocess.Popen(command, cwd=scratch, env=environment, stdout=subprocess.PIPE, text=True) as watch:
        lines = [watch.stdout.readline() for _ in range(2)]
        watch.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
        rest = watch.stdout.read()
    is_well = os.name == "nt" or ("FAILED" in rest and watch.returncode == 1)
    return [] if is_well else [f"watch: left with {watch.returncode} after {lines}: {rest[-300:]}"]


def try_agent(tool: Path, scratch: Path, environment: dict[str, str]) -> list[str]:
    """The SDK's own client, in the wheel's environment, asks the wheel's server."""
    python = next(path for path in (tool.with_name("python"), tool.with_name("python.exe")) if path.exists())
    done = subprocess.run(
        [str(python), "-c", CLIENT, str(tool), str(scratch)], capture_output=True, text=True, check=False, cwd=scratch,
        env=environment,
    )  # fmt: skip
    return [] if done.stdout.strip() == '[6, "memory.cuda-oom"]' else [f"mcp: {(done.stdout + done.stderr)[-400:]}"]


if __name__ == "__main__":
    main()
