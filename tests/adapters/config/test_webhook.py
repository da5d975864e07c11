"""Where webhooks may be listened for, and with what."""

from pathlib import Path

import pytest

from nightcrew.config.check import Surroundings, check_settings
from nightcrew.core.model.forge import WebhookSettings
from tests.adapters.config.reading import problems, read

WARNING = "other machines can reach it"


def test_without_the_section_nothing_is_listened_for():
    assert read("").webhook == WebhookSettings()


@pytest.mark.parametrize("place", ["127.0.0.1:8787", "localhost:1", "'[::1]:8787'", "127.0.0.1:0"])
def test_places_on_this_machine(place):
    settings = read(f"webhook: {{listen: {place}, secret: env:HOOK}}")
    assert settings.webhook == WebhookSettings(place.strip("'"), "env:HOOK")
    assert WARNING not in str(list(check_settings(settings, Surroundings(environ={"HOOK": "x"}, base=Path()))))


@pytest.mark.parametrize("place", ["0.0.0.0:8787", "192.0.2.1:80", "'[::]:8787'"])
def test_other_places_only_when_it_is_said(place):
    (problem,) = problems(f"webhook: {{listen: {place}, secret: env:HOOK}}")
    assert "config.yml:1:webhook.listen: other machines can reach that address" in problem
    settings = read(f"webhook: {{listen: {place}, secret: env:HOOK, allow_remote: true}}")
    assert WARNING in str(list(check_settings(settings, Surroundings(environ={"HOOK": "x"}, base=Path()))))


@pytest.mark.parametrize(
    "place",
    [
        "8787",
        "127.0.0.1",
        "example.com:80",
        "127.0.0.1:99999",
        "http://127.0.0.1:80",
        "a@127.0.0.1:80",
        "127.0.0.1:80/x",
    ],
)
def test_what_is_no_place(place):
    (problem,) = problems(f"webhook: {{listen: '{place}', secret: env:HOOK}}")
    assert "is not a place to listen at" in problem


def test_a_secret_is_required_and_never_written_out():
    (problem,) = problems("webhook: {listen: '127.0.0.1:8787'}")
    assert "webhook.secret: is missing" in problem
    (problem,) = problems("webhook: {listen: '127.0.0.1:8787', secret: hunter2}")
    assert "must be a reference" in problem
    assert "hunter2" not in problem
