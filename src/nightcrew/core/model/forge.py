"""The servers that projects lie on, and how Nightcrew is let in: what a person can set about them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AppSettings:
    """A GitHub App: its id, that of its installation, and the reference to its private key."""

    id: int
    installation: int
    private_key: str


@dataclass(frozen=True, slots=True)
class ForgeBudget:
    """Shares of a token's hourly limit, in percent. With less than `slow` left lists are read less often, with less
    than `stop` not at all, and the last `reserve` is not touched."""

    slow: int = 25
    stop: int = 10
    reserve: int = 2


@dataclass(frozen=True, slots=True)
class ForgeSettings:
    """A GitHub-compatible server. `kind` is `github` or `local`; `token` is a secret reference, empty for the usual
    places; `tokens` are more of them; `app` is who Nightcrew is there instead of all these; `write_interval_s` is the
    least time between two writes."""

    name: str
    kind: str = "github"
    base_url: str = "https://api.github.com"
    token: str = ""
    app: AppSettings | None = None
    write_interval_s: float = 1.0
    tokens: tuple[str, ...] = ()
    budget: ForgeBudget = ForgeBudget()


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where deliveries are listened for (`host:port`, empty: nowhere), and the reference to what they are signed with.
    `allow_remote` lets it be an address that other machines reach."""

    listen: str = ""
    secret: str = ""
    allow_remote: bool = False
