"""Did the trainer ask for its generation server to the end?

TRL's client asks for the health of the vLLM server every few seconds. Where nothing listens, it gives up after its limit
and raises; where something else answers (another service, a wrong path), it asks for ever, and the other ranks wait in
vain for the one that asks. A log may also end with it, after more time than the client gives itself.
Source: TRL, generation/vllm_client.py, VLLMClient.check_server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import Event
from ..job import Job
from .activities import AWAITS
from .finding import Finding, exhibits

IS_UP = "context.activity/generation-server-is-up"
LIMIT_S = 240.0  # GRPOConfig.vllm_server_timeout
WAITS = ("collective.", "rendezvous.", "nccl.", "network.")  # what the others may say of their wait


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of no rank, where the server that was asked for never came up."""
    asks = [e for e in job.events if e.rule.id == AWAITS and e.attempt == job.attempt]
    if not asks or _came_up(job, asks[0]) or any(e.role == "cause" for e in job.failures()):
        return
    waited = [e for e in job.failures() if e.cause is not None and e.cause.startswith(WAITS)]
    if not waited and (job.failures() or _ending_s(job, asks) < LIMIT_S):
        return
    why = "The trainer asked again and again for its generation server, which never came up"
    why += "; the other ranks waited in vain." if waited else "."
    yield Finding(
        "network.connection-refused", why, (*exhibits(asks[:1]), *exhibits(waited, 2)), onset=asks[0].onset,
        certainty="likely" if waited else "possible", question="awaited_server",
    )  # fmt: skip


def _came_up(job: Job, first: Event) -> bool:
    """Whether the server came up after all, or any rank made a step."""
    ups = (e for e in job.events if e.rule.id == IS_UP and e.attempt == job.attempt)
    is_up = any(e.source != first.source or (e.line or 0) > (first.line or 0) for e in ups)
    return is_up or any(info.last_sign is not None for info in job.ranks.values())


def _ending_s(job: Job, asks: Sequence[Event]) -> float:
    """How long it had asked when its log ended, by the number of lines; 0 where the log ends otherwise."""
    first, last = asks[0], max(e.line or 0 for e in asks if e.source == asks[0].source)
    lines = [line for s in job.sources if s.name == first.source for line in s.tail() if line.message.strip()]
    if not lines or lines[-1].number != last:
        return 0.0
    return float(last - (first.line or 0)) * float(first.fields.get("retry_s") or 0.0)
