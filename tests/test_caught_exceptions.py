"""What one process prints time and again it catches: no process ends twice by an exception."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources.source import Text


def said(*lines: str) -> str:
    report = diagnose(Text("\n".join(lines) + "\n", name="rollout.log"))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def logged(minute: int, pid: int, error: str = "TypeError: cannot unpack non-iterable NoneType object") -> list[str]:
    who = f"(ToolWorker pid={pid})"
    return [
        f"{who} ERROR:2026-11-10 10:{minute:02d}:41,526:Traceback (most recent call last):",
        f'{who}   File "/job/rl/env.py", line 470, in step',
        f"{who}     action, x, y = extract(text)",
        f"{who} {error}",
        f"{who} ERROR:2026-11-10 10:{minute:02d}:41,526:Error extracting action for item 355{minute}",
    ]


def test_another_exception_after_those_that_were_caught_is_the_cause() -> None:
    other = ["Traceback (most recent call last):", '  File "/job/rl/main.py", line 9, in <module>', "KeyError: 'reward'"]
    report = diagnose(Text("\n".join([*logged(1, 577), *logged(5, 577), *other]), name="rollout.log"))
    assert report.diagnosis.evidence[0].line == 13


def engine(minute: int) -> list[str]:
    at, who = f"11-10 10:{minute:02d}:20 [core.py:708]", "(EngineCore_DP0 pid=171)"
    return [
        f"{who} ERROR {at} EngineCore failed to start.",
        f"{who} ERROR {at} Traceback (most recent call last):",
        f'{who} ERROR {at}   File "/v/vllm/v1/engine/core.py", line 699, in run_engine_core',
        f"{who} ERROR {at} ValueError: no such layer: model.layers.61",
    ]


def test_a_container_that_starts_again_gives_its_processes_the_same_numbers() -> None:
    assert said(*engine(1), *engine(5)) == "process.exception"
