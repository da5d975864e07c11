"""The one status machine, its labels, and the ids that name things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.errors import Bug, ConfigError, NightcrewError, Problem
from nightcrew.core.ids import TaskKey, is_slug, parse_sha, parse_task_key, render_sha
from nightcrew.core.lifecycle import TABLE, Edge, Evidence, Status, allows, parse_status_labels, transition

MOVES = {
    # what Nightcrew moves by itself; a person's moves and the end are below
    (Status.NEW, Status.ROUTED): {Evidence.ROUTE},
    (Status.NEW, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.ROUTED, Status.IN_PROGRESS): {Evidence.RUN_STARTED},
    (Status.ROUTED, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.IN_PROGRESS, Status.NEEDS_REVIEW): {Evidence.PULL_REQUEST},
    (Status.IN_PROGRESS, Status.ROUTED): {Evidence.RUN_FAILED},
    (Status.IN_PROGRESS, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.NEEDS_REVIEW, Status.IN_REVIEW): {Evidence.REVIEW_STARTED},
    (Status.NEEDS_REVIEW, Status.ROUTED): {Evidence.CHANGES_REQUESTED},
    (Status.NEEDS_REVIEW, Status.BLOCKED): {Evidence.NEEDS_PERSON},
    (Status.NEEDS_REVIEW, Status.DONE): {Evidence.MERGED},
    (Status.IN_REVIEW, Status.NEEDS_REVIEW): {Evidence.HEAD_MOVED, Evidence.REVIEW_FAILED},
    (Status.IN_REVIEW, Status.ROUTED): {Evidence.CHANGES_REQUESTED},
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
    reached, before = {Status.NEW}, set()
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
    assert sorted([TaskKey("b/a", 1), TaskKey("a/b", 10), TaskKey("a/b", 9)])[0] == TaskKey("a/b", 9)


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


@pytest.mark.parametrize("size", [40, 64])
def test_shas_are_whole_and_lower_case(size):
    assert parse_sha(f" {'AB' * (size // 2)} ") == "ab" * (size // 2)


@pytest.mark.parametrize("text", ["", "abc", "a" * 39, "a" * 41, "a" * 65, "g" * 40, "--upload-pack"])
def test_what_is_no_sha(text):
    with pytest.raises(NightcrewError, match="full commit id"):
        parse_sha(text)


def test_shas_are_shortened_for_people():
    assert render_sha("0123456789abcdef" * 3) == "0123456789"


def test_a_config_error_says_everything_at_once():
    error = ConfigError([Problem("a.yml:3", "unknown key 'x'", "did you mean 'y'?"), Problem("a.yml:9", "no agents")])
    assert str(error) == "a.yml:3: unknown key 'x' (did you mean 'y'?)\na.yml:9: no agents"
    assert len(error.problems) == 2
