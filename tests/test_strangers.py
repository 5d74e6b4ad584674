"""A kernel log tells of all processes of its host: those of other jobs and users are not why this job is dead."""


from .told import alive, cause, culprits, told, watchdog

NOTEBOOK = (
    "[6695204.635126] Memory cgroup out of memory: Killed process 846 (jupyter-lab) total-vm:8412345kB, anon-rss:7712345kB, "
    "file-rss:0kB, shmem-rss:0kB, UID:1010 pgtables:16000kB oom_score_adj:968\n"
)
PYTHON = NOTEBOOK.replace("jupyter-lab", "python3")
BORN = "[rank {0}] init done host=n7 local_rank={0} pid={1} world=4\n"
RAISED = "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File \"train.py\", line 7, in <module>\n[rank{0}]: {1}\n"


def _ranks(*last: str) -> dict[str, str]:
    return {f"n7/rank{r}.log": BORN.format(r, 5000 + r) + alive(r) + text for r, text in enumerate(last)}


def test_notebook_that_the_kernel_killed_is_no_rank(tmp_path):
    report = told(tmp_path, {"n7.dmesg": NOTEBOOK, **_ranks(RAISED.format(0, "KeyError: 'labels'"), "")})

    assert "process.exception" == cause(report)
    assert culprits(report) in ([], [0])


def test_python_that_the_kernel_killed_is_no_rank_where_each_says_how_it_ended(tmp_path):
    lost = RAISED.format(1, "RuntimeError: Connection closed by peer [10.0.0.7]:59078")
    report = told(tmp_path, {"n7.dmesg": PYTHON, **_ranks(RAISED.format(0, "KeyError: 'labels'"), lost)})

    assert ("process.exception", [0]) == (cause(report), culprits(report))


def test_python_that_the_kernel_killed_may_be_the_rank_that_says_nothing(tmp_path):
    report = told(tmp_path, {"n7.dmesg": PYTHON, **_ranks("", *(watchdog(r) for r in (1, 2, 3)))})

    assert "memory.host-oom" == cause(report)


def test_rank_that_ended_by_another_signal_was_not_killed_by_the_kernel(tmp_path):
    """The first that ended on the host had printed a time-out: whoever is killed prints nothing."""
    ends = "srun: error: n7: task 1: Aborted (core dumped)\n"
    report = told(tmp_path, {"n7.dmesg": PYTHON, "slurm-7.out": ends, **_ranks("", watchdog(1))})

    assert [1] != culprits(report)


def test_notebook_that_the_kernel_killed_did_not_take_the_port(tmp_path):
    """No rank is known yet when the launcher cannot begin."""
    taken = "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, "
    taken += "useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use\n"
    agent = 'Traceback (most recent call last):\n  File "rendezvous.py", line 189, in _create_c10d_store\n    return TCPStore(\n' + taken

    assert "network.port-in-use" == cause(told(tmp_path, {"n7.dmesg": NOTEBOOK, "agent.log": agent}))


def test_driver_says_more_of_a_gpu_than_cuda_does_in_whatever_zone(tmp_path):
    """The kernel's clock is nine hours ahead of the ranks'; CUDA's words fit a wrong address as well."""
    xid = "Nov 20 19:20:01 n7 kernel: NVRM: Xid (PCI:0000:9a:00): 109, pid=5000, name=python3, Ch 00000009, errorString CTX SWITCH TIMEOUT\n"
    raised = RAISED.format(0, "RuntimeError: CUDA error: unspecified launch failure")

    assert "gpu.xid" == cause(told(tmp_path, {"n7/kern.log": xid, **_ranks(raised, "")}))


def test_rank_that_srun_found_killed_on_the_host_by_its_longer_name_is_who_the_kernel_killed(tmp_path):
    killed = PYTHON.replace("jupyter-lab", "python3")
    lost = "n8:71:78 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n7<40123>\n"
    ends = "srun: error: n7.cluster.local: task 1: Killed\nsrun: error: n8.cluster.local: tasks 2-3: Terminated\n"
    files = {f"job-7-{r}.out": alive(r) + (lost if r > 1 else "") for r in range(4)}
    report = told(tmp_path, {"n7/dmesg.txt": killed, "slurm-7.out": ends, **files})

    assert ("memory.host-oom", [1]) == (cause(report), culprits(report))


SET_UP = "node-{host}:{pid}:{pid} [{rank}] NCCL INFO comm 0x55d0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 - Init COMPLETE\n"
REFUSED = (
    "srun: error: Prolog hung on node node-x\n",
    "[2026-11-20T10:18:00.000] error: prolog failed: rc:1 output:gpu health check failed\n",
    "[2026-11-20T10:18:00.000] sched: JobId=999 launch failed requeued held\n",
)


def test_node_that_refused_the_job_after_it_ran_is_the_reason_that_it_ended(tmp_path):
    born = "".join(SET_UP.format(host="ab"[r], pid=70 + r, rank=r) for r in range(2))
    report = told(tmp_path, {"slurm-4242.out": born + alive(0) + alive(1), "slurmctld.log": REFUSED[1].replace("10:18", "10:48")})

    assert "process.not-started" == cause(report)
