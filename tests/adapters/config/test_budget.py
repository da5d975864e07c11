"""The keys of a task's budget, and of an agent's silence."""

import pytest

from nightcrew.config.load import parse_configuration
from nightcrew.core.model.settings import Budget
from tests.adapters.config.reading import problems


@pytest.mark.parametrize(
    ("written", "budget"),
    [
        ("{}", Budget()),
        ("{runs: 5}", Budget(runs=5)),
        ("{wall: 2h, tokens: 1000000}", Budget(wall_s=7200.0, tokens=1_000_000)),
        ("{cost: 2}", Budget(cost_usd=2.0)),
        ("{cost: '0.5'}", Budget(cost_usd=0.5)),
    ],
)
def test_a_budget(written, budget):
    text = f"projects: [{{slug: a/b, budget: {written}}}]\nagents: {{claude: {{silence: 5m}}}}"
    settings = parse_configuration(text, "config.yml", environ={}, adapters=("claude",)).apply()
    assert settings.projects["a/b"].budget == budget
    assert settings.agents["claude"].silence_s == 300.0


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{cost: much}", "defaults.budget.cost: 'much' is not a number"),
        ("{cost: true}", "defaults.budget.cost: True is not a number"),
        ("{cost: 0}", "defaults.budget.cost"),
        ("{runs: 0}", "defaults.budget.runs"),
        ("{wall: 10s}", "defaults.budget.wall"),
        ("{tokens: 1.5}", "defaults.budget.tokens"),
    ],
)
def test_what_is_no_budget(written, words):
    (line,) = problems(f"defaults: {{budget: {written}}}")
    assert words in line
