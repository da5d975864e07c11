"""The one status machine, its labels, and the ids that name things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.branch import is_branch_name
from nightcrew.core.errors import (
    Bug,
    ConfigError,
    Conflict,
    Denied,
    Invalid,
    Missing,
    NightcrewError,
    OutcomeUnknown,
    PortError,
    Problem,
    Unavailable,
)
from nightcrew.core.ids import TaskKey, is_slug, parse_sha, parse_task_key, render_sha
from nightcrew.core.lifecycle import TABLE, Edge, Evidence, Status, allows, parse_status_labels, transition
from nightcrew.core.model.event import Event
from tests.core.build import NOW

MOVES = {
    # what Nightcrew moves by itself; a person's moves and the end are below
    (Status.NEW, Status.ROUTED): {Evidence.ROUTE},
    (Status.NEW, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.ROUTED, Status.IN_PROGRESS): {Evidence.RUN_STARTED},
    (Status.ROUTED, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.IN_PROGRESS, Status.NEEDS_REVIEW): {Evidence.PULL_REQUEST},
    (Status.IN_PROGRESS, Status.ROUTED): {Evidence.RUN_FAILED, Evidence.DELEGATED},
    (Status.IN_PROGRESS, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.NEEDS_REVIEW, Status.IN_REVIEW): {Evidence.REVIEW_STARTED},
    (Status.NEEDS_REVIEW, Status.ROUTED): {Evidence.CHANGES_REQUESTED, Evidence.CONFLICT},
    (Status.NEEDS_REVIEW, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.NEEDS_REVIEW, Status.DONE): {Evidence.MERGED},
    (Status.IN_REVIEW, Status.NEEDS_REVIEW): {Evidence.HEAD_MOVED, Evidence.REVIEW_FAILED},
    (Status.IN_REVIEW, Status.ROUTED): {Evidence.CHANGES_REQUESTED, Evidence.CONFLICT},
    (Status.IN_REVIEW, Status.DONE): {Evidence.MERGED},
    (Status.IN_REVIEW, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.BLOCKED, Status.DONE): {Evidence.MERGED},
}


@pytest.mark.parametrize("source", Status)
@pytest.mark.parametrize("target", Status)
def test_the_table_is_this_one(source, target):
    expected = set(MOVES.get((source, target), set()))
    if source is not target:
        expected.add(Evidence.PERSON)
        if target is Status.DONE:
            expected.add(Evidence.FINISHED)
    assert {evidence for evidence in Evidence if allows(source, target, evidence)} == expected


@pytest.mark.parametrize("edge", TABLE, ids=lambda e: f"{e.source.value}-{e.target.value}-{e.evidence.name}")
def test_transition_gives_each_edge(edge):
    assert transition(edge.source, edge.target, edge.evidence) == edge


@given(source=st.sampled_from(Status), target=st.sampled_from(Status), evidence=st.sampled_from(Evidence))
def test_transition_is_the_table_and_nothing_else(source, target, evidence):
    if Edge(source, target, evidence) in TABLE:
        assert transition(source, target, evidence) in TABLE
    else:
        with pytest.raises(Bug, match=f"no move {source.value} → {target.value}"):
            transition(source, target, evidence)


def test_every_status_is_reached_and_left_without_a_person():
    """`done` is left only by a person, who opens the issue again."""
    own = [edge for edge in TABLE if edge.evidence not in (Evidence.PERSON, Evidence.INTAKE)]
    reached: set[Status] = {Status.NEW}
    before: set[Status] = set()
    while reached != before:
        before = set(reached)
        reached |= {edge.target for edge in own if edge.source in reached}
    assert reached == set(Status)
    assert {edge.source for edge in own} == set(Status) - {Status.DONE}


def test_a_person_may_move_anything_anywhere():
    assert all(allows(a, b, Evidence.PERSON) for a in Status for b in Status if a is not b)


@pytest.mark.parametrize("status", Status)
def test_labels_name_statuses(status):
    assert status.label == f"status:{status.value}"
    assert parse_status_labels(("bug", status.label, "status:unheard-of", "statuses")) == (status,)


@pytest.mark.case("C014")
@pytest.mark.parametrize("label", ["STATUS:Blocked", "Status:BLOCKED", " status:blocked "])
def test_labels_compare_without_case(label):
    assert parse_status_labels((label,)) == (Status.BLOCKED,)


def test_several_labels_come_in_the_order_of_life():
    labels = (Status.BLOCKED.label, Status.NEW.label, Status.NEW.label.upper(), "x")
    assert parse_status_labels(labels) == (Status.NEW, Status.BLOCKED)
    assert parse_status_labels(()) == ()


@pytest.mark.parametrize("text", ["acme/widget#7", " a.b/c_d-e#1 ", "A/b.js#2147483647"])
def test_task_keys_are_read_and_written(text):
    assert str(parse_task_key(text)) == text.strip()


def test_keys_sort_by_project_and_number():
    assert min(TaskKey("b/a", 1), TaskKey("a/b", 10), TaskKey("a/b", 9)) == TaskKey("a/b", 9)


@pytest.mark.parametrize(
    "text", ["", "7", "#7", "acme#7", "acme/widget", "acme/widget#0", "acme/widget#-1", "../x#1", "a/..#1", "a/b.git#1",
             "a/b/c#1", "a/b#12345678901", "a b/c#1", "-a/b#1"]
)  # fmt: skip
def test_what_is_no_task_key(text):
    with pytest.raises(NightcrewError, match="is not a task"):
        parse_task_key(text)


@pytest.mark.parametrize("text", ["a/.", "a/..", "a/b.git", "/b", "a/", "a/b\n"])
def test_unsafe_slugs(text):
    assert not is_slug(text)


@pytest.mark.case("C058")
@pytest.mark.parametrize("name", ["-x", "--upload-pack=sh", "/x", "x/", "x."])
def test_a_ref_that_git_could_take_for_something_else_is_no_branch(name):
    assert not is_branch_name(name)


@pytest.mark.parametrize("size", [40, 64])
def test_shas_are_whole_and_lower_case(size):
    assert parse_sha(f" {'AB' * (size // 2)} ") == "ab" * (size // 2)


@pytest.mark.parametrize("text", ["", "abc", "a" * 39, "a" * 41, "a" * 65, "g" * 40, "--upload-pack"])
def test_what_is_no_sha(text):
    with pytest.raises(NightcrewError, match="full commit id"):
        parse_sha(text)


def test_shas_are_shortened_for_people():
    assert render_sha("0123456789abcdef" * 3) == "0123456789"


def test_errors_carry_what_the_other_side_told():
    assert Unavailable("not now", retry_at=NOW).retry_at == NOW
    assert Unavailable("not now").retry_at is None
    assert Denied("no", needed="issues: write").needed == "issues: write"
    assert Missing("gone", gone=True).gone
    assert not Missing("not there").gone
    assert Invalid("no", codes=("already_exists",)).codes == ("already_exists",)
    assert all(
        issubclass(kind, PortError) for kind in (Unavailable, Denied, Missing, Invalid, Conflict, OutcomeUnknown)
    )
    assert not issubclass(Bug, NightcrewError)


def test_an_event_is_a_fact_without_an_id_until_it_is_stored():
    event = Event("run.ended", "ann ended", NOW)
    assert (event.id, event.task, event.run, event.data) == (0, None, None, {})


def test_a_config_error_says_everything_at_once():
    error = ConfigError([Problem("a.yml:3", "unknown key 'x'", "did you mean 'y'?"), Problem("a.yml:9", "no agents")])
    assert str(error) == "a.yml:3: unknown key 'x' (did you mean 'y'?)\na.yml:9: no agents"
    assert len(error.problems) == 2
