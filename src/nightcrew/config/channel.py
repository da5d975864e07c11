"""The keys of `channels`: the chats that Nightcrew is talked to in."""

import re
from typing import Annotated

from pydantic import BeforeValidator

from nightcrew.config.section import Section
from nightcrew.config.value import TokenReference, Url, bad_value, key
from nightcrew.core.model.chat import ChatSettings

_ID = re.compile(r"-?[0-9]{1,20}")


def _ids(value: object) -> object:
    items = value if isinstance(value, list | tuple) else [] if value is None else [value]
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | str) or not _ID.fullmatch(str(item)):
            raise bad_value(f"{str(item)[:40]!r} is not an id, which is a whole number; names can be taken by others")
    return tuple(str(item) for item in items)


Ids = Annotated[tuple[str, ...], BeforeValidator(_ids, json_schema_input_type=list[int | str])]


class ChatKeys(Section):
    """One platform of chats."""

    token: TokenReference = key("The bot's token, as `env:NAME` or `file:PATH`; empty: this platform is not used.", "")
    users: Ids = key("Who may give orders, by the platform's ids; nobody else is answered. Needed with `token`.", ())
    chats: Ids = key("The groups (channels) in which they may; a private chat needs no entry.", ())
    base_url: Url = key("Where its API answers; empty: the platform's own address.", "")


class ChannelsKeys(Section):
    """The chats that Nightcrew is talked to in. See chat.md."""

    telegram: ChatKeys = key("Telegram.", ChatKeys())
    discord: ChatKeys = key("Discord.", ChatKeys())


def build_chat(keys: ChatKeys) -> ChatSettings:
    return ChatSettings(keys.token, keys.users, keys.chats, keys.base_url)


def render_chat(settings: ChatSettings) -> dict[str, object]:
    return {
        "token": settings.token,
        "users": list(settings.users),
        "chats": list(settings.chats),
        "base_url": settings.base_url,
    }
