"""What NCCL logs as INFO it went on after; the same words as a WARN are a failure."""

import pytest

from .told import cause, told

INFO = "gpu-node-07:41217:41388 [3] NCCL INFO "
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
