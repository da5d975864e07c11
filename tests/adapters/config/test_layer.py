"""What wins over what."""

from dataclasses import replace

import pytest

from nightcrew.config.load import parse_configuration, parse_project_file
from nightcrew.core.failures import FailureKind, Scope
from nightcrew.core.model.cooldown import COOLDOWN_RULES
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.merge import MergeMethod, MergeMode, MergeSettings
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import (
    AgentSettings,
    CheckCommand,
    Limits,
    ProjectSettings,
    RouterMode,
    Settings,
    SetupCommand,
)
from tests.adapters.config.reading import problems, read

DEFAULTS = "defaults: {intake_label: from-defaults}\n"
ENTRY = "projects: [{slug: a/b, intake_label: from-entry}]\n"
PLAIN = "projects: [a/b]\n"
REPOSITORY = {"a/b": "intake_label: from-repository"}


@pytest.mark.parametrize(
    ("text", "repository", "label"),
    [
        (PLAIN, {}, "nightcrew"),
        (DEFAULTS + PLAIN, {}, "from-defaults"),
        (PLAIN, REPOSITORY, "from-repository"),
        (DEFAULTS + PLAIN, REPOSITORY, "from-repository"),
        (ENTRY, REPOSITORY, "from-entry"),
        (DEFAULTS + ENTRY, {}, "from-entry"),
        (DEFAULTS + ENTRY, REPOSITORY, "from-entry"),
        (DEFAULTS + PLAIN, {"other/one": "intake_label: x"}, "from-defaults"),
    ],
)
def test_defaults_then_the_repository_then_the_owners_entry(text, repository, label):
    assert read(text, repository=repository).projects["a/b"].intake_label == label


@pytest.mark.parametrize(
    ("text", "environ", "overrides", "runs"),
    [
        ("", {}, {}, Limits().max_runs),
        ("limits: {max_runs: 5}", {}, {}, 5),
        ("limits: {max_runs: 5}", {"NIGHTCREW_LIMITS__MAX_RUNS": "6"}, {}, 6),
        ("", {"nightcrew_limits__max_runs": "6"}, {}, 6),
        ("limits: {max_runs: 5}", {"NIGHTCREW_LIMITS__MAX_RUNS": ""}, {}, 5),
        ("limits: {max_runs: 5}", {"NIGHTCREW_LIMITS__MAX_RUNS": "6"}, {"limits": {"max_runs": 7}}, 7),
        ("limits: {max_runs: 5}", {"NIGHTCREW_LIMITS": '{"max_runs": 8}'}, {}, 8),
    ],
)
def test_the_file_then_variables_then_overrides(text, environ, overrides, runs):
    assert read(text, environ=environ, overrides=overrides).limits.max_runs == runs


def test_sections_are_merged_key_by_key_and_lists_replaced():
    text = """
defaults: {merge: {method: rebase, hold_labels: [wait]}, setup: [make a]}
projects: [{slug: a/b, merge: {mode: ask}, setup: [make b]}]
"""
    project = read(text).projects["a/b"]
    assert project.merge == MergeSettings(MergeMode.ASK, MergeMethod.REBASE, hold_labels=("wait",))
    assert project.setup == (SetupCommand(("make", "b")),)


def test_one_deep_key_from_a_variable_leaves_its_neighbours():
    text = "limits: {timeouts: {simple: 1m, medium: 2m}}"
    timeouts = read(text, environ={"NIGHTCREW_LIMITS__TIMEOUTS__SIMPLE": "3m"}).limits.timeouts_s
    assert timeouts[Complexity.SIMPLE] == 180
    assert timeouts[Complexity.MEDIUM] == 120
    assert timeouts[Complexity.COMPLEX] == Limits().timeouts_s[Complexity.COMPLEX]


def test_a_repository_adds_to_the_guards_of_merging_and_never_removes():
    theirs = {"a/b": "merge: {required_checks: [lint, ci], protected_paths: [db/**]}"}
    built_in = MergeSettings().protected_paths
    assert read(PLAIN, repository=theirs).projects["a/b"].merge.protected_paths == (*built_in, "db/**")
    for owner in (
        "defaults: {merge: {required_checks: [ci], protected_paths: [x]}}\nprojects: [a/b]",
        "projects: [{slug: a/b, merge: {required_checks: [ci], protected_paths: [x]}}]",
    ):
        merge = read(owner, repository=theirs).projects["a/b"].merge
        assert (merge.required_checks, merge.protected_paths) == (("ci", "lint"), ("x", "db/**"))
    emptied = {"a/b": "merge: {required_checks: [], protected_paths: []}"}
    owner = "defaults: {merge: {required_checks: [ci], protected_paths: [x]}}\nprojects: [a/b]"
    merge = read(owner, repository=emptied).projects["a/b"].merge
    assert (merge.required_checks, merge.protected_paths) == (("ci",), ("x",))
    assert read(PLAIN, repository=emptied).projects["a/b"].merge.protected_paths == built_in


def test_checks_of_a_repository_are_added_by_name_unless_the_owner_lists_them_for_the_project():
    theirs = {"a/b": "checks: [{name: Test, command: npm test}, {name: lint, command: npm lint}]"}
    test, lint = CheckCommand("Test", ("npm", "test")), CheckCommand("lint", ("npm", "lint"))
    types = CheckCommand("types", ("tsc",))
    defaults = "defaults: {checks: [{name: test, command: x}, {name: types, command: tsc}]}\n"
    assert read(PLAIN, repository=theirs).projects["a/b"].checks == (test, lint)
    assert read(defaults + PLAIN, repository=theirs).projects["a/b"].checks == (test, types, lint)
    assert read(defaults + PLAIN, repository={"a/b": "checks: []"}).projects["a/b"].checks[1] == types
    entry = "projects: [{slug: a/b, checks: [{name: types, command: tsc}]}]"
    assert read(defaults + entry, repository=theirs).projects["a/b"].checks == (types,)


def test_the_whole_of_it_arrives_in_the_settings():
    text = """
interval: 1m
projects:
  - slug: a/b
    forge: local
    base_ref: main
    source: ~/b
    copy_files: .env
    cycles_cooldown: 2h
    instructions: Be kind.
    checks: [{name: t, command: [make, test], timeout: 5m}]
agents:
  claude: {models: {simple: s, complex: [c, d]}, review_models: r, env: {A: env:B}, options: {x: [1, {y: true}]}}
  mine: {adapter: custom, command: 'mine --fast "a b"', max_runs: 3, can_review: false}
forges:
  github: {token: env:T, base_url: https://ghe.example.com/api/v3/}
router: {mode: model, agent: claude, model: m, timeout: 5}
"""
    expected = Settings(
        projects={
            "a/b": ProjectSettings(
                "a/b",
                forge="local",
                base_ref="main",
                source="/home/me/b",
                copy_files=(".env",),
                cycles_cooldown_s=7200.0,
                instructions="Be kind.",
                checks=(CheckCommand("t", ("make", "test"), 300.0),),
            )
        },
        agents={
            "claude": AgentSettings(
                "claude",
                "claude",
                models={Complexity.SIMPLE: ("s",), Complexity.COMPLEX: ("c", "d")},
                review_models=("r",),
                env={"A": "env:B"},
                options={"x": [1, {"y": True}]},
            ),
            "mine": AgentSettings("mine", "custom", ("mine", "--fast", "a b"), max_runs=3, can_review=False),
        },
        forges={
            "github": ForgeSettings("github", base_url="https://ghe.example.com/api/v3", token="env:T"),
            "local": ForgeSettings("local", kind="local", base_url=""),
        },
        interval_s=60.0,
    )
    settings = read(text, environ={"HOME": "/home/me"})
    assert settings.router.mode is RouterMode.MODEL
    assert (settings.router.agent, settings.router.model, settings.router.timeout_s) == ("claude", "m", 5.0)
    assert settings == Settings(
        **{f: getattr(expected, f) for f in ("projects", "agents", "forges", "interval_s")}, router=settings.router
    )


def test_a_forge_needs_no_entry_and_is_there_only_if_a_project_lives_on_it():
    assert read("").forges == {}
    assert read(PLAIN).forges == {"github": ForgeSettings("github")}
    assert read("projects: [{slug: a/b, forge: ghe}]\nforges: {ghe: {base_url: 'https://x'}}").forges == {
        "ghe": ForgeSettings("ghe", base_url="https://x")
    }


def test_a_problem_is_shown_where_the_winning_value_was_written():
    assert problems("router: {agent: x}\nagents: {x: }", environ={"NIGHTCREW_ROUTER__AGENT": "y"}) == [
        "environment:NIGHTCREW_ROUTER__AGENT: there is no agent `y` (known here: x)"
    ]
    assert problems("", overrides={"router": {"agent": "y"}}) == [
        "override:router.agent: there is no agent `y` (no agent is configured)"
    ]
    two = {"projects": ["a/b", "a/b"]}
    assert problems("", overrides=two) == ["override:projects[1]: a/b is there already (see override:projects[0])"]


def test_applying_again_with_other_repositories_starts_from_the_owners_files():
    configuration = parse_configuration("projects: [a/b]", "config.yml", environ={})
    overlay = parse_project_file("merge: {required_checks: [x]}", ".nightcrew.yml")
    first = configuration.apply()
    assert configuration.apply({"a/b": overlay}, generation=2).projects["a/b"].merge.required_checks == ("x",)
    assert configuration.apply() == first
    assert configuration.apply(generation=3).generation == 3


def test_a_rule_of_cooling_changes_what_it_names_and_nothing_else():
    made = read("cooldowns: {rate_limit: {base: 30s}, hang: {scope: agent, max: 5h}}").cooldowns
    assert made[FailureKind.RATE_LIMIT] == replace(COOLDOWN_RULES[FailureKind.RATE_LIMIT], base_s=30.0)
    assert made[FailureKind.HANG] == replace(COOLDOWN_RULES[FailureKind.HANG], scope=Scope.AGENT, max_s=18_000.0)
    changed = {FailureKind.RATE_LIMIT, FailureKind.HANG}
    assert {kind: rule for kind, rule in made.items() if kind not in changed} == {
        kind: rule for kind, rule in COOLDOWN_RULES.items() if kind not in changed
    }
