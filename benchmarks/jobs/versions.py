"""The releases of torch that jobs run: what decides wordings, prefixes and default time-outs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Torch:
    """One release: its NCCL and CUDA, and the source lines that its watchdog prints."""

    major: int
    minor: int
    build: str  # as torch.__version__ shows it
    nccl: str
    cuda: str
    lines: tuple[int, int, int, int, int]  # caught, work status, some operations, data inconsistency, thread terminated

    def since(self, major: int, minor: int) -> bool:
        return (self.major, self.minor) >= (major, minor)

    @property
    def name(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def nccl_number(self) -> tuple[int, int]:
        major, minor, _ = self.nccl.split(".")
        return int(major), int(minor)


TORCHES = [
    Torch(1, 13, "1.13.1+cu117", "2.14.3", "11.7", (821, 0, 456, 460, 0)),
    Torch(2, 0, "2.0.1+cu118", "2.14.3", "11.8", (828, 0, 455, 460, 0)),
    Torch(2, 1, "2.1.2+cu121", "2.18.1", "12.1", (475, 0, 489, 495, 916)),
    Torch(2, 2, "2.2.2+cu121", "2.19.3", "12.3", (523, 0, 537, 543, 1182)),
    Torch(2, 3, "2.3.1+cu121", "2.20.5", "12.4", (563, 1537, 577, 583, 1414)),
    Torch(2, 4, "2.4.1+cu124", "2.20.5", "12.4", (607, 1664, 621, 627, 1515)),
    Torch(2, 5, "2.5.1+cu124", "2.21.5", "12.4", (616, 1785, 630, 636, 1595)),
    Torch(2, 6, "2.6.0+cu124", "2.21.5", "12.4", (629, 2168, 681, 695, 1895)),
    Torch(2, 7, "2.7.1+cu126", "2.26.2", "12.2", (632, 2271, 684, 698, 1899)),
    Torch(2, 9, "2.9.1+cu128", "2.27.5", "12.9", (683, 2068, 744, 758, 2057)),
]
