"""Who is told: the receivers of the configuration, those who subscribed in a chat, and this machine's desktop."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

import structlog

from nightcrew.agents.zone import HostZone
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import resolve_secret
from nightcrew.core.chat.message import Message
from nightcrew.core.errors import ConfigError, Denied
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import NoticeSettings, Target, TargetKind, TargetSettings
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.telling import render_notice
from nightcrew.engine.bus import Bus
from nightcrew.engine.courier import Courier, Receiver
from nightcrew.engine.subscription import ALL, load_subscriptions
from nightcrew.notifiers.desktop import DesktopNotifier, find_desktop
from nightcrew.notifiers.mail import Encryption, MailNotifier, MailSettings
from nightcrew.notifiers.ntfy import NtfyNotifier
from nightcrew.notifiers.openclaw import OpenclawNotifier
from nightcrew.notifiers.slack import SlackNotifier
from nightcrew.notifiers.webhook import WebhookNotifier
from nightcrew.ports.channel import Place, Speaker, parse_receiver
from nightcrew.ports.clock import Clock
from nightcrew.ports.notifier import Notifier
from nightcrew.ports.service import Answer
from nightcrew.ports.store import Store

DESKTOP = "desktop"
_LOOK_EVERY_S = 2.0
_HERE = HostZone()
"""One alone, so that receivers that are made anew are the same as before."""
_TRIED_AGAIN_S = 60.0
"""How long what keeps a receiver from being made is taken to hold: a secret's file may be put right."""


class Chat(Speaker, Protocol):
    """A platform on which notices may be asked for."""

    def hears(self, place: Place, person: str) -> bool:
        """Whether orders are taken at this place by what is configured now. `person` is known of a private chat."""
        ...


@dataclass(frozen=True, slots=True)
class ChatNotifier:
    """A place in a chat as a receiver. Implements `ports.notifier.Notifier`."""

    speaker: Speaker
    place: Place

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:  # noqa: ARG002 - for people alone
        await self.speaker.say(self.place, message)


class NoticePart:
    """The courier, with the receivers of the settings in force."""

    def __init__(
        self,
        home: Home,
        *,
        wanted: Callable[[], NoticeSettings],
        speakers: Mapping[str, Chat],
        learn: Callable[[Iterable[str]], None],
    ) -> None:
        """`speakers` are the chats by name; `learn` is told secrets."""
        self._home = home
        self._wanted = wanted
        self._speakers = speakers
        self._learn = learn
        self._subscribed: Mapping[str, frozenset[str]] = {}
        self._addressed: frozenset[str] = frozenset()
        self._built: tuple[object, dict[str, Receiver]] = (None, {})
        self._built_at = 0.0
        self._problems: dict[str, str] = {}

    async def run(self, store: Store, clock: Clock, bus: Bus) -> None:
        """Tell for ever."""
        courier = Courier(store, clock, bus, lambda: self._receivers(clock), _report)
        read_at = store.writes
        self._subscribed = await load_subscriptions(store)
        self._addressed |= await store.load_addressed()
        async with asyncio.TaskGroup() as group:
            group.create_task(courier.run(), name="courier")
            while True:
                await asyncio.sleep(_LOOK_EVERY_S)
                if store.writes != read_at:  # otherwise what was read still holds
                    read_at = store.writes
                    self._subscribed = await load_subscriptions(store)
                    # Who was told one thing is kept: a round that is ended might be in the middle of telling.
                    self._addressed |= await store.load_addressed()

    async def test(self, name: str | None, clock: Clock) -> Answer:
        """Tell every receiver, or one, that this is a test. `data` says by name what came of it."""
        receivers = self._receivers(clock)
        names = {*receivers, *self._problems}
        if name is not None and name not in names:
            return Answer(False, f"there is no receiver {name}; there are: {', '.join(sorted(names)) or 'none'}")
        outcomes: dict[str, object] = {one: words for one, words in self._problems.items() if name in (None, one)}
        for one, receiver in receivers.items():
            if name in (None, one):
                outcomes[one] = await _try(receiver.notifier, clock.now())
        told = sum(outcome == "told" for outcome in outcomes.values())
        words = "; ".join(f"{one}: {outcome}" for one, outcome in outcomes.items())
        return Answer(told > 0, words or "nobody is told: add a receiver under `notices`", outcomes)

    def _receivers(self, clock: Clock) -> Mapping[str, Receiver]:
        wanted, now = (self._wanted(), self._places()), clock.monotonic()
        if self._built[0] != wanted or (self._problems and now - self._built_at > _TRIED_AGAIN_S):
            before, self._problems = self._problems, {}
            receivers = {one.target.name: one for one in self._make(*wanted, clock)}
            for name in self._problems.keys() - before.keys():
                _report(f"{name} cannot be told: {self._problems[name]}")
            self._built, self._built_at = (wanted, receivers), now
        return self._built[1]

    def _places(self) -> Mapping[str, tuple[Place, frozenset[str]]]:
        """Where notices were asked for, with the projects, and where something is to be answered (none); only where
        orders are still taken."""
        found = {}
        addressed = {name: frozenset[str]() for name in self._addressed}
        for name, projects in (addressed | dict(self._subscribed)).items():
            channel, place, person = parse_receiver(name)
            is_told = bool(projects) or name in addressed
            if is_told and channel in self._speakers and self._speakers[channel].hears(place, person):
                found[name] = (place, projects)
        return found

    def _make(
        self, settings: NoticeSettings, places: Mapping[str, tuple[Place, frozenset[str]]], clock: Clock
    ) -> Iterable[Receiver]:
        """The receivers; one that cannot be made keeps no other from being told."""
        environ, zone = load_environment(), find_zone(settings.time_zone)
        program = find_desktop(environ, is_macos=sys.platform == "darwin")
        if settings.desktop and program is not None:
            target = replace(settings.subscribed, name=DESKTOP, least=Priority.WARNING)
            yield Receiver(target, DesktopNotifier(program, environ=environ), zone)
        for given in settings.targets:
            try:
                yield Receiver(given.target, self._notifier(given, clock), zone, mark=repr(given.way))
            except ConfigError as error:
                self._problems[given.target.name] = one_line(str(error), 400)
        for name, (place, projects) in places.items():
            target = _subscribed(settings.subscribed, name, projects)
            speaker = self._speakers[name.partition(":")[0]]
            yield Receiver(target, ChatNotifier(speaker, place), zone)

    def _notifier(self, given: TargetSettings, clock: Clock) -> Notifier:
        def value(name: str) -> str:
            return self._reveal(given, name)

        match given.kind:
            case TargetKind.SLACK:
                return SlackNotifier(value("url"), clock=clock)
            case TargetKind.NTFY:
                return NtfyNotifier(value("url"), token=value("token"), clock=clock)
            case TargetKind.WEBHOOK:
                return WebhookNotifier(value("url"), secret=value("secret"), clock=clock)
            case TargetKind.OPENCLAW:
                return OpenclawNotifier(value("url"), token=value("token"), clock=clock)
            case TargetKind.EMAIL:
                return MailNotifier(self._mail(given), clock=clock)
            case TargetKind.TELEGRAM | TargetKind.DISCORD:
                return ChatNotifier(self._speakers[given.kind.value], Place(given.value("chat"), given.value("thread")))
            case TargetKind.DESKTOP:
                environ = load_environment()
                program = find_desktop(environ, is_macos=sys.platform == "darwin")
                return NoDesktop() if program is None else DesktopNotifier(program, environ=environ)

    def _mail(self, given: TargetSettings) -> MailSettings:
        return MailSettings(
            host=given.value("host"),
            port=int(given.value("port")),
            encryption=Encryption(given.value("encryption")),
            sender=given.value("sender"),
            recipients=tuple(given.value("recipients").split("\n")),
            user=given.value("user"),
            password=self._reveal(given, "password"),
        )

    def _reveal(self, given: TargetSettings, name: str) -> str:
        """A value that may be a reference to a secret."""
        reference = given.value(name)
        if not reference:
            return ""
        where = f"notices.targets[{given.target.name}].{name}"
        found = resolve_secret(reference, where, environ=load_environment(), base=self._home.root).reveal()
        if found != reference or name != "url":
            self._learn([found])
        return found


class NoDesktop:
    """A desktop that is asked for where there is none. Implements `ports.notifier.Notifier`."""

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:  # noqa: ARG002 - nothing is told
        raise Denied("there is no desktop here, or no notify-send")


def find_zone(name: str) -> tzinfo:
    """The time zone of a name, or this machine's with its summer and winter."""
    return ZoneInfo(name) if name else _HERE


def _subscribed(plain: Target, name: str, projects: frozenset[str]) -> Target:
    if not projects:
        return replace(plain, name=name, is_alone=True)
    return replace(plain, name=name, projects=frozenset() if ALL in projects else projects)


async def _try(notifier: Notifier, now: datetime) -> str:
    notice = Notice("nightcrew", "test", Priority.ACTION, "This is a test. You are told here what waits for you.", now)
    try:
        async with asyncio.timeout(60):
            await notifier.tell(render_notice(notice), (notice,))
    except TimeoutError:
        return "it did not answer in time"
    except Exception as error:  # noqa: BLE001 - whatever a way to somebody does, the others are tried
        return str(error) or type(error).__name__
    return "told"


def _report(words: str) -> None:
    structlog.get_logger("notice").warning("trouble", words=words)
