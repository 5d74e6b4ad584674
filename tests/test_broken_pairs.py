"""Both ends of a transfer may be at fault; the host that all broken ones share is."""

from .told import alive, cause, told

FAILED = (
    "{0}:7{1}:78 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer {2}<50809> with status=12 opcode=0 "
    "len=0 vendor err 129 (Recv) localGid fe80::1 remoteGidsfe80::2 hca mlx5_7\n"
)
PAIRS = (("n1", 1, "10.0.0.4"), ("n2", 2, "10.0.0.4"), ("n3", 3, "10.0.0.4"), ("n4", 4, "10.0.0.1"))


def _hosts(report):
    return [c.host for c in report.diagnosis.culprits]


def _files(pairs, addresses: bool) -> dict[str, str]:
    told_by = "{0}:7{1}:7{1} [0] NCCL INFO Bootstrap : Using eth0:10.0.0.{1}<0>\n"
    first = {f"rank{r}.log": (told_by.format(host, r) if addresses else "") + alive(r) for host, r, _ in pairs}
    return {name: text + FAILED.format(*pair) for (name, text), pair in zip(first.items(), pairs, strict=True)}


def test_host_at_one_end_of_each_broken_pair_is_at_fault(tmp_path):
    report = told(tmp_path, _files(PAIRS, addresses=True))

    assert ("nccl.ib-error", ["n4"]) == (cause(report), _hosts(report))


def test_address_that_three_hosts_name_is_that_of_the_fourth_that_complains(tmp_path):
    assert ["n4"] == _hosts(told(tmp_path, _files(PAIRS, addresses=False)))


def test_of_one_broken_pair_nobody_can_tell_which_end_it_is(tmp_path):
    report = told(tmp_path, _files((PAIRS[0], PAIRS[3]), addresses=True))

    assert [] == _hosts(report)
