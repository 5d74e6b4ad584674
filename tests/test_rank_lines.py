"""What each rank of a shared console said last is read once for all of them."""

from __future__ import annotations

from types import SimpleNamespace

from diagnose.job.coverage import LAST_LINES, RankLines
from diagnose.lines.prefix import read_lines


class Console:
    """A source that several ranks share, which counts how often it is read anew."""

    def __init__(self, lines: list[str]) -> None:
        self.name, self.reads = "console.log", 0
        self._lines = [line for n, text in enumerate(lines, 1) for line in read_lines(n, text)]
        self.speakers = [x.prefix for x in self._lines]

    def lines(self) -> list:
        self.reads += 1
        return self._lines


def places() -> SimpleNamespace:
    return SimpleNamespace(source_rank={}, tasks_are_ranks=True)


def test_a_console_is_read_once_for_all_its_ranks():
    console, asked = Console([f"[rank{r}]: step {n} loss 2.1" for n in range(9) for r in range(8)]), RankLines()

    assert [len(asked.of(rank, [console], places())) for rank in range(8)] == [9] * 8
    assert console.reads == 1


def test_the_last_lines_of_a_rank_are_its_own_and_in_order():
    console = Console([f"[rank{r}]: step {n} loss 2.1" for n in range(LAST_LINES + 9) for r in (0, 1)])
    found = [line.raw for _, line in RankLines().of(1, [console], places())]

    assert found == [f"[rank1]: step {n} loss 2.1" for n in range(9, LAST_LINES + 9)]


def test_a_rank_that_says_nothing_has_no_lines():
    assert RankLines().of(3, [Console(["[rank0]: step 1 loss 2.1"])], places()) == []


def test_lines_that_srun_labels_are_of_that_rank():
    console = Console([f"{r}: WARNING:finetune:skipping line {n}" for n in range(3) for r in range(2)])

    assert 3 == len(RankLines().of(1, [console], places()))
