"""Being a GitHub App: a key that signs who we are, and from it, hour by hour, the token of one installation.

"Authenticating as a GitHub App installation": a token holds for an hour. It is renewed well before that, once for all
who wait for it; while an old one still holds, a renewal that fails stops nobody.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from nightcrew.core.errors import Denied, Invalid, Missing, PortError, Unavailable
from nightcrew.core.ids import is_slug
from nightcrew.forges.github import field as fields
from nightcrew.forges.github.client import Answer, Lost, Transport
from nightcrew.forges.github.field import Json, Unreadable, as_object
from nightcrew.forges.github.lane import Sleep
from nightcrew.forges.github.request import Requester
from nightcrew.forges.github.token import MASK
from nightcrew.forges.github.traffic import Meter
from nightcrew.ports.clock import Clock

RENEW_BEFORE_S = 600.0
"""How long before its end a token is renewed: whoever has it can use it at least that long, also for a slow push."""
LEAST_LEFT_S = 60.0
"""What an old token must have left to be used after all, when renewing it fails."""
AGAIN_AFTER_S = 30.0
YOUNG_S = 60.0
"""A token that is refused while it is younger than this is not made anew: another would be refused too."""
JWT_BACK_S, JWT_FOR_S = 60, 540
"""A signed claim may be ten minutes long, and begins in the past since clocks differ."""
SKEW_S = 30.0


@dataclass(frozen=True, slots=True)
class AppKey:
    """Which App, where it is installed, and its private key (PEM)."""

    id: int
    installation: int
    private_key: str = field(repr=False)

    @property
    def principal(self) -> str:
        """Tells installations apart. It does not change with the token: what was read under an older one is asked for
        with its validator, and the forge says whether that holds for the new one."""
        return hashlib.sha256(f"nightcrew app\0{self.id}\0{self.installation}".encode()).hexdigest()[:24]

    def secrets(self) -> tuple[str, ...]:
        """The key whole, and its lines, each of which is a part of it."""
        lines = (line.strip() for line in self.private_key.splitlines())
        return (self.private_key, *(line for line in lines if len(line) >= 32 and not line.startswith("-")))


@dataclass(frozen=True, slots=True)
class Grant:
    """A token of an installation: until when it holds by our clock, since when we have it, and what it may do."""

    token: str = field(repr=False)
    until_at: datetime
    since_at: datetime
    permissions: Mapping[str, str]


class AppToken:
    """The current token of an installation. Errors: Denied (the key, the App or the installation is not right),
    Unavailable with when to try again."""

    def __init__(
        self,
        key: AppKey,
        *,
        base_url: str,
        clock: Clock,
        jitter: Callable[[], float],
        learn: Callable[[Iterable[str]], None] = lambda _values: None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`learn` is told each new token, before it is used."""
        self.key = key
        self._clock = clock
        self._learn = learn
        self._signer = _Signer(key, clock)
        http = Transport(base_url, token=self._signer, meter=Meter(), transport=transport)
        self._requester = Requester(http, clock=clock, jitter=jitter, sleep=sleep, write_interval_s=0.0)
        self._turn = asyncio.Lock()
        self._grant: Grant | None = None
        self._again_at: datetime | None = None
        self._login = ""

    def __repr__(self) -> str:
        return f"AppToken(app {self.key.id}, installation {self.key.installation})"

    @property
    def principal(self) -> str:
        return self.key.principal

    async def close(self) -> None:
        await self._requester.transport.close()

    def mask(self, text: str) -> str:
        """`text` without the token in it."""
        return text.replace(self._grant.token, MASK) if self._grant is not None else text

    async def current(self) -> str:
        """A token that holds for ten minutes at least, unless renewing it fails just now."""
        return (await self.fetch_grant()).token

    async def fetch_grant(self) -> Grant:
        """The same with what it may do."""
        if self._is_fresh() and self._grant is not None:
            return self._grant
        async with self._turn:
            held = self._grant
            if self._is_fresh() and held is not None:
                return held  # somebody else renewed it meanwhile
            try:
                self._grant = await self._renew()
            except PortError:
                if held is None or self._left_s(held) < LEAST_LEFT_S:
                    raise
                self._again_at = self._clock.now() + timedelta(seconds=AGAIN_AFTER_S)
                return held
            self._again_at = None
            return self._grant

    def drop(self, refused: str) -> bool:
        """The forge refused this token. Whether another can be had: one that was not made just now."""
        grant = self._grant
        if grant is None or grant.token != refused:
            return True
        if (self._clock.now() - grant.since_at).total_seconds() < YOUNG_S:
            return False
        self._grant = None
        return True

    async def fetch_login(self) -> str:
        """The account that the App acts as."""
        if not self._login:
            url = f"{self._requester.transport.base_url}/app"
            raw = await self._signed(lambda: self._requester.read(url, accept=(401,)))
            self._login = f"{fields.text(raw, 'slug')}[bot]"
        return self._login

    async def fetch_installation(self, project: str) -> int:
        """Where the App is installed for this repository. Missing if it is not."""
        if not is_slug(project):
            raise Invalid(f"{project!r} is not a repository; write it as owner/repo")
        url = f"{self._requester.transport.base_url}/repos/{project}/installation"
        try:
            raw = await self._signed(lambda: self._requester.read(url, accept=(401,)))
        except Missing as error:
            raise Missing(f"App {self.key.id} is not installed for {project}, or {project} is not there") from error
        return fields.number(raw, "id")

    def _is_fresh(self) -> bool:
        if self._grant is None:
            return False
        waits = self._again_at is not None and self._clock.now() < self._again_at
        return self._left_s(self._grant) > (LEAST_LEFT_S if waits else RENEW_BEFORE_S)

    def _left_s(self, grant: Grant) -> float:
        return (grant.until_at - self._clock.now()).total_seconds()

    async def _renew(self) -> Grant:
        url = f"{self._requester.transport.base_url}/app/installations/{self.key.installation}/access_tokens"
        raw = await self._signed(lambda: self._requester.write("POST", url, {}, repeatable=True, accept=(401,)))
        now = self._clock.now()
        try:
            token, until_at = fields.text(raw, "token"), fields.moment(raw, "expires_at")
        except Unreadable as error:
            raise Unavailable(f"the answer with a token is not understood: {error}") from error
        if not token:
            raise Unavailable("the answer holds no token")
        self._learn([token])
        permissions = {str(name): str(level) for name, level in fields.child(raw, "permissions").items()}
        # By our clock, which may differ from the forge's.
        return Grant(token, until_at - timedelta(seconds=self._signer.skew_s), now, permissions)

    async def _signed(self, ask: Callable[[], Any]) -> Json:
        """An answer to a request that the key signs. If it is refused and our clock is wrong, once more with theirs."""
        answer: Answer = await ask()
        if answer.status == 401 and self._signer.learn_skew(answer):
            answer = await ask()
        try:
            raw = as_object(answer.json())
        except (Unreadable, Lost) as error:
            raise Unavailable(f"the answer about the App is not understood: {error}") from error
        if answer.status == 401:
            said = fields.text(raw, "message")[:300]
            raise Denied(f"the forge does not take the key of App {self.key.id} ({said})")
        self._signer.learn_skew(answer)
        return raw


class _Signer:
    """Credentials of the App itself: a claim (JWT, RS256) that is signed anew for each request."""

    def __init__(self, key: AppKey, clock: Clock) -> None:
        self._key = key
        self._clock = clock
        self.skew_s = 0.0
        """How far the forge's clock is ahead of ours."""

    @property
    def principal(self) -> str:
        return self._key.principal

    def mask(self, text: str) -> str:
        return text

    def drop(self, refused: str) -> bool:  # noqa: ARG002 - a claim is not kept
        return False

    async def current(self) -> str:
        at = int((self._clock.now() + timedelta(seconds=self.skew_s)).timestamp())
        claim = {"iat": at - JWT_BACK_S, "exp": at + JWT_FOR_S, "iss": str(self._key.id)}
        return await asyncio.to_thread(sign_claim, self._key.private_key, claim)

    def learn_skew(self, answer: Answer) -> bool:
        """Note how far apart the clocks are. Whether that is news that matters."""
        try:
            there = parsedate_to_datetime(answer.headers.get("date", ""))
            skew_s = (there - self._clock.now()).total_seconds()
        except (ValueError, TypeError):
            return False
        before, self.skew_s = self.skew_s, skew_s if abs(skew_s) > SKEW_S else 0.0
        return abs(self.skew_s - before) > SKEW_S


def sign_claim(private_key: str, claim: Mapping[str, Any]) -> str:
    """The claim as a JWT. ValueError if the key is none."""
    from github.Auth import AppAuth
    from jwt import PyJWTError

    try:
        signed = AppAuth.create_jwt_sign(private_key, "RS256")(dict(claim))
    except PyJWTError as error:
        raise ValueError("not a private key") from error
    return signed.decode() if isinstance(signed, bytes) else str(signed)
