"""The tools of `diagnose mcp`, asked by the client of the official SDK over a real pipe and a real port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from diagnose.mcp.roots import Roots
from diagnose.mcp.server import Desk, server_of

FIXTURES = Path(__file__).parent.parent / "fixtures"
PACKAGE = str(Path(__file__).parent.parent)
TOOLS = {"diagnose_logs", "read_evidence", "why_not", "explain", "list_ranks", "compare"}

def talk(root: Path, questions: Callable[[Client], Awaitable[Any]]) -> Any:
    """Let the client ask a server in this process; yield what it got."""
    roots = Roots.of([str(root)])

    async def run() -> Any:
        async with Client(server_of(Desk(roots), roots)) as client:
            return await questions(client)

    here = os.getcwd()
    os.chdir(roots.base)
    try:
        return anyio.run(run)
    finally:
        os.chdir(here)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; yield its answer, or `{"error": …}`."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return {"error": result.content[0].text}
    return dict(result.structured_content)


def test_a_client_on_a_pipe_sees_six_tools_that_only_read_and_gets_a_verdict() -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "diagnose", "mcp", str(FIXTURES)], env={**os.environ, "PYTHONPATH": PACKAGE}
    )

    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(stdio_client(server)) as client:
                tools = (await client.list_tools()).tools
                return tools, await ask(client, "diagnose_logs", paths=["cuda-oom-one-rank/logs"])

    tools, verdict = anyio.run(run)

    assert "memory.cuda-oom" == verdict["cause"]
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)


def test_an_assistant_gets_the_verdict_and_asks_on() -> None:
    async def questions(client: Client) -> Any:
        verdict = await ask(client, "diagnose_logs", paths="logs")
        proof = verdict["evidence"][0]
        return (
            verdict,
            await ask(client, "read_evidence", path=proof["file"], line=proof["line"], before=2, after=0),
            await ask(client, "why_not", question="network.connection-reset"),
            await ask(client, "why_not", question="0"),
            await ask(client, "list_ranks", state="culprit"),
            await ask(client, "explain", text="CUDA out of memory"),
        )

    verdict, lines, lost, rank, culprits, page = talk(FIXTURES / "two-nodes-one-exception", questions)

    assert ("process.exception", "certain") == (verdict["cause"], verdict["certainty"])
    assert 3 == verdict["culprits"][0]["rank"]
    assert "0.1f3x" in verdict["summary"]
    assert [row["line"] for row in lines["lines"]] == [30, 31, 32]
    assert "0.1f3x" in lines["lines"][-1]["text"]
    assert "process.exception" in lost["answer"]
    assert "rank 0" in rank["answer"]
    assert [3] == [row["rank"] for row in culprits["ranks"]]
    assert "memory.cuda-oom" == page["cause"]


def test_two_runs_are_compared() -> None:
    async def questions(client: Client) -> Any:
        good = await ask(client, "diagnose_logs", paths=["healthy-console/logs"])
        bad = await ask(client, "diagnose_logs", paths=["cuda-oom-one-rank/logs"])
        return await ask(client, "compare", report_a=good["report"], report_b=bad["report"])

    found = {row["name"]: row for row in talk(FIXTURES, questions)["differences"]}

    assert ("healthy", "failed") == (found["outcome"]["good"], found["outcome"]["bad"])


OUTSIDE = ("../secret.log", "link.log", "linked", "linked/*", "/etc/hostname", "s3://bucket/x", "-", "a\0b", "secret.log!x")


def test_nothing_outside_the_roots_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "secret.log").write_text("[rank0]: ValueError: hidden\n")
    (outside / "secret.log").write_text("[rank0]: ValueError: hidden\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "rank0.log").write_text("step 1 loss 2.0\n")
    (root / "link.log").symlink_to(tmp_path / "secret.log")
    (root / "linked").symlink_to(outside)

    async def questions(client: Client) -> Any:
        whole = [await ask(client, "diagnose_logs", paths=[path]) for path in OUTSIDE]
        return whole + [await ask(client, "read_evidence", path=path, line=1) for path in OUTSIDE]

    for answer in talk(root, questions):
        assert "error" in answer
        assert "hidden" not in json.dumps(answer)


def test_a_link_in_a_folder_that_leads_out_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "secret.log").write_text("[rank0]: ValueError: hidden\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "rank1.log").write_text("[rank1]: RuntimeError: CUDA error: out of memory\n")
    (root / "rank0.log").symlink_to(tmp_path / "secret.log")

    async def questions(client: Client) -> Any:
        return await ask(client, "diagnose_logs", paths=["."])

    answer = talk(root, questions)

    assert "hidden" not in json.dumps(answer)
    assert 1 == answer["inputs"]["files"]


def test_answers_are_bounded_and_hold_no_secret(tmp_path: Path) -> None:
    token = "hf_" + "aBcDeFgHiJ" * 3 + "kLmN"
    lines = [f"[rank{n}]: ValueError: token={token} {'x' * 900} {n}" for n in range(400)]
    (tmp_path / "console.log").write_text("\n".join(lines) + "\n")

    async def questions(client: Client) -> Any:
        return (
            await ask(client, "diagnose_logs", paths=["console.log"]),
            await ask(client, "read_evidence", path="console.log", line=200, before=100, after=100),
            await ask(client, "list_ranks"),
        )

    for answer in talk(tmp_path, questions):
        text = json.dumps(answer)
        assert "error" not in answer
        assert token not in text
        assert len(text) < 30_000


def test_wrong_questions_get_one_line() -> None:
    async def questions(client: Client) -> Any:
        return [
            await ask(client, "why_not", question="memory.cuda-oom"),
            await ask(client, "read_evidence", path="README.md", line=0),
            await ask(client, "explain", text="zzz qqq"),
            await ask(client, "compare", report_a="report-1", report_b="cuda-oom-one-rank/truth.yaml"),
        ]

    for answer in talk(FIXTURES, questions):
        assert 1 == len(answer["error"].splitlines())


def test_http_answers_on_loopback_and_no_other_host_name() -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "diagnose", "mcp", str(FIXTURES), "--http", str(port)]
    address = f"http://127.0.0.1:{port}/mcp"

    async def run() -> Any:
        with anyio.fail_after(120):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.1)
            async with Client(streamable_http_client(address)) as client:
                tools = (await client.list_tools()).tools
            async with httpx2.AsyncClient() as stranger:
                refused = await stranger.post(address, headers={"Host": "evil.example"}, json={})
            return {tool.name for tool in tools}, refused.status_code

    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": PACKAGE}, stderr=subprocess.DEVNULL)
    try:
        names, status = anyio.run(run)
    finally:
        server.terminate()
        server.wait()

    assert names == TOOLS
    assert status in (400, 403, 421)
