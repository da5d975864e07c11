"""Each warning of the check, and that a good configuration has none."""
# ruff: noqa: E501 - one row a case reads best

from pathlib import Path

import pytest

from nightcrew.config.check import Surroundings, check_settings
from tests.adapters.config.reading import read

TWO = "projects: [a/b]\nagents: {claude: , codex: }\n"


def warnings(text: str, base: Path, *, programs: dict[str, str] | None = None, **environ: str) -> list[str]:
    settings = read(text, environ={"HOME": str(base)})
    return [str(problem) for problem in check_settings(settings, Surroundings(environ, base, programs or {}))]


def test_a_good_configuration_has_no_warning(tmp_path):
    assert warnings(TWO, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("agents: {a: }", "projects: no repository is looked after (`nightcrew project add owner/name`)"),
        (
            "projects: [a/b]",
            "agents: no agent writes changes, so nothing will be started (name one under `agents`)",
        ),
        (
            "projects: [a/b]\nagents: {a: {enabled: false}}",
            "agents: no agent writes changes, so nothing will be started (name one under `agents`)",
        ),
        (
            TWO + "forges: {github: {token: env:NOT_SET}}",
            "forges.github.token: the variable NOT_SET is not set",
        ),
        (
            TWO + "forges: {github: {token: file:nothing}}",
            "forges.github.token: there is no file {base}/nothing",
        ),
        (
            TWO + "forges: {github: {token: file:open}}",
            "forges.github.token: others may read {base}/open (chmod 600 {base}/open)",
        ),
        (
            "projects: [a/b]\nagents: {a: {env: {API_KEY: abc}}, b: }",
            "agents.a.env.API_KEY: looks like a secret in plain text (write env:NAME or file:PATH)",
        ),
        (
            TWO + "forges: {github: {base_url: 'http://ghe.example.com'}}",
            "forges.github.base_url: the token travels unencrypted (use https)",
        ),
        (
            TWO + "defaults: {merge: {protected_paths: [x]}}",
            "projects[a/b].merge.protected_paths: agents may change .nightcrew.yml without a person's approval (add it)",
        ),
        (
            TWO + "defaults: {merge: {allow_without_ci: true}}",
            "projects[a/b].merge.allow_without_ci: changes may merge that nothing has tested (add `checks`)",
        ),
        (
            TWO + "defaults: {copy_files: .env}",
            "projects[a/b].copy_files: has no checkout to copy from (set `source`)",
        ),
        (
            "projects: [{slug: a/b, source: ~/nothing}]\nagents: {claude: , codex: }",
            "projects[a/b].source: there is no folder {base}/nothing",
        ),
    ],
)
def test_what_is_allowed_and_not_meant_is_one_warning(tmp_path, text, line):
    (tmp_path / "open").write_text("x")
    (tmp_path / "open").chmod(0o644)
    assert warnings(text, tmp_path) == [line.format(base=tmp_path)]


@pytest.mark.parametrize(
    ("agents", "allow", "names"),
    [
        ("{a: }", "other_agent", "`a`"),
        ("{a: , b: {can_review: false}}", "other_agent", "`a`"),
        ("{a: , b: {enabled: false}}", "other_agent", "`a`"),
        ("{a: {can_review: false}, b: {can_author: false}}", "other_agent", ""),
        ("{a: , b: {can_review: false}}", "other_model", "`a`"),
        ("{a: {models: {simple: x}}}", "other_model", "`a`"),
        ("{a: {models: {simple: x}, review_models: y}}", "other_model", ""),
        ("{a: {models: {simple: x}, review_models: y}}", "other_agent", "`a`"),
        ("{a: , b: }", "other_agent", ""),
    ],
)
def test_too_few_agents_for_an_independent_reviewer(tmp_path, agents, allow, names):
    text = f"projects: [p/q]\nagents: {agents}\ndefaults: {{review: {{allow: {allow}}}}}"
    found = [line for line in warnings(text, tmp_path) if ".review.allow" in line]
    if not names:
        assert found == []
        return
    (line,) = found
    assert f"nobody independent can review the work of {names} (" in line
    assert ("review.allow: other_model" in line) is (allow == "other_agent")


def test_an_agent_whose_program_is_not_there(tmp_path):
    (tmp_path / "there").write_text("#!/bin/sh\n")
    (tmp_path / "there").chmod(0o755)
    programs = {"claude": "there", "codex": "not-there", "off": "not-there"}
    text = (
        "projects: [a/b]\nagents: {claude: , codex: , off: {enabled: false}, own: {adapter: custom, command: [gone]}}"
    )
    assert warnings(text, tmp_path, programs=programs, PATH=str(tmp_path)) == [
        "agents.codex: 'not-there' is not on PATH (install it, or set `enabled: false`)",
        "agents.own: 'gone' is not on PATH (install it, or set `enabled: false`)",
    ]


def test_variables_that_set_nothing_are_among_the_warnings(tmp_path):
    (line,) = warnings(TWO, tmp_path, NIGHTCREW_LIMIT="3")
    assert line.startswith("environment:NIGHTCREW_LIMIT: sets nothing")
