"""The web hook: a report posted to a Slack-compatible address, within a few seconds, and nothing said of the address."""

from __future__ import annotations

import json
import os
import re
import threading
import urllib.error
import urllib.request
from urllib.parse import urlsplit

WEBHOOK_S = 5.0  # for all of a post together
MOST_CHARACTERS = 12_000  # Slack cuts a message off at 40,000 and folds one far earlier; others stop at 16 KiB


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_about: object) -> None:
        """Follows nobody: the report is for the address that the user gave."""


def post(address: str, text: str, limit_s: float = WEBHOOK_S) -> str | None:
    """Posts `text`; returns None, or one sentence that says why it was not taken. `$NAME` stands for the address in that
    environment variable. The address is a secret: no answer repeats its path."""
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
    headers = {"Content-Type": "application/json", "User-Agent": "diagnose"}
    request = urllib.request.Request(address, data=message(text), headers=headers)
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=limit_s) as answer:
            answer.read(1024)
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except Exception as error:  # its text may hold the address: only what the system says of the network is passed on
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            return f"took longer than {limit_s:g} s"
        said = reason.strerror if isinstance(reason, OSError) else None
        return f"did not take the report ({said or type(error).__name__})"
    return None
