"""The rules of detect-secrets, used on text in memory.

Its detectors are used without its scan: that one honours comments such as `pragma: allowlist secret`, which an agent
can write as well as a person, and may ask vendors over the network whether a secret is live. Here neither happens. Left
out are detectors that answer to what is ordinary in code: entropy (checksums, pictures), public addresses, words in
comments about keys; and those whose forms `shape` has more exactly or in linear time. Importing it takes some 16 MB (it
brings requests), so it is done when something is first scanned.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Protocol, cast

LEFT_OUT = frozenset(
    {
        "Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector", "ArtifactoryDetector",
        "BasicAuthDetector", "TelegramBotTokenDetector", "PrivateKeyDetector", "KeywordDetector",
        "JwtTokenDetector", "NpmDetector", "OpenAIDetector",
    }
)  # fmt: skip

_ASSIGNING = frozenset({"IbmCloudIamDetector", "IbmCosHmacDetector", "SoftlayerDetector", "CloudantDetector"})
# The patterns for names take cubic time on lines made for that.
_LONGEST_LINE = 500
_MOST_NAMES = 6
_KEYWORD = re.compile(
    r"(?:api|auth|service|account|db|database|client|private|priv)_?key|pass|pwd|secret|contrase", re.IGNORECASE
)


class Detector(Protocol):
    """As much of a detector of detect-secrets as is used."""

    secret_type: str
    denylist: Iterable[re.Pattern[str]]

    def analyze_string(self, string: str) -> Iterator[str]: ...


@cache
def load_detectors() -> tuple[Detector, ...]:
    """The detectors in use, by name, so that the order is always the same."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known: Mapping[str, Callable[[], object]] = get_mapping_from_secret_type_to_class()
    used = sorted((kind for kind in known.values() if kind.__name__ not in LEFT_OUT), key=lambda kind: kind.__name__)
    return tuple(cast("Detector", kind()) for kind in used)


def needs_strength(detector: Detector) -> bool:
    """Whether the detector goes by the name that a value is given, so that the value has to look like a secret."""
    return type(detector).__name__ in _ASSIGNING


def find_named(line: str, path: str) -> Iterator[str]:
    """Values that are given to names such as `password`, by the syntax of the file's type. Long lines, and those
    full of such names, are left to the simpler rules of `scan`."""
    if len(line) > _LONGEST_LINE or not 0 < len(_KEYWORD.findall(line)) <= _MOST_NAMES:
        return
    from detect_secrets.plugins.keyword import (
        QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP,
        REGEX_BY_FILETYPE,
        KeywordDetector,
    )
    from detect_secrets.util.filetype import determine_file_type

    forms = REGEX_BY_FILETYPE.get(determine_file_type(path), QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP)
    yield from KeywordDetector().analyze_string(line, forms)
