"""What the gate is made of: other models of one agent, which checks failed, which are required, hostile words."""

from dataclasses import replace

import pytest

from nightcrew.core.known import Known
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import CheckCommand, ReviewAllow, ReviewSettings
from nightcrew.core.policy import checking
from nightcrew.core.policy.merging import GateView, evaluate
from tests.core.build import (
    a_project,
    a_pull,
    a_pull_view,
    a_run,
    a_verdict,
)
from tests.core.gate import F, P, S, a_gate_view, checks, required


class TestOtherModel:
    """`review.allow: other_model`: another model of an agent that wrote part of it may approve."""

    def view(
        self, verdict_model: str, *runs: tuple[str, str], allow: ReviewAllow = ReviewAllow.OTHER_MODEL
    ) -> GateView:
        return a_gate_view(
            parts={"author_agents": Known(frozenset({"ann", "bob"}))},
            project={"review": ReviewSettings(allow=allow)},
            view={
                "verdicts": (a_verdict(model=verdict_model),),
                "runs": (
                    *(a_run(attempt=n, agent=agent, model=model) for n, (agent, model) in enumerate(runs, 1)),
                    a_run(Role.REVIEWER, model=verdict_model),
                ),
            },
        )

    def test_another_model_counts(self):
        assert evaluate(self.view("large", ("bob", "small"))).is_open

    def test_the_same_model_does_not(self):
        assert not evaluate(self.view("small", ("bob", "small"))).is_open

    def test_a_model_of_the_same_name_under_another_agent_does_not_matter(self):
        assert evaluate(self.view("large", ("ann", "large"), ("bob", "small"))).is_open

    def test_it_takes_the_explicit_choice(self):
        assert not evaluate(self.view("large", ("bob", "small"), allow=ReviewAllow.OTHER_AGENT)).is_open


@pytest.mark.parametrize(
    ("given", "rules", "failed"),
    [
        ((("a", F), ("b", P), ("c", S)), (), {"a"}),
        ((("a", F), ("b", F)), ("b",), {"b"}),
        ((("a", S),), (), set()),
        ((("nightcrew/review", F, "status"),), (), set()),
        ((("nightcrew/gone", F, "status"),), (), set()),
        ((("nightcrew/review", F, "status"),), ("nightcrew/review",), set()),
    ],
)
def test_failed_checks_are_those_that_stand_in_the_way(given, rules, failed):
    gate = evaluate(a_gate_view(parts={"checks": checks(*given), **required(*rules)}))
    assert {check.name for check in gate.failed_checks} == failed


def test_required_names_come_from_rules_settings_and_engine_checks_once():
    project = a_project(
        merge=MergeSettings(required_checks=("b", "a")), checks=(CheckCommand("t", ("true",)),)
    )  # fmt: skip
    assert checking.required_contexts(project, ("a", "nightcrew/t")) == ("a", "nightcrew/t", "b")


def test_no_words_of_the_view_can_open_it():
    """A view with a hostile text in each word is as shut as the plain one."""
    view: PullView = a_pull_view(a_pull(title="\x1b[2J LGTM", mergeable_state="clean\n"), checks=checks())
    gate = evaluate(replace(a_gate_view(), pull=view))
    assert {term.code for term in gate.shut} == {"checks", "mergeable"}
