"""The keys of `notices`: who is told, of what, and when."""

import re
from collections.abc import Iterator
from datetime import time
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from nightcrew.config.section import Section
from nightcrew.config.value import (
    Count,
    ForgeName,
    OneLine,
    Slug,
    Text,
    TokenReference,
    Truth,
    Word,
    bad_value,
    key,
)
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.target import NoticeSettings, Quiet, Target, TargetKind, TargetSettings

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_NEEDS: dict[TargetKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    TargetKind.TELEGRAM: (("chat",), ("thread",)),
    TargetKind.DISCORD: (("chat",), ("thread",)),
    TargetKind.SLACK: (("url",), ()),
    TargetKind.NTFY: (("url",), ("token",)),
    TargetKind.WEBHOOK: (("url",), ("secret",)),
    TargetKind.EMAIL: (("host", "sender", "recipients"), ("port", "encryption", "user", "password")),
    TargetKind.OPENCLAW: (("url", "token"), ()),
    TargetKind.DESKTOP: ((), ()),
}
"""The keys that each kind of receiver must have, and may have."""
_ID = re.compile(r"[0-9]{1,20}")
_PLACES = {
    (TargetKind.TELEGRAM, "chat"): (re.compile(r"-?[0-9]{1,20}|@[A-Za-z0-9_]{4,64}"), "the id of a chat, or @name"),
    (TargetKind.TELEGRAM, "thread"): (_ID, "the id of a topic, a whole number"),
    (TargetKind.DISCORD, "chat"): (_ID, "the id of a channel, a whole number"),
    (TargetKind.DISCORD, "thread"): (_ID, "the id of a thread, a whole number"),
}
"""How places are written; nothing else can be told to."""
_WAYS = tuple(dict.fromkeys(name for needed, more in _NEEDS.values() for name in (*needed, *more)))
SECRETS = ("url", "token", "secret", "password")


def _clock(value: str) -> str:
    if not _CLOCK.fullmatch(value):
        raise bad_value(f"{value[:20]!r} is not a time of the day; write 08:00")
    return value


def _hours(value: str) -> str:
    start, dash, end = value.partition("-")
    if value and not (dash and _CLOCK.fullmatch(start) and _CLOCK.fullmatch(end) and start != end):
        raise bad_value(f"{value[:20]!r} are not hours of the day; write 22:00-07:00")
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value or "UTC")
    except (ValueError, OSError) as error:
        raise bad_value(f"{value[:40]!r} is not a time zone; write one such as Europe/Berlin") from error
    return value


ClockTime = Annotated[str, AfterValidator(_clock)]
Hours = Annotated[str, AfterValidator(_hours)]
Zone = Annotated[Text, AfterValidator(_zone)]


class TargetKeys(Section):
    """One receiver of notices. Which keys it needs beside `to` depends on that; see chat.md."""

    to: TargetKind = key("The way to it.")
    name: ForgeName = key("Its name; needed where two have the same `to`.", "")
    projects: tuple[Slug, ...] = key("Only notices of these projects; empty: of all.", ())
    least: Priority = key("Nothing that matters less than this.", Priority.INFO)
    digest: tuple[Priority, ...] | None = key("In the place of `notices.digest`.", None)
    quiet_hours: Hours | None = key("In the place of `notices.quiet_hours`.", None)
    chat: Text = key("telegram, discord: the id of the chat (channel).", "")
    thread: Text = key("telegram, discord: the id of the topic (thread).", "")
    url: Word = key("slack, ntfy, webhook, openclaw: the address, or `env:NAME`, `file:PATH`: it can be a secret.", "")
    token: TokenReference = key("ntfy, openclaw: what is sent as bearer token.", "")
    secret: TokenReference = key("webhook: what bodies are signed with.", "")
    host: Text = key("email: the server.", "")
    port: Count = key("email: its port.", 587, ge=1, le=65_535)
    encryption: Text = key("email: `starttls`, `tls`, or `none` (for a server on this machine).", "starttls")
    user: Text = key("email: the login.", "")
    password: TokenReference = key("email: its password.", "")
    sender: Text = key("email: from whom.", "")
    recipients: tuple[OneLine, ...] = key("email: to whom.", ())


class NoticesKeys(Section):
    """Who is told what happened, and what waits for them. See chat.md."""

    desktop: Truth = key("Tell this machine's desktop, if it has one.", True)
    time_zone: Zone = key("Of all times of the day here; empty: this machine's.", "")
    quiet_hours: Hours = key("Only what is urgent is told in these hours, as `22:00-07:00`; empty: none.", "")
    digest: tuple[Priority, ...] = key("Priorities that are gathered, and told together once a day.", ())
    digest_at: ClockTime = key("When that is.", "08:00")
    targets: tuple[TargetKeys, ...] = key("Further receivers.", ())


def check_targets(keys: NoticesKeys) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """What is wrong with receivers: where, what, and what to do."""
    names: set[str] = set()
    for at, target in enumerate(keys.targets):
        where = ("notices", "targets", at)
        needed, more = _NEEDS[target.to]
        for name in needed:
            if not getattr(target, name):
                yield (*where, name), "is missing", f"a receiver `to: {target.to.value}` needs it"
        for (kind, name), (form, words) in _PLACES.items():
            value = getattr(target, name)
            if kind is target.to and value and not form.fullmatch(value):
                yield (*where, name), f"{value[:40]!r} is not {words}", ""
        for name in target.model_fields_set & set(_WAYS) - {*needed, *more}:
            yield (*where, name), f"means nothing for `to: {target.to.value}`", "leave it out"
        if target.encryption not in ("starttls", "tls", "none"):
            yield (*where, "encryption"), "is none of starttls, tls, none", ""
        if _name(target) in names:
            yield (*where, "name"), f"there is another receiver `{_name(target)}`", "give it a name of its own"
        names.add(_name(target))


def build_notices(keys: NoticesKeys) -> NoticeSettings:
    """The settings that the keys mean."""
    plain = Target("", digest=frozenset(keys.digest), digest_at=_time(keys.digest_at), quiet=_quiet(keys.quiet_hours))
    targets = [
        TargetSettings(
            target.to,
            Target(
                _name(target),
                frozenset(target.projects),
                target.least,
                plain.digest if target.digest is None else frozenset(target.digest),
                plain.digest_at,
                plain.quiet if target.quiet_hours is None else _quiet(target.quiet_hours),
            ),
            _way(target),
        )
        for target in keys.targets
    ]
    return NoticeSettings(keys.desktop, keys.time_zone, tuple(targets), plain)


def render_notices(settings: NoticeSettings) -> dict[str, object]:
    """As plain values; the digest and quiet hours of each receiver are spelled out."""
    plain = settings.subscribed
    return {
        "desktop": settings.desktop,
        "time_zone": settings.time_zone,
        "quiet_hours": _hours_of(plain.quiet),
        "digest": sorted(one.value for one in plain.digest),
        "digest_at": f"{plain.digest_at:%H:%M}",
        "targets": [_render_target(target) for target in settings.targets],
    }


def _render_target(settings: TargetSettings) -> dict[str, object]:
    target = settings.target
    way: dict[str, object] = {}
    for name, value in settings.way:
        way[name] = int(value) if name == "port" else value.split("\n") if name == "recipients" else value
    return {
        "to": settings.kind.value,
        "name": target.name,
        "projects": sorted(target.projects),
        "least": target.least.value,
        "digest": sorted(one.value for one in target.digest),
        "quiet_hours": _hours_of(target.quiet),
        **way,
    }


def _way(target: TargetKeys) -> tuple[tuple[str, str], ...]:
    needed, more = _NEEDS[target.to]
    return tuple((name, _shown(getattr(target, name))) for name in (*needed, *more))


def _name(target: TargetKeys) -> str:
    return target.name or target.to.value


def _shown(value: object) -> str:
    return "\n".join(str(item) for item in value) if isinstance(value, tuple) else str(value)


def _time(text: str) -> time:
    hour, minute = text.split(":")
    return time(int(hour), int(minute))


def _quiet(text: str) -> Quiet | None:
    start, _, end = text.partition("-")
    return Quiet(_time(start), _time(end)) if text else None


def _hours_of(quiet: Quiet | None) -> str:
    return "" if quiet is None else f"{quiet.start:%H:%M}-{quiet.end:%H:%M}"
