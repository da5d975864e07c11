"""The keys under `reactions`: what is done by itself about events on a pull request, and what a person is told."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from nightcrew.config.section import Section
from nightcrew.config.value import Count, Duration, Hosts, Text, Truth, bad_value, key
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionRule, ReactionSettings
from nightcrew.core.template import PLACES, unknown_places

_RULES = ReactionSettings()
_MESSAGE = 4_000
_DAY_S = 86_400
_OFTEN: dict[str, Any] = {"ge": 0, "le": 20}
_SEND_WORDS = "`send`: to its author; `notify`: a comment on the pull request; `nothing`: it only waits."
_RETRIES_WORDS = "How often it is sent for one pull request before a person is asked."
_FOR_AGENT = "Words for the agent that go with it; where a person is told instead, for them."
_FOR_PERSON = "Words for the person in the place of the usual ones."
_BASE_WORDS = (
    "`send`: the base is brought in, by the engine where that is clean, else by its author; "
    "`notify`: a comment on the pull request; `nothing`: it only waits."
)
_TOLD_WORDS = "`notify`: a notice; `nothing`: it only shows in the task."


def _priority(rule: ReactionRule) -> Any:
    return key("Of what a person is told: `urgent`, `action`, `warning` or `info`.", rule.priority)


def _message(words: str = _FOR_AGENT) -> Any:
    return key(f"{words} May name {', '.join(f'`{{{name}}}`' for name in PLACES)}.", "", max_length=_MESSAGE)


def _known_places(message: str) -> str:
    unknown = unknown_places(message)
    if unknown:
        names = ", ".join(f"{{{name}}}" for name in unknown)
        raise bad_value(f"there is nothing to fill in for {names}; a message may name {', '.join(PLACES)}")
    return message


Message = Annotated[Text, AfterValidator(_known_places)]


class CiFailedKeys(Section):
    """What is done when checks fail."""

    action: Literal["send", "notify", "nothing"] = key(_SEND_WORDS, "send")
    rerun: Truth = key(
        "Failed checks run once more at each head before anybody is asked; one that passes then is listed as flaky.",
        _RULES.ci_failed.rerun,
    )
    log_hosts: Hosts = key(
        "Hosts besides the forge from which the log behind a commit status may be read (`host`, or `host:port`).",
        _RULES.ci_failed.log_hosts,
    )
    retries: Count = key(_RETRIES_WORDS, _RULES.ci_failed.retries, **_OFTEN)
    priority: Priority = _priority(_RULES.ci_failed)
    message: Message = _message()


class ChangesRequestedKeys(Section):
    """What is done when a person's review asks for changes. The merge waits for that person either way."""

    action: Literal["send", "notify", "nothing"] = key(_SEND_WORDS, "send")
    retries: Count = key(_RETRIES_WORDS, _RULES.changes_requested.retries, **_OFTEN)
    escalate_after: Duration = key(
        "How long it may stay unresolved at one head before a comment calls for a person.",
        _RULES.changes_requested.escalate_after_s,
        ge=1,
        le=30 * _DAY_S,
    )
    priority: Priority = _priority(_RULES.changes_requested)
    message: Message = _message()


class ReviewCommentsKeys(Section):
    """What is done when people with write access remark on lines, or comment in a review."""

    action: Literal["send", "nothing"] = key(
        "`send`: to its author; `nothing`: the next author is told, and nothing waits for it.", "send"
    )
    retries: Count = key(_RETRIES_WORDS, _RULES.review_comments.retries, **_OFTEN)
    bots: Truth = key(
        "Reviews and remarks of bots count as well, also those that ask for changes; they never hold up the merge.",
        _RULES.review_comments.bots,
    )
    priority: Priority = _priority(_RULES.review_comments)
    message: Message = _message()


class ApprovedKeys(Section):
    """What is done when everything holds that a merge needs."""

    action: Literal["merge", "notify"] = key(
        "`merge`; or `notify`: a comment on the pull request, and a person merges.", "merge"
    )
    priority: Priority = _priority(_RULES.approved_and_green)
    message: Message = _message(_FOR_PERSON)


class MergeConflictKeys(Section):
    """What is done when it does not merge with its base any more."""

    action: Literal["send", "notify", "nothing"] = key(_BASE_WORDS, "send")
    retries: Count = key(
        "How often its author resolves one before a person is asked.", _RULES.merge_conflict.retries, **_OFTEN
    )
    escalate_after: Duration = key(
        "How long it may stay at one head, where it cannot be brought in, before a person is told.",
        _RULES.merge_conflict.escalate_after_s,
        ge=1,
        le=30 * _DAY_S,
    )
    priority: Priority = _priority(_RULES.merge_conflict)
    message: Message = _message()


class BehindBaseKeys(Section):
    """What is done when only that its base moved on keeps it from merging."""

    action: Literal["send", "notify", "nothing"] = key(_BASE_WORDS, "send")
    retries: Count = key(
        "How often it is brought in before a person is asked.", _RULES.behind_base.retries, ge=0, le=100
    )
    escalate_after: Duration = key(
        "How long it may stay at one head, where it cannot be brought in, before a person is told.",
        _RULES.behind_base.escalate_after_s,
        ge=1,
        le=30 * _DAY_S,
    )
    priority: Priority = _priority(_RULES.behind_base)
    message: Message = _message(_FOR_PERSON)


class PrClosedKeys(Section):
    """What is done when somebody closes the pull request without a merge. Its task is blocked either way."""

    action: Literal["notify", "nothing"] = key(_TOLD_WORDS, "notify")
    priority: Priority = _priority(_RULES.pr_closed)
    message: Message = _message(_FOR_PERSON)


class AgentStuckKeys(Section):
    """What is done when a run prints nothing. `agents.NAME.silence` says when it is ended."""

    action: Literal["notify", "nothing"] = key(_TOLD_WORDS, "notify")
    escalate_after: Duration = key(
        "How long it may print nothing before a person is told.", _RULES.agent_stuck.escalate_after_s, ge=1, le=_DAY_S
    )
    priority: Priority = _priority(_RULES.agent_stuck)
    message: Message = _message(_FOR_PERSON)


class AgentNeedsInputKeys(Section):
    """What is done when an author asks, declines, or cannot go on. Its task is blocked either way."""

    action: Literal["notify", "nothing"] = key(_TOLD_WORDS, "notify")
    escalate_after: Duration = key(
        "How long it may stay unanswered before a person is told once more; 0: never.",
        _RULES.agent_needs_input.escalate_after_s,
        ge=0,
        le=30 * _DAY_S,
    )
    priority: Priority = _priority(_RULES.agent_needs_input)
    message: Message = _message(_FOR_PERSON)


class AgentExitedKeys(Section):
    """What is done when a run ends without a result. It is tried again either way, as often as `attempts` says."""

    action: Literal["notify", "nothing"] = key(_TOLD_WORDS, "notify")
    priority: Priority = _priority(_RULES.agent_exited)
    message: Message = _message(_FOR_PERSON)


class AllCompleteKeys(Section):
    """What is done when all tasks of the project are done, but for those that wait for a person."""

    action: Literal["notify", "nothing"] = key(_TOLD_WORDS, "notify")
    priority: Priority = _priority(_RULES.all_complete)
    message: Message = _message(_FOR_PERSON)


class ReactionKeys(Section):
    """What is done by itself about events on a pull request."""

    ci_failed: CiFailedKeys = key("Checks failed that the merge needs.", CiFailedKeys())
    changes_requested: ChangesRequestedKeys = key("A person's review asks for changes.", ChangesRequestedKeys())
    review_comments: ReviewCommentsKeys = key("Remarks on lines, and reviews that only comment.", ReviewCommentsKeys())
    merge_conflict: MergeConflictKeys = key("It does not merge with its base.", MergeConflictKeys())
    behind_base: BehindBaseKeys = key("Its base has moved on.", BehindBaseKeys())
    approved_and_green: ApprovedKeys = key("Everything holds that a merge needs.", ApprovedKeys())
    pr_closed: PrClosedKeys = key("It was closed without a merge.", PrClosedKeys())
    agent_stuck: AgentStuckKeys = key("A run prints nothing.", AgentStuckKeys())
    agent_needs_input: AgentNeedsInputKeys = key("An author asks.", AgentNeedsInputKeys())
    agent_exited: AgentExitedKeys = key("A run ended without a result.", AgentExitedKeys())
    all_complete: AllCompleteKeys = key("Nothing is left to do.", AllCompleteKeys())
