"""How much of what a stranger packed is unpacked. Each bound is far above what jobs leave, and holds per archive."""

from __future__ import annotations

MIB = 1 << 20
MAX_DEPTH = 3  # archives within archives: logs.tar.gz!node7.tar.gz!rank3.log.gz is the most anyone sends
MAX_RATIO = 200  # bytes out per byte in; repetitive logs reach 100
BOMB_BYTES = 256 * MIB  # so much may come out before the ratio counts
MAX_MEMBERS = 20_000  # a log of each of 16,384 ranks, and what lies beside them; one takes a millisecond, however short
HEADER_BYTES = MIB  # of one tar member's headers: its name, and where 40,000 holes are
MAX_DIRECTORY_BYTES = 8 * MIB  # of a zip, which takes 20 times as much when it is read; of so many members 4 are usual
LZMA_MEMORY_BYTES = 256 * MIB  # `xz -9` needs 65
SPOOL_BYTES = 16 * MIB  # a zip inside another stream is kept in memory up to here, then in a temporary file
MAX_SPOOLED_BYTES = 2048 * MIB  # of such a zip, whose directory is at its end


def is_bomb(bytes_out: int, bytes_in: int) -> bool:
    """Tell whether so many bytes came out of so few that they are no log."""
    return bytes_out > BOMB_BYTES and bytes_out > MAX_RATIO * bytes_in


def cut(bytes_out: int) -> str:
    """Say that a bomb was cut."""
    return f"cut after {bytes_out // MIB} MiB: it expands more than {MAX_RATIO} times"
