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
from hypothesis import given
from hypothesis import strategies as st

from diagnose.commands.options import seconds
from diagnose.hooks.environment import launcher_of, log_patterns, nodes_of_command
from diagnose.hooks.keep import Kept
from diagnose.run import watch
from diagnose.run.aside import Board

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
    (tmp_path / "empty.toml").write_text("")
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(tmp_path / "empty.toml"))
    monkeypatch.chdir(tmp_path)


def run(*words: str, options: tuple[str, ...] = (), **more) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([*RUN, *options, "--", *words], capture_output=True, timeout=60, check=False, **more)


def start(*words: str, options: tuple[str, ...] = (), **more) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*RUN, *options, "--", *words], stdin=subprocess.DEVNULL, **more)


PIPED = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-Sc", code)


def wait_for(condition, limit_s: float = 10.0) -> bool:
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        select.select([], [], [], 0.01)
    return True


@pytest.mark.parametrize("code", [0, 1, 130, 255])
def test_exit_code_is_the_jobs(code):
    assert code == run("sh", "-c", f"exit {code}").returncode


def test_every_exit_code_is_the_jobs():
    """All 256, in forks of one interpreter and without the report: starting everything for each would take minutes."""
    code = (
        "import os, sys; from diagnose.commands.jobs import run; from diagnose.commands.options import RunOptions\n"
        "from diagnose.run import command\n"
        "command._finish = lambda run, watch, status: run.clear()\n"
        "for first in range(0, 256, 16):\n"
        "    pids = []\n"
        "    for n in range(first, first + 16):\n"
        "        pids.append(os.fork())\n"
        "        if pids[-1] == 0:\n"
        "            os._exit(run(RunOptions(['sh', '-c', f'exit {n}'])))\n"
        "    for pid in pids: print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert list(range(256)) == [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT"])
def test_death_by_a_signal_is_passed_on_as_that_signal(name):
    number = signal.Signals[name]
    assert -number == run("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$").returncode


def test_command_that_does_not_exist_ends_as_in_a_shell():
    done = run("no-such-launcher")
    assert (done.returncode, done.stderr) == (127, b"diagnose run: no-such-launcher: No such file or directory\n")


def test_file_that_is_not_executable_ends_as_in_a_shell(tmp_path):
    (tmp_path / "train.sh").write_text("exit 0\n")
    assert run(str(tmp_path / "train.sh")).returncode == 126


def test_wrong_usage_starts_nothing():
    done = subprocess.run([*RUN, "--hang-after", "soon", "--", "true"], capture_output=True, check=False)
    assert done.returncode == 2


def test_streams_stay_apart_and_unchanged():
    done = run("sh", "-c", "printf 'a\\000\\377b\\r'; printf 'to stderr' >&2")
    assert (done.stdout, done.stderr) == (b"a\0\xffb\r", b"to stderr")


def test_stdin_is_the_jobs():
    with subprocess.Popen([*RUN, "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        assert job.communicate(b"lines\n", timeout=20) == (b"lines\n", None)


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
    assert os.read(read_end, 100) == b"inherited\n"
    os.close(read_end)


def test_reader_that_leaves_ends_the_job_as_it_would_alone():
    """`yes | head -1`: the job gets its SIGPIPE."""
    with start("yes", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout is not None
        job.stdout.read(2)
        job.stdout.close()
        assert job.wait(20) == -signal.SIGPIPE


def test_success_leaves_nothing_behind(tmp_path):
    run("echo", "fine")
    assert list(tmp_path.glob("diagnose-run-*")) == []


def test_keep_leaves_the_output_of_a_success(tmp_path):
    run("echo", "fine", options=("--keep", str(tmp_path / "kept")))
    assert (tmp_path / "kept" / "stdout.log").read_text() == "fine\n"


def test_daemon_that_holds_stdout_does_not_hold_the_end():
    began = time.monotonic()
    done = subprocess.run([*RUN, "--", "sh", "-c", "sleep 5 & echo done"], stdout=subprocess.DEVNULL, check=False)
    assert (done.returncode, time.monotonic() - began < 4) == (0, True)


def test_ignored_signals_stay_ignored():
    """`nohup` sets SIGHUP to be ignored; the job inherits that."""
    script = f"trap '' HUP; exec {' '.join(RUN)} -- sh -c 'kill -HUP $$; kill -HUP $PPID; echo lives'"
    assert subprocess.run(["sh", "-c", script], capture_output=True, check=False).stdout == b"lives\n"


COUNT_TERM = (
    "import os, signal, sys, time\n"
    "seen = []\n"
    "signal.signal(signal.SIGTERM, lambda *_: seen.append(1))\n"
    "os.write(1, b'ready\\n')\n"
    "end = time.monotonic() + {wait}\n"
    "while time.monotonic() < end: time.sleep(0.05)\n"
    "sys.exit(100 + len(seen))"
)


def test_signal_to_us_alone_is_forwarded_once():
    with start(*python(COUNT_TERM.format(wait=0.5)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == b"ready\n"
        job.send_signal(signal.SIGTERM)
        assert job.wait(20) == 101


def test_signal_to_the_whole_group_is_not_doubled():
    """As `timeout` and `kill -- -PGID` send it: a second SIGTERM would abort a launcher's clean-up."""
    job = start(
        *python(COUNT_TERM.format(wait=0.5)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with job:
        assert job.stdout is not None
        assert job.stdout.readline() == b"ready\n"
        os.killpg(job.pid, signal.SIGTERM)
        assert job.wait(20) == 101


def test_each_note_of_the_sentinel_answers_for_one_signal(monkeypatch):
    """On a busy machine we may be told of a signal long after the sentinel; a later one to us alone is forwarded."""
    monkeypatch.setattr(watch, "_SHARED_S", 0.0)
    board = Board()
    watched = watch.Watch(board, [], [], frozenset(), os.getpid(), -1, None, lambda _: None, lambda _: None)
    board.note_signal(signal.SIGTERM)
    time.sleep(0.01)
    assert watch._reached_group(watched, signal.SIGTERM)
    monkeypatch.setattr(watch, "_AWAKE_WAIT_S", 0.0)
    assert not watch._reached_group(watched, signal.SIGTERM)


def test_job_that_ignores_sigterm_goes_on():
    code = "import signal, os, time; signal.signal(15, signal.SIG_IGN); os.write(1, b'ready\\n'); time.sleep(0.6)"
    with start(*python(code), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout is not None
        job.stdout.readline()
        job.terminate()
        assert job.wait(20) == 0


def test_job_lives_on_when_we_are_killed(tmp_path):
    """The job goes on writing to where its output was going; without the copier SIGPIPE would end it."""
    code = (
        "import os, time\nos.write(1, b'pid %d\\n' % os.getpid())\n"
        "for n in range(12): time.sleep(0.05); os.write(1, b'step %d\\n' % n)\nopen('survived', 'w').close()"
    )
    with start(*python(code), stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        job.stdout.readline()
        job.kill()
        rest = job.stdout.read()
    assert (rest.splitlines()[-1], (tmp_path / "survived").exists()) == (b"step 11", True)
    assert wait_for(lambda: [*tmp_path.glob("diagnose-run-*/stdout.log")])  # left readable for `diagnose FOLDER`


def test_job_lives_on_when_a_copier_is_killed():
    """The out-of-memory killer may take any process; its place is filled before the job can notice."""
    code = "import os, time\nfor n in range(20): os.write(1, b'step %d\\n' % n); time.sleep(0.05)"
    with start(*python(code), stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        job.stdout.readline()
        os.kill(_copier_of(job.pid), signal.SIGKILL)
        last = job.stdout.read().splitlines()[-1]
        assert (last, job.wait(20)) == (b"step 19", 0)


def _copier_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(int(child) for child in children if os.getsid(int(child)) == int(child))


def test_waiting_needs_little_memory():
    with start("sleep", "5") as job:
        assert wait_for(lambda: len(Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()) >= 4)
        status = Path(f"/proc/{job.pid}/status").read_text()
        job.terminate()
    resident_kib = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
    assert resident_kib < 20 * 1024


def test_a_gigabyte_of_output_grows_neither_memory_nor_disk(tmp_path):
    code = "import os\nchunk = b'x' * 99 + b'\\n'\nchunk *= 2000\nfor _ in range(5000): os.write(1, chunk)"
    with start(*python(code), stdout=subprocess.DEVNULL, options=("--keep-mib", "4", "--keep", "kept")) as job:
        peaks = [0]

        def ended() -> bool:
            with contextlib.suppress(OSError, StopIteration):
                status = Path(f"/proc/{_copier_of(job.pid)}/status").read_text()
                peaks.append(int(next(x.split()[1] for x in status.splitlines() if x.startswith("VmHWM"))))
            return job.poll() is not None

        assert wait_for(ended, 120)
    kept = (tmp_path / "kept" / "stdout.log").stat().st_size
    assert (max(peaks) < 20 * 1024, 12 << 20 <= kept < 13 << 20) == (True, True)


# --- terminals ---------------------------------------------------------------------------------------------------


def on_a_terminal(words: list[str], keys: bytes = b"", when: bytes = b"", size: tuple[int, int] = (24, 80)):
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
    status = os.waitpid(pid, 0)[1]
    os.close(master)
    return shown, status


def test_terminal_stays_a_terminal_of_its_size():
    code = "import os; print(os.isatty(1), os.isatty(2), os.isatty(0), *os.get_terminal_size(1))"
    shown, _ = on_a_terminal([*RUN, "--", *python(code)], size=(33, 101))
    assert shown == b"True True True 101 33\r\n"


def test_colours_and_bars_come_through_as_they_are():
    code = r"import os; os.write(2, b'\x1b[32m 50%|#####     |\x1b[0m\r'); os.write(1, b'done\n')"
    shown, _ = on_a_terminal([*RUN, "--", *python(code)])
    assert shown == b"\x1b[32m 50%|#####     |\x1b[0m\rdone\r\n"


def test_piped_stream_beside_a_terminal_gets_no_terminal(tmp_path):
    code = "import os; open('seen', 'w').write(f'{os.isatty(1)} {os.isatty(2)}')"
    words = " ".join(f"'{w}'" for w in [*RUN, "--", sys.executable, "-Sc", code.replace("'", '"')])
    on_a_terminal(["/bin/sh", "-c", f"{words} | cat"])
    assert (tmp_path / "seen").read_text() == "False True"


def test_ctrl_c_reaches_the_job_once():
    code = (
        "import os, signal, sys, time\nseen = []\nsignal.signal(2, lambda *_: seen.append(1))\nos.write(1, b'ready\\n')\n"
        "end = time.monotonic() + 0.6\nwhile time.monotonic() < end: time.sleep(0.05)\nsys.exit(100 + len(seen))"
    )
    _, status = on_a_terminal([*RUN, "--", *python(code)], keys=b"\x03", when=b"ready")
    assert os.waitstatus_to_exitcode(status) == 101


def test_ctrl_c_that_ends_the_job_ends_us_by_the_same_signal():
    _, status = on_a_terminal([*RUN, "--", "sh", "-c", "echo ready; exec sleep 20"], keys=b"\x03", when=b"ready")
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT


def test_input_typed_at_the_terminal_reaches_the_job():
    shown, _ = on_a_terminal([*RUN, "--", *python("print('got', input('name? '))")], keys=b"gpu7\n", when=b"name? ")
    assert b"got gpu7" in shown


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


def test_failure_is_reported_where_asked(tmp_path):
    done = run("sh", "-c", f"cat <<'E'\n{OOM}E\nexit 3", options=("-o", "report.md"))
    assert (done.returncode, (tmp_path / "report.md").exists()) == (3, True)
    assert f"diagnose run: report: {tmp_path}/report.md".encode() in done.stderr


def test_silence_is_reported_and_the_job_goes_on(tmp_path):
    done = run("sh", "-c", "echo step 1; sleep 1.2; echo step 2", options=("--hang-after", "0.4", "-o", "hang.md"))
    assert (done.returncode, done.stdout) == (0, b"step 1\nstep 2\n")
    assert (done.stderr.count(b"no output for 0.4 s"), (tmp_path / "hang.md").exists()) == (1, True)


def test_preemption_is_reported_before_the_job_has_ended(tmp_path):
    """SIGKILL follows SIGTERM after a while, and no report can follow that."""
    code = f"import os, signal, time; os.write(1, {OOM.encode()!r}); signal.signal(15, signal.SIG_IGN); time.sleep(30)"
    with start(*python(code), options=("-o", "report.md"), start_new_session=True, **PIPED) as job:
        assert job.stdout is not None
        job.stdout.readline()
        job.terminate()
        assert wait_for(lambda: "memory.cuda-oom" in read(tmp_path / "report.md"), 20)
        assert job.poll() is None
        os.killpg(job.pid, signal.SIGKILL)


def read(path):
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [("--nnodes 4 t.py", 4), ("--nnodes=2:8 t.py", 8), ("--nnodes 1 t.py", None), ("t.py --nnodes 4", None)],
)
def test_nodes_of_a_torchrun_command(words, expected):
    assert nodes_of_command(["torchrun", *words.split()]) == expected


def test_logs_of_the_launcher_are_read_and_those_of_earlier_runs_are_not(tmp_path, monkeypatch):
    for place, age_s in (("logs/old_aaaaaaaa/attempt_0/0", 86400), ("logs/none_bbbbbbbb/attempt_0/0", 0)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "stderr.log").write_text(OOM)
        when = time.time() - age_s
        for path in (tmp_path / place / "stderr.log", *(tmp_path / place).parents[:2], tmp_path / place):
            os.utime(path, (when, when))
    (tmp_path / "torchrun").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "torchrun").chmod(0o755)
    run(str(tmp_path / "torchrun"), "--log-dir", "logs", "train.py", options=("-o", "report.json"))
    files = [row["file"] for row in json.loads((tmp_path / "report.json").read_text())["inputs"]]
    assert files == [f"{tmp_path}/logs/none_bbbbbbbb/attempt_0/0/stderr.log"]


def test_stacks_of_every_rank_are_taken_when_it_hangs(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "py-spy").write_text('#!/bin/sh\necho "Process $4: python train.py"\n')
    (tmp_path / "bin" / "py-spy").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    job = f"echo start; for r in 0 1; do RANK=$r {sys.executable} -Sc 'import time; time.sleep(2)' & done; wait"
    run("sh", "-c", job, options=("--hang-after", "0.5", "--stacks"))
    found = sorted(path.parent.name for path in tmp_path.glob("diagnose-run-*/stacks/*/pyspy-*.txt"))
    assert found == ["rank0", "rank1"]


def test_reader_that_leaves_is_no_failure_to_report(tmp_path):
    done = subprocess.run(["bash", "-c", f"{' '.join(RUN)} -- yes | head -1"], capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"y\n", b"")


def test_report_of_one_node_of_several_says_so(tmp_path):
    (tmp_path / "torchrun").write_text(f"#!/bin/sh\ncat <<'E'\n{OOM}E\nexit 1\n")
    (tmp_path / "torchrun").chmod(0o755)
    run(str(tmp_path / "torchrun"), "--nnodes", "4", "train.py", options=("-o", "report.json"))
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["diagnosis"]["certainty"], report["gaps"][0]["text"][:10]) == ("likely", "1 of 4 nod")


def test_silence_on_the_console_is_no_hang_while_the_log_folder_moves(tmp_path):
    loop = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n >> logs/0.log; sleep 0.1; done"
    (tmp_path / "logs").mkdir()
    (tmp_path / "torchrun").write_text(f"#!/bin/sh\n{loop}\n")
    (tmp_path / "torchrun").chmod(0o755)
    words = (str(tmp_path / "torchrun"), "--log-dir", "logs", "train.py")
    assert run(*words, options=("--hang-after", "0.7")).stderr == b""


def test_second_ctrl_c_skips_the_report_and_the_output_stays_readable(tmp_path):
    (tmp_path / "rules" / "memory" / "stalled").mkdir(parents=True)
    os.mkfifo(tmp_path / "rules" / "memory" / "stalled" / "cause.yaml")
    (tmp_path / "empty.toml").write_text(f'rules = ["{tmp_path}/rules"]\n')
    shown, status = on_a_terminal([*RUN, "--", "sh", "-c", "echo Killed; exit 9"], keys=b"\x03", when=b"looking for")
    assert (os.waitstatus_to_exitcode(status), b"no full report was made" in shown) == (9, True)
    assert [path.read_text() for path in tmp_path.glob("diagnose-run-*/output.log")] == ["Killed\n"]


def test_reporter_that_hangs_is_ended_within_the_budget(tmp_path):
    """A rule folder that stalls (a FIFO nobody writes to) stands for NFS that does not answer."""
    (tmp_path / "rules" / "memory" / "stalled").mkdir(parents=True)
    os.mkfifo(tmp_path / "rules" / "memory" / "stalled" / "cause.yaml")
    (tmp_path / "empty.toml").write_text(f'rules = ["{tmp_path}/rules"]\n')
    began = time.monotonic()
    done = run("sh", "-c", "echo Killed; exit 9", options=("--budget", "2.5", "-o", "report.md"))
    assert (done.returncode, time.monotonic() - began < 4) == (9, True)
    assert "No diagnosis yet: exit code 9" in (tmp_path / "report.md").read_text()


def test_folder_that_cannot_be_made_does_not_stop_the_job():
    done = run("sh", "-c", "echo runs; exit 5", options=("--keep", "/proc/no/such"))
    assert (done.returncode, done.stdout) == (5, b"runs\n")


# --- parts -------------------------------------------------------------------------------------------------------


@given(total=st.integers(0, 400), head=st.integers(1, 40), tail=st.integers(1, 60), step=st.integers(1, 50))
def test_copy_holds_head_and_tail_whatever_the_chunks(tmp_path_factory, total, head, tail, step):
    folder = tmp_path_factory.mktemp("kept")
    kept = Kept(str(folder / "part"), head_bytes=head, tail_bytes=tail)
    data = bytes(n % 251 for n in range(total))
    fd = os.open(kept.path, os.O_RDWR | os.O_CREAT)
    for at in range(0, total, step):
        kept.write(fd, at, memoryview(data[at : at + step]))
    os.close(fd)
    missing = kept.unroll(total, str(folder / "log"))
    text = (folder / "log").read_bytes()
    assert (missing, text[: min(head, total)]) == (max(0, total - head - tail), data[:head])
    assert text.endswith(data[head:][-tail:])


@pytest.mark.parametrize("number", [1, 3])
def test_run_goes_on_when_no_helper_can_be_started(number):
    """RLIMIT_NPROC of a shared login node: the job itself still runs."""
    code = (
        "import os, sys\nfrom diagnose.cli import main\nreal, calls = os.fork, []\n"
        f"def fork():\n    calls.append(1)\n    if len(calls) == {number}: raise BlockingIOError(11, 'no more')\n"
        "    return real()\nos.fork = fork\nmain(['run', '--', 'sh', '-c', 'echo runs; exit 6'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (6, b"runs\n")


def test_launchers_flags_name_its_logs_and_the_scripts_do_not():
    words = ["torchrun", "--log-dir", "logs", "--nproc-per-node=8", "train.py", "--log_dir", "tensorboard"]
    assert (launcher_of(words), log_patterns(words, "/job")) == ("torchrun", ["/job/logs"])


def test_python_m_is_read_as_the_launcher_that_it_is():
    words = ["python", "-m", "torch.distributed.run", "--log_dir=/logs", "-m", "train"]
    assert (launcher_of(words), log_patterns(words, "/job")) == ("torchrun", ["/logs"])


def test_placeholders_of_srun_match_any_name():
    assert log_patterns(["srun", "-o", "logs/%j-%3t.out", "python", "train.py"], "/job") == ["/job/logs/*-*.out"]


def test_output_of_mpirun_is_what_its_name_begins():
    assert log_patterns(["mpirun", "-n", "8", "--output-filename", "out", "./train.py"], "/job") == ["/job/out*"]


@pytest.mark.parametrize(("text", "expected"), [("90", 90.0), ("90s", 90.0), ("15m", 900.0), ("1.5h", 5400.0)])
def test_lengths_of_time_have_units(text, expected):
    assert expected == seconds(text)
