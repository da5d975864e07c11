"""Settings of the chats that orders are taken from and notices sent to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """One platform. `token` is a reference, empty: not used. Orders are taken from `users` alone, in private or in one
    of `chats`; both are the platform's own ids. `base_url` empty: the platform's own address."""

    token: str = ""
    users: tuple[str, ...] = ()
    chats: tuple[str, ...] = ()
    base_url: str = ""
