"""Receivers of notices in config.yml: what could never be told is refused."""

import json

import pytest

from nightcrew.config.load import parse_configuration
from nightcrew.core.errors import ConfigError


def read(**target: object) -> None:
    parse_configuration(json.dumps({"notices": {"targets": [target]}}), "config.yml", environ={}).apply()


@pytest.mark.parametrize(
    "target",
    [
        {"to": "telegram", "chat": "-1001234", "thread": "5"},
        {"to": "telegram", "chat": "@our_channel"},
        {"to": "discord", "chat": "234567890123456789", "thread": "1"},
    ],
)
def test_places_that_can_be_told(target: dict[str, object]) -> None:
    read(**target)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"to": "telegram", "chat": "the team"}, r"targets\[0\].chat: 'the team' is not the id of a chat"),
        ({"to": "telegram", "chat": "-100", "thread": "General"}, r"thread: 'General' is not the id of a topic"),
        ({"to": "discord", "chat": "#night"}, "is not the id of a channel"),
        ({"to": "discord", "chat": "-5"}, "is not the id of a channel"),
        ({"to": "discord", "chat": "5", "thread": "x"}, "is not the id of a thread"),
    ],
)
def test_places_that_could_never_be_told(target: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(**target)
