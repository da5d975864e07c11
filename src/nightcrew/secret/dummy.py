"""Telling a secret from what stands for one in tests and documents. What is written around it counts for nothing: an
agent could write that too."""

import base64
import math
import re
from collections import Counter

_WORDS = re.compile(
    r"example|dummy|fake|sample|placeholder|change_?me|your[_-]|redacted|secret_?here|not[_-]?a?[_-]?real|xxxx|\*\*\*|\.\.\.|<|>|\$\{|\{\{",
    re.IGNORECASE,
)
_RUN = re.compile(r"(.)\1{5,}")
_SEQUENCES = ("abcdefghijklmnopqrstuvwxyz", "0123456789012345678901234567890", "qwertyuiop")
_SEQUENCE_PART = 8
_FEWEST_CHARACTERS = 6
_SHOWN_CLAIMS = re.compile(rb'"sub": ?"1234567890"|"name": ?"John Doe"')
_HEX = re.compile(r"[0-9a-fA-F]+")


def is_dummy(value: str) -> bool:
    """Whether a value of a secret's form plainly is none: it says so itself, repeats itself, or counts up."""
    low = value.lower()
    if _WORDS.search(low) or _RUN.search(low) or len(set(low)) < _FEWEST_CHARACTERS:
        return True
    if value.startswith("eyJ"):
        return _is_shown_claim(value)
    return any(line[at : at + _SEQUENCE_PART] in low for line in _SEQUENCES for at in range(len(line) - _SEQUENCE_PART))


def _is_shown_claim(token: str) -> bool:
    """Whether a JSON web token is the one that manuals show."""
    claims = token.split(".")[1] if "." in token else ""
    try:
        return _SHOWN_CLAIMS.search(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))) is not None
    except ValueError:
        return False


def is_strong(value: str) -> bool:
    """Whether a value without a form of its own looks drawn at random: long, letters and digits, and few repeats. Words
    and identifiers do not."""
    if not 16 <= len(value) <= 512 or any(char.isspace() for char in value) or is_dummy(value):
        return False
    if not any(char.isdigit() for char in value) or not any(char.isalpha() for char in value):
        return False
    if not re.fullmatch(r"[A-Za-z0-9+/=_\-.~!@#%^&*]+", value) or re.search(r"[A-Za-z]{9,}[._/-]|://|^[./~]", value):
        return False
    least = 3.0 if _HEX.fullmatch(value) else 3.6
    return entropy(value) >= least


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())
