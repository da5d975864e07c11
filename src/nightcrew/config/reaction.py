"""The keys under `reactions`: what is done by itself about events on a pull request, and what a person is told."""

from typing import Any, Literal

from nightcrew.config.section import Section
from nightcrew.config.value import Count, Duration, Text, Truth, key
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionRule, ReactionSettings

_RULES = ReactionSettings()
_MESSAGE = 4_000
_DAY_S = 86_400
_OFTEN: dict[str, Any] = {"ge": 0, "le": 20}
_SEND_WORDS = "`send`: to its author; `notify`: a comment on the pull request; `nothing`: it only waits."
_RETRIES_WORDS = "How often it is sent for one pull request before a person is asked."


def _priority(rule: ReactionRule) -> Any:
    return key("Of what a person is told: `urgent`, `action`, `warning` or `info`.", rule.priority)


def _message() -> Any:
    return key("Words for the agent that go with it.", "", max_length=_MESSAGE)


class CiFailedKeys(Section):
    """What is done when checks fail."""

    action: Literal["send", "notify", "nothing"] = key(_SEND_WORDS, "send")
    rerun: Truth = key(
        "Failed checks run once more at each head before anybody is asked; one that passes then is listed as flaky.",
        _RULES.ci_failed.rerun,
    )
    retries: Count = key(_RETRIES_WORDS, _RULES.ci_failed.retries, **_OFTEN)
    priority: Priority = _priority(_RULES.ci_failed)
    message: Text = _message()


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
    message: Text = _message()


class ReviewCommentsKeys(Section):
    """What is done when people with write access remark on lines, or comment in a review."""

    action: Literal["send", "nothing"] = key(
        "`send`: to its author; `nothing`: the next author is told, and nothing waits for it.", "send"
    )
    retries: Count = key(_RETRIES_WORDS, _RULES.review_comments.retries, **_OFTEN)
    bots: Truth = key("Remarks of bots on lines count as well.", _RULES.review_comments.bots)
    priority: Priority = _priority(_RULES.review_comments)
    message: Text = _message()


class ApprovedKeys(Section):
    """What is done when everything holds that a merge needs."""

    action: Literal["merge", "notify"] = key(
        "`merge`; or `notify`: a comment on the pull request, and a person merges.", "merge"
    )
    priority: Priority = _priority(_RULES.approved_and_green)


class ReactionKeys(Section):
    """What is done by itself about events on a pull request."""

    ci_failed: CiFailedKeys = key("Checks failed that the merge needs.", CiFailedKeys())
    changes_requested: ChangesRequestedKeys = key("A person's review asks for changes.", ChangesRequestedKeys())
    review_comments: ReviewCommentsKeys = key("Remarks on lines, and reviews that only comment.", ReviewCommentsKeys())
    approved_and_green: ApprovedKeys = key("Everything holds that a merge needs.", ApprovedKeys())
