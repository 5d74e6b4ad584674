"""`diagnose run`: what the job and its surroundings notice of it, which is to be nothing."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from diagnose.hooks.environment import launcher_of, log_patterns, nodes_of_command
from diagnose.hooks.gather import take_stacks
from diagnose.hooks.kept import Kept, join

ROOT = Path(__file__).resolve().parent.parent
RUN = [sys.executable, "-m", "diagnose", "run"]
OOM = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "train.py", line 3, in <module>\n'
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
    "79.15 GiB of which 1.00 GiB is free.\n"
)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    """Copies go below the test's own folder; no configuration of this repository counts."""
    for name in [n for n in os.environ if n.startswith(("SLURM", "DIAGNOSE", "TORCHELASTIC"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "empty.toml").write_text("[hook]\nbudget = 300\n")  # on a busy machine nothing is soon
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(tmp_path / "empty.toml"))
    monkeypatch.chdir(tmp_path)


def run(*words: str, options: tuple[str, ...] = (), **more) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([*RUN, *options, "--", *words], capture_output=True, timeout=300, check=False, **more)


def start(*words: str, options: tuple[str, ...] = (), **more) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*RUN, *options, "--", *words], stdin=subprocess.DEVNULL, **more)


PIPED = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-Sc", code)


def wait_for(condition, limit_s: float = 60.0) -> bool:
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        select.select([], [], [], 0.01)
    return True


@pytest.mark.parametrize("code", [0, 255])
def test_exit_code_is_the_jobs(code):
    assert code == run("sh", "-c", f"exit {code}").returncode


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_death_by_a_signal_is_passed_on_as_that_signal(name):
    number = signal.Signals[name]
    assert -number == run("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$").returncode


def test_what_cannot_be_executed_ends_as_in_a_shell(tmp_path):
    (tmp_path / "train.sh").write_text("exit 0\n")
    done = run("no-such-launcher")
    assert (done.returncode, done.stderr) == (127, b"diagnose run: no-such-launcher: No such file or directory\n")
    assert run(str(tmp_path / "train.sh")).returncode == 126


@pytest.mark.parametrize("words", [["--hang-after", "soon", "--", "touch", "x"], ["--nope", "--", "touch", "x"], ["--"]])
def test_wrong_usage_starts_nothing(words, tmp_path):
    done = subprocess.run([*RUN, *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n"), (tmp_path / "x").exists()) == (2, 1, False)


def test_what_stands_behind_the_dashes_is_never_looked_at():
    assert run("printf", "%s,", "-o", "x", b"--budget=\xff", "-", options=("--stacks",)).stdout == b"-o,x,--budget=\xff,-,"
    assert run("printf", "%s,", "--help", "--", "-V").stdout == b"--help,--,-V,"


def test_streams_stay_apart_and_unchanged():
    words = [*RUN, "--", "sh", "-c", "cat; printf 'to stderr' >&2"]
    done = subprocess.run(words, input=b"a\0\xffb\r", capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"a\0\xffb\r", b"to stderr")


def test_order_of_stdout_and_stderr_is_kept_where_both_lead_to_one_place():
    code = "import os\nfor n in range(2000): os.write(1 + n % 2, b'%d\\n' % n)"
    done = subprocess.run([*RUN, "--", *python(code)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert list(range(2000)) == [int(line) for line in done.stdout.split()]


def test_closed_stream_stays_closed():
    code = "import os\ntry: os.fstat(1)\nexcept OSError: os.write(2, b'closed')"
    command = " ".join(f"'{word}'" for word in [*RUN, "--", sys.executable, "-Sc", code.replace("'", '"')])
    done = subprocess.run(f"{command} >&-", shell=True, stderr=subprocess.PIPE, check=False)
    assert done.stderr == b"closed"


def test_files_that_the_parent_left_open_reach_the_job():
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    run("bash", "-c", f"echo inherited >&{write_end}", close_fds=False)
    os.close(write_end)
    with open(read_end, "rb") as file:
        assert file.read() == b"inherited\n"


def test_reader_that_leaves_ends_the_job_as_it_would_alone_and_is_no_failure():
    """The job gets its SIGPIPE."""
    words = ["bash", "-c", f"{' '.join(RUN)} -- yes | head -1; exit ${{PIPESTATUS[0]}}"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGPIPE, b"y\n", b"")


def test_success_leaves_nothing_behind_that_was_not_asked_for(tmp_path):
    run("echo", "fine", options=("--keep", str(tmp_path / "kept")))
    run("echo", "fine")
    assert list(tmp_path.glob("diagnose-run-*")) == []
    assert (tmp_path / "kept" / "stdout.log").read_text() == "fine\n"


def test_daemon_that_holds_stdout_does_not_hold_the_end(tmp_path):
    os.mkfifo(tmp_path / "held")
    done = subprocess.run([*RUN, "--", "sh", "-c", "cat held & echo done"], stdout=subprocess.DEVNULL, check=False, timeout=300)
    assert done.returncode == 0
    os.close(os.open(tmp_path / "held", os.O_WRONLY))  # and now the daemon may end


def test_ignored_signals_stay_ignored():
    """`nohup` sets SIGHUP to be ignored; the job inherits that."""
    script = f"trap '' HUP; exec {' '.join(RUN)} -- sh -c 'kill -HUP $$; kill -HUP $PPID; echo lives'"
    assert subprocess.run(["sh", "-c", script], capture_output=True, check=False).stdout == b"lives\n"


COUNT = (  # signals, each with a line, until SIGUSR1 comes
    "import os, signal, sys, time\n"
    "seen, done = [], []\n"
    "signal.signal({number}, lambda *_: (seen.append(1), os.write(1, b'got\\n')))\n"
    "signal.signal(signal.SIGUSR1, lambda *_: done.append(1))\n"
    "os.write(1, b'ready\\n')\n"
    "while not done: time.sleep(0.01)\n"
    "sys.exit(100 + len(seen))"
)


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_signal_reaches_the_job_once(send):
    """Sent to us alone, and to the whole group as `timeout` does: a second SIGTERM would abort a launcher's clean-up."""
    with start(*python(COUNT.format(number=15)), start_new_session=True, **PIPED) as job:
        assert job.stdout.readline() == b"ready\n"
        send(job.pid, signal.SIGTERM)
        assert job.stdout.readline() == b"got\n"
        job.send_signal(signal.SIGUSR1)
        assert job.wait(60) == 101


def test_job_lives_on_when_we_are_killed(tmp_path):
    """The job goes on writing to where its output was going; without the copier SIGPIPE would end it."""
    code = (
        "import os, time\nos.write(1, b'pid %d\\n' % os.getpid())\n"
        "for n in range(12): time.sleep(0.05); os.write(1, b'step %d\\n' % n)\nopen('survived', 'w').close()"
    )
    with start(*python(code), stdout=subprocess.PIPE) as job:
        job.stdout.readline()
        job.kill()
        rest = job.stdout.read()
    assert (rest.splitlines()[-1], (tmp_path / "survived").exists()) == (b"step 11", True)
    assert wait_for(lambda: [*tmp_path.glob("diagnose-run-*/stdout.log")])  # left readable for `diagnose FOLDER`


def test_job_lives_on_when_a_copier_is_killed():
    """The out-of-memory killer may take any process; its place is filled before the job can notice."""
    code = "import os, time\nfor n in range(20): os.write(1, b'step %d\\n' % n); time.sleep(0.05)"
    with start(*python(code), stdout=subprocess.PIPE) as job:
        job.stdout.readline()
        os.kill(_copier_of(job.pid), signal.SIGKILL)
        last = job.stdout.read().splitlines()[-1]
        assert (last, job.wait(60)) == (b"step 19", 0)


def _copier_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(int(child) for child in children if os.getsid(int(child)) == int(child))


def test_much_output_grows_neither_memory_nor_disk(tmp_path):
    code = "import os\nchunk = b'x' * 99 + b'\\n'\nchunk *= 2000\nfor _ in range(500): os.write(1, chunk)"
    with start(*python(code), stdout=subprocess.DEVNULL, options=("--keep-mib", "4", "--keep", "kept")) as job:
        peaks = [0]

        def ended() -> bool:
            with contextlib.suppress(OSError, StopIteration):
                status = Path(f"/proc/{_copier_of(job.pid)}/status").read_text()
                peaks.append(int(next(x.split()[1] for x in status.splitlines() if x.startswith("VmHWM"))))
            return job.poll() is not None

        assert wait_for(ended)
    kept = (tmp_path / "kept" / "stdout.log").stat().st_size
    assert (max(peaks) < 20 * 1024, 12 << 20 <= kept < 13 << 20) == (True, True)


# --- terminals ---------------------------------------------------------------------------------------------------


def on_a_terminal(words: list[str], keys: bytes = b"", when: bytes = b"", size=(24, 80), then: int | None = None):
    """Runs words on a new terminal, types `keys` once `when` was printed; returns what it showed and the status."""
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        os.execv(words[0], words)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        shown += data
        if keys and when in shown:
            os.write(master, keys)
            keys = b""
            if then is not None:
                os.kill(pid, then)
    status = os.waitpid(pid, 0)[1]
    os.close(master)
    return shown, status


def test_terminal_stays_a_terminal_of_its_size_and_a_pipe_beside_it_a_pipe(tmp_path):
    code = "import os; print(os.isatty(1), os.isatty(2), os.isatty(0), *os.get_terminal_size({}))"
    shown, _ = on_a_terminal([*RUN, "--", *python(code.format(1))], size=(33, 101))
    assert shown == b"True True True 101 33\r\n"
    piped = " ".join(f"'{word}'" for word in [*RUN, "--", *python(code.format(2))])
    assert on_a_terminal(["/bin/sh", "-c", f"{piped} | cat"])[0] == b"False True True 80 24\r\n"


def test_ctrl_c_reaches_the_job_once():
    words = [*RUN, "--", *python(COUNT.format(number=2))]
    _, status = on_a_terminal(words, keys=b"\x03", when=b"ready", then=signal.SIGUSR1)
    assert os.waitstatus_to_exitcode(status) == 101


def test_ctrl_c_that_ends_the_job_ends_us_by_the_same_signal():
    _, status = on_a_terminal([*RUN, "--", "sh", "-c", "echo ready; exec sleep 20"], keys=b"\x03", when=b"ready")
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT


def test_new_terminal_size_reaches_the_job():
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGWINCH, lambda *_: os.get_terminal_size(1).columns == 132 and os._exit(42))\n"
        "os.write(1, b'ready')\ntime.sleep(5)"
    )
    pid, master = pty.fork()
    if pid == 0:
        os.execv(RUN[0], [*RUN, "--", *python(code)])
    assert os.read(master, 100) == b"ready"
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
    status = os.waitpid(pid, 0)[1]
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == 42


# --- reports -----------------------------------------------------------------------------------------------------


def test_silence_is_reported_and_the_job_goes_on():
    job = "echo step 1; until [ -e hang.md ]; do sleep 0.05; done; echo step 2"
    done = run("sh", "-c", job, options=("--hang-after", "0.4", "-o", "hang.md"))
    assert (done.returncode, done.stdout) == (0, b"step 1\nstep 2\n")
    assert b"no output for 0.4 s; the job goes on" in done.stderr


def test_preemption_is_reported_before_the_job_has_ended(tmp_path):
    """SIGKILL follows SIGTERM after a while, and no report can follow that."""
    code = f"import os, signal, time; os.write(1, {OOM.encode()!r}); signal.signal(15, signal.SIG_IGN); time.sleep(30)"
    with start(*python(code), options=("-o", "report.md"), start_new_session=True, **PIPED) as job:
        job.stdout.readline()
        job.terminate()
        assert wait_for(lambda: "memory.cuda-oom" in read(tmp_path / "report.md"))
        assert job.poll() is None
        os.killpg(job.pid, signal.SIGKILL)


def read(path):
    return path.read_text() if path.exists() else ""


def test_failure_is_reported_from_the_launchers_logs_and_not_from_those_of_earlier_runs(tmp_path):
    """On one node of four, which the report says and is no surer for."""
    for place, age_s in (("logs/old_aaaaaaaa/attempt_0/0", 86400), ("logs/none_bbbbbbbb/attempt_0/0", 0)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "stderr.log").write_text(OOM)
        when = time.time() - age_s
        for path in (tmp_path / place / "stderr.log", *(tmp_path / place).parents[:2], tmp_path / place):
            os.utime(path, (when, when))
    (tmp_path / "torchrun").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "torchrun").chmod(0o755)
    words = [str(tmp_path / "torchrun"), "--nnodes", "4", "--log-dir", "logs", "train.py"]
    done = run(*words, options=("-o", "report.json", "-o", "report.md"))
    assert (done.returncode, (tmp_path / "report.md").exists()) == (3, True)
    assert f"diagnose run: report: {tmp_path}/report.json {tmp_path}/report.md".encode() in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    files = [row["file"] for row in report["inputs"]]
    assert files == [f"{tmp_path}/logs/none_bbbbbbbb/attempt_0/0/stderr.log"]
    assert (report["diagnosis"]["certainty"], report["gaps"][0]["text"][:10]) == ("likely", "1 of 4 nod")


def test_stacks_of_every_rank_are_taken(tmp_path, monkeypatch):
    (tmp_path / "py-spy").write_text('#!/bin/sh\necho "Process $4: python train.py"\n')
    (tmp_path / "py-spy").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    ranks = f"for r in 0 1; do RANK=$r {sys.executable} -Sc 'import os, time; os.write(1, b\"1\"); time.sleep(60)' & done; wait"
    with subprocess.Popen(["sh", "-c", ranks], stdout=subprocess.PIPE, start_new_session=True) as job:
        assert job.stdout.read(2) == b"11"
        found = take_stacks([job.pid], tmp_path / "stacks", 60, gaps := [])
        os.killpg(job.pid, signal.SIGKILL)
    assert ({Path(path).parent.name for path in found}, gaps) == ({"rank0", "rank1"}, [])


def test_second_ctrl_c_skips_the_report_and_the_output_stays_readable(tmp_path):
    (tmp_path / "rules" / "memory" / "stalled").mkdir(parents=True)
    os.mkfifo(tmp_path / "rules" / "memory" / "stalled" / "cause.yaml")
    (tmp_path / "empty.toml").write_text(f'rules = ["{tmp_path}/rules"]\n')
    shown, status = on_a_terminal([*RUN, "--", "sh", "-c", "echo Killed; exit 9"], keys=b"\x03", when=b"looking for")
    assert (os.waitstatus_to_exitcode(status), b"no full report was made" in shown) == (9, True)
    assert [path.read_text() for path in tmp_path.glob("diagnose-run-*/output.log")] == ["Killed\n"]


# --- parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("total", "head", "tail", "step"), [(0, 9, 8, 1), (9, 9, 8, 4), (90, 9, 8, 1), (300, 7, 41, 50)])
def test_copy_holds_head_and_tail_whatever_the_chunks(tmp_path, total, head, tail, step):
    folder = tmp_path / "kept"
    folder.mkdir()
    kept = Kept(str(folder / "out"), tail_bytes=tail, head_bytes=head)
    data = bytes(n % 251 for n in range(total))
    for at in range(0, total, step):
        kept.write(memoryview(data[at : at + step]))
    os.close(kept.fd)
    missing = join(kept.path)
    text = (folder / "out.log").read_bytes() if total else b""
    assert text.startswith(data[:head]) and text.endswith(data[head:][-(tail // 4) * 4 :])
    assert [path.name for path in folder.iterdir()] == (["out.log"] if total else [])
    assert missing == max(0, total - len(text)) or b"bytes here are not kept" in text


@pytest.mark.parametrize("number", [1, 3])
def test_run_goes_on_when_no_helper_can_be_started(number):
    """RLIMIT_NPROC of a shared login node: the job itself still runs."""
    code = (
        "import os, sys\nfrom diagnose.cli import main\nreal, calls = os.fork, []\n"
        f"def fork():\n    calls.append(1)\n    if len(calls) == {number}: raise BlockingIOError(11, 'no more')\n"
        "    return real()\nos.fork = fork\nmain(['run', '--', 'sh', '-c', 'echo runs; exit 6'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (6, b"runs\n")


@pytest.mark.parametrize(
    ("words", "launcher", "patterns", "nodes"),
    [
        ("torchrun --log-dir logs --nnodes 4 train.py --log_dir tensorboard", "torchrun", ["/job/logs"], 4),
        ("python -m torch.distributed.run --nnodes=2:8 --log_dir=/logs -m train", "torchrun", ["/logs"], 8),
        ("torchrun --nnodes 1 train.py --nnodes 4", "torchrun", [], None),
        ("srun -o logs/%j-%3t.out python train.py", "srun", ["/job/logs/*-*.out"], None),
        ("mpirun -n 8 --output-filename out ./train.py", "mpirun", ["/job/out*"], None),
    ],
)
def test_launchers_flags_name_its_logs_and_nodes_and_the_scripts_do_not(words, launcher, patterns, nodes):
    found = words.split()
    assert (launcher_of(found), log_patterns(found, "/job"), nodes_of_command(found)) == (launcher, patterns, nodes)
