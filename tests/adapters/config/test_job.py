"""Jobs in config.yml: what may be written, what is refused, and that it is read back as it is shown."""

import json

import pytest

from nightcrew.config.load import parse_configuration
from nightcrew.config.render import render_settings
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.internal import Pins, TaskKind
from nightcrew.core.model.job import CatchUp, DailyReview, JobSettings
from nightcrew.core.model.settings import Settings

FULL = {
    "schedule": "30 2 * * 1-5", "timezone": "Europe/Berlin", "enabled": False, "catch_up": "skip", "title": "Look",
    "prompt": "Look at it.", "kind": "report", "agent": "claude", "model": "m1",
    "complexity": "simple",
}  # fmt: skip


DAY = {"schedule": "@daily", "builtin": "daily-review", "comment": True, "issues": 2}


def read(**jobs: object) -> Settings:
    config = {"projects": [{"slug": "acme/widget", "jobs": jobs}], "agents": {"claude": {}}}
    return parse_configuration(json.dumps(config), "config.yml", environ={}).apply()


def test_every_key_arrives_and_is_shown_as_it_was_written():
    issue = {"schedule": "@daily", "prompt": "x", "external": True}
    settings = read(
        nightly=FULL, issue=issue, lint={"schedule": "@daily", "run": "make lint", "timeout": "20m"}, day=DAY
    )
    day, issued, lint, nightly = settings.projects["acme/widget"].jobs
    assert day.review == DailyReview(comment=True, issues=2)
    assert nightly == JobSettings(
        "nightly", "30 2 * * 1-5", "Europe/Berlin", False, "Look", "Look at it.", TaskKind.REPORT, False,
        Pins("claude", "m1", "simple"), catch_up=CatchUp.SKIP,
    )  # fmt: skip
    assert issued.work == "issue"
    assert (lint.run, lint.timeout_s, lint.catch_up) == (("make", "lint"), 1200.0, CatchUp.ONCE)
    again = parse_configuration(json.dumps(render_settings(settings)), "shown", environ={}).apply()
    assert again.projects == settings.projects


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"schedule": "@daily"}, "exactly one of prompt, run, builtin"),
        ({"schedule": "@daily", "builtin": "weekly"}, "builtin"),
        ({"schedule": "@daily", "prompt": "x", "issues": 1}, "only with builtin"),
        ({"schedule": "@daily", "builtin": "daily-review", "issues": 11}, "issues"),
        ({"schedule": "@daily", "prompt": "x", "run": "true"}, "not prompt and run"),
        ({"prompt": "x"}, "schedule"),
        ({"schedule": "whenever", "prompt": "x"}, "not a schedule"),
        ({"schedule": "0 0 30 2 *", "prompt": "x"}, "never comes"),
        ({"schedule": "@daily", "timezone": "Mars/Base", "prompt": "x"}, "time zone"),
        ({"schedule": "@daily", "run": "a | b"}, "shell"),
        ({"schedule": "@daily", "prompt": "x", "comand": "x"}, "comand"),
        ({"schedule": "@daily", "prompt": "x", "kind": "poem"}, "kind"),
        ({"schedule": "@daily", "run": "true", "timeout": "9h"}, "timeout"),
        ({"schedule": "whenever", "prompt": "x"}, r"jobs\.nightly\.schedule"),
        ({"schedule": "@daily", "timezone": "Mars/Base", "prompt": "x"}, r"jobs\.nightly\.timezone"),
        ({"schedule": "@daily", "run": "true", "external": True}, "`external` means nothing with `run`"),
        ({"schedule": "@daily", "builtin": "daily-review", "external": True}, "`external` means nothing"),
        ({"schedule": "@daily", "run": "true", "agent": "claude"}, "`agent` means nothing with `run`"),
        ({"schedule": "@daily", "prompt": "x", "timeout": "1h"}, "`timeout` means nothing with `prompt`"),
        ({"schedule": "@daily", "prompt": "x", "external": True, "kind": "report"}, "internal task"),
        ({"schedule": "@daily", "prompt": "x", "agent": "clade"}, r"jobs\.nightly\.agent"),
    ],
)
def test_what_is_wrong_is_said(job, words):
    with pytest.raises(ConfigError, match=words):
        read(nightly=job)


@pytest.mark.parametrize("name", ["Nightly", "-x", "a b", "../x", "x" * 41, "ü"])
def test_the_name_of_a_job_is_safe_anywhere(name):
    with pytest.raises(ConfigError):
        read(**{name: {"schedule": "@daily", "prompt": "x"}})
