"""What a secret and what a private item looks like: rows of `secret_kinds.yaml`, all of them linear in the text.

In: one line of text (terminal sequences blanked). Out: where the items stand, and of which kind they are.
What only looks alike stays: `max_tokens=4096`, git hashes, versions, `user@host:`, pod names, shapes.
"""

from __future__ import annotations

import ipaddress
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record


@record
class Found:
    """An item to replace, in characters of the text."""

    start: int
    end: int
    kind: str


_FILE = Path(__file__).with_name("secret_kinds.yaml")
_GAP0 = r"[ \t\x00]{0,4}"
_GAP = r"[ \t\x00]{1,4}"
_BEGIN = r"(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}))"
_SHORTHANDS = {"<gap0>": _GAP0, "<gap>": _GAP, "<begin>": _BEGIN}


@record
class _Kinds:
    """The file's rows, ready to be looked for."""

    token: re.Pattern[str]
    tokens: tuple[str, ...]
    contexts: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]
    names: dict[str, frozenset[str]]
    glued: tuple[str, ...]


@cache
def _kinds() -> _Kinds:
    rows = tables(_FILE)
    groups = "|".join(f"(?P<t{i}>{pattern})" for i, pattern in enumerate(rows["tokens"].values()))
    names = {key: frozenset(words.split()) for key, words in rows["names"].items()}
    passes = {f"{who}{between}pass" for who in names["pass-of"] for between in ("", " ")}
    return _Kinds(
        lazy(rf"{_BEGIN}(?:{groups})"),
        tuple(rows["tokens"]),
        tuple((kind, tuple(near.split()) or ("",), lazy(_written_out(found))) for kind, near, found in rows["contexts"]),
        {**names, "pass-of": frozenset(passes), "telling": names["always"] | names["when-random"] | {"key", "pwd"}},
        tuple(rows["names"]["glued"].split()),
    )


_VALUE = lazy(r"\\{0,4}(?:\"([^\"\n\\]{1,4000})|'([^'\n\\]{1,4000})|([^\s\"',;&)}\]\\\x00]{1,4000}))")
# "HF_TOKEN=…", "'api_key': '…'", "\"password\": \"…\"", "--hf-token …", "['--hf-token', '…']"
_NAMED = lazy(
    rf"(?:(?<![A-Za-z0-9_.])|(?<=%[0-9A-Fa-f]{{2}}))(?:(?P<n>-{{0,2}}[A-Za-z_][\w.-]{{0,80}})\\{{0,4}}[\"']?{_GAP0}(?:=>|[:=]|%3[ADad]){_GAP0}"
    rf"|--(?P<f>[a-z][\w-]{{0,60}})(?:{_GAP}|[\"'],[ ]?(?=[\"']))(?!-))"
)
_NAMED_GATE = lazy(r"(?i)pass|pwd|secret|token|key|cred|auth|sig|cookie")
_WORDS = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Unset, a reference, a placeholder, a call: "token: None", "$HF_TOKEN", "<pad>", "****", "getpass()".
_NO_VALUE = lazy(
    r"(?i)(?:none|null|nil|true|false|yes|no|not|unset|undefined|str|string|bool|optional|required|missing|invalid"
    r"|empty|is|was|\[?redacted\]?|x+|\*+|\.+|-+|(?:self|args|config)\..*|os\.environ.*)$"
    r"|[<$%{(\[]|[\w.]{1,100}\("
)
_RANDOM = lazy(r"(?=[A-Za-z+/=_.~%-]{0,200}\d)(?=[\d+/=_.~%-]{0,200}[A-Za-z])[\w+/=.~%-]{16,4000}$")
_SHORT = lazy(r"(?=[^\s\d]{0,100}\d)(?=[^\sA-Za-z]{0,100}[A-Za-z])\S{5,4000}$")
_LEAST_KEY = 4  # characters
_BROKEN = lazy(
    r"(?<![A-Za-z0-9_])(?P<first>[A-Za-z0-9]{2,20}[_.-][\w.+/=-]{0,300})[ \t]{0,4}\n[ \t]{0,8}(?P<second>[\w.+/=-]{1,300})"
)
_HOME = lazy(r"(?i)(?:/(?:home|users)/|[a-z]:\\{1,2}users\\{1,2})(?P<x>[\w.-]{1,64})")
# Accounts that come with an image, and folders beside homes, say nothing about a person.
_NOBODY = frozenset(
    """
    admin app azureuser centos circleci conda data debian default ec2-user jovyan mambauser nobody opc public ray root
    runner shared slurm ubuntu user users vscode work worker workspace
    """.split()  # noqa: SIM905
)
_EMAIL = lazy(
    r"(?<![\w.%+@/:-])(?P<x>[A-Za-z0-9][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}(?P<tld>[A-Za-z]{2,24}))(?![\w@-])"
    r"(?!:[^\s]|[$#%]|\.[A-Za-z0-9])"
)
_INSIDE = frozenset(
    {"cluster", "compute", "corp", "home", "internal", "intranet", "lan", "local", "localdomain", "py", "so", "svc"}
)
_IPV4 = lazy(r"(?<![\w.])(?P<x>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w+]|\.\d|-\w)")
_IPV6 = lazy(r"(?<![\w:.])(?P<x>[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{2,40})(?![\w.]|:\w)")
# "nvidia-cudnn-cu12==8.9.2.26", "cuDNN version 8.9.2.26", "v1.2.3.4"
_VERSION_BEFORE = lazy(
    r"(?i)(?:[=<>~!@]=|version|ver|cudnn|cuda|nccl|driver|release|build|firmware|fw)[\"':=( \t]{0,4}$|[v_-]$"
)


def _written_out(pattern: str) -> str:
    for short, long in _SHORTHANDS.items():
        pattern = pattern.replace(short, long)
    return pattern


def find_secrets(text: str) -> Iterator[Found]:
    """Yield what must never be shown; overlaps are possible, earlier rows are the more specific."""
    kinds = _kinds()
    for match in kinds.token.finditer(text):
        if _kind_of(match) != "encoded-token" or not _is_only_numbers(match[0]):
            yield Found(match.start(), match.end(), _kind_of(match))
    yield from _find_wrapped(text)
    small = text.lower()
    for kind, near, pattern in kinds.contexts:
        if any(word in small for word in near):
            yield from (Found(*match.span("x"), kind) for match in pattern.finditer(text))
    if not _NAMED_GATE.search(text):
        return
    for match in _NAMED.finditer(text):  # names only, since a value may hold names: "https://x?access_token=…"
        name = match["n"] or match["f"]
        value = _VALUE.match(text, match.end()) if _telling_words(name)[-1:] else None
        named = secret_kind(name, value[value.lastindex or 0]) if value else None
        if value and named:
            yield Found(*value.span(value.lastindex or 0), named)


def _kind_of(match: re.Match[str]) -> str:
    return _kinds().tokens[int((match.lastgroup or "t0")[1:])]


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
    for broken in _BROKEN.finditer(text):
        first, second = broken.span("first"), broken.span("second")
        token = _kinds().token.match(broken["first"] + broken["second"])
        if token and not _kinds().token.match(broken["first"]):
            yield Found(*first, _kind_of(token))
            yield Found(second[0], second[0] + token.end() - len(broken["first"]), _kind_of(token))


def secret_kind(name: str, value: str) -> str | None:
    """Yield what kind of secret a value of this name is; None where it is none (`max_tokens=4096`)."""
    words, names = _telling_words(name), _kinds().names
    if not words or _NO_VALUE.match(value):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in names["always"] or (last == "pwd" and not value.startswith(("/", "~"))):
        return "secret" if "secret" in last else "password" if last.startswith("pass") or last == "pwd" else "credential"
    if last == "key" and before in names["key-of"]:
        return f"{before}-key" if len(value) >= _LEAST_KEY else None
    is_named = last == "token" and (before in names["token-of"] or name.startswith("--"))
    if last in names["when-random"] and (_RANDOM.match(value) or (is_named and _SHORT.match(value))):
        return "token"
    return None


def _telling_words(name: str) -> list[str]:
    """Yield the words of a name that may be a secret's, what is glued to the last one cut off; none of any other name."""
    words = [w.lower() for w in _WORDS.findall(name)]
    if words[-1:] == ["id"] and words[-3:-1] == ["access", "key"]:
        words.pop()  # "access_key_id", one half of the pair
    names = _kinds().names
    if not words or words[-1] in names["telling"]:
        return words
    if words[-1] in names["pass-of"] or " ".join(words[-2:]) in names["pass-of"]:
        return ["password"]
    glued = next((end for end in _kinds().glued if words[-1].endswith(end)), None)
    return [glued] if glued else []


def find_private(text: str) -> Iterator[Found]:
    """Yield e-mail addresses, user names in home folders and public addresses."""
    for match in _HOME.finditer(text):
        if match["x"].lower() not in _NOBODY:
            yield Found(*match.span("x"), "user")
    for match in _EMAIL.finditer(text):
        if match["tld"].lower() not in _INSIDE:
            yield Found(*match.span("x"), "email")
    for match in _IPV4.finditer(text):
        if _is_public(match["x"]) and not _VERSION_BEFORE.search(text, max(0, match.start() - 16), match.start()):
            yield Found(*match.span("x"), "ip")
    for match in _IPV6.finditer(text):
        if _is_public(match["x"]):
            yield Found(*match.span("x"), "ip")


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:  # "2.999.1.1", "2024:10:12"
        return False
