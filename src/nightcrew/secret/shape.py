"""The forms of secrets that their makers publish so that scanners can find them, as data.

Sources: the vendors' pages on token formats (GitHub "About authentication to GitHub", GitLab "Token overview", AWS "IAM
identifiers", Slack "Token types", Stripe "API keys", Telegram "Bots: authorizing your bot"), RFC 7519 (JWT),
RFC 7468 (PEM), RFC 3986 3.2.1 (userinfo), and the keys that the model vendors' consoles hand out. No entropy rules:
hashes, checksums and pictures in base64 are ordinary in diffs and logs.
"""

import re

from nightcrew.secret.finder import Finder, Passage, PrivateKey, Token

_WORD = r"A-Za-z0-9_\-"
_ALNUM = "A-Za-z0-9"
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
_JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")

TOKENS: tuple[Finder, ...] = (
    PrivateKey(),
    Token("Anthropic key", ("sk-ant-",), _WORD, 20, 101),
    Token("OpenAI key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), _WORD, 20, 156),
    Token("OpenRouter key", ("sk-or-v1-",), _ALNUM, 32, 64),
    Token("API key", ("sk-",), _ALNUM, 32, 48),
    Token("GitHub token", ("github_pat_",), r"A-Za-z0-9_", 30, 82),
    Token("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _ALNUM, 30, 36),
    Token("GitLab token", ("glpat-", "gldt-", "glrt-", "glsoat-", "glptt-", "glcbt-", "gloas-"), _WORD, 20, 26),
    Token("Google key", ("AIza",), _WORD, 35, 35),
    Token("Google token", ("ya29.",), _WORD, 40, 220),
    Token("AWS key", ("AKIA", "ASIA", "ABIA", "ACCA"), "A-Z0-9", 16, 16),
    Token(
        "Slack token", ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), r"A-Za-z0-9\-", 20, 56
    ),
    Token("Slack webhook", ("hooks.slack.com/services/T",), r"A-Za-z0-9_/", 30, 44, guarded=False),
    Token("Discord webhook", ("discord.com/api/webhooks/",), r"A-Za-z0-9_\-/", 60, 87, guarded=False),
    Token("Stripe key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"), _ALNUM, 24, 99),
    Token("npm token", ("npm_",), _ALNUM, 36, 36),
    Token("PyPI token", ("pypi-AgEI", "pypi-AgEN"), _WORD, 50, 160),
    Token("Hugging Face token", ("hf_",), _ALNUM, 34, 34),
    Token("Groq key", ("gsk_",), _ALNUM, 48, 52),
    Token("xAI key", ("xai-",), _ALNUM, 70, 80),
    Token("SendGrid key", ("SG.",), r"A-Za-z0-9_\-.", 60, 66),
    Token("age key", ("AGE-SECRET-KEY-1",), "A-Z0-9", 58, 58),
    Token("JSON web token", ("eyJ",), r"A-Za-z0-9_\-.", 40, 400, whole=_JWT),
    Token("Telegram bot token", re.compile(r"\d{8,10}:AA"), _WORD, 33, 33),
    Token("Discord bot token", re.compile(r"[MNO][\w-]{23,27}\.[\w-]{6}\.", re.ASCII), _WORD, 27, 38),
)
"""Recognised by their own form wherever they stand."""


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits: words and numbers alone are settings more often than secrets."""
    return _LETTER.search(value) is not None and _DIGIT.search(value) is not None


USERINFO = Passage("password in an address", re.compile(r"://([^\s/:@\"'<>\\]{0,100}:[^\s/@\"'<>\\]{1,300})(?=@)"))
ASSIGNMENT = Passage(
    "secret in an environment",
    re.compile(
        r"(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|AUTH_KEY|CREDENTIALS?)[A-Z0-9_]{0,20}="
        r"[\"']?([^\s\"'`\\$<>{}()\[\],;]{12,1024})"
    ),
    is_mixed,
)
AUTHORIZATION = Passage(
    "authorization header",
    re.compile(
        r"(?i:authorization|x-api-key|private-token)\\{0,2}[\"']?\s{0,3}[:=]\s{0,3}\\{0,2}[\"']?"
        r"(?:(?i:bearer|basic|token)\s{1,3})?([A-Za-z0-9._~+/=\-]{16,1024})"
    ),
    is_mixed,
)
QUERY = Passage(
    "secret in an address",
    re.compile(
        r"(?i:[?&#](?:[a-z0-9_.-]{0,30}(?:token|secret|key|password|signature|challenge|verifier)|code|state|sig|nonce)=)"
        r"([A-Za-z0-9._~%+/=\-]{8,1024})"
    ),
)

MASKED: tuple[Finder, ...] = (*TOKENS, USERINFO, ASSIGNMENT, AUTHORIZATION, QUERY)
"""What is taken out of what is kept or shown: also what only its surroundings make a secret."""
