"""What is to be done by itself about an event on a pull request?

A thing that somebody said (a review, a remark on a line) is sent until it is on record that a run was given it, and
never again after that. Counting goes by what is on record, so a status that flaps counts once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.ids import RunId
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.pull import PullView, Remark, Review, ReviewState
from nightcrew.core.model.reaction import Reaction, ReactionAction, ReactionKey, ReactionKind, ReactionRule
from nightcrew.core.model.report import AuthorReport, ReportedOutcome
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.checking import failed_checks, is_unpaid
from nightcrew.core.policy.merging import latest_reviews
from nightcrew.core.words import is_own_remark


@dataclass(frozen=True, slots=True)
class Due:
    """Which kinds are to be sent now, and which of them were sent as often as they may be."""

    kinds: tuple[ReactionKind, ...] = ()
    spent: tuple[ReactionKind, ...] = ()


def review_thing(review: Review) -> str:
    """The name under which it is on record that a review was given to a run."""
    return f"review:{review.id}"


def remark_thing(remark: Remark) -> str:
    return f"remark:{remark.id}"


def given_thing(run: RunId) -> str:
    """That a run was given something that people said."""
    return f"given:{run}"


def answered_thing(run: RunId) -> str:
    """That what a run was given has been answered."""
    return f"answered:{run}"


def unanswered(view: TaskView) -> Run | None:
    """The last author run, if it is done and was given what people said, which has not been answered yet."""
    run = view.last(Role.AUTHOR)
    report = run.outcome.report if run is not None and run.outcome is not None else None
    if run is None or not isinstance(report, AuthorReport) or report.outcome is not ReportedOutcome.DONE:
        return None
    is_due = given_thing(run.id) in view.delivered and answered_thing(run.id) not in view.delivered
    return run if is_due else None


def said_since(view: TaskView, pull: PullView, project: ProjectSettings) -> tuple[ReactionKind, ...]:
    """Which kinds of feedback hold something that no run was given yet and that is to be sent."""
    rules = project.reactions
    reviews = pull.reviews.value if isinstance(pull.reviews, Known) else ()
    remarks = pull.remarks.value if isinstance(pull.remarks, Known) else ()
    asked = [review for review in objections(reviews) if review_thing(review) not in view.delivered]
    by_bots = pull.bot_reviews if rules.review_comments.bots else ()
    said = [
        review
        for review in (*comments(reviews), *comments(by_bots), *objections(by_bots))
        if review_thing(review) not in view.delivered
    ]
    lines = [
        remark
        for remark in remarks
        if remark_thing(remark) not in view.delivered
        and not is_own_remark(remark.body)
        and (rules.review_comments.bots or not remark.is_bot)
    ]
    found = []
    if asked and rules.changes_requested.action is ReactionAction.SEND:
        found.append(ReactionKind.CHANGES_REQUESTED)
    if (said or lines) and rules.review_comments.action is ReactionAction.SEND:
        found.append(ReactionKind.REVIEW_COMMENTS)
    return tuple(found)


def due_feedback(view: TaskView, pull: PullView, project: ProjectSettings) -> Due:
    """What people newly said goes to the author; failed checks of the same head go with it, so that none hides the
    other."""
    kinds = said_since(view, pull, project)
    failed = [check for check in failed_checks(project, pull) if not is_unpaid(check)]
    if kinds and failed and project.reactions.ci_failed.action is ReactionAction.SEND:
        kinds = (*kinds, ReactionKind.CI_FAILED)
    spent = tuple(
        kind
        for kind in kinds
        if kind is not ReactionKind.CI_FAILED and is_spent(view, pull, kind, rule=project.reactions.rule(kind))
    )
    return Due(kinds, spent)


def comments(reviews: tuple[Review, ...]) -> tuple[Review, ...]:
    """Reviews that only comment, and say something."""
    return tuple(one for one in reviews if one.state is ReviewState.COMMENTED and one.body.strip())


def objections(reviews: tuple[Review, ...]) -> tuple[Review, ...]:
    """The latest review of each person, where it asks for changes."""
    return tuple(review for review in latest_reviews(reviews) if review.state is ReviewState.CHANGES_REQUESTED)


def why_unread(pull: PullView, project: ProjectSettings) -> str:
    """Why remarks on lines are not known that would be sent: unknown is not none. Where the reviews are not known
    either, the gate says so."""
    if isinstance(pull.reviews, Unknown) or project.reactions.review_comments.action is not ReactionAction.SEND:
        return ""
    return pull.remarks.why if isinstance(pull.remarks, Unknown) else ""


def is_spent(view: TaskView, pull: PullView, kind: ReactionKind, *, rule: ReactionRule) -> bool:
    """Whether a kind was sent for this pull request as often as it may be, since a person last reset the task."""
    return times_sent(view, pull, kind) >= rule.retries


def times_sent(view: TaskView, pull: PullView, kind: ReactionKind) -> int:
    return sum(
        row.sent
        for row in view.reactions
        if row.key.pull == pull.pull.number and row.key.kind is kind and view.is_counted(row)
    )


def key_of(pull: PullView, kind: ReactionKind) -> ReactionKey:
    return ReactionKey(pull.pull.number, pull.pull.head_sha, kind)


def find_reaction(view: TaskView, key: ReactionKey) -> Reaction | None:
    return next((row for row in view.reactions if row.key == key), None)


def escalates_at(row: Reaction, rule: ReactionRule) -> datetime:
    """When a person is told that it is still unresolved: at once where that is all that is done about it."""
    if rule.action is ReactionAction.NOTIFY:
        return row.seen_at
    return row.seen_at + timedelta(seconds=rule.escalate_after_s)
