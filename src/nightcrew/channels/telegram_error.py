"""What Telegram's errors mean, in the words of `ports`."""

from datetime import datetime, timedelta

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, PortError, Unavailable

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_NO_PLACE = (
    "chat not found",
    "thread not found",
    "topic_closed",
    "topic_deleted",
    "not enough rights",
    "have no rights",
    "administrator rights",
    "chat_write_forbidden",
    "chat_restricted",
    "chat_admin_required",
    "user not found",
    "peer_id_invalid",
    "was kicked",
    "deactivated",
)
"""What is wrong with the place, not with what is said there."""


def translate(error: TelegramError, *, now: datetime) -> PortError:
    """The error to raise for one of the library's."""
    match error:
        case RetryAfter():
            said = error.retry_after
            pause = said if isinstance(said, timedelta) else timedelta(seconds=said)
            return Unavailable("Telegram asks to wait", retry_at=now + pause)
        case ChatMigrated():
            return Denied(f"the group has become a supergroup: allow {error.new_chat_id} in its place")
        case InvalidToken():
            return Denied("Telegram does not know the token of the bot")
        case Forbidden():
            return Denied(f"Telegram does not let the bot write there: {error.message}")
        case BadRequest():
            is_place = any(words in error.message.casefold() for words in _NO_PLACE)
            return Denied(f"Telegram: {error.message}") if is_place else Invalid(f"Telegram: {error.message}")
        case TimedOut() | NetworkError():
            if isinstance(error.__cause__, _NOT_SENT):
                return Unavailable("Telegram cannot be reached")
            if error.__cause__ is None:
                return Unavailable(f"Telegram: {error.message}")  # it answered, with an error of its own
            return OutcomeUnknown("Telegram did not answer")
        case _:
            return Unavailable(f"Telegram: {error.message}")
