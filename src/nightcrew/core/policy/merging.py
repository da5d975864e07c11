"""May this pull request be merged now? The gate: every term must be true on one observation of one head SHA.

A term answers yes, no (why, in words) or unknown (why). Unknown waits; no says why. Each term is one function of
TERMS, and nothing else opens or shuts the gate.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.issue import GHOST
from nightcrew.core.model.merge import MergeMethod, MergeMode, MergeStrategy
from nightcrew.core.model.pull import Check, PullView, Review, ReviewState
from nightcrew.core.model.report import Decision
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings, ReviewAllow
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import TaskView
from nightcrew.core.path_pattern import matching_paths
from nightcrew.core.policy.checking import failed_checks, stale_checks
from nightcrew.core.policy.judging import judge_checks
from nightcrew.core.policy.term import Term, Truth, no, unknown, yes

# GitHub's mergeable_state is undocumented; these are the values seen. Anything else is unknown.
_STATES_FINE = frozenset({"clean", "unstable", "has_hooks"})


@dataclass(frozen=True, slots=True)
class GateView:
    """All that the gate looks at."""

    task: TaskView
    pull: PullView
    project: ProjectSettings
    issue_labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """All terms that are not yes; the gate is open if there is none. `failed_checks` are those that say failure."""

    shut: tuple[Term, ...]
    failed_checks: tuple[Check, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.shut

    def without(self, *codes: str) -> tuple[Term, ...]:
        return tuple(term for term in self.shut if term.code not in codes)

    @property
    def words(self) -> str:
        return "; ".join(term.words for term in self.shut)


def is_open(view: GateView) -> Term:
    """The pull request is open."""
    pull = view.pull.pull
    return yes("open") if pull.is_open and not pull.is_merged else no("open", "the pull request is not open")


def is_same_repository(view: GateView) -> Term:
    """Its head is in the same repository: a fork's is never merged by itself."""
    return no("fork", "its head is in a fork") if view.pull.pull.is_fork else yes("fork")


def is_approved(view: GateView) -> Term:
    """The newest verdict for the head SHA is approve, for this base, by an agent with no commit in base..head, and it
    is on the forge."""
    pull = view.pull.pull
    verdict = view.task.verdict_for(pull.head_sha)
    if verdict is None:
        return no("verdict", "no reviewer has approved this head")
    if verdict.decision is not Decision.APPROVE:
        return no("verdict", f"{verdict.agent} asks for changes")
    if verdict.base_ref != pull.base_ref:
        return no("verdict", f"the review was for base {verdict.base_ref}, not {pull.base_ref}")
    if not verdict.posted:
        return no("verdict", "the review is not on the pull request yet")
    if isinstance(view.pull.author_agents, Unknown):
        return unknown("verdict", f"who wrote the head is not known ({view.pull.author_agents.why})")
    if verdict.agent in view.pull.author_agents.value and not _other_model_reviewed(view, verdict):
        return no("verdict", f"{verdict.agent} wrote part of it, so its approval does not count")
    return yes("verdict")


def has_green_checks(view: GateView) -> Term:
    """Every required check succeeded. Where neither the branch's rules nor the settings require any, nothing else may
    have failed or pend either, and one real success must exist; an engine check can be that. Where checks may be
    hidden, only required ones that can be seen are known."""
    return judge_checks(view.project, view.pull.checks, view.pull.required, stale=stale_checks(view.project, view.pull))


def has_no_objection(view: GateView) -> Term:
    """No person's latest review asks for changes."""
    if isinstance(view.pull.reviews, Unknown):
        return unknown("objection", f"its reviews are not known ({view.pull.reviews.why})")
    objecting = [
        review.author
        for review in latest_reviews(view.pull.reviews.value)
        if review.state is ReviewState.CHANGES_REQUESTED
    ]
    return no("objection", f"{', '.join(objecting)} asked for changes") if objecting else yes("objection")


def has_required_approvals(view: GateView) -> Term:
    """As many people have approved the head as the branch's rules demand."""
    if isinstance(view.pull.required, Unknown) or isinstance(view.pull.reviews, Unknown):
        return unknown("approvals", "which approvals are required, or given, is not known")
    need = view.pull.required.value.approvals
    have = len(_approvals(view.pull.reviews.value, view.pull.pull.head_sha))
    if have >= need:
        return yes("approvals")
    lost = _lost_approvals(view.pull.reviews.value, view.pull.pull.head_sha)
    since = f" (that of {', '.join(lost)} was for an earlier head, or was dismissed)" if lost else ""
    return no("approvals", f"the branch's rules demand {need} approving review(s) by people, and it has {have}{since}")


def has_allowed_method(view: GateView) -> Term:
    """The repository allows the way of merging that the settings ask for, or another one that they fall back on."""
    if isinstance(view.pull.required, Unknown):
        return unknown("method", "which ways of merging are allowed is not known")
    left = view.pull.required.value.methods
    if choose_method(view.project, left) is not None or demands_queue(view.pull):
        return yes("method")  # the forge's queue has a way of its own
    wanted, names = view.project.merge.method.value, ", ".join(sorted(method.value for method in left))
    return no("method", f"merge.method is {wanted}, and {view.pull.pull.base_ref} allows only {names or 'no way'}")


def choose_method(project: ProjectSettings, left: frozenset[MergeMethod]) -> MergeMethod | None:
    """How it is merged, of the ways that are allowed."""
    wanted = (project.merge.method, *project.merge.fallback)
    return next((method for method in wanted if method in left), None)


def has_signatures(view: GateView) -> Term:
    """Where the branch's rules demand signed commits, all are, or the forge says itself that it merges."""
    if isinstance(view.pull.required, Unknown):
        return unknown("signatures", "whether signed commits are demanded is not known")
    if not view.pull.required.value.signatures or view.pull.pull.mergeable_state in _STATES_FINE:
        return yes("signatures")
    if isinstance(view.pull.unsigned, Unknown):
        return unknown("signatures", f"whether its commits are signed is not known ({view.pull.unsigned.why})")
    if not view.pull.unsigned.value:
        return yes("signatures")
    count = view.pull.unsigned.value
    return no(
        "signatures", f"the branch's rules demand signed commits, and {count} of it bear no signature (see git.sign)"
    )


def demands_queue(pull: PullView) -> bool:
    """The branch is merged through the forge's own merge queue, and in no other way."""
    return isinstance(pull.required, Known) and pull.required.value.merge_queue


def is_not_draft(view: GateView) -> Term:
    """It is not a draft."""
    return no("draft", "it is a draft") if view.pull.pull.is_draft else yes("draft")


def is_not_held(view: GateView) -> Term:
    """Neither the pull request nor the issue carries a hold label."""
    holds = {name.lower() for name in view.project.merge.hold_labels}
    held = [label for label in (*view.pull.pull.labels, *view.issue_labels) if label.lower() in holds]
    return no("hold", f"the label {held[0]!r} holds it") if held else yes("hold")


def is_mergeable(view: GateView) -> Term:
    """The forge knows that it merges cleanly, and says nothing else against it."""
    pull = view.pull.pull
    if pull.mergeable is None:
        return unknown("mergeable", "whether it merges is not known yet")
    if not pull.mergeable or pull.mergeable_state == "dirty":
        return no("conflict", f"it conflicts with {pull.base_ref}")
    match pull.mergeable_state:
        case state if state in _STATES_FINE:
            return yes("mergeable")
        case "draft":
            return yes("mergeable")  # is_not_draft answers that
        case "blocked" | "behind" if demands_queue(view.pull):
            return yes("mergeable")  # the forge's queue keeps its rules itself
        case "blocked":
            return no("mergeable", "the branch's rules do not allow the merge yet")
        case "behind" if view.project.merge.strategy is MergeStrategy.QUEUE:
            return yes("mergeable")  # the queue builds on the base as it is
        case "behind":
            return no("behind", f"it is behind {pull.base_ref}, and the branch's rules demand that it is not")
        case state:
            return unknown("mergeable", f"the forge says {state!r} about merging it")


def has_the_base(view: GateView) -> Term:
    """Under `merge.strategy: update`, its head contains the base as it is now."""
    if view.project.merge.strategy is not MergeStrategy.UPDATE or demands_queue(view.pull):
        return yes("behind")
    if isinstance(view.pull.has_base, Unknown):
        return unknown("behind", f"whether it is up to date is not known ({view.pull.has_base.why})")
    if view.pull.has_base.value:
        return yes("behind")
    return no("behind", f"{view.pull.pull.base_ref} has moved on, and nothing merges that was not tested with it")


def has_expected_base(view: GateView) -> Term:
    """It goes where the task began."""
    pull, task = view.pull.pull, view.task.task
    if pull.base_ref == task.base_ref:
        return yes("base")
    return no("base", f"it goes to {pull.base_ref}, and the task began at {task.base_ref}")


def stands_on_nothing(view: GateView) -> Term:
    """The pull request that it stood on is merged: never is one merged before the one below it."""
    stack = view.task.task.stack
    if stack is None:
        return yes("stack")
    return no("stack", f"it stands on pull request #{stack.pull}, which is merged first")


def has_free_paths(view: GateView) -> Term:
    """It touches no protected path, or a person approved this very head."""
    if isinstance(view.pull.paths, Unknown):
        return unknown("paths", f"which files it changes is not known ({view.pull.paths.why})")
    touched = matching_paths(view.pull.paths.value, view.project.merge.protected_paths)
    if not touched:
        return yes("paths")
    if view.task.task.approved_sha == view.pull.pull.head_sha:
        return yes("paths")
    if isinstance(view.pull.reviews, Unknown):
        return unknown("paths", "whether a person approved its protected files is not known")
    if _approvals(view.pull.reviews.value, view.pull.pull.head_sha):
        return yes("paths")
    return no("paths", f"it touches protected files ({', '.join(touched[:3])}), which takes a person's approval")


def has_no_message(view: GateView) -> Term:
    """Nothing that a person said to its agent waits, or is at work, which may change it."""
    said = next(iter(view.task.sayings), None)
    return no("message", f"its agent is to hear first what {said.author} said to it") if said else yes("message")


def has_the_word(view: GateView) -> Term:
    """Under `merge: ask`, a person gave their word for this very head."""
    if view.project.merge.mode is MergeMode.AUTO:
        return yes("word")
    if view.task.task.approved_sha == view.pull.pull.head_sha:
        return yes("word")
    return no("word", "a person has to say yes (nightcrew task approve)")


TERMS: tuple[Callable[[GateView], Term], ...] = (
    is_open,
    is_same_repository,
    is_approved,
    has_green_checks,
    has_no_objection,
    has_required_approvals,
    has_allowed_method,
    has_signatures,
    is_not_draft,
    is_not_held,
    is_mergeable,
    has_the_base,
    has_expected_base,
    stands_on_nothing,
    has_free_paths,
    has_no_message,
    has_the_word,
)


def evaluate(view: GateView, terms: tuple[Callable[[GateView], Term], ...] = TERMS) -> Gate:
    """The gate for one observation."""
    answers = [term(view) for term in terms]
    shut = tuple(answer for answer in answers if answer.truth is not Truth.YES)
    return Gate(shut, failed_checks(view.project, view.pull))


def latest_reviews(reviews: tuple[Review, ...]) -> tuple[Review, ...]:
    """The latest review of each person that says something about approval; comments change nothing. Deleted accounts
    share one name, so each of their reviews stands for itself."""
    latest: dict[tuple[str, int], Review] = {}
    for review in reviews:
        if review.state in (ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.DISMISSED):
            latest[review.author, review.id if review.author == GHOST else 0] = review
    return tuple(latest.values())


def _approvals(reviews: tuple[Review, ...], head_sha: Sha) -> tuple[Review, ...]:
    return tuple(
        review
        for review in latest_reviews(reviews)
        if review.state is ReviewState.APPROVED and review.commit_sha == head_sha and _is_person(review)
    )


def _lost_approvals(reviews: tuple[Review, ...], head_sha: Sha) -> tuple[str, ...]:
    """Who approved an earlier head, or had their approval dismissed by a push, and has not approved this one."""
    return tuple(
        review.author
        for review in latest_reviews(reviews)
        if _is_person(review)
        and (
            review.state is ReviewState.DISMISSED
            or (review.state is ReviewState.APPROVED and review.commit_sha != head_sha)
        )
    )


def _is_person(review: Review) -> bool:
    return not review.is_bot and review.author != GHOST


def _other_model_reviewed(view: GateView, verdict: Verdict) -> bool:
    """Only under `review.allow: other_model`: another model of the agent that wrote it."""
    if view.project.review.allow is not ReviewAllow.OTHER_MODEL:
        return False
    wrote = {(run.agent, run.model) for run in view.task.runs_of(Role.AUTHOR)}
    return (verdict.agent, verdict.model) not in wrote
