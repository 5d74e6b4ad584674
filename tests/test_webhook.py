"""The web hook against a server on the loopback interface."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from diagnose.hooks.reporter import report
from diagnose.hooks.request import Config, HookRequest
from diagnose.hooks.webhook import MOST_CHARACTERS, message, post


@pytest.fixture
def server():
    """A server that notes what it gets; `answer` decides what it does."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            listening.got.append((self.headers["Content-Type"], json.loads(body)))
            listening.answer(self)

        def log_message(self, *_words):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    listening.block_on_close = False
    listening.got = []
    listening.answer = lambda handler: status(handler, 200)
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    listening.address = f"http://127.0.0.1:{listening.server_port}/services/T0/B0/secret"
    listening.left = threading.Event()
    yield listening
    listening.left.set()
    listening.shutdown()
    listening.server_close()


def status(handler, code, body=b"ok"):
    handler.send_response(code)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def moved(handler, address):
    handler.send_response(302)
    handler.send_header("Location", address)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def drip(handler):
    """One byte now and then: no socket time-out ever fires."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.server.left.wait(0.02):
        try:
            handler.wfile.write(b".")
        except OSError:
            return


def test_report_arrives_as_slacks_json(server):
    assert post(server.address, "rank 3 ran out of memory") is None
    assert server.got == [("application/json", {"text": "rank 3 ran out of memory"})]


def test_address_may_stand_in_the_environment(server, monkeypatch):
    monkeypatch.setenv("SLACK_URL", server.address)
    assert [post("$SLACK_URL", "x"), post("${SLACK_URL}", "x")] == [None, None]


def test_refusal_is_told(server):
    server.answer = lambda handler: status(handler, 404)
    assert post(server.address, "x") == "the web hook at 127.0.0.1 answered 404"


@pytest.mark.parametrize("answer", [drip, lambda handler: handler.server.left.wait(60)])
def test_slow_server_costs_no_more_than_the_limit(server, answer):
    server.answer = answer
    assert "took longer than 0.2 s" in str(post(server.address, "x", limit_s=0.2))
    assert not server.left.is_set()  # it would still answer


def test_server_that_is_not_there_is_told():
    assert "did not take the report" in str(post("http://127.0.0.1:9/secret", "x"))


def test_the_report_goes_nowhere_else(server):
    server.answer = lambda handler: moved(handler, f"http://127.0.0.1:{server.server_port}/elsewhere")
    assert post(server.address, "x") == "the web hook at 127.0.0.1 answered 302"
    assert len(server.got) == 1


def test_an_answer_that_is_no_http_is_one_line(server, capfd):
    server.answer = lambda handler: handler.wfile.write(b"secret\r\n\r\n")
    assert post(server.address, "x") == "the web hook at 127.0.0.1 did not take the report (BadStatusLine)"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "$NO_SUCH_VARIABLE", "http://[::1", "http://h:secret/x", "https://mei:secret@h/x",
     "http://h/a b\nsecret", "http://h:99999999/x", "http:///secret"],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(address):
    assert post(address, "x") == "the web hook's address is not an http(s) address"


def test_long_text_is_cut_at_a_line_and_its_fence_closed():
    text = "```\n" + "line\n" * MOST_CHARACTERS
    sent = json.loads(message(text))["text"]
    assert (len(sent) <= MOST_CHARACTERS + 10, sent[-9:]) == (True, "line\n…\n```"[-9:])


def test_an_exceptions_text_calls_nobody_where_there_is_no_report(server, tmp_path):
    (tmp_path / "rank0.log").write_text("step 1\n")
    report(HookRequest(
        "ValueError: <!channel>", time.monotonic() + 60, folder=str(tmp_path), inputs=(str(tmp_path / "rank0.log"),),
        config=Config(rules=(str(tmp_path / "<x>"),), webhook=server.address),
    ))  # fmt: skip
    text = server.got[0][1]["text"]
    assert (text.startswith("ValueError: &lt;!channel&gt;: RuleError: "), "<" in text) == (True, False)
