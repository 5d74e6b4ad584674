"""What a file holds, from its name and its first bytes: pure functions, nothing is opened here.

In: the first few KiB of a decoded stream and its name. Out: a `Kind`, the compression or container around it, its
encoding, and for what is not worth reading a reason in plain words.
"""

from __future__ import annotations

import re
from typing import Literal

from ..lines.lazy_pattern import lazy
from .exports import ANSWER

Kind = Literal[
    "text", "markdown", "table", "notebook", "page", "loki", "recorder", "scan", "json-error", "json-stacks", "context",
    "code", "prose", "binary",
]  # fmt: skip
LINES: frozenset[Kind] = frozenset(["text", "markdown", "table", "notebook", "page", "loki"])  # hold a log in some form
Compression = Literal["gzip", "bzip2", "xz", "zstd"]
Container = Literal["tar", "zip", "sections"]  # the last: the text that `tail` prints of several files
Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]

SHORT_BYTES = 64
PEEK_BYTES = 4096  # enough for every magic below and for the first keys of a dump

_COMPRESSIONS: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_SKIPPABLE_ZSTD = lazy(rb"[\x50-\x5f]\x2a\x4d\x18")  # pzstd writes such a frame first
_BZIP2 = lazy(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # a log may well begin with "BZh"

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the second: one without members
# Zip archives that are one document, checkpoint or package, not a folder of logs.
_ZIP_DOCUMENTS = (".pt", ".pth", ".ckpt", ".bin", ".npz", ".whl", ".egg", ".jar", ".docx", ".xlsx", ".keras")

_MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a program, library or core dump"),
    (b"\x89PNG", "an image"),
    (b"GIF8", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"%PDF-", "a PDF"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"GGUF", "a model in GGUF form"),
    (b":W&B", "a wandb run file"),
    (b"\x00asm", "a WebAssembly module"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive, which is not opened"),
    (b"Rar!\x1a", "a RAR archive, which is not opened"),
)
_SAFETENSORS = lazy(rb"[\x00-\xff]{5}\x00{3}\{\"")  # 8 bytes of header length, then a JSON header

_CODE = frozenset(
    [".py", ".pyi", ".pyx", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".rs", ".go", ".js",
     ".ts", ".java", ".scala", ".rb", ".lua", ".diff", ".patch", ".cmake", ".proto", ".css", ".j2"]
)  # fmt: skip
_PROSE = frozenset([".rst", ".tex", ".adoc"])
_PROSE_NAMES = lazy(  # `changelog.Debian.gz`, `NEWS`, `torch-2.9.dist-info/METADATA`: they quote whole tracebacks
    r"(?:changelog(?:\.debian)?|changes|news|readme|licen[cs]e|copying|copyright|authors|thanks|metadata|pkg-info)"
    r"(?:\.(?:txt|html?|\d{1,2}))?(?:\.(?:gz|bz2|xz|zst))?$",
    re.I,
)
# our own catalogue, and a user's: every example in it is a message, and none was printed by a run
_RULE = lazy(rb"(?m)^title: [\x00-\xff]{0,3600}^(?:role|means|counter_examples): ")
_MARKDOWN = frozenset([".md", ".markdown", ".mdx"])
_CONTEXT = frozenset(
    [".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".lsf", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".json",
     ".json5", ".env", ".properties"]
)  # fmt: skip
_FRONT_MATTER = lazy(rb"---\r?\n(?:[\w-]{1,40}:[^\n]{0,300}\n){1,40}---\s")  # Jekyll, Hugo, Docusaurus; no issue begins so
# `kubectl get pod -o yaml|json` is a report of what happened (`reason: OOMKilled`), not a configuration.
_KUBERNETES = lazy(rb"(?m)^ {0,8}\"?kind\"?: ?\"?(?:Pod|Event|Node|List|PodList|EventList|NodeList)\b")
_JSON_LOG = lazy(rb"\s{0,16}\{[^\n]{0,4000}\"(?:log|message|msg|MESSAGE|line|text|event)\" ?: ?(?:\"|\[\d)")
# `gcloud logging read --format=json`, `aws logs get-log-events`: an array of records, each over many lines
_JSON_EXPORT = lazy(rb'(?m)^[ \t]{2,24}"(?:textPayload": "|ingestionTime": \d)')
_RAS = lazy(rb'\{\s{0,16}"nccl_version": ?"[^{\[]{0,400}"communicators(?:_count)?"')  # ncclras: a rule reads its lines
_JSON_STACKS = lazy(rb"\[\s{0,16}\{\s{0,16}\"(?:pid|thread_id|thread_name)\"")  # `py-spy dump --json`
_RECORDER_KEYS = (  # of PyTorch 2.2 the last but one: there the dump is a bare list of entries
    b"pg_config", b"pg_status", b"nccl_version", b"comm_lib_version", b"nccl_comm_state", b"profiling_name", b"entries",
)  # fmt: skip
_RECORDER_NAME = lazy(r"(?:nccl|comm_lib|comm|gloo|fr)_trace|trace_rank|flight_?recorder", re.I)
_ERROR_JSON = lazy(rb'\s{0,16}\{\s{0,16}"message"\s{0,4}:\s{0,4}(?:\{|"[^\n]{0,4000}"timestamp")')
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\x08\x0c\x1b\x07")


def suffix_of(name: str) -> str:
    """Gives the last suffix in lower case, with its dot; a compression suffix is looked through."""
    base = re.split(r"[/\\!]", name)[-1].lower()
    base = re.sub(r"\.(?:gz|bz2|xz|zst)$", "", base)
    dot = base.rfind(".")
    return base[dot:] if dot > 0 else ""


def compression_of(head: bytes) -> Compression | None:
    """Names the compression of a stream that begins with `head`; content decides, since rotated logs lie."""
    for magic, name in _COMPRESSIONS:
        if head.startswith(magic) and (name != "bzip2" or _BZIP2.match(head)):
            return name
    return "zstd" if _SKIPPABLE_ZSTD.match(head) else None


def container_of(head: bytes, name: str) -> Container | None:
    """Names the archive that begins with `head`; zip files that are checkpoints or packages are none."""
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(_ZIP) and _zip_document(head, name) is None:
        return "zip"
    return None


def encoding_of(head: bytes) -> Encoding:
    """Tells UTF-16, with or without a byte order mark, from anything else."""
    if head.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if head.startswith(b"\xfe\xff"):
        return "utf-16-be"
    even, odd = head[0:PEEK_BYTES:2], head[1:PEEK_BYTES:2]
    if len(odd) < 8:
        return "utf-8"
    # Plain text in UTF-16 has a NUL in nearly every second byte and none in the others.
    if odd.count(0) > 0.6 * len(odd) and even.count(0) < 0.02 * len(even):
        return "utf-16-le"
    if even.count(0) > 0.6 * len(even) and odd.count(0) < 0.02 * len(odd):
        return "utf-16-be"
    return "utf-8"


def kind_of(head: bytes, name: str) -> tuple[Kind, str | None]:
    """Gives the kind of a decoded stream and, when it is not to be read, the reason."""
    special = _dump_kind(head, name)
    if special is not None:
        return special, None
    if is_own_report(head):
        return "prose", OWN_REPORT
    binary = _binary_reason(head, name)
    if binary is not None:
        return "binary", binary
    suffix = suffix_of(name)
    if (unread := _unread_kind(head, name, suffix)) is not None:
        return unread
    if suffix in _MARKDOWN:
        return _markdown_kind(head)
    is_log = any((_KUBERNETES.search(head), _JSON_LOG.match(head), _JSON_EXPORT.search(head)))
    if suffix in _CONTEXT and not is_log:
        return "context", None
    return "text", None


def _unread_kind(head: bytes, name: str, suffix: str) -> tuple[Kind, str] | None:
    if suffix in _CODE:
        return "code", f"source code ({suffix}): messages in it were not printed by a run"
    if suffix == ".ipynb":
        return "notebook", "a notebook among other files: what it once printed is of any age; give it by its own name"
    if suffix in _PROSE or _PROSE_NAMES.match(re.split(r"[/\\!]", name)[-1]):
        return "prose", f"documentation ({suffix or 'by its name'}): it only speaks about messages"
    if suffix in (".yaml", ".yml") and _RULE.match(head):
        return "code", "a rule of a catalogue: messages in it were not printed by a run"
    return None


def _markdown_kind(head: bytes) -> tuple[Kind, str | None]:
    if _FRONT_MATTER.match(head):
        return "prose", "a page of a documentation: it only speaks about messages"
    return "markdown", None


def _dump_kind(head: bytes, name: str) -> Kind | None:
    """Recognises the machine-written inputs: recorder dumps, saved scans, stacks, torchelastic's error.json."""
    if _is_pickle(head):
        named = _RECORDER_NAME.search(name) is not None
        return "recorder" if named or any(key in head for key in _RECORDER_KEYS) else None
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:PEEK_BYTES]
    if not text.startswith((b"{", b"[")):
        return None
    if re.match(rb'\{\s{0,8}"diagnose_scan"', text):
        return "scan"
    if _ERROR_JSON.match(text) and (b"extraInfo" in text or b"py_callstack" in text or name.endswith("error.json")):
        return "json-error"
    if ANSWER.match(text):
        return "loki"
    if _JSON_STACKS.match(text) and b'"thread_id"' in text:
        return "json-stacks"
    config = any(key in text for key in (b'"pg_config"', b'"pg_status"', b'"comm_lib_version"', b'"nccl_version"'))
    entry = any(key in text for key in (b'"collective_seq_id"', b'"record_id"', b'"profiling_name"'))
    if _RAS.match(text):
        return "text"
    return "recorder" if entry or (config and (b'"entries"' in text or b'"ranks"' in text)) else None


def _is_pickle(head: bytes) -> bool:
    return len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5


def _binary_reason(head: bytes, name: str) -> str | None:
    if _is_pickle(head):
        return "binary: a pickle that is no flight recorder dump (pickles are never loaded)"
    if head.startswith(_ZIP):
        return f"binary: {_zip_document(head, name) or 'a zip archive'}"
    for magic, what in _MAGICS:
        if head.startswith(magic):
            return f"binary: {what}"
    if _SAFETENSORS.match(head):
        return "binary: tensors in safetensors form"
    if encoding_of(head) != "utf-8":
        return None
    return _control_reason(head)


def _control_reason(head: bytes) -> str | None:
    """Judges by control characters; text with holes of NUL (a log rotated by copytruncate) stays text."""
    solid = head.replace(b"\x00", b"")
    if head and not solid:
        return "binary: nothing but NUL bytes"
    if len(solid) < 0.7 * len(head) and b"\x00" * 64 not in head:
        return "binary: full of NUL bytes"
    controls = len(solid) - len(solid.translate(None, _CONTROL))
    if controls and len(head) < SHORT_BYTES:  # a few control characters tell nothing yet; bytes that are no text do
        controls += solid.decode("utf-8", "replace").count("\ufffd")
    return "binary: full of control characters" if controls > 0.05 * len(solid) + 2 else None


def _zip_document(head: bytes, name: str) -> str | None:
    # The first entry of `torch.save` output is `<stem>/data.pkl`.
    if name.lower().endswith(_ZIP_DOCUMENTS) or b"/data.pkl" in head[30:300] or b"/.format_version" in head[30:300]:
        return "a checkpoint or package in zip form"
    return None


# --- reports that diagnose wrote: what they quote was said elsewhere, and perhaps by an earlier job ------------------
# Each form is known by how it begins, in both languages. What the terminal shows is none of them: a console may begin
# with it and go on with a job (`traces.own_report` takes it out).

OWN_REPORT = "a report that diagnose wrote; give it the logs themselves"
_OUTCOME = "(?:failed|hung|healthy|recovered|unfinished|失败|挂起|正常|已恢复|未结束)".encode()
_HEADING = lazy(rb"(?i)(?:## |\*)" + _OUTCOME + rb"(?:\*|\r?\n|: |" + "：".encode() + rb")")
# below it: `- **Cause:** `memory.cuda-oom`, certain (0.95)`, or without a cause what was read
_CAUSE = lazy(rb"(?m)^(?:- \*\*|\*)(?:Cause:|" + "根因：".encode() + rb")\*{1,2} `[a-z]{2,20}(?:\.[a-z-]{2,40})?`")
_INPUTS_READ = lazy("(?:Inputs read: |已读取输入 )[\\d,]{1,12}".encode())
_OWN_JSON = lazy(rb'\{\s{0,8}"schema_version": ?"\d{1,3}",\s{0,8}"outcome": ?"[a-z]{3,20}",\s{0,8}"(?:summary|diagnosis)":')
_PAGE = b'<meta name="generator" content="diagnose">'
_SUITE = b'<testsuites><testsuite name="diagnose" '


def is_own_report(head: bytes) -> bool:
    """Tell whether a text that begins with `head` is a report, in Markdown, HTML, JSON, or as Slack or JUnit take it."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    if text.startswith((b"{", b"<")):
        return _OWN_JSON.match(text) is not None or _PAGE in text or _SUITE in text[:200]
    return _HEADING.match(text) is not None and (_CAUSE.search(text) or _INPUTS_READ.search(text)) is not None
