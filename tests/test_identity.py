"""Whose file it is, from names alone."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.lines.path_identity import PathIdentity, identities_from_paths, identity_from_path

WORKER = "63d96054b446604507426c07825b14ba39fd9adaf3f99a70abb1ee54"


def said(identity: PathIdentity) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(identity).items() if value is not None and name != "kind"}


@pytest.mark.parametrize(("path", "fields"), [
    ("gpu-node-07/elastic/job4711_ig1n3m85/attempt_1/2/stderr.log",
     {"host": "gpu-node-07", "job": "job4711", "attempt": 1, "local_rank": 2, "stream": "stderr"}),
    ("elastic/none_wvqhlenr/attempt_0/3/error.json", {"attempt": 0, "local_rank": 3}),
    ("attempt_0/0/stdout.log", {"attempt": 0, "local_rank": 0, "stream": "stdout"}),
    ("rank_3.log", {"rank": 3}), ("rank3.log.gz", {"rank": 3}), ("log_rank7.txt", {"rank": 7}),
    ("20261120174121_rank1.log", {"rank": 1}), ("local-rank-3.log", {"local_rank": 3}), ("node-rank-2.log", {"node_rank": 2}), ("local_rank1.log", {"local_rank": 1}), ("node_rank_1.log", {"node_rank": 1}),
    ("agent_node1.log", {"host": "node1"}), ("gpu-node-07/agent.log", {"host": "gpu-node-07"}),
    ("slurm-123_4.out", {"job": "123_4"}), ("slurm-285996.out", {"job": "285996"}), ("sft-6151947.log", {"job": "6151947"}),
    ("train-6151947-gpu-node-07.out", {"job": "6151947", "host": "gpu-node-07"}),
    ("pods/ml_moe16-worker-3_7423bf58-be94-4782-9e3e-45d053626127/pytorch/0.log",
     {"pod": "moe16-worker-3", "host": "moe16-worker-3", "container": "pytorch", "attempt": 0}),
    (f"logs/worker-{WORKER}-01000000-28911.err", {"worker_id": WORKER, "job": "01000000", "pid": 28911, "stream": "stderr"}),
    (f"node0050/logs/worker-{WORKER}-ffffffff-28716.out",
     {"worker_id": WORKER, "pid": 28716, "stream": "stdout", "host": "node0050"}),
    (f"python-core-worker-{WORKER}_28716.log", {"worker_id": WORKER, "pid": 28716}),
    ("events/event_CORE_WORKER_11152.log", {"pid": 11152}),
    ("out/1/rank.3/stderr", {"rank": 3, "stream": "stderr"}),
    ("flight_recorder/trace_rank_3", {"rank": 3}), ("nccl_trace_rank_3", {"rank": 3}), ("trace_rank_0.json", {"rank": 0}),
    ("pyspy_rank3.txt", {"rank": 3}), ("pyspy/rank2_pid31562.txt", {"rank": 2, "pid": 31562}), ("pyspy_6892.txt", {"pid": 6892}),
    ("kern-gpu-025.log", {"host": "gpu-025"}), ("logs-nid000052.txt", {"host": "nid000052"}), ("train.gpu-07.out", {"host": "gpu-07"}),
    ("kern-node0056.log", {"host": "node0056"}), ("dmesg-gpu-07.txt", {"host": "gpu-07"}), ("dmesg_gpuhost.log", {"host": "gpuhost"}),
    ("dmesg-gpu-05-028.txt", {"host": "gpu-05-028"}), ("dmesg-lrdn1913.txt", {"host": "lrdn1913"}),
    ("gpu-020.mmfs.log.latest", {"host": "gpu-020"}), ("gpu-044.slurmd.log", {"host": "gpu-044"}),
    ("dmesg-p5-dy-compute-27.txt", {"host": "p5-dy-compute-27"}), ("kern.x1000c0s3b0n0.log", {"host": "x1000c0s3b0n0"}),
    ("log/workerlog.3", {"local_rank": 3}), ("workerlog.2.gz", {"local_rank": 2}),
    ("h100-r6-n03.log", {"host": "h100-r6-n03"}), ("ip-10-77-1-11.log", {"host": "ip-10-77-1-11"}), ("worker-0.log", {"host": "worker-0"}),
    ("logs.tar.gz!gpu-071/agent.log", {"host": "gpu-071"}), ("nccl.gpu-07.4711.log", {"host": "gpu-07", "pid": 4711}),
])
def test_a_path_says(path, fields):
    assert said(identity_from_path(path)) == fields


@pytest.mark.parametrize("path", [
    "console.log", "job.log", "train_20261120.log", "checkpoint-1000/train.log", "run-2/out.log", "llama3-8b.log", "gpu0/x.log",
    "ds_config.json", "dmesg.txt", "dmesg-run2.txt", "dmesg-20261120.txt", "dmesg_after_reset_2.txt", "dmesg-T.txt", "kern.log.1", "agent.log", "nohup.out", "ranking.txt", "a/b.log", "", "/", "moe16-285996-88", "raylet.out",
    "lora_rank_64.log", "lora-rank64/train.log", "low_rank_8.txt", "known_rank_0/stacks.json", "rank_3/out.log"])
def test_other_names_say_nothing(path):
    assert said(identity_from_path(path)).keys() <= {"job"}


def test_a_trailing_number_is_a_task_where_siblings_differ_in_it():
    names = ["moe16-285996-88.out", "moe16-285996-7.out", "slurm-285996.out"]
    found = identities_from_paths(names)
    assert [found[name].task for name in names] == [88, 7, None]
    assert {found[name].job for name in names} == {"285996"}


def test_nodes_that_count_from_zero_have_a_node_rank_and_never_a_rank():
    found = identities_from_paths(["node0.log", "node1.log"])
    assert [(found[name].node_rank, found[name].rank) for name in ("node0.log", "node1.log")] == [(0, None), (1, None)]
    assert identities_from_paths(["node11.log"])["node11.log"].node_rank is None


@pytest.mark.parametrize("names", [
    ["logs/rank_0/out.log", "logs/rank_1/out.log"], ["a/rank_0/out.log", "b/rank_1/out.log"],
    ["logs.tar.gz!rank_0/x/out.log", "logs.tar.gz!rank_1/x/out.log"]])
def test_a_folder_names_a_rank_where_another_one_bears_another_number(names):
    assert [identity.rank for identity in identities_from_paths(names).values()] == [0, 1]


@pytest.mark.parametrize("names", [
    ["known_rank_0/stacks.json"], ["known_rank_0/stacks.json", "known_rank_0/dmesg.txt"],
    ["known_rank_0/stacks.json", "elsewhere/dmesg.txt"], ["known_rank_0/a.log", "other_rank_1/b.log"]])
def test_a_folder_that_everything_lies_in_names_no_rank(names):
    assert {identity.rank for identity in identities_from_paths(names).values()} == {None}


@pytest.mark.parametrize(("name", "rank"), [
    ("rank_3/stderr.log", 3), ("logs/rank3/stdout", 3), ("rank-0/error.json", 0), ("rank_64/train.log", None),
    ("case_rank_3/stderr.log", None)])
def test_a_single_folder_names_the_rank_of_the_streams_that_a_launcher_makes_there(name, rank):
    assert rank == identities_from_paths([name])[name].rank


@given(st.lists(st.text(alphabet="abcnodeworkrpslum0123456789-_./!\\", max_size=40), max_size=5))
def test_no_name_raises(names):
    assert list(identities_from_paths(names)) == list(dict.fromkeys(names))


def test_the_files_of_one_node_are_on_the_node_their_folder_is_named_after() -> None:
    names = ["gpu-node-07/train-6151947-0.out", "gpu-node-07/train-6151947-1.out"]
    assert [x.host for x in identities_from_paths(names).values()] == ["gpu-node-07", "gpu-node-07"]


def test_workers_beside_mindspores_scheduler_are_ranks_and_elsewhere_hosts():
    """msrun counts on from node to node, and from 0 on each node where it was given no number."""
    named = identities_from_paths(["a/scheduler.log", "a/worker_8.log", "a/worker_9.log", "b/worker_3.log"])
    unnumbered = identities_from_paths(["a/scheduler.log", "a/worker_0.log", "b/scheduler.log", "b/worker_0.log"])

    assert [(8, None), (9, None)] == [(named[f"a/worker_{n}.log"].rank, named[f"a/worker_{n}.log"].host) for n in (8, 9)]
    assert (None, "worker_3") == (named["b/worker_3.log"].rank, named["b/worker_3.log"].host)
    assert [(None, 0), (None, 0)] == [(unnumbered[n].rank, unnumbered[n].local_rank) for n in ("a/worker_0.log", "b/worker_0.log")]
