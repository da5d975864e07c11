"""Made-up secrets of every form, put together when they are asked for: no file here holds anything that a scanner would
find. None of them was ever valid."""

import base64
import json
import random
import string

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "-_"
UPPER = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"


def draw(count: int, alphabet: str = ALNUM, *, seed: int = 1) -> str:
    """Characters drawn at random, always the same for a seed, with a small letter, a capital and a digit early on where
    the alphabet has them."""
    chooser = random.Random(f"{seed} {count} {alphabet}")
    return "".join(chooser.choice(alphabet) for _ in range(count))


def web_token(seed: int = 1) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
    claims = json.dumps({"sub": draw(20, seed=seed), "iat": 1_700_000_000}).encode()
    return f"{head}.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.{draw(43, WORD, seed=seed)}"


def private_key(kind: str = "RSA ", *, seed: int = 1, lines: int = 12) -> str:
    begin, end = (f"-----{word} {kind}PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    body = [draw(64, ALNUM + "+/", seed=seed * 100 + number) for number in range(lines)]
    return "\n".join([begin, *body, end])


def tokens(seed: int = 1) -> dict[str, str]:
    """One of each form that stands for itself, on one line."""
    return {
        "anthropic": "sk-" + "ant-" + "api03-" + draw(93, WORD, seed=seed) + "AA",
        "openai project": "sk-" + "proj-" + draw(74, WORD, seed=seed) + "T3Blbk" + "FJ" + draw(74, WORD, seed=seed + 1),
        "plain key": "sk-" + draw(48, seed=seed),
        "github fine": "github" + "_pat_" + draw(22, seed=seed) + "_" + draw(59, seed=seed),
        "github oauth": "gho" + "_" + draw(36, seed=seed),
        "github app": "ghs" + "_" + draw(36, seed=seed),
        "github user": "ghu" + "_" + draw(36, seed=seed),
        "github classic": "ghp" + "_" + draw(36, seed=seed),
        "gitlab": "glp" + "at-" + draw(20, WORD, seed=seed),
        "google": "AI" + "za" + draw(35, WORD, seed=seed),
        "aws": "AK" + "IA" + draw(16, UPPER, seed=seed),
        "slack": "xo" + "xb-" + draw(12, "123456789", seed=seed) + "-" + draw(24, seed=seed),
        "stripe": "sk_" + "live_" + draw(24, seed=seed),
        "npm": "np" + "m_" + draw(36, seed=seed),
        "hugging face": "h" + "f_" + draw(34, seed=seed),
        "telegram": draw(9, "123456789", seed=seed) + ":AA" + draw(33, WORD, seed=seed),
        "discord": "M" + draw(25, seed=seed) + "." + draw(6, seed=seed) + "." + draw(38, seed=seed),
        "web token": web_token(seed),
    }


FORMS = tuple(tokens())


def ordinary(seed: int = 1) -> str:
    """What diffs and logs are full of and nobody may lose: hashes, checksums, pictures, ids, addresses."""
    chooser = random.Random(seed)
    image = base64.b64encode(chooser.randbytes(900)).decode()
    checksum = base64.b64encode(chooser.randbytes(64)).decode()
    return "\n".join(
        [
            f"commit {draw(40, HEX, seed=seed)}",
            f"index {draw(7, HEX, seed=seed)}..{draw(7, HEX, seed=seed + 1)} 100644",
            f'      "integrity": "sha512-{checksum}",',
            f"  --hash=sha256:{draw(64, HEX, seed=seed)}",
            f"key: value-of-{draw(8, HEX, seed=seed)}",
            f'<img src="data:image/png;base64,{image}">',
            *(image[at : at + 76] for at in range(0, len(image), 76)),
            "session 0b6f4a3e-93a4-4d0e-9b7c-2d3c5a1f8e77 at 2026-03-04T12:00:00Z",
            "see https://forge.example/acme/widget/pull/7#discussion_r1 and git@forge.example:acme/widget.git",
            "MAX_TOKENS=4096 task-management-integration-layer disk-usage sk-learn",
            'password = os.environ["PASSWORD"]; token: str = settings.token',
            "def test_the_private_key_header_is_found(): assert header in BEGIN_PRIVATE_KEY",
        ]
    )
