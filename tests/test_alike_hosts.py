"""What all hosts say of themselves sets none of them apart, and who lost a peer is a witness."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.source import Text

REFUSED = (
    "{0}:19989:20082 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer fe80::966d%ib0<53249> with error 4, "
    "opcode 32564, len 32564, vendor err 81 (Send)\n"
)
SAW_NONE = "{0}:68738:69060 [3] NCCL INFO Channel 00/08 :    0   1   2   3\n"


def _hosts(text: str) -> tuple[str, list[str | None]]:
    found = diagnose(Text(text, name="console.log")).diagnosis
    assert found is not None
    return found.cause, [c.host for c in found.culprits]


@pytest.mark.parametrize("quiet", [(), ("gpu-05",)], ids=["all", "most"])
def test_a_local_error_on_all_hosts_or_most_of_many_is_no_host_s(quiet: tuple[str, ...]) -> None:
    text = "".join(SAW_NONE.format(h) for h in quiet) + "".join(REFUSED.format(f"gpu-0{n}") for n in (1, 2, 3))

    assert ("nccl.ib-error", []) == _hosts(text)


@pytest.mark.parametrize(
    "line",
    [
        "gpu-07:44810:44990 [6] ofi_process_cq:196 NCCL WARN NET/OFI Request 0x7f1c3c002160 completed with error. RC: 21. Error: "
        "4126 (Unresponsive receiver). Completed length: 0, Request: { dev: 0, size: 0 }\n",
        "[1763459012.123456] [gpu-07:1694 :0]  ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend "
        "0x81 hw_synd 0/0)\n",
    ],
    ids=["EFA", "UCX"],
)
def test_the_host_that_says_that_its_peer_did_not_answer_is_a_witness(line: str) -> None:
    assert ("nccl.ib-error", []) == _hosts(SAW_NONE.format("gpu-08") + line)
