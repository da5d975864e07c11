"""How git is used where the engine makes commits itself, as far as a person sets it."""

from dataclasses import dataclass
from enum import Enum


class SignKind(Enum):
    """With what commits are signed that Nightcrew makes itself."""

    OFF = "off"
    GPG = "gpg"
    SSH = "ssh"


@dataclass(frozen=True, slots=True)
class GitSettings:
    """`key` is the path of a private key (ssh) or the id of one (gpg). `name` and `email` are who commits what
    Nightcrew makes; a forge calls a signature verified only where the key is known as that person's."""

    sign: SignKind = SignKind.OFF
    key: str = ""
    name: str = "Nightcrew"
    email: str = "engine@service.nightcrew.invalid"
