"""The members of a tar or zip archive, or of a text that shows several files, one after the other, in bounded memory;
nothing is ever written to disk.

In: the archive as a stream. Out: `Member`s in archive order. A member's bytes must be read before the next member is
asked for. Names are only names: `../../etc/passwd` is a label here, never a path.
"""

from __future__ import annotations

from collections.abc import Iterator

from .bounds import MAX_MEMBERS
from .deadline import Deadline, Share
from .kinds import Container
from .members import Member, Meter
from .refusals import OUT_OF_TIME, broken_off
from .sections import read_sections
from .streams import Stream
from .tars import tar_members
from .zips import zip_members


def read_members(
    stream: Stream, container: Container, damage: list[str], deadline: Deadline | Share
) -> Iterator[tuple[Member, list[str]]]:
    """Yields each member with the list its own damage goes to; `damage` takes what concerns the archive."""
    if container == "sections":
        yield from ((Member(name, None, body), []) for name, body in read_sections(stream))
        return
    members = (tar_members if container == "tar" else zip_members)(stream, damage, Meter(deadline))
    try:
        for count, with_damage in enumerate(members):
            if deadline.passed():
                damage.append(OUT_OF_TIME)
                return
            if count >= MAX_MEMBERS:
                damage.append(f"only its first {MAX_MEMBERS:,} members were read")
                return
            yield with_damage
    except Exception as error:  # whatever the library meets in it: the members before were read
        damage.append(f"the rest of the archive was not read ({broken_off(error)})")
