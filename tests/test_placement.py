"""Who is who, learnt from all that the logs say together."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, culprits, told, watchdog


def test_group_smaller_than_the_ranks_seen_is_not_the_world(tmp_path: Path) -> None:
    """A reduce-scatter among two of four ranks tells the size of their group."""
    line = watchdog(0, op="_REDUCE_SCATTER_BASE").replace("NumelIn=4096", "NumelIn=8192")
    logs = {f"rank_{r}.log": alive(r) + (line if r == 0 else "") for r in range(4)}
    assert [0, 1, 2, 3] == [r.rank for r in told(tmp_path, logs).ranks]
    assert "rank 3" not in " ".join(g.text for g in told(tmp_path, logs).gaps)


def test_label_of_pdsh_that_is_surely_a_host_goes_before_whatever_is_said(tmp_path: Path) -> None:
    """Not only what looks like a log follows a host's name: a driver, a shell or a library speaks too."""
    text = "node-7: Memory access fault by GPU node-1 (Agent handle: 0x560f905a1640) on address 0x10044f0000. Reason: Page not present\n"
    report = told(tmp_path, {"console.log": "node-6: loading the model\n" + text})
    assert "gpu.illegal-access" == cause(report)
    assert "node-7" == report.diagnosis.evidence[0].host if report.diagnosis else False


def test_words_with_numbers_before_a_colon_are_no_hosts(tmp_path: Path) -> None:
    """`layer-3: ` and `checkpoint-500: ` belong to what is said."""
    text = "".join(f"{word}: grad norm 1.5\n" for word in ("layer-3", "checkpoint-500", "epoch-2", "expert-7", "stage-1"))
    assert [] == [r.host for r in told(tmp_path, {"console.log": text}).ranks if r.host]


def journal(*lines: str) -> str:
    """What a unit's processes print: journald names the one that opened the output, and not who wrote the line."""
    return "".join(f"Nov 20 17:01:{n:02d} gpu01 train.sh[4711]: {line}\n" for n, line in enumerate(lines))


def test_the_process_id_of_a_unit_whose_launcher_tells_of_ends_is_no_rank(tmp_path: Path) -> None:
    said = journal(
        "[rank1]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:94",
        "[2026-11-20 17:41:15,760] [ERROR] [launch.py:259:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', "
        "'--local_rank=1'] exits with return code = -9",
    )

    assert [1] != culprits(told(tmp_path, {"journal.log": said}))
