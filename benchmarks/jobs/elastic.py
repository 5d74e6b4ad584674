"""The launchers' own words: torchrun's agent (three generations of logging), DeepSpeed's launcher, their summaries."""

from __future__ import annotations

import json

from . import clock
from .job import Host, Job

SIGNALS = {-6: "SIGABRT", -7: "SIGBUS", -9: "SIGKILL", -11: "SIGSEGV", -15: "SIGTERM", -1: "SIGHUP", -2: "SIGINT"}
NUMBERS = {"SIGTERM": 15, "SIGHUP": 1, "SIGINT": 2}
API = "torch.distributed.elastic.multiprocessing.api"


def agent_prefix(job: Job, time_s: float, host: Host, level: str, module: str, line: int) -> str:
    torch = job.torch
    logger = module.removesuffix(".py").replace("/", ".")
    long = {"W": "WARNING", "E": "ERROR", "I": "INFO"}[level]
    if not torch.since(2, 1):
        return f"{long}:{logger}:"
    if not torch.since(2, 3):
        return f"[{clock.comma(job.now(host, time_s))}] {logger}: [{long}] "
    who = host.agent_pid if torch.since(2, 5) else 140000000000000 + host.agent_pid * 4096
    place = module if not torch.since(2, 5) or host.agent_pid % 2 else f"site-packages/{module}"
    return f"{level}{clock.glog(job.now(host, time_s))} {who} {place}:{line}] "


def banner(job: Job, time_s: float, host: Host) -> None:
    prefix = agent_prefix(job, time_s, host, "W", "torch/distributed/run.py", 793)
    stars = "*" * 41
    text = "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded, please further tune the variable for optimal performance in your application as needed. "
    glue = "" if not job.torch.since(2, 1) else prefix
    job.agent_says(time_s, host, f"{prefix}\n{glue}{stars}\n{glue}{text}\n{glue}{stars}")


def stop_workers(job: Job, time_s: float, host: Host, ranks: list[int], signal: str = "SIGTERM") -> None:
    for rank in ranks:
        prefix = agent_prefix(job, time_s, host, "W", "torch/distributed/elastic/multiprocessing/api.py", 897)
        job.agent_says(time_s, host, f"{prefix}Sending process {job.pid(rank)} closing signal {signal}")


def failed_line(job: Job, time_s: float, host: Host, rank: int, code: int, evidence: str = "") -> None:
    prefix = agent_prefix(job, time_s, host, "E", "torch/distributed/elastic/multiprocessing/api.py", 869)
    python = job.site.split("/lib/")[0] + "/bin/python"
    job.agent_says(time_s, host, f"{prefix}failed (exitcode: {code}) local_rank: {job.local(rank)} (pid: {job.pid(rank)}) of binary: {python}", evidence)


def forced(job: Job, time_s: float, host: Host, rank: int) -> None:
    """A worker that does not heed SIGTERM for 30 s: its -9 is the agent's, not the OOM killer's."""
    prefix = agent_prefix(job, time_s, host, "W", "torch/distributed/elastic/multiprocessing/api.py", 916)
    words = "15, forcefully exiting via 9" if job.pid(rank) % 2 else "Signals.SIGTERM, forcefully exiting via Signals.SIGKILL"
    job.agent_says(time_s, host, f"{prefix}Unable to shutdown process {job.pid(rank)} via {words}")


def record(job: Job, time_s: float, rank: int, text: str, evidence: str) -> None:
    """`@record`: the exception is in error.json (torchrun's folders only) and in the agent's summary."""
    told = job.notes["raised"]
    assert isinstance(told, dict)
    told[rank] = text
    if job.layout == "tree":
        unix = str(int(1767225600 + time_s + job.host_of(rank).skew_s))
        page = {"message": {"message": text.rsplit("\n", 1)[-1], "extraInfo": {"py_callstack": text + "\n", "timestamp": unix}}}
        line = json.dumps(page, ensure_ascii=False)
        job.say(time_s, ("json", rank), line, evidence if evidence in line else "")


def launcher_frames(job: Job) -> str:
    root = f"{job.site}/torch/distributed"
    places = [(f"{job.site.split('/lib/')[0]}/bin/torchrun", 8, "<module>", "sys.exit(main())"),
              (f"{root}/elastic/multiprocessing/errors/__init__.py", 346, "wrapper", "return f(*args, **kwargs)"),
              (f"{root}/run.py", 762, "main", "run(args)"), (f"{root}/run.py", 753, "run", "elastic_launch("),
              (f"{root}/launcher/api.py", 132, "__call__", "return launch_agent(self._config, self._entrypoint, list(args))")]
    return "\n".join(f'  File "{path}", line {line}, in {name}\n    {source}' for path, line, name, source in places)


def box_entry(job: Job, host: Host, index: int, rank: int, code: int, died_s: float) -> str:
    pid = job.pid(rank)
    trace = f"Signal {-code} ({SIGNALS[code]}) received by PID {pid}" if code < 0 else \
        "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    file = "<N/A>"
    told = job.notes["raised"]
    if code > 0 and isinstance(told, dict) and rank in told:
        file = f"{job.root}/elastic/{job.job_id}/attempt_{job.attempt}/{job.local(rank)}/error.json"
        trace = told[rank].replace("\n", "\n    ")
    return (f"[{index}]:\n  time      : {clock.box(job.now(host, died_s))}\n  host      : {host.name}\n"
            f"  rank      : {rank} (local_rank: {job.local(rank)})\n  exitcode  : {code} (pid: {pid})\n"
            f"  error_file: {file}\n  traceback : {trace}")


def summary(job: Job, time_s: float, host: Host, deaths: list[tuple[int, int, float]], evidence: str = "") -> None:
    """The box of `host`: deaths are (rank, exit code, when), the first one reaped is called the root cause."""
    script = job.notes.get("script", "train.py")
    first, others = deaths[0], deaths[1:]
    listed = "\n".join(box_entry(job, host, i + 1, *death) for i, death in enumerate(others)) or "  <NO_OTHER_FAILURES>"
    line, rule = "=" * 60, "-" * 60
    job.agent_says(time_s, host, f"Traceback (most recent call last):\n{launcher_frames(job)}\n"
                   f"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{line}\n{script} FAILED\n{rule}\nFailures:\n"
                   f"{listed}\n{rule}\nRoot Cause (first observed failure):\n{box_entry(job, host, 0, *first)}\n{line}", evidence)


def agent_signalled(job: Job, time_s: float, host: Host, signal: str, evidence: str = "") -> None:
    """The agent itself gets a signal from outside and takes its workers down."""
    number = NUMBERS[signal]
    prefix = agent_prefix(job, time_s, host, "W", "torch/distributed/elastic/agent/server/api.py", 704)
    shown = f"Signals.{signal}" if not job.torch.since(2, 1) else str(number)
    job.agent_says(time_s, host, f"{prefix}Received {shown} death signal, shutting down workers", evidence)
    stop_workers(job, time_s + 0.01, host, job.ranks_on(host), signal)
    job.agent_says(time_s + 1.2, host, f"Traceback (most recent call last):\n{launcher_frames(job)}\n"
                   f'  File "{job.site}/torch/distributed/elastic/multiprocessing/api.py", line 68, in _terminate_process_handler\n'
                   f'    raise SignalException(f"Process {{os.getpid()}} got signal: {{sigval}}", sigval=sigval)\n'
                   f"{API}.SignalException: Process {host.agent_pid} got signal: {number}")


def lost_rendezvous(job: Job, time_s: float, host: Host) -> None:
    """The agent that hosted the rendezvous is gone: a late, loud and meaningless warning of the others."""
    prefix = agent_prefix(job, time_s, host, "W", "torch/distributed/elastic/rendezvous/dynamic_rendezvous.py", 1267)
    node = f"{host.name}_{host.agent_pid}_0"
    job.agent_says(time_s, host, f"{prefix}The node '{node}' has failed to send a keep-alive heartbeat to the rendezvous '{job.job_id}' due to an error of type RendezvousConnectionError.")


def deepspeed_down(job: Job, time_s: float, host: Host, code: int) -> None:
    """DeepSpeed's launcher: kills all, and shows the command of the last local rank whoever died."""
    def line(delay_s: float, level: str, place: str, text: str) -> None:
        job.agent_says(time_s + delay_s, host, f"[{clock.comma(job.now(host, time_s + delay_s))}] [{level}] [launch.py:{place}] {text}")

    for index, rank in enumerate(job.ranks_on(host)):
        line(index * 0.4, "INFO", "319:sigkill_handler", f"Killing subprocess {job.pid(rank)}")
    last = job.per_host - 1
    python = job.site.split("/lib/")[0] + "/bin/python"
    line(job.per_host * 0.4, "ERROR", "325:sigkill_handler", f"['{python}', '-u', '{job.notes.get('script', 'train_ds.py')}', '--local_rank={last}', '--deepspeed', 'ds_config.json'] exits with return code = {code}")
