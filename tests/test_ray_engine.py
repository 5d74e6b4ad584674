"""Reading on a real Ray cluster of two nodes on loopback: the same bytes as reading here."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from benchmarks.jobs.generate import generate
from diagnose import render
from diagnose.cluster import _Pool, node_names
from diagnose.engine import diagnose
from diagnose.errors import MissingExtra
from diagnose.integrations import ray_session_logs
from diagnose.scan.parts import Part
from diagnose.scan.scanner import ScanRules
from diagnose.sources.bounds import Deadline
from diagnose.sources.source import Source

from .s3_server import serve_s3

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs pip install 'diagnose-training[test-ray]'")
needs_s3 = pytest.mark.skipif(
    find_spec("s3fs") is None or find_spec("moto") is None, reason="needs pip install 'diagnose-training[test-ray]'"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray
STORE_BYTES = 80 << 20  # the least that Ray takes
FIXTURE = Path(__file__).parent.parent / "fixtures" / "two-nodes-one-exception" / "logs"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for each of 64 ranks, of which one dies."""
    return generate(tmp_path_factory.mktemp("job"), 3, 1, (64, 64), "cuda-oom", "task")[0] / "logs"


@pytest.fixture(scope="module")
def store(logs: Path) -> Iterator[str]:
    """The same logs in an S3 store; it comes before the cluster, whose nodes have to know where it is."""
    if find_spec("s3fs") is None or find_spec("moto") is None:
        yield ""
        return
    with serve_s3(logs) as url:
        yield url


@pytest.fixture(scope="module")
def cluster(store: str) -> Iterator[Any]:
    """Two nodes. Where other programs fill the machine's memory, Ray would kill tasks for it, which are then read here."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")
        head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        found = Cluster(initialize_head=True, head_node_args=head)
        found.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        found.wait_for_nodes()
        yield found
        found.shutdown()


@pytest.fixture
def nodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no node could read would be read by this process; then these tests would prove little."""
    monkeypatch.setattr("diagnose.cluster._Pool._here", lambda _, part, __: pytest.fail(f"{part} was read here"))


def told(*inputs: str, **options: Any) -> str:
    """The report as JSON, without the time it took."""
    report = json.loads(render(diagnose(*inputs, **options), "json"))
    report["stats"].pop("seconds")
    return json.dumps(report)


@needs_ray
@pytest.mark.usefixtures("nodes_alone")
def test_report_is_the_same_as_from_reading_here(cluster: Any, logs: Path) -> None:
    seen: list[str] = []
    there = told(str(logs), engine="ray", address=cluster.address, progress=lambda name, _: seen.append(name))
    assert told(str(logs)) == there
    assert {str(p) for p in logs.iterdir()} == set(seen)


@needs_ray
@pytest.mark.usefixtures("nodes_alone")
def test_large_file_is_read_in_parts(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"step 12 of 99 is done, loss 3.2\n" * 40_000 + next(FIXTURE.rglob("stderr.log")).read_bytes()
    (tmp_path / "rank3.log").write_bytes(lines)
    whole = told(str(tmp_path))
    monkeypatch.setattr("diagnose.scan.parts.SEGMENT_BYTES", 200_000)
    assert whole == told(str(tmp_path), engine="ray", address=cluster.address)


@needs_ray
def test_archive_and_given_rules_are_read_as_here(cluster: Any, tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "logs"), "gztar", FIXTURE)
    (tmp_path / "plain.log").write_text("weasel in the works: cable 7\n")
    folder = tmp_path / "rules" / "network" / "partition"
    folder.mkdir(parents=True)
    (folder / "weasel.yaml").write_text(yaml.safe_dump(RULE, sort_keys=False))
    given = [str(tmp_path / "logs.tar.gz"), str(tmp_path / "plain.log")]
    rules = [str(tmp_path / "rules")]
    there = told(*given, rules=rules, engine="ray", address=cluster.address)
    assert told(*given, rules=rules) == there
    assert "network.partition/weasel" in there


RULE = {
    "title": "A weasel is in the works",
    "role": "cause",
    "match": "line",
    "forms": [
        {
            "literals": ["weasel in the works"],
            "pattern": r"^weasel in the works: cable (?P<cable>\d{1,3})",
            "examples": [{"text": "weasel in the works: cable 7", "fields": {"cable": 7}}],
        }
    ],
    "fields": {"cable": "int"},
    "says": "a weasel sits on cable {{ cable }}",
    "why": "It proves that a weasel was seen.",
    "references": ["https://example.org/weasel"],
    "counter_examples": [{"text": "no weasel in the works: cable 7", "because": "It denies it."}],
}


@needs_ray
@needs_s3
@pytest.mark.usefixtures("nodes_alone")
def test_store_is_read_by_the_nodes(cluster: Any, logs: Path, store: str) -> None:
    there = told(store, engine="ray", address=cluster.address)
    assert [i for i in json.loads(there)["inputs"] if i["skipped"]] == []  # says which answer of the store failed, and how
    assert told(str(logs)).replace(str(logs), store) == there


@needs_ray
def test_every_node_reads_its_own_disk(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes here share one disk; their files come as two collected folders of the nodes' names would."""
    there = told(engine="ray", address=cluster.address, on_every_node=[str(FIXTURE), "/no/such/place"])
    monkeypatch.chdir(tmp_path)
    names = [name for _, name in node_names(_nodes(cluster))]
    for name in names:
        shutil.copytree(FIXTURE, tmp_path / name / str(FIXTURE).lstrip("/"))
    here, there = json.loads(told(*names)), json.loads(there)
    assert {f"node {n}: no such file or folder: /no/such/place" for n in names} <= {g["text"] for g in there["gaps"]}
    for report in (here, there):
        report.pop("gaps")
    assert here == there


def _nodes(cluster: Any) -> list[dict[str, Any]]:
    import ray
    ray.init(address=cluster.address, log_to_driver=False)
    nodes = list(ray.nodes())
    ray.shutdown()
    return nodes


@needs_ray
@pytest.mark.usefixtures("nodes_alone")
def test_node_that_dies_takes_nothing_along(cluster: Any, logs: Path) -> None:
    """One of the nodes is killed as soon as the first part of its files is read."""
    doomed = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    killed: list[str] = []

    def kill(name: str, _: int) -> None:
        if not killed:
            killed.append(name)
            cluster.remove_node(doomed, allow_graceful=False)

    there = told(str(logs), engine="ray", address=cluster.address, progress=kill)
    assert killed
    assert told(str(logs)) == there


@needs_ray
def test_the_logs_of_a_session_are_found(cluster: Any) -> None:
    import ray
    ray.init(address=cluster.address, log_to_driver=False)
    (folder,) = ray_session_logs()
    ray.shutdown()
    assert "raylet.out" in os.listdir(folder)


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"diagnose-training\[ray\]"):
        diagnose(str(FIXTURE), engine="ray")


class _Hanging:
    """A cluster whose tasks never end."""

    def __init__(self) -> None:
        self.cancelled: list[object] = []

    def remote(self, **_: Any) -> Any:
        return lambda task: SimpleNamespace(remote=lambda *given: object())

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True}]

    def wait(self, tasks: list[object], **_: Any) -> tuple[list[object], list[object]]:
        return [], tasks

    def cancel(self, task: object, **_: Any) -> None:
        self.cancelled.append(task)


def test_tasks_that_hang_are_given_up_at_the_deadline() -> None:
    hanging = _Hanging()
    parts = [Part(Source(f"rank{n}.log", size=10, path=f"rank{n}.log")) for n in range(100)]
    found = list(_Pool(hanging, ScanRules([], ""), None).scan(parts, Deadline.after(0.0)))
    assert [(n, "not read: the budget of time was used up") for n in range(100)] == [(n, s.skipped) for n, s in found]
    assert hanging.cancelled
