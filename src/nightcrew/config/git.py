"""The keys about git: who signs what Nightcrew commits itself."""

from collections.abc import Callable

from nightcrew.config.section import Section
from nightcrew.config.value import Address, OneLine, SigningKey
from nightcrew.config.value import key as one
from nightcrew.core.model.git import GitSettings, SignKind

_GIT = GitSettings()


class GitKeys(Section):
    """How commits are made that Nightcrew makes itself: merges, rebases, reverts, and what agents leave uncommitted."""

    sign: SignKind = one("With what they are signed; agents' own commits never are.", _GIT.sign)
    key: SigningKey = one(
        "ssh: the path of the private key (absolute, or `~/…`); gpg: the id of the key. Needed with `sign`.", _GIT.key
    )
    name: OneLine = one("Who commits them.", _GIT.name, max_length=100)
    email: Address = one("Their address; a forge wants one of whose account the key is known.", _GIT.email)


def build_git(keys: GitKeys, *, expand: Callable[[str], str]) -> GitSettings:
    """`expand` replaces `~` in a path."""
    path = expand(keys.key) if keys.sign is SignKind.SSH and keys.key else keys.key
    return GitSettings(keys.sign, path, keys.name, keys.email)
