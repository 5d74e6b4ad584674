"""What a secret and what a private item looks like: rows of `secret_kinds.yaml`, all of them linear in the text.

What only looks alike stays: `max_tokens=4096`, git hashes, versions, `user@host:`, pod names, shapes.
"""

from __future__ import annotations

import ipaddress
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy


class Found(NamedTuple):
    """An item to replace, in characters of the text."""

    start: int
    end: int
    kind: str


_FILE = Path(__file__).with_name("secret_kinds.yaml")
_ROWS = tables(_FILE)
_GAP0 = r"[ \t\x00]{0,4}"
_GAP = r"[ \t\x00]{1,4}"
_BEGIN = r"(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}))"
_LEAST_KEY = 4  # characters


def _written_out(pattern: str) -> re.Pattern[str]:
    return lazy(pattern.replace("<gap0>", _GAP0).replace("<gap>", _GAP).replace("<begin>", _BEGIN))


_FORMS = {name: _written_out(pattern) for name, pattern in _ROWS["patterns"].items()}
_NAMES = {key: frozenset(words.split()) for key, words in _ROWS["names"].items()}
_TELLING = _NAMES["always"] | _NAMES["when-random"] | {"key", "pwd"}
_PASSES = {f"{who}{between}pass" for who in _NAMES["pass-of"] for between in ("", " ")}
_TOKENS: list[str] = list(_ROWS["tokens"])
_TOKEN = lazy(rf"{_BEGIN}(?:{'|'.join(f'(?P<t{i}>{pattern})' for i, pattern in enumerate(_ROWS['tokens'].values()))})")
_PRIVATE = [(kind, lazy(pattern)) for kind, pattern in _ROWS["private"]]
_CONTEXTS = [(kind, near.split() or [""], _written_out(found)) for kind, near, found in _ROWS["contexts"]]
_LINE = lazy(r"[^\n]+")


def find_secrets(text: str) -> Iterator[Found]:
    """Yield what must never be shown; overlaps are possible, earlier rows are the more specific."""
    yield from _key_blocks(text)
    for match in _TOKEN.finditer(text):
        if _kind_of(match) != "encoded-token" or not _is_only_numbers(match[0]):
            yield Found(*match.span(), _kind_of(match))
    yield from _find_wrapped(text)
    small = text.lower()
    for kind, near, pattern in _CONTEXTS:
        if any(word in small for word in near):
            yield from (Found(*match.span("x"), kind) for match in pattern.finditer(text))
    if not _FORMS["named_gate"].search(text):
        return
    for match in _FORMS["named"].finditer(text):  # names only, since a value may hold names: "https://x?access_token=…"
        name = match["n"] or match["f"]
        value = _FORMS["value"].match(text, match.end()) if _telling_words(name)[-1:] else None
        named = secret_kind(name, value[value.lastindex or 0]) if value else None
        if value and named:
            yield Found(*value.span(value.lastindex or 0), named)


def _key_blocks(text: str) -> Iterator[Found]:
    """Each line of a private key, also where the block's begin or end is not shown."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key" not in text:
        return
    done = 0
    for end in [*(m.end() for m in _FORMS["key_end"].finditer(text)), None]:
        stop = len(text) if end is None else end
        if begin := _FORMS["key_begin"].search(text, done, stop):
            yield from (Found(*m.span(), "private-key") for m in _LINE.finditer(text, begin.start(), stop))
        elif end is not None:
            yield from (Found(*m.span(), "private-key") for m in _FORMS["key_body"].finditer(text, done, stop))
        done = stop


def _kind_of(match: re.Match[str]) -> str:
    return _TOKENS[int((match.lastgroup or "t0")[1:])]


def _is_only_numbers(encoded: str) -> bool:
    """Tell whether a base64 object holds no text but its keys: DeepSpeed's `--world_info=` counts the GPUs of hosts."""
    try:
        held = [json.loads(b64decode(encoded + "==", b"-_" if "-" in encoded or "_" in encoded else None))]
    except (ValueError, RecursionError):
        return False
    for value in held:
        if isinstance(value, str):
            return False
        held += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return True


def _find_wrapped(text: str) -> Iterator[Found]:
    """Yield the parts of a token that a terminal broke: it is one only with the line below."""
    for broken in _FORMS["broken"].finditer(text):
        first, second = broken.span("first"), broken.span("second")
        token = _TOKEN.match(broken["first"] + broken["second"])
        if token and not _TOKEN.match(broken["first"]):
            yield Found(*first, _kind_of(token))
            yield Found(second[0], second[0] + token.end() - len(broken["first"]), _kind_of(token))


def secret_kind(name: str, value: str) -> str | None:
    """Yield what kind of secret a value of this name is; None where it is none (`max_tokens=4096`)."""
    words = _telling_words(name)
    if not words or _FORMS["no_value"].match(value):
        return None
    before, last = ["", *words][-2:]
    if last in _NAMES["always"] or (last == "pwd" and not value.startswith(("/", "~"))):
        return "secret" if "secret" in last else "password" if last.startswith("pass") or last == "pwd" else "credential"
    if last == "key" and before in _NAMES["key-of"]:
        return f"{before}-key" if len(value) >= _LEAST_KEY else None
    is_named = last == "token" and (before in _NAMES["token-of"] or name.startswith("--"))
    if last in _NAMES["when-random"] and (_FORMS["random"].match(value) or (is_named and _FORMS["short"].match(value))):
        return "token"
    return None


def _telling_words(name: str) -> list[str]:
    """Yield the words of a name that may be a secret's, what is glued to the last one cut off; none of any other name."""
    words = [w.lower() for w in _FORMS["words"].findall(name)]
    if words[-1:] == ["id"] and words[-3:-1] == ["access", "key"]:
        words.pop()  # "access_key_id", one half of the pair
    if not words or words[-1] in _TELLING:
        return words
    if words[-1] in _PASSES or " ".join(words[-2:]) in _PASSES:
        return ["password"]
    return [end for end in _NAMES["glued"] if words[-1].endswith(end)][:1]


def find_private(text: str) -> Iterator[Found]:
    """Yield e-mail addresses, user names in home folders and public addresses."""
    for kind, pattern in _PRIVATE:
        for match in pattern.finditer(text):
            if kind == "ip":
                before = _FORMS["version_before"].search(text, max(0, match.start() - 16), match.start())
                is_one = _is_public(match["x"]) and not (before and "." in match["x"])
            else:
                is_one = match["k"].lower() not in _NAMES[f"no-{kind}"]
            if is_one:
                yield Found(*match.span("x"), kind)


def _is_public(address: str) -> bool:
    with suppress(ValueError):  # "2.999.1.1", "2024:10:12"
        return ipaddress.ip_address(address).is_global
    return False
