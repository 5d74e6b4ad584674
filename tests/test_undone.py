"""What a later line says to be over is not why the job is dead."""

from .told import cause, told

EVENTS = """Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  12m                default-scheduler  0/5 nodes are available: 4 Insufficient nvidia.com/gpu.
"""
PLACED = """  Normal   Scheduled         10m                default-scheduler  Successfully assigned default/llama-0 to gpu-node-3
  Warning  Failed            9m                 kubelet            Failed to pull image "registry.local/llama:latest": timeout
  Normal   Pulled            5m                 kubelet            Successfully pulled image "registry.local/llama:latest" in 3m2s
  Normal   Started           5m                 kubelet            Started container pytorch
"""


def test_pod_that_waits_for_a_node_is_not_scheduled(tmp_path):
    assert "process.not-scheduled" == cause(told(tmp_path, {"events.txt": EVENTS}))


def test_pod_that_was_placed_and_started_waits_no_more(tmp_path):
    assert "recovered" == told(tmp_path, {"events.txt": EVENTS + PLACED}).outcome


def test_another_pod_that_was_placed_does_not_help(tmp_path):
    rows = (
        "3m  Warning  FailedScheduling  pod/llama-1  0/5 nodes are available: 5 Insufficient nvidia.com/gpu.",
        "2m  Normal   Scheduled         pod/llama-0  Successfully assigned default/llama-0 to gpu-node-3",
    )

    assert "process.not-scheduled" == cause(told(tmp_path, {"events.txt": "\n".join(rows)}))


def test_network_that_could_not_be_used_is_over_once_the_process_took_another(tmp_path):
    trace = "n7:326046:326046 [0] NCCL INFO transport/net_ib.cc:852 -> 3\n"
    other = "n7:{pid}:326046 [0] NCCL INFO Using network Socket\n"

    assert "recovered" == told(tmp_path / "same", {"rank0.log": trace + other.format(pid=326046)}).outcome
    assert "nccl.internal-error" == cause(told(tmp_path / "other", {"rank0.log": trace + other.format(pid=7)}))


def test_replicas_that_got_their_place_waited_for_nothing(tmp_path):
    """Ray Serve's controller repeats that replicas wait; the driver says, without a process id, that the application is ready."""
    waits = (
        "(ServeController pid=1666) WARNING 2025-11-17 18:46:52,471 controller 1666 -- Deployment 'LLMServer:qwen' in application 'llms' "
        "has 1 replicas that have taken more than 30s to be scheduled. This may be due to waiting for the cluster to auto-scale or for a "
        'runtime environment to be installed. Resources required for each replica: [{"CPU": 1.0, "GPU": 1.0}], total resources available: '
        "{}. Use `ray status` for more details.\n"
    )
    ready = "INFO 2025-11-17 18:50:48,569 serve 170212 -- Application 'llms' is ready at http://127.0.0.1:8000/.\n"

    assert "ray.unschedulable" == cause(told(tmp_path / "a", {"serve.log": waits}))
    assert told(tmp_path / "b", {"serve.log": waits + ready}).diagnosis is None


STALL = "[ 8121.000001] nfs: server {} not responding, still trying\n"
ANSWER = "[ 8140.000001] nfs: server {} OK\n"


def test_file_server_that_answers_again_stands_in_nobodys_way(tmp_path):
    assert "storage.io-error" == cause(told(tmp_path / "stands", {"n7.dmesg": STALL.format("nas1")}))
    assert "recovered" == told(tmp_path / "answers", {"n7.dmesg": STALL.format("nas1") + ANSWER.format("nas1")}).outcome
    assert "storage.io-error" == cause(told(tmp_path / "other", {"n7.dmesg": STALL.format("nas1") + ANSWER.format("nas2")}))
