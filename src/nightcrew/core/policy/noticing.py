"""What is a person told of a change, in which words, and how much does it matter?"""

from collections.abc import Mapping
from dataclasses import dataclass

from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey, render_sha
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.reaction import ReactionAction, ReactionKind, ReactionRule, ReactionSettings
from nightcrew.core.model.run import InterruptionKind, Run
from nightcrew.core.model.task import Block
from nightcrew.core.template import fill_places

BLOCKED = "blocked"
MERGED = "merged"
BASE_RED = "base_red"
BASE_BROKEN = "base_broken"

_REACTION_OF = {
    "base_moves": ReactionKind.BEHIND_BASE,
    "ci_failed": ReactionKind.CI_FAILED,
    "feedback": ReactionKind.CHANGES_REQUESTED,
    "pull_closed": ReactionKind.PR_CLOSED,
}
_WITHOUT_A_WORD = frozenset({FailureKind.CRASH, FailureKind.HANG, FailureKind.TIMEOUT, FailureKind.BAD_OUTPUT})


@dataclass(frozen=True, slots=True)
class Told:
    """What a notice says: kind, priority and words."""

    kind: str
    priority: Priority
    words: str


def told_of_block(task: TaskKey, block: Block, rules: ReactionSettings, *, pull: int | None) -> Told | None:
    """What a person is told of a block that they have to lift: by the rule of the reaction that led to it, if one did.
    What waits for an answer is the author's question. None where the rule says so."""
    kind = ReactionKind.AGENT_NEEDS_INPUT if block.answerable else _REACTION_OF.get(block.code)
    if kind is None:
        return Told(BLOCKED, Priority.ACTION, block.words)
    rule = rules.rule(kind)
    if rule.action is ReactionAction.NOTHING and kind in (ReactionKind.AGENT_NEEDS_INPUT, ReactionKind.PR_CLOSED):
        return None
    own = rule if rule.action is ReactionAction.NOTIFY else ReactionRule()
    words = told_words(
        own, block.words, {"task": str(task), "project": task.project, "pull": f"#{pull}" if pull else ""}
    )
    return Told(kind.value, rule.priority, words)


def told_of_exit(run: Run, rules: ReactionSettings, *, how: str) -> Told | None:
    """What a person is told of a run that ended without a word of its agent, by `how`; None of any other."""
    outcome, rule = run.outcome, rules.agent_exited
    if outcome is None or rule.action is not ReactionAction.NOTIFY:
        return None
    lost = outcome.interruption is not None and outcome.interruption.kind is InterruptionKind.LOST
    failed = outcome.failure is not None and outcome.failure.kind in _WITHOUT_A_WORD
    if not lost and not failed:
        return None
    words = f"The {run.role.value} run of {run.agent} (attempt {run.attempt}) ended without a result: {how}"
    said = told_words(rule, words, {"task": str(run.task), "project": run.task.project})
    return Told(ReactionKind.AGENT_EXITED.value, rule.priority, said)


def told_words(rule: ReactionRule, words: str, values: Mapping[str, str]) -> str:
    """The owner's own words for it, else the usual ones."""
    return fill_places(rule.message, {**values, "why": words}).strip() or words


def places_of(task: TaskKey, pull: Pull | None = None) -> dict[str, str]:
    """What a message may name of a task and its pull request."""
    values = {"project": task.project, "task": str(task)}
    if pull is not None:
        values |= {"pull": f"#{pull.number}", "head": render_sha(pull.head_sha), "base": pull.base_ref}
    return values
