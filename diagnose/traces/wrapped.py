"""Exceptions that quote another one in their message: the quoted one, as if it stood on a line of its own.

The rules know what was raised first; a compiler, a validator or an engine prints it behind words of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.lazy_pattern import lazy
from .logged_exceptions import TARGET, reprs_in
from .traceback_lines import read_exception

_DEPTH = 3  # `BackendCompilerFailed: backend='inductor' raised:` of `InductorError: OutOfMemoryError: …`
_OWN_LABEL = lazy(
    r"^(?:(?:backend='[\w.]{1,80}' raised:|\w{1,60} raised(?= [A-Z])|"
    r"(?:Failed to import [\w.]{1,200} because of the following error[^\n]{0,80}:\s{1,8}){0,3}"
    r"Failed to import [\w.]{1,200} because of the following error[^\n]{0,80}:)\s{1,8})"
)
# `Capture cuda graph failed: CUDA out of memory. …` (SGLang), `Worker failed with error 'CUDA error: …'` and
# `Call to collective_rpc method failed: …` (vLLM)
_SAID = lazy(
    r"^(?:Capture (?:cuda|CUDA|hip|HIP|npu|NPU)\w{0,8} ?[Gg]raph failed: |Worker failed with error '|"
    r"Call to \w{1,60} method failed: )"
)
# `1 validation error for ModelConfig`, then `  Value error, …` of pydantic 2: a check of the model itself raised.
_VALIDATOR = lazy(
    r"^\d{1,4} validation errors? for [^\n]{1,200}\n(?:[^\s\n][^\n]{0,160}\n)?\s{2,4}(Value error|Assertion failed), "
)
_VALIDATORS = {"Value error": "ValueError", "Assertion failed": "AssertionError"}
# TensorFlow says where in the graph it was, and how many operations failed, before it says what:
# `DataLossError: Graph execution error:`, `Detected at node 'IteratorGetNext' defined at (most recent call last):`,
# `Node: 'IteratorGetNext'`, `2 root error(s) found.`, `  (0) DATA_LOSS:  corrupted record at 0`
_GRAPH = lazy(
    r"^(?:Graph execution error:\s{1,4}"
    r"(?:(?:Detected at node [^\n]{1,300}|<stack traces unavailable>|Node: [^\n]{1,200})\s{1,4}){0,40})?"
    r"(?:\d{1,4} root error\(s\) found\.\s{1,8}\(0\) (?:[A-Z][A-Za-z_]{1,20}(?: [a-z]{1,20}){0,2}: {1,4})?)?"
)
_IMPORTS = (("No module named ", "ModuleNotFoundError"), ("cannot import name ", "ImportError"))
_LOADER = lazy(r"^[^\s:]{1,300}: (?:undefined symbol: |cannot open shared object file|version `)")


def quoted_in(exception: str, message: str) -> Iterator[tuple[str, str]]:
    """Yield what the message quotes, the outer one first, as exception and message."""
    for _ in range(_DEPTH):
        inner = _inner(exception, message)
        if inner is None:
            return
        exception, message = inner
        yield inner


def _inner(exception: str, message: str) -> tuple[str, str] | None:
    if target := TARGET.match(message):
        kind, _, text = next(reprs_in(message[target.end() :].strip(), is_failure=True), "").partition(": ")
        return (kind, text) if kind else None
    said, validator, graph = _SAID.match(message), _VALIDATOR.match(message), _GRAPH.match(message)
    if graph and graph.end() and graph.end() < len(message):
        return exception, message[graph.end() :]
    if validator:
        return _VALIDATORS[validator[1]], message[validator.end() :]
    if said:
        return "RuntimeError", message[said.end() :]
    label = _OWN_LABEL.match(message)
    rest = message[label.end() :] if label else message
    first, _, more = rest.partition("\n")
    named = read_exception(first)
    if named is not None and named.is_sure and named.message and named.name != exception:
        return named.name, f"{named.message}\n{more}" if more else named.message
    if label is None:
        return None
    kind = next((kind for words, kind in _IMPORTS if rest.startswith(words)), "ImportError" if _LOADER.match(rest) else "")
    return (kind, rest) if kind else None
