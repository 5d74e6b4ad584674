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


def test_rank_that_ended_by_another_signal_was_not_killed_by_the_kernel(tmp_path):
    """The first that ended on the host had printed a time-out: whoever is killed prints nothing."""
    ends = "srun: error: n7: task 1: Aborted (core dumped)\n"
    report = told(tmp_path, {"n7.dmesg": PYTHON, "slurm-7.out": ends, **_ranks("", watchdog(1))})

    assert [1] != culprits(report)
