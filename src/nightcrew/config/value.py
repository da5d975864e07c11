"""The kinds of value that keys take, each with its own words for a bad one. Which keys exist is not known here."""

import re
import shlex
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from nightcrew.core.ids import is_slug

_DURATION = re.compile(r"(?P<count>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[smh]?)")
_UNIT_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
_MODEL = re.compile(r"[A-Za-z0-9][^\s\x00-\x1f\x7f]{0,199}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_REF = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[A-Za-z0-9_][^\s~^:?*\[\\\x00-\x1f\x7f]{0,199}(?<![./])")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S.*")
_EMAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_CHECK = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,48}[A-Za-z0-9]|[A-Za-z0-9]")
_URL = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
_HOST = re.compile(
    r"(?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[0-9]{1,5})?"
)
_SHELL = re.compile(r"[|&;<>`]|\$\(")

FORGE_TOKENS = frozenset({"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"})


def bad_value(words: str) -> PydanticCustomError:
    """A problem with a value, in our own words."""
    return PydanticCustomError("nightcrew", "{words}", {"words": words})


def parse_duration(value: object) -> float:
    """Seconds from `45`, `45s`, `30m` or `2h`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 40 else None
    if match is None:
        raise bad_value(f"{_shown(value)} is not a time; write 45, 45s, 30m or 2h")
    return float(match["count"]) * _UNIT_S[match["unit"]]


def _whole(value: object) -> object:
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, str) and _is_whole(value))):
        raise bad_value(f"{_shown(value)} is not a whole number")
    return int(value)


def _amount(value: object) -> object:
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text, re.ASCII):
        return float(text)
    if isinstance(text, bool) or not isinstance(text, (int, float)):
        raise bad_value(f"{_shown(value)} is not a number")
    return float(text)


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,12}", text.strip(), re.ASCII) is not None


def _truth(value: object) -> object:
    text = value.strip().lower() if isinstance(value, str) else value
    if text not in (True, False, "true", "false") or isinstance(text, (int, float)) is not isinstance(text, bool):
        raise bad_value(f"{_shown(value)} is neither true nor false")
    return text in (True, "true")


def listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _argv(value: object) -> object:
    """Words of a command: a list as it is, a line of text split as a shell would, but never given to one."""
    if not isinstance(value, str):
        return value
    if _SHELL.search(value):
        raise bad_value("is not given to a shell; write [sh, -c, '…'] if it needs one")
    try:
        return shlex.split(value)
    except ValueError as error:
        raise bad_value(f"cannot be split into words: {error}") from None


def _not_empty(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0]:
        raise bad_value("names no program")
    return value


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise bad_value("has a zero character")
    return value


def _one_line(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise bad_value(f"{_shown(value)} must be one line of printable text")
    return value


def _matching(pattern: re.Pattern[str], words: str) -> AfterValidator:
    def check(value: str) -> str:
        if pattern.fullmatch(value) is None:
            raise bad_value(f"{_shown(value)} {words}")
        return value

    return AfterValidator(check)


def _slug(value: str) -> str:
    if not is_slug(value):
        raise bad_value(f"{_shown(value)} is not a repository; write owner/name")
    return value


def _inside(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "~")) or ".." in parts or parts[0] == ".git" or "\\" in value:
        raise bad_value(f"{_shown(value)} must be a path inside the checkout")
    return value


def _folder(value: str) -> str:
    if value and not value.startswith(("/", "~/")) and value != "~":
        raise bad_value(f"{_shown(value)} must be a whole path, from / or ~/")
    return value


def _url(value: str) -> str:
    if value and _URL.fullmatch(value) is None:
        raise bad_value("is not a URL of a server; write https://host/path, without name and password")
    return value.rstrip("/")


def _listen(value: str) -> str:
    if not value:
        return value
    try:
        parts = urlsplit(f"//{value}")
        if parts.hostname != "localhost":
            ip_address(parts.hostname or "")
        whole = parts.port is not None and parts.netloc == value and parts.username is None
    except ValueError:
        whole = False
    if not whole:
        raise bad_value(f"{_shown(value)} is not a place to listen at; write 127.0.0.1:PORT")
    return value


def is_loopback(listen: str) -> bool:
    """Whether a place to listen at is reached from this machine alone."""
    host = urlsplit(f"//{listen}").hostname or ""
    return host == "localhost" or ip_address(host).is_loopback


def _signing_key(value: str) -> str:
    if value.startswith("-") or not value.isprintable():
        raise bad_value(f"{_shown(value)} is neither the path of a key nor the id of one")
    return value


def _address(value: str) -> str:
    if _EMAIL.fullmatch(value.replace("{agent}", "agent")) is None or re.search(r"[{}]", value.replace("{agent}", "")):
        raise bad_value(f"{_shown(value)} is not an address; {{agent}} stands for the agent's name")
    return value


def _check_name(value: str) -> str:
    if _CHECK.fullmatch(value) is None:
        raise bad_value(f"{_shown(value)} is not a name for a check")
    if value.lower() == "review":
        raise bad_value("`review` is the name of the reviewer's own status; choose another")
    return value


def _variable(value: str) -> str:
    if _VARIABLE.fullmatch(value) is None:
        raise bad_value(f"{_shown(value)} is not the name of a variable")
    if value in FORGE_TOKENS or value.startswith("NIGHTCREW_"):
        raise bad_value("is never given to an agent: only Nightcrew itself talks to the forge")
    return value


def _variable_value(value: str) -> str:
    if value.removeprefix("env:") in FORGE_TOKENS or value.startswith("env:NIGHTCREW_"):
        raise bad_value("is the forge's token, which is never given to an agent")
    return _reference(value)


def _reference(value: str) -> str:
    if value.startswith("env:") and _VARIABLE.fullmatch(value[4:]) is None:
        raise bad_value("names no variable after env:")
    if value.startswith("file:") and not value[5:].strip():
        raise bad_value("names no file after file:")
    return _no_nul(value)


def _token(value: str) -> str:
    if value and not value.startswith(("env:", "file:")):
        raise bad_value("must be a reference; write env:NAME or file:PATH, never the token itself")
    return _reference(value)


def _shown(value: object) -> str:
    """What was written, short, and harmless on a terminal."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


Duration = Annotated[
    float,
    BeforeValidator(
        parse_duration, json_schema_input_type=float | Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?\s*[smh]?$")]
    ),
]
"""Seconds."""
Amount = Annotated[float, BeforeValidator(_amount, json_schema_input_type=float)]
Count = Annotated[int, BeforeValidator(_whole)]
Truth = Annotated[bool, BeforeValidator(_truth)]
Text = Annotated[str, AfterValidator(_no_nul), StringConstraints(max_length=50_000)]
OneLine = Annotated[str, AfterValidator(_one_line), StringConstraints(max_length=500)]
Lines = Annotated[tuple[OneLine, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Word = Annotated[str, AfterValidator(_no_nul), StringConstraints(max_length=5_000)]
Words = Annotated[tuple[Word, ...], BeforeValidator(_argv, json_schema_input_type=str | list[str])]
Command = Annotated[Words, AfterValidator(_not_empty)]
Slug = Annotated[str, AfterValidator(_slug)]
InsidePath = Annotated[OneLine, AfterValidator(_inside)]
InsidePaths = Annotated[tuple[InsidePath, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Folder = Annotated[Text, AfterValidator(_folder)]
Folders = Annotated[tuple[Folder, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Host = Annotated[str, _matching(_HOST, "is not the name of a host; write `api.example.com` or `host:port`")]
Hosts = Annotated[tuple[Host, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
SigningKey = Annotated[str, AfterValidator(_signing_key), StringConstraints(max_length=500)]
Url = Annotated[str, AfterValidator(_url)]
Listen = Annotated[str, AfterValidator(_listen)]
Address = Annotated[str, AfterValidator(_address)]
AgentName = Annotated[str, _matching(_AGENT, "is not a name: small letters, digits, - and _, at most 31")]
ForgeName = Annotated[str, _matching(_AGENT, "is not a name: small letters, digits, - and _, at most 31")]
ModelName = Annotated[str, _matching(_MODEL, "is not the name of a model")]
Models = Annotated[tuple[ModelName, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Ref = Annotated[str, _matching(_REF, "is not the name of a branch")]
Trailer = Annotated[OneLine, _matching(_TRAILER, "is not a trailer; write `Name: value`")]
Trailers = Annotated[tuple[Trailer, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
CheckName = Annotated[str, AfterValidator(_check_name)]
Variable = Annotated[str, AfterValidator(_variable)]
VariableValue = Annotated[str, AfterValidator(_variable_value)]
TokenReference = Annotated[str, AfterValidator(_token)]
"""Where a forge's token is. The token itself is refused: this file is shown, copied and kept."""
TokenReferences = Annotated[tuple[TokenReference, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]


def key(words: str, default: Any = ..., *, reload: str = "live", **bounds: Any) -> Any:
    """A key: what it does, its default, and whether a change takes effect `live` or after a `restart`."""
    return Field(default, description=words, json_schema_extra={"x-reload": reload}, **bounds)
