"""What a file holds behind zeros at its start: a log that was cut while it was open begins with a hole.

In: a path. Out: the first bytes that are not zeros. Holes are jumped over where the file system tells them.
"""

from __future__ import annotations

import os

SEARCH_BYTES = 64 << 20  # of zeros that are stored, before the file is taken for zeros
STEP_BYTES = 1 << 20


def is_zeros(head: bytes) -> bool:
    """Tell whether nothing but zeros was read."""
    return bool(head) and not head.strip(b"\x00")


def head_behind_zeros(path: str, size: int) -> bytes:
    """Yield up to `size` bytes from the first one on that is not zero; none where there is none."""
    try:
        with open(path, "rb", buffering=0) as file:
            at = _data_from(file.fileno(), 0)
            end = at + SEARCH_BYTES
            while at < end:
                file.seek(at)
                part = file.read(STEP_BYTES)
                solid = part.lstrip(b"\x00")
                if solid or not part:
                    file.seek(at + len(part) - len(solid))
                    return file.read(size)
                at = max(at + len(part), _data_from(file.fileno(), at + len(part)))
    except OSError:  # no data behind the hole, or no way to read it
        pass
    return b""


def _data_from(descriptor: int, at: int) -> int:
    return os.lseek(descriptor, at, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else at
