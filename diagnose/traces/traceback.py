"""The lines of a source in, one `Traceback` per exception that was printed out, with those it was chained to or carried.

Whether it matters (a launcher's own, a thread's, an ignored one) is for the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line, speaker_keys
from ..lines.record import record
from .assembly import Assembly
from .exception import Relation
from .traceback_lines import WORDS, Frame, one_of
from .traceback_streams import assemble


@record
class Link:
    """One exception of a traceback: `inner` ones were printed inside the message of the one before."""

    relation: Relation
    exception: str
    message: str
    exception_line: int
    frames: tuple[Frame, ...]
    depth: int = 0

    @property
    def said(self) -> str:
        """What it says in one line, `ValueError: bad row`; without words its name alone."""
        return f"{self.exception}: {self.message}".partition("\n")[0].removesuffix(": ")


@record
class Traceback:
    """One printed traceback; `exception` is what was raised last, `links` all the others in printed order."""

    line: int
    end_line: int
    exception_line: int
    exception: str
    message: str
    frames: tuple[Frame, ...]
    speaker: str
    links: tuple[Link, ...]
    form: str
    is_warned: bool = False  # logged as a warning: it was caught
    of_rank: int | None = None  # whose it is, where its head says so and another rank prints it

    def handled_above(self, line: int) -> Link | None:
        """Yield the exception, printed above this line, during whose handling the next one was raised."""
        above = (x for x in self.links if x.relation == "context" and x.depth == 0 and x.exception_line < line)
        return next(above, None)

    def raised_from(self, line: int) -> Link | None:
        """Yield the exception that `raise … from` names as the cause of the one on this line; of a chain the first one."""
        chain = sorted((x for x in self.links if x.depth == 0 and x.exception_line < line), key=lambda x: x.exception_line)
        first = None
        for link in reversed(chain):
            if link.relation != "cause":
                break
            first = link
        return first


def find_tracebacks(lines: Sequence[Line], keys: Sequence[str] | None = None) -> list[Traceback]:
    """Find every traceback in the lines of one source, in order; `keys`: who speaks on each line."""
    keys = speaker_keys(lines) if keys is None else keys
    found = [tb for closed in assemble(lines, keys) if (tb := _as_traceback(*closed))]
    heads = {number for tb in found for number in (tb.line - 1, tb.line)}
    by_number = {line.number: line for line in reversed(lines) if line.number in heads}
    found = [replace(tb, is_warned=True) if _is_warned(tb, by_number) else tb for tb in found]
    return sorted(found, key=lambda tb: (tb.line, tb.end_line, tb.speaker))


def _as_traceback(assembly: Assembly, speaker: str) -> Traceback | None:
    last = max((i for i, s in enumerate(assembly.segments) if s.relation == "last"), default=0)
    if not assembly.segments[last].exception:  # cut off inside the last one of a chain: the one before it was printed whole
        last = max((i for i, s in enumerate(assembly.segments) if s.exception and s.depth == 0), default=last)
    segment = assembly.segments[last]
    if assembly.form == "headless" and not segment.exception:
        return None  # a stack that was printed
    form = "plain" if assembly.form == "bare" and segment.frames else assembly.form  # a chain may begin bare
    if assembly.form in ("plain", "headless") and segment.frames and segment.frames[0].function == "__del__":
        form = "ignored"  # it ends nothing: the interpreter that called it prints it and goes on
    return Traceback(
        line=assembly.line,
        end_line=assembly.end_line,
        exception_line=segment.exception_line,
        exception=segment.exception,
        message=segment.message.strip("\n"),
        frames=tuple(segment.frames),
        speaker=speaker,
        links=tuple(
            Link(s.relation, s.exception, s.message.strip("\n"), s.exception_line, tuple(s.frames), s.depth)
            for i, s in enumerate(assembly.segments)
            if i != last and s.exception
        ),
        form=form,
        of_rank=assembly.of_rank,
    )


_CARRIERS = lazy(one_of(WORDS["carriers"]))
_CARRYING = lazy(one_of(WORDS["carrying"]))
_POLL_ENDED = lazy(r"_?queue\.(?:Empty|Full)$")  # the loader's wait for a batch ran out: why it looked at its workers


def innermost(traceback: Traceback) -> Link:
    """Yield the exception behind wrappers: what a Ray task, a DataLoader worker or a spawned process really raised."""
    own = Link("last", traceback.exception, traceback.message, traceback.exception_line, traceback.frames)
    chain = sorted((*traceback.links, own), key=lambda link: link.exception_line)
    place = chain.index(own)
    for _ in chain:  # each step goes to another link, so this ends
        inside, link, before = _inside(chain, place), chain[place], chain[place - 1]
        is_carrier = _CARRIERS.search(link.exception) or _CARRYING.match(link.message)
        # what is printed before was raised before; a shallower one carries this one in its message
        is_reason = before.relation != "context" and not _POLL_ENDED.search(before.exception) and before.depth >= link.depth
        if inside is None and place and is_carrier and is_reason:
            inside = place - 1
            while chain[inside].depth == 0 and (deeper := _inside(chain, inside)) is not None:
                inside = deeper
        if inside is None or inside == place:
            break
        place = inside
    return chain[place]


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


_CALM = ("W", "D")  # what is logged as INFO may be a launcher's copy of all that a process prints, and tells nothing
_ANNOUNCES = lazy(WORDS["announces"])


def _is_warned(tb: Traceback, by_number: Mapping[int, Line]) -> bool:
    """Whether it was logged as a warning, by its own prefix or by the line above: the program caught it and went on.

    Python prints a traceback from the frame that caught it on: one that begins in a module, or where a thread or a process
    begins, nobody caught, whatever was logged above it (`WARNING … Could not write the cache, going on without it.`).
    """
    head, above = by_number.get(tb.line), by_number.get(tb.line - 1)
    if head is None:
        return False
    if head.prefix.severity is not None:
        return head.prefix.severity in _CALM
    if above is None or above.prefix.severity not in _CALM or _is_uncaught(next(iter(tb.frames), None)):
        return False
    return head.prefix.rank in (None, above.prefix.rank) and _ANNOUNCES.search(above.message) is not None


def record_above(above: Line | None, outermost: Frame | None) -> Line | None:
    """Yield the record of a rank above that tells of what was caught: `[ERROR] (r1) augmentation failed`."""
    if above is None or _is_uncaught(outermost) or not above.message.strip():
        return None
    who = above.prefix
    is_said = who.severity in ("W", "E", "F") or (who.severity is None and _ANNOUNCES.search(above.message))
    return above if is_said and (who.rank is not None or who.local_rank is not None) else None


def _is_uncaught(outermost: Frame | None) -> bool:
    return outermost is None or outermost.function in WORDS["beginnings"]


def is_above(frames: Sequence[Frame], others: Sequence[Frame]) -> bool:
    """Whether a stack parts from another one in the same function, in a line further up."""
    for frame, other in zip(frames, others, strict=False):
        if (frame.file, frame.function) != (other.file, other.function):
            return False
        if frame.line != other.line:
            return (frame.line or 0) < (other.line or 0)
    return False
