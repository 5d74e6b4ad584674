"""Secrets go in every form, private items where asked, and what only looks alike stays. All secrets here are made up."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.advice.statement import Evidence, Fact, Span
from diagnose.catalogue.load import load_rules
from diagnose.report.parts import Culprit, Diagnosis, RankRow
from diagnose.report.redaction import redact, without_secrets
from diagnose.report.report import Report, dumps

from .report_samples import all_samples

A36 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"  # 36 letters and digits
HEX40 = "0123456789abcdef0123456789abcdef01234567"

# (line, the secret in it)
SECRETS = [
    (f"huggingface_hub.errors.HfHubHTTPError: 401 for token hf_{A36[:34]}", f"hf_{A36[:34]}"),
    (f"openai.AuthenticationError: Incorrect API key provided: sk-proj-{A36}", f"sk-proj-{A36}"),
    ("botocore: AKIAIOSFODNN7EXAMPLE is not authorized", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("'AWS_SESSION_TOKEN': 'FwoGZXIvYXdzEBYaDHJ1c3R5c3BvaWwxMjM0NQ=='", "FwoGZXIvYXdzEBYaDHJ1c3R5c3BvaWwxMjM0NQ=="),
    (f"export WANDB_API_KEY={HEX40}", HEX40),
    (f'{{"wandb_api_key": "{HEX40}"}}', HEX40),
    ("slack_bot: xoxb-" + "1234567890-abcdefghij", "xoxb-1234567890-abcdefghij"),
    ("POST https://hooks.slack.com/services/T000AAAA/B000BBBB/abcdEFGHijkl1234", "T000AAAA/B000BBBB/abcdEFGHijkl1234"),
    ("Authorization: Bearer abcDEF123456", "abcDEF123456"),
    ("headers={'authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
    ("sqlalchemy: postgresql://mei:hunter2@db.internal:5432/optuna", "hunter2"),
    ("redis.exceptions: redis://:s3cr3t-pw@10.0.0.4:6379/0", "s3cr3t-pw"),
    ("https://0123456789abcdef01234567@sentry.example.com/4", "0123456789abcdef01234567"),
    ("password=correcthorse", "correcthorse"),
    ("db_password: 'correct horse battery'", "correct horse battery"),
    ('{\\"password\\": \\"hunter2x\\"}', "hunter2x"),
    ("Namespace(lr=0.1, api_key='abcdef123', seed=1)", "abcdef123"),
    ("--hf-token abcdef0123456789ABCDEF --lr 0.1", "abcdef0123456789ABCDEF"),
    ("client_secret: 8Q~abcdefghij", "8Q~abcdefghij"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Eby8vdM02xNOcqF/lqUwPLlIUz==;", "Eby8vdM02xNOcqF/lqUwPLlIUz"),
    ("https://x.blob.core.windows.net/c?sv=2022&sig=aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b%3D", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b"),
    ("s3 GET ?X-Amz-Signature=" + HEX40 + HEX40[:24], HEX40 + HEX40[:24]),
    ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "eyJzdWIiOiIxMjM0In0"),
    ("NEPTUNE_API_TOKEN=eyJhcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLm5lcHR1bmUuYWkifQ==", "eyJhcGlfYWRkcmVzcyI6Imh0dHBzOi8v"),
    ("//registry:_authToken=" + A36, A36),
    ("oss: LTAI5tAbCdEfGhIjKlMn1234", "LTAI5tAbCdEfGhIjKlMn1234"),
    ("x-api-key: 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("headers=[('x-api-key', '9f8e7d6c5b4a'), ('authorization', 'Basic dXNlcjpwYXNz')]", "9f8e7d6c5b4a"),
    ("headers=[('authorization', 'Basic dXNlcjpwYXNz')]", "dXNlcjpwYXNz"),
    ("Ocp-Apim-Subscription-Key: " + HEX40[:32], HEX40[:32]),
    ("spawned with command: ['python', 'train.py', '--hf_token', 'abcdef0123456789ABCDEF', '--lr', '1']", "abcdef0123456789ABCDEF"),
    ("Command '['train.py', '--password', 'hunter2x']' returned non-zero exit status 1.", "hunter2x"),
    ("sshpass -p hunter2x ssh node1 hostname", "hunter2x"),
    ("SSHPASS=hunter2x DB_PASS=other", "hunter2x"),
    ('{"username":"mei","key":"' + HEX40[:32] + '"}', HEX40[:32]),
]
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefgh\n"
    "q1W2e3R4t5Y6u7I8o9P0\n-----END RSA PRIVATE KEY-----"
)
KEPT = [
    "max_tokens=4096, num_tokens: 123456, pad_token='<pad>', eos_token_id=2, tokens_per_second=1234.5",
    "tokenizer=meta-llama/Llama-3.1-8B-Instruct token: None use_auth_token=True hf_token=$HF_TOKEN",
    "pad_token: [PAD] next token: the",
    "nvcr.io/nvidia/pytorch@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "mei@gpu-node-07:~/train$ torchrun train.py",
    "root@ip-10-0-0-1.ec2.internal:/workspace# nvidia-smi",
    "trainer-7d9c5b6f4-x2x9z-worker-0 sk-training-job-worker-0-abcdefghijkl",
    "forward_pass=3.21 backward pass: 4.2ms, PASS=3, num_passes=2, passed: 12",
    "['--tokenizer', 'meta-llama/Llama-2-7b-hf', '--max_tokens', '4096', '--cache-key', '3f2a9c']",
    "KeyError: 'secret', 'labels' not in ('token', 'password')",
    "store key: default_pg/0//cuda//timestamp_key",
    "torch.Size([4, 1024, 4096]) != torch.Size([4, 1024, 2048])",
    "secret \"registry-credentials\" not found",
    "authentication failed: password authentication is disabled",
    "SeqNum=8123, OpType=ALLREDUCE, NumelIn=16777216, Timeout(ms)=600000",
    "KeyError: 'model.layers.0.weight' key=model.layers.0.self_attn.q_proj.weight",
    "cache_key=ab12cd34ef56ab78 sort_key=5 primary_key: id PWD=/workspace",
    "api_key=None, password=None, secret=${SECRET}, token=os.environ['HF_TOKEN']",
    "monkey: 12345678 keyboard=abc tokenize: fast signature: (self, x)",
]  # fmt: skip
PRIVATE = [
    ('  File "/home/mei/train/model.py", line 88', "mei", '  File "/home/<user-1>/train/model.py", line 88'),
    ("C:\\Users\\Mei.Lin\\x", "Mei.Lin", "C:\\Users\\<user-1>\\x"),
    ("/Users/mlin/x", "mlin", "/Users/<user-1>/x"),
    ("SBATCH --mail-user=mei.lin@example.com", "mei.lin@example.com", "SBATCH --mail-user=<email-1>"),
    ("connect to 52.14.7.9:29500 failed", "52.14.7.9", "connect to <ip-1>:29500 failed"),
    ("peer [2001:4860:4860::8888]:443", "2001:4860:4860::8888", "peer [<ip-1>]:443"),
]
NOT_PRIVATE = [
    "connect to 10.1.2.3:29500, 192.168.0.7, 172.16.5.5, 127.0.0.1, 169.254.1.1, 100.64.3.4 and 0.0.0.0",
    "nvidia-cudnn-cu12==8.9.2.26 cuDNN version 8.9.2.26, driver 12.1.105.7, v1.2.3.4, libcublas-12.1.3.1",
    "pthread_create@@GLIBC_2.2.5 torch @ file:///x mei@gpu-node-07: rank 3",
    "fe80:0000:0000:0000:506b:4b03:00c2:4a3e 10:12:03:44 2024:10:12",
    "/home/ubuntu/train.py /home/runner/job /root" "/x /homework/mei",
    "std::vector<int>::at 2.20.5+cu121",
]  # fmt: skip


def report_of(text: str, **more) -> Report:
    return Report(outcome="failed", diagnosis=Diagnosis(evidence=(Evidence(text=text, **more),)))


def text_of(report: Report) -> str:
    return report.diagnosis.evidence[0].text


@pytest.mark.parametrize(("line", "secret"), SECRETS)
def test_a_secret_is_replaced_even_without_privacy(line, secret):
    redacted, counts = redact(report_of(line), privacy=False)
    assert secret not in dumps(redacted)
    assert counts


@pytest.mark.parametrize("line", KEPT)
def test_what_only_looks_like_a_secret_stays(line):
    assert line == without_secrets(line, privacy=True)


@pytest.mark.parametrize(("line", "item", "expected"), PRIVATE)
def test_a_private_item_is_replaced_where_privacy_is_asked(line, item, expected):
    assert expected == without_secrets(line, privacy=True)
    assert line == without_secrets(line, privacy=False)


@pytest.mark.parametrize("line", NOT_PRIVATE)
def test_what_only_looks_private_stays(line):
    assert line == without_secrets(line, privacy=True)


def test_what_holds_no_secret_is_no_second_time_in_memory():
    rows = (RankRow(0, host="gpu-07"), RankRow(1, host="hf_" + A36[:34]))
    redacted, _ = redact(Report(ranks=rows), privacy=False)
    assert redacted.ranks[0] is rows[0]
    assert redacted.ranks[1].host == "<hugging-face-token-1>"


def test_a_key_block_goes_line_by_line():
    assert "\n".join(["a", *["<private-key-1>"] * 4, "b"]) == without_secrets(f"a\n{PEM}\nb", privacy=False)


def test_a_key_block_that_begins_in_the_lines_before_goes_too():
    first, *rest = PEM.split("\n")
    evidence = Evidence(text=rest[0], before=(first,), after=(*rest[1:], "then this"))
    shown = redact(Report(diagnosis=Diagnosis(evidence=(evidence,))), privacy=False)[0].diagnosis.evidence[0]
    assert (shown.text, shown.after[-1]) == ("<private-key-1>", "then this")


def test_a_key_block_whose_begin_is_not_shown_goes_too():
    shown = without_secrets("\n".join(PEM.split("\n")[1:]), privacy=False)
    assert "MIIE" not in shown
    assert "q1W2" not in shown


def test_the_same_item_has_the_same_placeholder_everywhere():
    report = Report(
        diagnosis=Diagnosis(
            summary="no route to 52.14.7.9",
            culprits=(Culprit(None, "52.14.7.9"),),
            evidence=(Evidence(text="52.14.7.9 and 52.14.7.10", host="52.14.7.9", file="/home/mei/a.log"),),
        ),
        ranks=(RankRow(0, "52.14.7.9"), RankRow(1, "52.14.7.10")),
    )
    redacted, counts = redact(report, privacy=True)
    assert [r.host for r in redacted.ranks] == ["<ip-1>", "<ip-2>"]
    assert (redacted.diagnosis.summary, text_of(redacted)) == ("no route to <ip-1>", "<ip-1> and <ip-2>")
    assert redacted.diagnosis.evidence[0].file == "/home/<user-1>/a.log"
    assert counts == "2 ip, 1 user"


def test_a_user_found_in_a_home_folder_is_replaced_in_other_paths():
    assert without_secrets("/home/mei/x /lustre/mei/run", privacy=True) == "/home/<user-1>/x /lustre/<user-1>/run"


def test_a_captured_secret_goes_by_the_name_of_its_field():
    redacted, _ = redact(report_of("login as mei", fields={"password": "hunter2", "max_tokens": "4096"}), privacy=False)
    assert redacted.diagnosis.evidence[0].fields == {"password": "<password-1>", "max_tokens": "4096"}


def test_a_secret_fact_goes_by_its_name():
    redacted, _ = redact(Report(facts={"WANDB_API_KEY": Fact(HEX40)}), privacy=False)
    assert HEX40 not in dumps(redacted)


def test_a_secret_named_once_is_found_where_no_name_stands_by_it():
    report = Report(diagnosis=Diagnosis(summary="could not log in with Hunter2x", evidence=(Evidence(text="password=Hunter2x"),)))
    assert redact(report, privacy=False)[0].diagnosis.summary == "could not log in with <password-1>"


def test_spans_move_with_the_text():
    line = "db://u:hunter2@h failed with code 104"
    evidence = Evidence(text=line, spans=(Span(line.index("104"), len(line), "code"), Span(7, 14, "x")))
    shown = redact(Report(diagnosis=Diagnosis(evidence=(evidence,))), privacy=False)[0].diagnosis.evidence[0]
    assert [shown.text[s.start : s.end] for s in shown.spans] == ["104", "<password-1>"]


SECRET = f"hf_{A36[:34]}"
OURS = {"outcome", "certainty", "when", "cause", "rule", "from_", "to", "explained_by", "layer", "owner", "restart", "state", "verdict", "kind", "schema_version", "field"}


def _filled(kind):
    """Yield a value of this type that holds the secret wherever log text can stand."""
    if is_dataclass(kind):
        return kind(**{name: _filled(of) for name, of in get_type_hints(kind).items() if name not in OURS})
    inner = [a for a in get_args(kind) if a not in (type(None), Ellipsis)]
    if get_origin(kind) is tuple:
        return (_filled(inner[0]),)
    if get_origin(kind) is dict:
        return {"field": _filled(inner[1])}
    if str in inner:
        return SECRET
    return _filled(inner[0]) if inner else SECRET if kind is str else kind()


def test_no_text_of_a_report_is_left_out():
    """The source lines of a traceback's own frames were: `login(token="hf_…")`."""
    assert SECRET in dumps(_filled(Report))
    assert SECRET not in dumps(redact(_filled(Report), privacy=False)[0])


def test_ids_of_the_catalogue_stay():
    for report in all_samples().values():
        redacted, _ = redact(report, privacy=True)
        assert [s.rule for s in report.symptoms] == [s.rule for s in redacted.symptoms]
        assert [r.rank for r in report.ranks] == [r.rank for r in redacted.ranks]


@pytest.mark.parametrize("piece", ["hf_", "://", "a@", "password=", "-----BEGIN PRIVATE KEY-----", "Bearer ", "a-", "--a "])
def test_a_text_of_one_piece_again_and_again_comes_to_an_end(piece):
    assert without_secrets(piece * 5_000, privacy=True)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from([s for s in SECRETS if s[0].startswith(("postgres", "Authorization", "aws_", "--hf", "x-api"))] + [SECRETS[0], SECRETS[8]]))
def test_a_secret_goes_whatever_stands_around_it(before, after, planted):
    line, secret = planted
    shown = without_secrets(f"{before} {line} {after}", privacy=True)
    assert secret not in shown or secret in f"{before} {after}"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=20), st.sampled_from([s for s, _ in SECRETS] + [p[0] for p in PRIVATE] + KEPT)), max_size=4))
def test_redacting_twice_changes_nothing(parts):
    once = without_secrets(" ".join(parts), privacy=True)
    assert once == without_secrets(once, privacy=True)


def test_no_advice_of_ours_loses_a_word_as_if_it_were_a_secret() -> None:
    causes = load_rules().causes.values()
    texts = [text for cause in causes for step in cause.remedy for text in (step.text, step.command or "")]
    assert not [text for text in texts if without_secrets(text, privacy=False) != text]
