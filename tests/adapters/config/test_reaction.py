"""The keys under `reactions`: each kind takes what makes sense for it, and says so of anything else."""

import pytest

from nightcrew.core.errors import ConfigError
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionAction, ReactionKind, ReactionSettings
from tests.adapters.config.reading import read


def reactions(text: str) -> ReactionSettings:
    settings = read("projects: [{slug: a/b, reactions: " + text + "}]")
    return settings.projects["a/b"].reactions


def test_without_a_word_the_defaults_hold():
    assert reactions("{}") == ReactionSettings()


def test_each_kind_takes_its_keys():
    rules = reactions(
        "{ci_failed: {action: notify, rerun: false, retries: 4, priority: info, message: 'Red: {why}'},"
        " merge_conflict: {retries: 7, escalate_after: 1h}, agent_stuck: {escalate_after: 20m, priority: warning},"
        " agent_needs_input: {escalate_after: 0}, all_complete: {action: nothing}}"
    )
    assert (rules.ci_failed.action, rules.ci_failed.rerun, rules.ci_failed.retries) == (ReactionAction.NOTIFY, False, 4)
    assert (rules.ci_failed.priority, rules.ci_failed.message) == (Priority.INFO, "Red: {why}")
    assert (rules.merge_conflict.retries, rules.merge_conflict.escalate_after_s) == (7, 3600)
    assert (rules.agent_stuck.escalate_after_s, rules.agent_stuck.priority) == (1200, Priority.WARNING)
    assert rules.agent_needs_input.escalate_after_s == 0
    assert rules.all_complete.action is ReactionAction.NOTHING
    assert rules.behind_base == ReactionSettings().behind_base


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (kind, action)
        for kind, allowed in {
            "ci_failed": {"send", "notify", "nothing"},
            "changes_requested": {"send", "notify", "nothing"},
            "review_comments": {"send", "nothing"},
            "merge_conflict": {"send", "notify", "nothing"},
            "behind_base": {"send", "notify", "nothing"},
            "approved_and_green": {"merge", "notify"},
            "pr_closed": {"notify", "nothing"},
            "agent_stuck": {"notify", "nothing"},
            "agent_needs_input": {"notify", "nothing"},
            "agent_exited": {"notify", "nothing"},
            "all_complete": {"notify", "nothing"},
        }.items()
        for action in sorted({"send", "notify", "merge", "nothing"} - allowed)
    ],
)
def test_an_action_that_makes_no_sense_for_a_kind_is_refused(kind, action):
    assert kind in {known.value for known in ReactionKind}
    with pytest.raises(ConfigError, match="action"):
        reactions(f"{{{kind}: {{action: {action}}}}}")


def test_a_place_that_there_is_not_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"\{nobody\}.*project, task, pull"):
        reactions("{agent_stuck: {message: 'Look, {nobody}: {why}'}}")


def test_a_key_that_makes_no_sense_for_a_kind_is_refused():
    with pytest.raises(ConfigError, match="retries"):
        reactions("{all_complete: {retries: 3}}")
