"""A headless Chromium, driven over its debugging pipe with the standard library only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any


def find_chromium() -> str | None:
    """Yield the browser's path; None where none is installed."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


class Browser:
    """One browser with one page; what the page logged and asked for is kept."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"]
        command += ["--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"]
        command += [f"--user-data-dir={self._folder.name}", "--window-size=1200,1000", "about:blank"]
        # The browser reads file descriptor 3 and writes file descriptor 4; the shell moves ours there.
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, *command],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and yield its result; events on the way are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def open(self, path: Path) -> None:
        """Load a page and wait until it is there."""
        self.complaints, self.requests = [], []
        self.call("Page.navigate", url=path.as_uri())
        for _ in range(200):
            if self.evaluate("document.readyState") == "complete" and self.evaluate("location.href") == path.as_uri():
                return
        raise RuntimeError(f"{path} did not load")

    def evaluate(self, expression: str) -> Any:
        """Yield the value of a script in the page, after the next frame."""
        wrapped = f"new Promise(done => setTimeout(() => done(({expression})), 10))"
        answer = self.call("Runtime.evaluate", expression=wrapped, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._keep(message.get("method", ""), message.get("params", {}))
        return message

    def _keep(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(str(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
