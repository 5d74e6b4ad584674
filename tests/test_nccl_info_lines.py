"""What NCCL logs as INFO it went on after; the same words as a WARN are a failure."""

import pytest

from .told import cause, told

INFO = "gpu-node-07:41217:41388 [3] NCCL INFO "
WARN = "gpu-node-07:41217:41388 [3] transport/net_ib.cc:120 NCCL WARN "
WENT_ON = (
    "Could not find real path of /sys/class/net/eth0/device",
    "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0, retrying 1/3 after 100 msec of sleep",
    "Could not open XML topology file /var/run/nvidia-topologyd/virtualTopology.xml : No such file or directory",
    "Detected mixed local Net device counts across ranks (min 7, max 8). Ignoring due to NCCL_IGNORE_NET_MISMATCH.",
    "NET/IB: Ip address '10.0.0.300' is invalid for family AF_INET, ignoring address",
)


@pytest.mark.parametrize("text", WENT_ON)
def test_info_line_of_nccl_is_no_failure(tmp_path, text):
    assert "unfinished" == cause(told(tmp_path, {"rank3.log": f"{INFO}Using network Socket\n{INFO}{text}\n"}))


@pytest.mark.parametrize("text", WENT_ON[:2])
def test_the_same_as_a_warning_is_one(tmp_path, text):
    assert cause(told(tmp_path, {"rank3.log": f"{WARN}{text.partition(', retrying')[0]}\n"})).startswith("nccl.")


def test_back_trace_at_info_level_is_still_read(tmp_path):
    assert "nccl.system-error" == cause(told(tmp_path, {"rank3.log": f"{INFO}init.cc:128 -> 2\n"}))
