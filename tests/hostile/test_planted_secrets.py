"""Every kind of secret that a log can hold, planted where people find them; all are made up, and made anew each time."""

from __future__ import annotations

import base64
import random
import string

import pytest

from diagnose.report.redaction import without_secrets

R = random.Random(38)
WORD = string.ascii_letters + string.digits


def some(letters: str, count: int) -> str:
    """Letters as a key has them: a capital, a small one and a digit are among them."""
    return "".join(R.choice(letters) for _ in range(count - 3)) + "".join(R.choice(part) for part in (letters, letters, "7"))


def low(count: int) -> str:
    return some(string.ascii_lowercase + string.digits, count)


def hexes(count: int) -> str:
    return some("0123456789abcdef", count)


SHORT = "x7Kq2p"
PLACES = {
    "a cookie": ("requests: Cookie: theme=dark; sid={}", hexes(32)),
    "a cookie that is set": ("< Set-Cookie: session={}; Path=/; HttpOnly", low(30)),
    "netrc over lines": ("machine api.wandb.ai\n  login user\n  password {}", hexes(40)),
    "a netrc line by itself": ("  password {}", hexes(40)),
    "a login call": ('    wandb.login(key="{}")', SHORT),
    "a login call with a token": ("    login(token='{}', add_to_git=False)", SHORT),
    "a sentence": ("ValueError: the password is {}, which is too short", SHORT),
    "a sentence on a key": ("Error: your key was {}.", some(WORD, 24)),
    "a flag": ("train.py --token={} --lr 0.1", SHORT),
    "a flag with a user": ("curl --user=mei:{} https://x", SHORT),
    "a glued flag": ("mysql -h db -u root -p{} optuna", SHORT),
    "a password with a slash": ("psycopg.connect(postgresql://mei:ab/{}@db.internal:5432/optuna)", SHORT),
    "the pair of Chinese clouds": ("obs client AK={} ok", some(string.ascii_uppercase + string.digits, 20)),
    "the other half of the pair": ("'SK': '{}'", some(WORD, 40)),
    "a short name": ("{{user: mei, pass: {}}}", SHORT),
    "a value of pydantic": ("Settings(key=SecretStr('{}'))", SHORT),
    "Chinese": ("登录失败 密码: {}", SHORT),
    "a Chinese key": ("密钥为{}", some(WORD, 24)),
    "German": ("Passwort: {}", SHORT),
    "a short value": ("api_key={}", SHORT),
    "a short token of somebody": ("access_token: '{}'", SHORT),
    "a URL in a URL": ("GET /login?next=https%3A%2F%2Fx%2F%3Ftoken%3D{}", "hf_" + some(WORD, 34)),
    "a named value in a URL": ("redirect?u=%2Fx%3Fpassword%3D{}", SHORT),
    "base64 of JSON": ("config {}", base64.b64encode(b'{\n "auths": {"r.io": {"auth": "bWVpOmh1bnRlcjI="}}}').decode()),
    "a key whose begin is cut off": ("[rank0]: {}", "aZ9" + some(WORD, 61)),
    "a dict of cookies": ("requests.get(u, cookies={{'session': '{}'}})", hexes(32)),
    "a jar of cookies": ("<RequestsCookieJar[<Cookie sid={} for hub.local/>]>", hexes(32)),
    "a sentence on your token": ("401: Your token {} has been revoked", some(WORD, 32)),
    "a URL with a password in a URL": ("?next=https%3A%2F%2Fmei%3A{}%40db%3A5432", SHORT),
    "a URL without a user": ("redis://:ab/{}@cache:6379/0", SHORT),
    "the cache's client": ("redis-cli -h db -a {} ping", SHORT),
    "a login in order": ("smtp.login('mei', '{}')", SHORT),
    "a short name in YAML": ("    pass: {}", SHORT),
    "Japanese": ("パスワード: {}", SHORT),
    "a telegram bot": ("bot {} answered 401", "123456789:AA" + some(WORD, 33)),
}
TOKENS = {
    "hugging face": "hf_" + some(WORD, 34),
    "anthropic": "sk-ant-api03-" + some(WORD, 93) + "AA",
    "openai": "sk-proj-" + some(WORD, 74) + "T3BlbkFJ" + some(WORD, 74),
    "bedrock": "ABSK" + some(WORD, 120),
    "github": "ghp_" + some(WORD, 36),
    "gitlab": "glpat-" + some(WORD, 20),
    "gitlab runner": "GR1348941" + some(WORD, 20),
    "grafana": "glsa_" + some(WORD, 32) + "_" + hexes(8),
    "sentry": "sntryu_" + hexes(64),
    "linear": "lin_api_" + low(40),
    "postman": "PMAK-" + hexes(24) + "-" + hexes(34),
    "prefect": "pnu_" + some(WORD, 36),
    "shopify": "shpat_" + hexes(32),
    "sendgrid": "SG." + some(WORD, 22) + "." + some(WORD, 43),
    "rubygems": "rubygems_" + hexes(48),
    "pulumi": "pul-" + hexes(40),
    "terraform": some(WORD, 14) + ".atlasv1." + some(WORD, 64),
    "azure": "aB38Q~" + some(WORD, 32),
    "notion": "ntn_" + "12345678901" + some(WORD, 35),
    "langsmith": "lsv2_pt_" + hexes(32) + "_" + hexes(10),
    "pinecone": "pcsk_" + some(WORD, 60),
    "jina": "jina_" + some(WORD, 60),
    "docker": "dckr_pat_" + some(WORD, 27),
    "databricks": "dapi" + hexes(32),
    "openshift": "sha256~" + some(WORD, 43),
    "doppler": "dp.pt." + low(43),
    "fly": "fo1_" + some(WORD, 43),
    "mailchimp": hexes(32) + "-us12",
    "twilio": "SK" + hexes(32),
    "square": "sq0atp-" + some(WORD, 22),
    "artifactory": "AKCp" + some(WORD, 69),
    "1password": "A3-AB12CD-ABCDE12345F-ABCDE-12345-ABC7E",
}
SCANNERS = """
    ArtifactoryDetector AWSKeyDetector AzureStorageKeyDetector BasicAuthDetector CloudantDetector DiscordBotTokenDetector
    GitHubTokenDetector GitLabTokenDetector IbmCloudIamDetector IbmCosHmacDetector JwtTokenDetector MailchimpDetector
    NpmDetector OpenAIDetector PrivateKeyDetector PypiTokenDetector SendGridDetector SlackDetector SoftlayerDetector
    SquareOAuthDetector StripeDetector TelegramBotTokenDetector TwilioKeyDetector
""".split()  # noqa: SIM905 - all but those that take any name or any mixed letters for a secret
KEPT = [
    "DeepSpeed launcher --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgMywgNCwgNSwgNl19 --master_addr=127.0.0.1",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "epoch 3 first pass: 12.5 ms, backward pass: 4.2ms",
    "    pass: 4.2ms pw: 0.3 layers.3.pw=Conv2d, your token ids are 50256, your key bindings",
    "the next token is 50256, key is missing, password is not set, secret is optional",
    "http://10.0.0.4:8080/job/user@host/console",
    "mask=0x1f sk=3 ak: 0.25 --pad-token=0 eos_token: 2 token_type_ids: 12",
    "tar -pxf x.tar; mkdir -p checkpoints/step100; ssh -p 2222 node1; docker run -p 8080:80 x",
    "KeyError: 'optimizer.param_groups.0.lr' in state_dict of model_layers_0_self_attn_q_proj",
    "srun -u python train.py:main --user=train",
    "Loaded SecretStr('**********')",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_found_where_it_stands(place: str) -> None:
    line, secret = PLACES[place]
    assert secret not in without_secrets(line.format(secret), privacy=False)


@pytest.mark.parametrize("frame", ["error: {} is not valid", '    client = Client("{}")', "x=1&t%3D{}", "[rank3]: {}"])
@pytest.mark.parametrize("issuer", TOKENS)
def test_a_token_is_known_by_its_form(issuer: str, frame: str) -> None:
    assert TOKENS[issuer] not in without_secrets(frame.format(TOKENS[issuer]), privacy=False)


@pytest.mark.parametrize("at", [8, 15, 25])
def test_a_token_that_a_terminal_broke_is_found(at: int) -> None:
    token = TOKENS["hugging face"]
    shown = without_secrets(f"401 for {token[:at]}\n{token[at:]} is not valid", privacy=False)
    assert (token[:at] in shown, token[at:] in shown, shown.count("\n")) == (False, False, 1)


@pytest.mark.parametrize("line", ["postgresql://mei.wong:x7Kq2p@db/optuna", "USER=mei.wong", "open /home/mei.wong/x.pt"])
def test_who_it_was_is_private(line: str) -> None:
    assert "mei.wong" not in without_secrets(line, privacy=True)


@pytest.mark.parametrize("line", KEPT)
def test_what_is_no_secret_stays(line: str) -> None:
    assert without_secrets(line, privacy=False) == line


@pytest.mark.parametrize("frame", ["token {}", "export X={}", "GET https://x/?t={}"])
@pytest.mark.parametrize("issuer", TOKENS)
def test_what_a_scanner_for_secrets_knows_is_found(issuer: str, frame: str) -> None:
    scan = pytest.importorskip("detect_secrets.core.scan")
    settings = pytest.importorskip("detect_secrets.settings")
    with settings.transient_settings({"plugins_used": [{"name": name} for name in SCANNERS]}):
        left = [found.type for found in scan.scan_line(without_secrets(frame.format(TOKENS[issuer]), privacy=False))]
    assert left == []
