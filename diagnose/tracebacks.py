"""Tracebacks of one source, put apart where several ranks write into one stream.

In come the lines of a source, out comes one `Traceback` per exception that was printed, with the exceptions it was
chained to or carried inside. Whether it matters (a launcher's own, a thread's, an ignored one) is for the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from diagnose.prefixes import Line, Prefix
from diagnose.traces.assembly import Assembly
from diagnose.traces.library_paths import is_library
from diagnose.traces.segment import MESSAGE_CHARS, Relation, Segment
from diagnose.traces.traceback_lines import Frame, read_exception
from diagnose.traces.traceback_streams import assemble

from .lazy_pattern import lazy

__all__ = ["Frame", "Link", "Traceback", "find_tracebacks", "innermost", "read_error_json", "user_frame"]


@dataclass(frozen=True, slots=True)
class Link:
    """One exception of a traceback: `inner` ones were printed inside the message of the one before."""

    relation: Relation
    exception: str
    message: str
    exception_line: int
    frames: tuple[Frame, ...]
    depth: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """One printed traceback; `exception` is what was raised last, `links` all the others in printed order."""

    line: int
    end_line: int
    exception_line: int
    exception: str
    message: str
    frames: tuple[Frame, ...]
    speaker: str
    prefix: Prefix
    links: tuple[Link, ...]
    form: str
    lines_read: int
    complete: bool
    label: str = ""
    time: datetime | None = None


def find_tracebacks(lines: Sequence[Line]) -> list[Traceback]:
    """Find every traceback in the lines of one source, in the order of their first lines."""
    found = [_as_traceback(*closed) for closed in assemble(lines)]
    return sorted(filter(None, found), key=lambda tb: (tb.line, tb.end_line, tb.speaker))


def _as_traceback(assembly: Assembly, prefix: Prefix, speaker: str) -> Traceback | None:
    last = max((i for i, s in enumerate(assembly.segments) if s.relation == "last"), default=0)
    segment = assembly.segments[last]
    if assembly.form == "headless" and not segment.exception:
        return None
    return Traceback(
        line=assembly.line,
        end_line=assembly.end_line,
        exception_line=segment.exception_line,
        exception=segment.exception,
        message=segment.message.strip("\n"),
        frames=tuple(segment.frames),
        speaker=speaker,
        prefix=prefix,
        links=tuple(_as_link(s) for i, s in enumerate(assembly.segments) if i != last and s.exception),
        form="plain" if assembly.form == "bare" and segment.frames else assembly.form,  # a chain may begin bare
        lines_read=assembly.lines_read,
        complete=bool(segment.exception),
        label=assembly.note,
    )


def _as_link(segment: Segment) -> Link:
    message = segment.message.strip("\n")
    return Link(
        segment.relation,
        segment.exception,
        message,
        segment.exception_line,
        tuple(segment.frames),
        segment.depth,
        segment.label,
    )


# Exceptions that only carry another one, which they name as their explicit cause.
_CARRIERS = lazy(
    r"RemoteTraceback$|^ray\.|RayTaskError|BackendCompilerFailed$|TrainingFailedError$|ExecutionError$|"
    r"ProcessRaisedException$|BrokenProcessPool$"
)
_WORKERS_GONE = lazy(r"DataLoader worker \(pid\(s\) ")


def innermost(traceback: Traceback) -> Link:
    """Yield the exception behind wrappers: what a Ray task, a DataLoader worker or a spawned process really raised."""
    own = Link(
        "last",
        traceback.exception,
        traceback.message,
        traceback.exception_line,
        traceback.frames,
        label=traceback.label,
    )
    chain = sorted((*traceback.links, own), key=lambda link: link.exception_line)
    place = chain.index(own)
    for _ in chain:  # each step goes to another link, so this ends
        inside = _inside(chain, place)
        if inside is None and _only_carries(chain[place]) and place and chain[place - 1].relation != "context":
            inside = place - 1
            while chain[inside].depth == 0 and (deeper := _inside(chain, inside)) is not None:
                inside = deeper
        if inside is None or inside == place:
            break
        place = inside
    return chain[place]


def _only_carries(link: Link) -> bool:
    return _CARRIERS.search(link.exception) is not None or _WORKERS_GONE.match(link.message) is not None


def _inside(chain: Sequence[Link], place: int) -> int | None:
    """Find what was printed inside one exception's message: the last of that chain, or a group's first member."""
    depth = chain[place].depth + 1
    inside = None
    for i in range(place + 1, len(chain)):
        if chain[i].depth < depth:
            break
        if chain[i].depth == depth:
            if chain[i].relation == "member":
                return i
            inside = i
    return inside


def user_frame(traceback: Traceback) -> Frame | None:
    """Yield the innermost frame of the user's own code; the innermost of all where there is none."""
    frames = innermost(traceback).frames or traceback.frames
    own = (frame for frame in reversed(frames) if frame.file and not is_library(frame.file))
    return next(own, frames[-1] if frames else None)


def read_error_json(text: str) -> Traceback | None:
    """Read torchelastic's `error.json`; None when the text is something else."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    inner = body.get("message") if isinstance(body, dict) else None
    if isinstance(inner, str):
        inner = {"message": inner, "extraInfo": body.get("extraInfo", body)}
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return None
    extra = inner.get("extraInfo")
    extra = extra if isinstance(extra, dict) else {}
    return _from_error_json(inner["message"], extra)


def _from_error_json(message: str, extra: dict[str, object]) -> Traceback:
    callstack = extra.get("py_callstack")
    lines = _as_lines(callstack.splitlines() if isinstance(callstack, str) else [])
    printed = find_tracebacks(lines)
    named = read_exception(message.partition("\n")[0])
    name = named.name if named else ""
    text = (named.message if named else "") + message[len(message.partition("\n")[0]) :] if named else message
    last = printed[-1] if printed else None
    return Traceback(
        line=1,
        end_line=1,  # the file is one line of JSON, so that is where the evidence stands
        exception_line=1,
        exception=last.exception if last and last.exception else name,
        message=last.message if last and last.exception else text[:MESSAGE_CHARS],
        frames=last.frames if last else (),
        speaker="",
        prefix=Prefix(),
        links=last.links if last else (),
        form="error-json",
        lines_read=1,
        complete=bool(name or (last and last.complete)),
        time=_read_epoch(extra.get("timestamp")),
    )


def _as_lines(texts: Iterable[str]) -> list[Line]:
    return [Line(number, text, Prefix()) for number, text in enumerate(texts, 1)]


def _read_epoch(value: object) -> datetime | None:
    """Read the seconds since 1970, which torchelastic writes as a string."""
    try:
        seconds = float(str(value))
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return None
