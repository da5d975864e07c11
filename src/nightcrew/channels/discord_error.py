"""What Discord's errors mean, in the words of `ports`."""

from datetime import datetime, timedelta

import aiohttp
import discord

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, PortError, Unavailable

_NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_NO_PLACE = frozenset({50008, 50024, 50083, 160005})
"""No text channel, not possible in this channel, an archived and a locked thread (docs, "JSON error codes")."""


def translate(error: Exception, *, now: datetime) -> PortError:
    """The error to raise for one of the library's, or of the connection's."""
    match error:
        case discord.RateLimited():
            return Unavailable("Discord asks to wait", retry_at=now + timedelta(seconds=error.retry_after))
        case discord.LoginFailure():
            return Denied("Discord does not know the token of the bot")
        case discord.PrivilegedIntentsRequired():
            return Denied("Discord does not allow the bot an intent that it asks for")
        case discord.Forbidden() | discord.NotFound():
            return Denied(f"Discord does not let the bot write there: {error.text[:200]}")
        case discord.HTTPException() if error.code in _NO_PLACE:
            return Denied(f"Discord does not take messages there: {error.text[:200]}")
        case discord.HTTPException() if error.status == 429 or error.status >= 500:
            return Unavailable(f"Discord answered {error.status}")
        case discord.HTTPException():
            return Invalid(f"Discord: {error.text[:200]} ({error.code})")
        case discord.DiscordException():
            return Unavailable(f"Discord: {str(error)[:200]}")
        case _ if isinstance(error, _NOT_SENT):
            return Unavailable("Discord cannot be reached")
        case _:
            return OutcomeUnknown("Discord did not answer")
