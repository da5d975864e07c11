"""The gate's truth table: each term, every way it can be no or unknown, and that the gate is shut by nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from nightcrew.core.ids import RunId
from nightcrew.core.known import Known
from nightcrew.core.model.merge import MergeMethod, MergeMode, MergeStrategy
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.model.report import Decision
from nightcrew.core.model.saying import SayingState
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.model.task import Stack
from nightcrew.core.policy import merging
from nightcrew.core.policy.merging import TERMS, GateView, evaluate
from nightcrew.core.policy.term import Term, Truth
from tests.core.build import (
    HEAD,
    UNKNOWN,
    a_review,
    a_saying,
    a_sha,
    a_verdict,
)
from tests.core.gate import F, K, N, P, S, a_gate_view, checks, methods, required, reviews, signed

ASKS, APPROVES = ReviewState.CHANGES_REQUESTED, ReviewState.APPROVED
CODEOWNED = Known((".github/workflows/ci.yml",))


@dataclass(frozen=True)
class Row:
    """A view that one term, and only that one, shuts."""

    name: str
    term: Callable[[GateView], Term]
    truth: Truth
    view: GateView
    code: str
    case: str = ""


def no(name: str, term: Callable[[GateView], Term], code: str, case: str = "", **changes: Any) -> Row:
    return Row(name, term, Truth.NO, a_gate_view(**changes), code, case)


def unknown(name: str, term: Callable[[GateView], Term], code: str, case: str = "", **changes: Any) -> Row:
    return Row(name, term, Truth.UNKNOWN, a_gate_view(**changes), code, case)


OTHER = a_sha(0xC)

ROWS = (
    no("closed", merging.is_open, "open", pull={"is_open": False}),
    no("merged already", merging.is_open, "open", pull={"is_merged": True}),
    no("fork", merging.is_same_repository, "fork", "C179", pull={"is_fork": True}),
    no("no verdict", merging.is_approved, "verdict", view={"verdicts": ()}),
    no("verdict for another head", merging.is_approved, "verdict", "C159",
       view={"verdicts": (a_verdict(head_sha=OTHER),)}),
    no("changes requested", merging.is_approved, "verdict",
       view={"verdicts": (a_verdict(Decision.REQUEST_CHANGES),)}),
    no("approved, then changes requested", merging.is_approved, "verdict",
       view={"verdicts": (a_verdict(), a_verdict(Decision.REQUEST_CHANGES))}),
    no("reviewed for another base", merging.is_approved, "verdict",
       view={"verdicts": (a_verdict(base_ref="old"),)}),
    no("verdict not posted", merging.is_approved, "verdict", view={"verdicts": (a_verdict(posted=False),)}),
    no("reviewer wrote part", merging.is_approved, "verdict",
       parts={"author_agents": Known(frozenset({"ann", "bob"}))}),
    unknown("authors unknown", merging.is_approved, "verdict", parts={"author_agents": UNKNOWN}),
    unknown("checks unknown", merging.has_green_checks, "checks", parts={"checks": UNKNOWN}),
    no("no check at all", merging.has_green_checks, "checks", "C170", parts={"checks": checks()}),
    no("only skipped", merging.has_green_checks, "checks", parts={"checks": checks(("build", K), ("lint", N))}),
    no("one failed", merging.has_green_checks, "checks", parts={"checks": checks(("build", S), ("lint", F))}),
    no("one pends", merging.has_green_checks, "checks", parts={"checks": checks(("build", S), ("lint", P))}),
    no("only Nightcrew's review", merging.has_green_checks, "checks",
       parts={"checks": checks(("nightcrew/review", S, "status"))}),
    no("the review is no CI though a check is called so", merging.has_green_checks, "checks",
       parts={"checks": checks(("nightcrew/review", S, "status"))},
       project={"checks": (CheckCommand("review", ("true",)),)}),
    no("own status that is not configured", merging.has_green_checks, "checks",
       parts={"checks": checks(("nightcrew/tests", S, "status"))}),
    no("required by the rules is missing", merging.has_green_checks, "checks", "C177",
       parts={"checks": checks(("lint", S)), **required("build")}),
    no("required by the rules failed", merging.has_green_checks, "checks",
       parts={"checks": checks(("lint", S), ("build", F)), **required("build")}),
    no("required by the rules pends", merging.has_green_checks, "checks", parts={
        "checks": checks(("build", P)), **required("build")}),
    no("required by the settings is missing", merging.has_green_checks, "checks",
       merge={"required_checks": ("deploy",)}),
    no("engine check is missing", merging.has_green_checks, "checks",
       project={"checks": (CheckCommand("tests", ("make", "test")),)}),
    no("engine check failed", merging.has_green_checks, "checks",
       parts={"checks": checks(("build", S), ("nightcrew/tests", F, "status"))},
       project={"checks": (CheckCommand("tests", ("make", "test")),)}),
    no("check run passes, status of the name fails", merging.has_green_checks, "checks", "C175",
       parts={"checks": checks(("build", S), ("build", F, "status")), **required("build")}),
    no("status passes, check run of the name fails", merging.has_green_checks, "checks", "C175",
       parts={"checks": checks(("build", F), ("build", S, "status")), **required("build")}),
    no("the required review is missing", merging.has_green_checks, "checks",
       parts={"checks": checks(("build", S)), **required("nightcrew/review")}),
    no("the required review is there and nothing else", merging.has_green_checks, "checks",
       parts={"checks": checks(("nightcrew/review", S, "status")), **required("nightcrew/review")}),
    no("without CI allowed, but something failed", merging.has_green_checks, "checks",
       parts={"checks": checks(("build", F))}, merge={"allow_without_ci": True}),
    no("without CI allowed, but all were skipped", merging.has_green_checks, "checks",
       parts={"checks": checks(("build", K))}, merge={"allow_without_ci": True}),
    no("a person asked for changes", merging.has_no_objection, "objection", parts=reviews(a_review(state=ASKS))),
    no("asked on an older head", merging.has_no_objection, "objection",
       parts=reviews(a_review(state=ASKS, commit_sha=OTHER))),
    no("asked, and another approved", merging.has_no_objection, "objection",
       parts=reviews(a_review(state=ASKS), a_review("pete"))),
    no("asked, then only commented", merging.has_no_objection, "objection",
       parts=reviews(a_review(state=ASKS), a_review(state=ReviewState.COMMENTED))),
    no("a deleted account asked, another one approved", merging.has_no_objection, "objection", "C008",
       parts=reviews(a_review("ghost", ASKS, id=1), a_review("ghost", id=2))),
    no("no approval where one is demanded", merging.has_required_approvals, "approvals", "C181",
       parts=required(approvals=1)),
    no("one approval of two", merging.has_required_approvals, "approvals",
       parts={**required(approvals=2), **reviews(a_review())}),
    no("approval of an older head", merging.has_required_approvals, "approvals",
       parts={**required(approvals=1), **reviews(a_review(commit_sha=OTHER))}),
    no("approval by a bot", merging.has_required_approvals, "approvals",
       parts={**required(approvals=1), **reviews(a_review("robo[bot]", is_bot=True))}),
    no("approval by a deleted account", merging.has_required_approvals, "approvals", "C008",
       parts={**required(approvals=1), **reviews(a_review("ghost"))}),
    no("approval dismissed", merging.has_required_approvals, "approvals",
       parts={**required(approvals=1), **reviews(a_review(), a_review(state=ReviewState.DISMISSED))}),
    no("method switched off", merging.has_allowed_method, "method", parts=methods(MergeMethod.MERGE)),
    no("nor the one to fall back on", merging.has_allowed_method, "method",
       parts=methods(MergeMethod.MERGE), merge={"fallback": (MergeMethod.REBASE,)}),
    no("commits without a signature", merging.has_signatures, "signatures",
       parts={**signed(), "unsigned": Known(2)}, pull={"mergeable_state": "draft"}),
    unknown("signed or not is unknown", merging.has_signatures, "signatures",
            parts={**signed(), "unsigned": UNKNOWN}, pull={"mergeable_state": "draft"}),
    no("draft", merging.is_not_draft, "draft", "C180", pull={"is_draft": True}),
    no("draft, and the forge says so", merging.is_not_draft, "draft", "C180",
       pull={"is_draft": True, "mergeable_state": "draft"}),
    no("held on the issue", merging.is_not_held, "hold", labels=("bug", "hold")),
    no("held on the pull request", merging.is_not_held, "hold", pull={"labels": ("Hold",)}),
    no("held by another label", merging.is_not_held, "hold", merge={"hold_labels": ("Stop",)}, labels=("stop",)),
    unknown("mergeable not known", merging.is_mergeable, "mergeable", pull={"mergeable": None}),
    unknown("mergeable not known, state says clean", merging.is_mergeable, "mergeable",
            pull={"mergeable": None, "mergeable_state": "clean"}),
    unknown("a new word of the forge", merging.is_mergeable, "mergeable", "C164",
            pull={"mergeable_state": "something_new"}),
    unknown("the forge's unknown", merging.is_mergeable, "mergeable", pull={"mergeable_state": "unknown"}),
    no("conflict", merging.is_mergeable, "conflict", pull={"mergeable": False, "mergeable_state": "dirty"}),
    no("conflict by state alone", merging.is_mergeable, "conflict", pull={"mergeable_state": "dirty"}),
    no("conflict by flag alone", merging.is_mergeable, "conflict", pull={"mergeable": False}),
    no("blocked by rules", merging.is_mergeable, "mergeable", pull={"mergeable_state": "blocked"}),
    no("behind", merging.is_mergeable, "behind", "C160", pull={"mergeable_state": "behind"}),
    no("the base has moved on", merging.has_the_base, "behind", "C160",
       parts={"has_base": Known(False)}, merge={"strategy": MergeStrategy.UPDATE}),
    unknown("up to date or not is unknown", merging.has_the_base, "behind",
            parts={"has_base": UNKNOWN}, merge={"strategy": MergeStrategy.UPDATE}),
    no("another base", merging.has_expected_base, "base",
       pull={"base_ref": "release"}, view={"verdicts": (a_verdict(base_ref="release"),)}),
    no("stands on another", merging.stands_on_nothing, "stack", task={"stack": Stack(60, "nightcrew/6-below")}),
    no("a message waits", merging.has_no_message, "message", view={"sayings": (a_saying(),)}),
    no("a message is at work", merging.has_no_message, "message",
       view={"sayings": (a_saying(state=SayingState.DELIVERED, run=RunId("author-2")),)}),
    unknown("paths unknown", merging.has_free_paths, "paths", parts={"paths": UNKNOWN}),
    no("workflow", merging.has_free_paths, "paths", parts={"paths": CODEOWNED}),
    no("workflow, other case", merging.has_free_paths, "paths", parts={"paths": Known((".GitHub/workflows/x.yml",))}),
    no("renamed away from a protected path", merging.has_free_paths, "paths",
       parts={"paths": Known(("docs/ci.yml", ".github/workflows/ci.yml"))}),
    no("the folder itself, as a link", merging.has_free_paths, "paths", parts={"paths": Known((".github",))}),
    no("its own settings", merging.has_free_paths, "paths", parts={"paths": Known((".nightcrew.yml",))}),
    no("a pattern of the settings", merging.has_free_paths, "paths",
       parts={"paths": Known(("deploy/Prod.tf",))}, merge={"protected_paths": ("*.TF",)}),
    no("protected, approved on an older head", merging.has_free_paths, "paths",
       parts={"paths": CODEOWNED, **reviews(a_review(commit_sha=OTHER))}),
    no("protected, approved by a bot", merging.has_free_paths, "paths",
       parts={"paths": CODEOWNED, **reviews(a_review("robo[bot]", is_bot=True))}),
    no("protected, word given for another head", merging.has_free_paths, "paths",
       parts={"paths": CODEOWNED}, task={"approved_sha": OTHER}),
    no("ask: nobody said yes", merging.has_the_word, "word", merge={"mode": MergeMode.ASK}),
    no("ask: yes to another head", merging.has_the_word, "word",
       merge={"mode": MergeMode.ASK}, task={"approved_sha": OTHER}),
    no("ask: an approving review is not the word", merging.has_the_word, "word",
       merge={"mode": MergeMode.ASK}, parts=reviews(a_review())),
)  # fmt: skip


def as_params(rows: tuple[Row, ...]) -> list[Any]:
    return [pytest.param(row, id=row.name, marks=[pytest.mark.case(row.case)] if row.case else []) for row in rows]


@pytest.mark.parametrize("row", as_params(ROWS))
def test_one_thing_shuts_the_gate_and_says_why(row):
    gate = evaluate(row.view)
    assert not gate.is_open
    assert [(term.code, term.truth) for term in gate.shut] == [(row.code, row.truth)]
    assert gate.words and all(term.words for term in gate.shut)


@pytest.mark.parametrize("row", as_params(ROWS))
def test_without_its_term_nothing_would_shut_it(row):
    """So each term matters: a gate that had lost it would merge this row."""
    assert evaluate(row.view, tuple(term for term in TERMS if term is not row.term)).is_open


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.__name__)
def test_every_term_has_a_row_and_says_its_rule(term):
    assert any(row.term is term for row in ROWS)
    assert term.__doc__
    assert term(a_gate_view()).truth is Truth.YES


def test_the_gate_asks_exactly_these():
    """A rule that is dropped from the gate has to be dropped here as well, by somebody who means it."""
    assert [term.__name__ for term in TERMS] == [
        "is_open",
        "is_same_repository",
        "is_approved",
        "has_green_checks",
        "has_no_objection",
        "has_required_approvals",
        "has_allowed_method",
        "has_signatures",
        "is_not_draft",
        "is_not_held",
        "is_mergeable",
        "has_the_base",
        "has_expected_base",
        "stands_on_nothing",
        "has_free_paths",
        "has_no_message",
        "has_the_word",
    ]


@pytest.mark.parametrize(
    ("part", "codes"),
    [
        ("required", {"checks", "approvals", "method", "signatures"}),
        ("reviews", {"objection", "approvals"}),
    ],
)
def test_an_unknown_part_is_unknown_wherever_it_counts(part, codes):
    view = a_gate_view(parts={part: UNKNOWN})
    gate = evaluate(view)
    assert {term.code for term in gate.shut} == codes
    assert {term.truth for term in gate.shut} == {Truth.UNKNOWN}
    assert UNKNOWN.why in gate.words


def test_protected_paths_wait_while_reviews_are_unknown():
    gate = evaluate(a_gate_view(parts={"paths": CODEOWNED, "reviews": UNKNOWN}))
    assert ("paths", Truth.UNKNOWN) in {(term.code, term.truth) for term in gate.shut}


def test_nothing_known_is_never_open():
    nothing = dict.fromkeys(("checks", "required", "reviews", "paths", "author_agents", "base_sha"), UNKNOWN)
    gate = evaluate(a_gate_view(parts=nothing, pull={"mergeable": None}))
    assert {term.truth for term in gate.shut} == {Truth.UNKNOWN}
    assert gate.failed_checks == ()
    assert gate.without("checks", "verdict") == tuple(t for t in gate.shut if t.code not in ("checks", "verdict"))


OPEN = {
    "plain": a_gate_view(),
    "unstable: what is not required fails elsewhere": a_gate_view(pull={"mergeable_state": "unstable"}),
    "has hooks": a_gate_view(pull={"mergeable_state": "has_hooks"}),
    "one success and the rest skipped": a_gate_view(parts={"checks": checks(("build", S), ("lint", K), ("docs", N))}),
    "skipped satisfies a required one": a_gate_view(parts={"checks": checks(("build", K)), **required("build")}),
    "neutral satisfies a required one": a_gate_view(parts={"checks": checks(("build", N)), **required("build")}),
    "what is not required may fail": a_gate_view(
        parts={"checks": checks(("build", S), ("flaky", F), ("slow", P)), **required("build")}
    ),
    "required in both systems, both pass": a_gate_view(
        parts={"checks": checks(("build", S), ("build", S, "status")), **required("build")}
    ),
    "no CI, and the project says so": a_gate_view(parts={"checks": checks()}, merge={"allow_without_ci": True}),
    "no CI but the review": a_gate_view(
        parts={"checks": checks(("nightcrew/review", S, "status"))}, merge={"allow_without_ci": True}
    ),
    "its own checks": a_gate_view(
        parts={"checks": checks(("nightcrew/tests", S, "status"))},
        project={"checks": (CheckCommand("tests", ("make", "test")),)},
    ),
    "the review is required, and CI passed": a_gate_view(
        parts={"checks": checks(("build", S), ("nightcrew/review", S, "status")), **required("nightcrew/review")}
    ),
    "a failed review status is not CI": a_gate_view(
        parts={"checks": checks(("build", S), ("nightcrew/review", F, "status"))}
    ),
    "asked, then approved": a_gate_view(parts=reviews(a_review(state=ASKS), a_review())),
    "asked, then dismissed": a_gate_view(
        parts=reviews(a_review(state=ASKS), a_review(state=ReviewState.DISMISSED))
    ),
    "asked in a review not yet sent": a_gate_view(parts=reviews(a_review(state=ReviewState.PENDING))),
    "approved as demanded": a_gate_view(
        parts={**required(approvals=2), **reviews(a_review(), a_review("pete"))}
    ),
    "another method is allowed, and the settings fall back on it": a_gate_view(
        parts=methods(MergeMethod.REBASE), merge={"fallback": (MergeMethod.MERGE, MergeMethod.REBASE)}
    ),
    "signed as demanded": a_gate_view(parts=signed()),
    "the forge signs what it squashes, and says that it merges": a_gate_view(
        parts={**signed(), "unsigned": Known(1)}
    ),
    "protected, approved on this head": a_gate_view(parts={"paths": CODEOWNED, **reviews(a_review())}),
    "protected, word given": a_gate_view(parts={"paths": CODEOWNED}, task={"approved_sha": HEAD}),
    "protected, word given, reviews unknown elsewhere": a_gate_view(
        parts={"paths": CODEOWNED}, task={"approved_sha": HEAD}, labels=("bug",)
    ),
    "nearly protected": a_gate_view(parts={"paths": Known(("x/.github/a", ".githubs/a", "x.nightcrew.yml"))}),
    "nothing protected": a_gate_view(parts={"paths": CODEOWNED}, merge={"protected_paths": ()}),
    "ask, and yes to this head": a_gate_view(merge={"mode": MergeMode.ASK}, task={"approved_sha": HEAD}),
    "changes requested, then approved": a_gate_view(
        view={"verdicts": (a_verdict(Decision.REQUEST_CHANGES), a_verdict())}
    ),
}  # fmt: skip


@pytest.mark.parametrize("view", OPEN.values(), ids=OPEN.keys())
def test_open(view):
    gate = evaluate(view)
    assert gate.shut == ()
    assert gate.is_open
    assert gate.words == ""


@pytest.mark.case("C172")
def test_no_ci_is_said_in_words_not_taken_for_green():
    assert "no CI" in evaluate(a_gate_view(parts={"checks": checks()})).words


@pytest.mark.case("C177")
def test_the_missing_check_is_named():
    gate = evaluate(a_gate_view(parts={"checks": checks(("lint", S)), **required("build", "docs")}))
    assert "build, docs" in gate.words
