"""The reporter: a process between who asked and who reads. It holds the deadline, leaves a stub, and says where.

In: a `HookRequest` on stdin. Out: report files, lines on stderr, a post to a web hook. It never waits past the
request's deadline for anything, and whoever asked ends it shortly after.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from ..report.printable import clip, one_line
from ..report.written_files import claim_file, make_private_folder
from ..views.escapes import slack_escape
from .gather import SCAN_SUFFIX, SharedFolder, gather_inputs, plain_name
from .request import HookRequest, decode_request, encode_request, module_command, quiet_environment
from .worker import summary_lines, write_stub

WEBHOOK_S = 5.0  # for all of a post together
MOST_CHARACTERS = 12_000  # Slack cuts a message off at 40,000 and folds one far earlier; others stop at 16 KiB
_LAST_S = 0.5  # for the last lines and the stub, after the worker was ended
_SCAN_SHARE = 0.5  # of the time, when a scan for all nodes comes before the report


def report(request: HookRequest) -> None:
    """Serves one request."""
    if request.once is not None and not _is_first(request.once):
        return
    if request.interim:
        os.nice(10)
    folder = Path(request.folder or tempfile.mkdtemp(prefix="diagnose-hook-"))
    request = replace(request, folder=str(folder), reason=_public(request.reason))
    inputs, gaps = gather_inputs(request, folder)
    for gap in gaps:
        _say(request, gap)
    if not inputs:
        _begun(request, [Path(path) for path in request.outputs], (), "The job left nothing to read.")
        _say(request, f"{request.reason}; there is nothing to read")
        return
    request = replace(request, inputs=tuple(inputs))
    if request.shared:
        _report_for_all(request, folder)
    else:
        _report(request, folder, [Path(path) for path in request.outputs])


def _report(request: HookRequest, folder: Path, outputs: Sequence[Path]) -> None:
    why = "The analysis had not ended when this was written."
    outputs = _begun(request, outputs, request.inputs, why)
    targets = [folder / "report.json", folder / "report.md", *outputs]
    webhook_s = min(WEBHOOK_S, request.seconds_left() / 4) if request.webhook else 0.0
    slack = [folder / "report.slack"] if request.webhook else []
    write_stub(request, targets[:2], request.inputs, why)
    trouble = _work(replace(request, outputs=tuple(str(t) for t in (*targets, *slack))), webhook_s)
    if trouble:
        write_stub(request, targets, request.inputs, f"The analysis was not completed: {trouble}.")
        _say(request, f"no diagnosis: {trouble}")
    else:
        _say_summary(request, folder / "report.json")
    _say(request, f"report: {' '.join(str(t) for t in (outputs or [folder / 'report.md']))}")
    if request.webhook:
        _post(request, slack[0], trouble)


def _begun(request: HookRequest, outputs: Sequence[Path], inputs: Sequence[str], why: str) -> list[Path]:
    """Writes the stub to each output; yields those that can be written: a wrong one must not cost the verdict."""
    found = []
    for output in outputs:
        try:
            write_stub(request, [output], inputs, why)
        except OSError as error:
            _say(request, f"{one_line(str(output))} cannot be written: {error.strerror or error}")
        else:
            found.append(output)
    return found


def _report_for_all(request: HookRequest, folder: Path) -> None:
    """Leaves this node's scan in the shared folder; the first node there waits for the others and reports."""
    place = SharedFolder(Path(str(request.shared)), plain_name(request.label or "job"))
    scan = place.scan_of(request.node)
    trouble = _leave_scan(request, place, scan)
    if trouble:
        _say(request, f"{scan} was not written ({trouble}); reporting on this node alone")
        several = request.nodes or 2  # who asks for a shared folder has more than this one
        _report(replace(request, nodes=several), folder, [Path(path) for path in request.outputs])
        return
    if not place.claim(request.node):
        _say(request, f"left {scan}; {one_line(place.owner())} reports for all: {place.report}")
        return
    scans = place.wait_for_nodes(request.nodes, time.monotonic() + request.seconds_left() * _SCAN_SHARE)
    names = tuple(path.name.removesuffix(SCAN_SUFFIX) for path in scans)
    _say(request, f"{len(scans)} of {request.nodes or 'an unknown number of'} nodes left a scan in {place.scans}")
    whole = replace(request, inputs=tuple(str(path) for path in scans), hosts=names, nodes=request.nodes or len(scans))
    _report(whole, folder, [place.report, place.report.with_suffix(".json"), *map(Path, request.outputs)])


def _leave_scan(request: HookRequest, place: SharedFolder, scan: Path) -> str | None:
    try:
        place.make()
    except OSError as error:
        return f"{place.scans}: {error.strerror}"
    deadline = time.monotonic() + request.seconds_left() * _SCAN_SHARE
    return _work(replace(request, outputs=(str(scan),), deadline=deadline, scan=True), 0.0)


def _work(request: HookRequest, reserve_s: float) -> str | None:
    """Runs the worker until shortly before the deadline; returns what went wrong, if anything."""
    limit_s = request.seconds_left() - reserve_s - _LAST_S
    request = replace(request, deadline=time.monotonic() + limit_s)
    worker = subprocess.Popen(
        module_command("hooks.worker"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env=quiet_environment(),
    )  # fmt: skip
    try:
        _, errors = worker.communicate(encode_request(request), timeout=max(0.1, limit_s))
    except subprocess.TimeoutExpired:
        worker.kill()  # and no wait: a process that hangs in the kernel does not die
        return f"reading and deciding took longer than {max(0.1, limit_s):.0f} s"
    if worker.returncode == 0:
        return None
    last = errors.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"ended with {worker.returncode}"]
    return clip(one_line(last[0]), 300)


def _say_summary(request: HookRequest, path: Path) -> None:
    for line in summary_lines(json.loads(path.read_text(encoding="utf-8"))):
        _say(request, line)


def _post(request: HookRequest, slack: Path, trouble: str | None) -> None:
    is_there = not trouble and slack.exists()
    text = slack.read_text(encoding="utf-8") if is_there else slack_escape(f"{request.reason}: {trouble}")
    problem = post(str(request.webhook), text, max(0.5, min(WEBHOOK_S, request.seconds_left())))
    _say(request, problem or "report posted to the web hook")


# --- the web hook ------------------------------------------------------------------------------------------------


def post(address: str, text: str, limit_s: float = WEBHOOK_S) -> str | None:
    """Posts `text`; returns None, or one sentence that says why it was not taken.

    `$NAME` stands for the address in that environment variable. The address is a secret: no answer repeats its path.
    """
    if address.startswith("$"):
        address = os.environ.get(address[1:].strip("{}"), "")
    host = _host_of(address)
    if host is None:
        return "the web hook's address is not an http(s) address"
    outcome: list[str | None] = []
    # A socket's time-out starts anew with each byte, name look-ups have none at all: only another thread can be left.
    sender = threading.Thread(target=lambda: outcome.append(_send(address, text, limit_s)), daemon=True)
    sender.start()
    sender.join(limit_s)
    if not outcome:
        return f"the web hook at {host} took longer than {limit_s:g} s"
    return f"the web hook at {host} {outcome[0]}" if outcome[0] else None


def _host_of(address: str) -> str | None:
    """Yields the host of a plain address: what is odd in it may be a secret in a wrong place, and is never told."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0) and "@" not in parts.netloc
        host = parts.hostname or ""
    except ValueError:
        return None
    is_plain = address.isascii() and address.isprintable() and " " not in address
    return host if known and is_plain and re.fullmatch(r"[\w.:-]{1,253}", host) else None


def message(text: str) -> bytes:
    """Returns the body: Slack's `text`, which Mattermost, Rocket.Chat, Discord's /slack and others read too."""
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS].rsplit("\n", 1)[0] + "\n…"
        if text.count("```") % 2:
            text += "\n```"
    return json.dumps({"text": text}).encode()


def _send(address: str, text: str, limit_s: float) -> str | None:
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_about: object) -> None:
            """Follows nobody: the report is for the address that the user gave."""

    request = urllib.request.Request(
        address, data=message(text), headers={"Content-Type": "application/json", "User-Agent": "diagnose"}
    )
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=limit_s) as answer:
            answer.read(1024)
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except Exception as error:  # its text may hold the address: only what the system says of the network is passed on
        reason = getattr(error, "reason", error)
        said = reason.strerror if isinstance(reason, OSError) else None
        return f"did not take the report ({said or type(error).__name__})"
    return None


# ---


def _public(text: str) -> str:
    """The reason may quote an exception; it goes into stubs and to the web hook."""
    from ..report.redaction import redact_text

    return redact_text(one_line(text), privacy=True)


def _is_first(key: str) -> bool:
    """Whether nobody on this machine asked with this key before: eight ranks that fail together get one report."""
    folder = Path(tempfile.gettempdir()) / f"diagnose-{os.getuid()}"
    try:
        make_private_folder(folder)
        return claim_file(folder / f"once-{plain_name(key)}")
    except OSError:
        return True  # better eight reports than none because somebody took our name


def _say(request: HookRequest, text: str) -> None:
    print(f"{request.who}: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Serves the request on stdin; nothing that goes wrong here is anybody else's failure."""
    request = decode_request(sys.stdin.buffer.read())
    try:
        report(request)
    except Exception as error:  # a hook never fails
        _say(request, f"no report: {type(error).__name__}: {clip(one_line(str(error)), 300)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
