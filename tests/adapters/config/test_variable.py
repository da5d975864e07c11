import pytest

from nightcrew.config.environment import load_environment
from nightcrew.config.variable import find_unknown_variables
from tests.adapters.config.reading import problems, read


def test_variables_reach_what_belongs_to_the_machine():
    environ = {
        "NIGHTCREW_INTERVAL": "10s",
        "NIGHTCREW_ROUTER__TIMEOUT": "2m",
        "NIGHTCREW_FORGES__GITHUB__BASE_URL": "http://127.0.0.1:9",
        "NIGHTCREW_FORGES__GITHUB__TOKEN": "env:T",
        "NIGHTCREW_HOME": "/elsewhere",
        "NIGHTCREW_GITHUB_TOKEN": "x",
        "UNRELATED": "1",
    }
    settings = read("projects: [a/b]", environ=environ)
    assert settings.interval_s == 10
    assert settings.router.timeout_s == 120
    assert settings.forges["github"].base_url == "http://127.0.0.1:9"
    assert settings.forges["github"].token == "env:T"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("NIGHTCREW_INTERVAL", "soon", "is not a time"),
        ("NIGHTCREW_LIMITS", "8", "set by its keys"),
        ("NIGHTCREW_LIMITS", "[", "set by its keys"),
        ("NIGHTCREW_LIMITS__TIMEOUTS", "x", "set by its keys"),
        ("NIGHTCREW_LIMITS__MAXRUNS", "8", "did you mean `max_runs`?"),
        ("NIGHTCREW_LIMITS__MAX_RUNS", "eight", "is not a whole number"),
        ("NIGHTCREW_LIMITS__MAX_RUNS__X", "8", "is not a whole number"),
        ("NIGHTCREW_FORGES__GITHUB", "x", "set by its keys"),
        ("NIGHTCREW_FORGES__GITHUB__KIND", "x", "accepted: github or local"),
    ],
)
def test_a_bad_variable_is_named(name, value, says):
    (line,) = problems("", environ={name: value, "NIGHTCREW_ROUTER": "{}"})
    assert line.startswith(f"environment:{name.removesuffix('__X')}: ")
    assert says in line


def test_a_variable_that_sets_nothing_is_found_with_the_nearest_name():
    found = find_unknown_variables(
        {"NIGHTCREW_INTERVL": "3", "NIGHTCREW_HOME": "/", "NIGHTCREW_LIMITS__MAX_RUNS": "1", "OTHER": ""}
    )
    assert [str(problem) for problem in found] == [
        "environment:NIGHTCREW_INTERVL: sets nothing (did you mean `NIGHTCREW_INTERVAL`?)"
    ]


def test_the_environment_is_a_copy():
    environ = load_environment()
    environ["NIGHTCREW_TEST_ONLY"] = "1"
    assert "NIGHTCREW_TEST_ONLY" not in load_environment()
