"""Time zones of the world by name, and the one of this machine."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z0-9_+-]{1,30}){0,2}")

# Names that JavaScript's zone data still prints, and that some systems leave out of theirs.
_ALIASES = {
    "Africa/Asmera": "Africa/Asmara",
    "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
    "America/Godthab": "America/Nuuk",
    "America/Indianapolis": "America/Indiana/Indianapolis",
    "Asia/Calcutta": "Asia/Kolkata",
    "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon",
    "Asia/Saigon": "Asia/Ho_Chi_Minh",
    "Atlantic/Faeroe": "Atlantic/Faroe",
    "Europe/Kiev": "Europe/Kyiv",
    "US/Central": "America/Chicago",
    "US/Eastern": "America/New_York",
    "US/Mountain": "America/Denver",
    "US/Pacific": "America/Los_Angeles",
}


def find_zone(name: str) -> tzinfo | None:
    """A zone by its IANA name, old ones included; None if this machine knows no such zone. `name` may be anything."""
    if not _NAME.fullmatch(name):
        return None
    for known in dict.fromkeys((name, _ALIASES.get(name, name))):
        try:
            return ZoneInfo(known)
        except (KeyError, ValueError, OSError):  # unknown, malformed, or a folder of zones
            continue
    return None


class HostZone(tzinfo):
    """The zone of this machine with its changes between summer and winter, as the system knows them."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return dt.replace(tzinfo=None).astimezone().utcoffset() if dt is not None else None

    def dst(self, dt: datetime | None) -> timedelta | None:
        del dt
        return None  # the system does not say which part of the offset that is

    def tzname(self, dt: datetime | None) -> str | None:
        return dt.replace(tzinfo=None).astimezone().tzname() if dt is not None else None

    def fromutc(self, dt: datetime) -> datetime:
        return dt.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)
