"""What a secret and what a private item looks like: one row per kind, all of them linear in the text.

In: one line of text (terminal sequences blanked). Out: where the items stand, and of which kind they are.
What only looks alike stays: `max_tokens=4096`, git hashes, versions, `user@host:`, pod names, shapes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from ..lines.lazy_pattern import lazy
from ..lines.record import record


@record
class Found:
    """An item to replace, in characters of the text."""

    start: int
    end: int
    kind: str


# Tokens that name their issuer by a prefix: no context is needed.
_TOKENS: tuple[tuple[str, str], ...] = (
    ("hugging-face-token", r"(?:hf|api_org)_[A-Za-z0-9]{30,200}"),
    ("anthropic-key", r"sk-ant-[\w-]{20,300}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,300}|sk-[A-Za-z0-9]{20,200}"),
    ("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255}"),
    ("gitlab-token", r"gl(?:pat|rt|dt|ptt|cbt|soat)-[\w-]{20,200}"),
    ("wandb-key", r"wandb_v\d_\w{20,200}|local-[0-9a-f]{40}(?![0-9a-f])"),
    ("slack-token", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,200}|xapp-[A-Za-z0-9-]{20,200}"),
    ("google-key", r"AIza[\w-]{35}|ya29\.[\w-]{20,2000}|GOCSPX-[\w-]{20,60}"),
    ("stripe-key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}"),
    ("jwt", r"eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,2000})?"),
    ("encoded-token", r"eyJ[A-Za-z0-9+/_-]{40,4000}={0,2}"),  # base64 of a JSON object: Neptune, Docker, Grafana
    ("package-token", r"npm_[A-Za-z0-9]{36,100}|pypi-[\w-]{50,300}|dckr_pat_[\w-]{20,100}"),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,100}"),
    (
        "cloud-key",
        r"AKLT[A-Za-z0-9+/=_-]{12,60}|LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{13,40}|do[opr]_v1_[0-9a-f]{64}"
        r"|dapi[0-9a-f]{32}",
    ),
    (
        "api-key",
        r"nvapi-[\w-]{40,200}|gsk_[A-Za-z0-9]{40,100}|xai-[A-Za-z0-9]{60,100}|r8_[A-Za-z0-9]{37,60}"
        r"|hv[sb]\.[\w-]{20,300}|SG\.[\w-]{22}\.[\w-]{43}|fw_[A-Za-z0-9]{20,60}|pplx-[A-Za-z0-9]{40,80}",
    ),
)
_TOKEN = lazy("(?<![A-Za-z0-9_])(?:" + "|".join(f"(?P<t{i}>{p})" for i, (_, p) in enumerate(_TOKENS)) + ")")
_GAP0 = r"[ \t\x00]{0,4}"
_GAP = r"[ \t\x00]{1,4}"


def _context(kind: str, *pattern: str) -> tuple[str, re.Pattern[str]]:
    return kind, re.compile("".join(pattern))


_IN_CONTEXT: tuple[tuple[str, re.Pattern[str]], ...] = (
    # "postgres://mei:hunter2@db:5432", also with an @ in the password
    _context("password", r"(?<=://)[^\s/:@\"'<>]{0,200}:(?P<x>[^\s/\"'<>\x00]{1,300})@"),
    # "https://0123456789abcdef@gitlab.example/x.git"
    _context("token", r"(?<=://)(?P<x>[A-Za-z0-9_-]{20,200})@"),
    # "Authorization: Basic dXNlcjpwYXNz", "'authorization': 'Bearer x'", "('authorization', 'Bearer x')"
    _context(
        "credential",
        rf"(?i:authorization)\\?[\"']?{_GAP0}[:=,]{_GAP0}\\?[\"']?(?:[A-Za-z]{{1,16}}[ ])?",
        r"(?P<x>[^\s\"'\\,;]{4,4000})",
    ),
    # "Bearer 3f9c..." anywhere
    _context("credential", rf"(?i:bearer){_GAP}", r"(?P<x>(?=[A-Za-z._~+/=-]{0,200}\d)[\w.~+/=-]{12,4000})"),
    # "machine api.wandb.ai login user password 0123..." (netrc)
    _context("password", rf"login{_GAP}\S{{1,100}}{_GAP}password{_GAP}(?P<x>\S{{1,300}})"),
    # "wandb login 0123...", "API key provided: 3f..."
    _context("wandb-key", rf"wandb{_GAP}login{_GAP}", r"(?:--\S{1,40}[ ]){0,4}(?P<x>[0-9a-f]{40})"),
    _context(
        "api-key",
        rf"(?i:api[ _-]?key)(?:{_GAP}[a-z]{{1,12}}){{0,3}}{_GAP0}[:=]{_GAP0}",
        r"[\"'`]?(?P<x>[\w*.-]{16,300})",
    ),
    # "curl -u mei:hunter2 …"; "docker run -u 1000:1000" is none
    _context("password", rf"(?:-u|--user){_GAP}", r"[\"']?[A-Za-z][\w.@-]{0,60}:(?P<x>[^\s\"'\x00]{3,200})"),
    # "sshpass -p hunter2 ssh node1", "docker login -u mei -p hunter2"
    _context(
        "password",
        rf"(?:sshpass|\blogin)(?:{_GAP}(?!-p)[^\s|;&]{{1,100}}){{0,8}}{_GAP}-p[ ]?",
        r"[\"']?(?P<x>[^\s\"']{3,200})",
    ),
    # {"username":"mei","key":"0123…"} (kaggle.json)
    _context("api-key", r"\"username\":[ ]?\"[^\"\n]{1,100}\",[ ]?\"key\":[ ]?\"(?P<x>[0-9a-f]{32})\""),
    # "('x-api-key', '9f8e7d6c5b4a')": a header as a pair
    _context("api-key", r"(?i:api-?key)[\"'],[ ]?[\"'](?P<x>[^\s\"']{6,300})"),
    # Webhooks are secrets as a whole: whoever has the address can post.
    _context("webhook", r"(?P<x>hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{8,200})"),
    _context("webhook", r"(?P<x>discord(?:app)?\.com/api/webhooks/[\w/-]{8,200})"),
    _context("webhook", r"(?P<x>[\w.-]{0,60}webhook\.office\.com/[\w/@-]{8,300})"),
    _context("webhook", r"(?P<x>api\.telegram\.org/bot\d{5,20}:[\w-]{20,100})"),
    _context("webhook", r"(?P<x>open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[\w-]{8,100})"),
    _context("webhook", r"(?P<x>qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[\w-]{8,100})"),
)
_VALUE = lazy(r"\\{0,4}(?:\"([^\"\n\\]{1,4000})|'([^'\n\\]{1,4000})|([^\s\"',;&)}\]\\\x00]{1,4000}))")
# "HF_TOKEN=…", "'api_key': '…'", "\"password\": \"…\"", "--hf-token …", "['--hf-token', '…']"
_NAMED = lazy(
    rf"(?<![A-Za-z0-9_.])(?:-{{0,2}}(?P<n>[A-Za-z_][\w.-]{{0,80}})\\{{0,4}}[\"']?{_GAP0}(?:=>|[:=]){_GAP0}"
    rf"|--(?P<f>[a-z][\w-]{{0,60}})(?:{_GAP}|[\"'],[ ]?(?=[\"']))(?!-))"
)
_NAMED_GATE = lazy(r"(?i)pass|pwd|secret|token|key|cred|auth|sig|cookie")
_WORDS = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ALWAYS = frozenset({"password", "passwd", "passphrase", "passcode", "secret", "apikey", "credential", "credentials"})
_KEYS = frozenset(
    {"access", "account", "api", "auth", "encryption", "master", "private", "secret", "shared", "signing", "storage"}
    | {"subscription"}
    | {"anthropic", "azure", "comet", "dashscope", "gemini", "kaggle", "ngc", "openai", "swanlab", "wandb"}  # whose it is
)
# "DB_PASS=hunter2", "SSHPASS=…"; "forward_pass=3.2" is none
_PASS_OF = frozenset({"admin", "db", "ftp", "ldap", "mail", "mysql", "pg", "proxy", "redis", "root", "smtp", "ssh", "user"})
_PASSES = frozenset({f"{who}pass" for who in _PASS_OF} | {f"{who} pass" for who in _PASS_OF})
_GLUED = ("password", "passwd", "passphrase", "secret")  # "PGPASSWORD", "dbpassword", "CLIENTSECRET": one word to us
_WHEN_RANDOM = frozenset({"token", "auth", "sig", "signature", "cookie", "pat", "authtoken", "accesstoken"})
_TELLING = _ALWAYS | _WHEN_RANDOM | {"key", "pwd"}
# Unset, a reference, a placeholder, a call: "token: None", "$HF_TOKEN", "<pad>", "****", "getpass()".
_NO_VALUE = lazy(
    r"(?i)(?:none|null|nil|true|false|yes|no|not|unset|undefined|str|string|bool|optional|required|missing|invalid"
    r"|empty|is|was|\[?redacted\]?|x+|\*+|\.+|-+|(?:self|args|config)\..*|os\.environ.*)$"
    r"|[<$%{(\[]|[\w.]{1,100}\("
)
_RANDOM = lazy(r"(?=[A-Za-z+/=_.~%-]{0,200}\d)(?=[\d+/=_.~%-]{0,200}[A-Za-z])[\w+/=.~%-]{16,4000}$")
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


def find_secrets(text: str) -> Iterator[Found]:
    """Yield what must never be shown; overlaps are possible, earlier rows are the more specific."""
    for match in _TOKEN.finditer(text):
        kind = _TOKENS[int((match.lastgroup or "t0")[1:])][0]
        yield Found(match.start(), match.end(), kind)
    for kind, pattern in _IN_CONTEXT:
        for match in pattern.finditer(text):
            yield Found(*match.span("x"), kind)
    if not _NAMED_GATE.search(text):
        return
    for match in _NAMED.finditer(text):  # names only, since a value may hold names: "https://x?access_token=…"
        name = match["n"] or match["f"]
        value = _VALUE.match(text, match.end()) if _telling_words(name)[-1:] else None
        named = secret_kind(name, value[value.lastindex or 0]) if value else None
        if value and named:
            yield Found(*value.span(value.lastindex or 0), named)


def secret_kind(name: str, value: str) -> str | None:
    """Yield what kind of secret a value of this name is; None where it is none (`max_tokens=4096`)."""
    words = _telling_words(name)
    if not words or _NO_VALUE.match(value):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _ALWAYS or (last == "pwd" and not value.startswith(("/", "~"))):
        return "secret" if "secret" in last else "password" if last.startswith("pass") or last == "pwd" else "credential"
    if last == "key" and before in _KEYS:
        return f"{before}-key" if len(value) >= 6 else None
    if last in _WHEN_RANDOM and _RANDOM.match(value):
        return "token"
    return None


def _telling_words(name: str) -> list[str]:
    """Yield the words of a name that may be a secret's, what is glued to the last one cut off; none of any other name."""
    words = [w.lower() for w in _WORDS.findall(name)]
    if not words or words[-1] in _TELLING:
        return words
    if words[-1] in _PASSES or " ".join(words[-2:]) in _PASSES:
        return ["password"]
    glued = next((end for end in _GLUED if words[-1].endswith(end)), None)
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
