"""Reports: what is read out of what agents write, and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.report import (
    AuthorReport,
    Decision,
    Finding,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.report import ReportError, parse_report, read_report
from nightcrew.core.report_form import render_report_instructions, report_schema
from nightcrew.core.report_shape import FINDING_LIMIT, TEXT_LIMIT, clean_text


def author(**values: object) -> str:
    return json.dumps({"outcome": "done", "summary": "Fixed it.", **values})


def review(decision: str, **values: object) -> str:
    return json.dumps({"decision": decision, "summary": "Read it all.", **values})


def get_author(text: str) -> AuthorReport:
    report = parse_report(Role.AUTHOR, text)
    assert isinstance(report, AuthorReport), report
    return report


def get_review(text: str) -> ReviewReport:
    report = parse_report(Role.REVIEWER, text)
    assert isinstance(report, ReviewReport), report
    return report


def get_error(role: Role, text: str) -> str:
    report = parse_report(role, text)
    assert isinstance(report, ReportError), report
    return report.detail


def test_a_whole_author_report():
    text = author(why="Simple.", tested="make test", question="", learned="Nothing.", mood="good")
    assert get_author(text) == AuthorReport(
        ReportedOutcome.DONE, "Fixed it.", why="Simple.", tested="make test", learned="Nothing."
    )


@pytest.mark.parametrize("outcome", list(ReportedOutcome))
def test_our_own_words_are_read_in_any_writing(outcome):
    for word in (outcome.value, outcome.value.upper(), outcome.value.replace("_", " "), outcome.value + "."):
        report = get_author(author(outcome=word))
        assert report.outcome is outcome
        assert report.summary == "Fixed it."


@pytest.mark.case("C078")
@pytest.mark.parametrize(
    "word",
    ["alert", "noop", "green", "WAITING", "healthy", "fixed", "ok", "success", "completed", "all good", "✅", "warning",
     "merged", "passing", "no-op"],
)  # fmt: skip
def test_a_strange_word_is_left_to_the_evidence(word):
    report = get_author(author(outcome=word))
    assert report.outcome is ReportedOutcome.DONE
    assert report.summary == f"[{word}] Fixed it."
    asked = get_author(author(outcome=word, question="Which one?"))
    assert asked.outcome is ReportedOutcome.NEEDS_INPUT


@pytest.mark.case("C079")
def test_a_branch_name_in_the_word_is_done():
    assert get_author(author(outcome="pushed to fix-12")).outcome is ReportedOutcome.DONE
    assert get_author(author(outcome="pushed to failed-login-fix")).outcome is ReportedOutcome.DONE


@pytest.mark.parametrize("word", ["failed", "Gave up", "incomplete", "error"])
def test_a_word_of_failure_is_not_done(word):
    assert get_author(author(outcome=word)).outcome is ReportedOutcome.BLOCKED


def test_a_question_is_never_lost():
    assert get_author(author(outcome="needs_input")).question == "Fixed it."


def test_the_older_name_of_the_key_is_read():
    assert get_author('{"status": "done", "summary": "x"}').outcome is ReportedOutcome.DONE
    assert get_review('{"verdict": "request_changes", "summary": "x"}').decision is Decision.REQUEST_CHANGES


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", '"outcome" is missing'),
        ('{"outcome": "done"}', '"summary" is missing'),
        ('{"outcome": "done", "summary": "  "}', '"summary" is missing'),
        ('{"outcome": 1, "summary": "x"}', '"outcome" is not one text'),
        ('{"outcome": "", "summary": "x"}', '"outcome" is not one text'),
        ('{"outcome": "done", "summary": ["x"]}', '"summary" is not one text'),
        ('{"outcome": "done", "summary": "x", "why": 3}', '"why" is not one text'),
        ('{"outcome": "done", "outcome": "declined", "summary": "x"}', '"outcome" is not one text'),
        ('{"outcome": "done", "status": "declined", "summary": "x"}', '"outcome" is not one text'),
        ('{"outcome": "done", "summary": "<what you did, in one paragraph>"}', "unfilled example"),
        ("", "no JSON object"),
        ("All done.", "no JSON object"),
        ('["done"]', "no JSON object"),
    ],
)
def test_what_is_wrong_is_named(text, says):
    assert says in get_error(Role.AUTHOR, text)


@pytest.mark.case("C097")
def test_a_syntax_error_is_named_with_its_place():
    text = '{\n  "decision": "approve",\n  "summary": "the word "fine" is wrong"\n}'
    assert get_error(Role.REVIEWER, text) == "JSON syntax error: Expecting ',' delimiter at line 3 column 25"


def test_a_whole_review():
    findings = [{"path": "./src/a.py", "line": 3, "text": "Off by one."}, {"path": "b", "line": None, "text": "Why?"}]
    assert get_review(review("request_changes", findings=findings)) == ReviewReport(
        Decision.REQUEST_CHANGES, "Read it all.", (Finding("src/a.py", 3, "Off by one."), Finding("b", None, "Why?"))
    )


def test_a_review_without_findings():
    assert get_review(review("approve", findings=None)).findings == get_review(review("approve")).findings == ()


@pytest.mark.parametrize("line", ["12-14", "12", 0, -3, 1.5, True, 10**30, None, []])
def test_a_line_that_is_none_keeps_its_remark(line):
    found = get_review(review("request_changes", findings=[{"path": "a", "line": line, "text": "x"}])).findings
    assert found == (Finding("a", None, "x"),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (review("lgtm"), 'not "approve" or'),
        (review("approved"), 'not "approve" or'),
        (review("approve", findings="none"), '"findings" is not a list'),
        (review("approve", findings=["x"]), "no object"),
        (review("approve", findings=[{"path": "a"}]), '"text" is missing'),
        ('{"decision": "approve"}', '"summary" is missing'),
        ('{"decision": "approve", "verdict": "request_changes", "summary": "x"}', "not one text"),
    ],
)
def test_an_unclear_verdict_is_none(text, says):
    assert says in get_error(Role.REVIEWER, text)


@pytest.mark.case("C094")
def test_prose_before_the_verdict():
    text = "I read the change.\n" * 10 + review("approve")
    assert get_review(text).decision is Decision.APPROVE


@pytest.mark.case("C095")
def test_a_fence_and_raw_line_ends_inside_texts():
    text = 'Here it is:\n```json\n{"decision": "request_changes",\n "summary": "First.\nSecond.\tThird."}\n```\n'
    assert get_review(text).summary == "First.\nSecond.\tThird."
    assert get_review(f"```json\n{review('approve')}\n```\n").decision is Decision.APPROVE


@pytest.mark.case("C096")
def test_the_last_object_in_the_right_shape_wins():
    text = f'Files: ["a", "b"]. An approval would be {{"verdict": "approve"}}.\n{review("request_changes")}'
    assert get_review(text).decision is Decision.REQUEST_CHANGES
    quoted = f"If it were right I would write {review('approve')}, but it is not: {review('request_changes')}"
    assert get_review(quoted).decision is Decision.REQUEST_CHANGES


@pytest.mark.case("C096")
@pytest.mark.parametrize(
    "text",
    [
        f"{review('request_changes')} was my first thought. {review('approve')}",
        f"Were it right, I would answer {review('approve')}. But line 3 is wrong.",
        f"{review('approve')}\nThis is only an example.",
    ],
)
def test_an_ambiguous_approval_is_none(text):
    assert "ambiguous" in get_error(Role.REVIEWER, text)


@pytest.mark.case("C098")
@pytest.mark.parametrize("text", ["LGTM, approve", "**Verdict:** approve", "approve", '"approve"'])
def test_prose_is_no_verdict(text):
    assert "no JSON object" in get_error(Role.REVIEWER, text)


def test_a_route():
    assert parse_report(
        Role.ROUTER, '{"complexity": "Medium", "agent": " codex ", "why": "two files"}'
    ) == RouterReport(Complexity.MEDIUM, "codex", "two files")
    assert '"complexity" is' in get_error(Role.ROUTER, '{"complexity": "hard"}')


def test_texts_are_cut_and_harmless():
    report = get_author(author(summary="a\x1b[2Jb\u202ec\ud800d" + "x" * 9_000, why="é̂ кириллица 👩‍🚀"))
    assert report.summary.startswith("a[2Jbc?d")
    assert len(report.summary) == TEXT_LIMIT
    assert report.summary.endswith("… [cut]")
    assert report.why == "é̂ кириллица 👩‍🚀"
    found = get_review(review("request_changes", findings=[{"path": "a\nb", "text": "x"}] * 1_000)).findings
    assert len(found) == FINDING_LIMIT
    assert found[0].path == "a b"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        '{"a":' * 100_000,
        '{"a": [' * 50_000,
        '{"outcome": ' + "9" * 10_000 + "}",
        '{"summary": "' * 30_000,
        "\x00" * 1_000,
    ],
    ids=["braces", "deep", "lists", "number", "open", "zeros"],
)
def test_a_hostile_text_is_an_error_and_ends(text):
    for role in Role:
        assert get_error(role, text)


@given(st.text(), st.sampled_from(Role))
def test_no_text_raises(text, role):
    parse_report(role, text)


@given(st.dictionaries(st.sampled_from(["outcome", "summary", "decision", "findings", "complexity", "why"]),
                       st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))),
       st.sampled_from(Role))  # fmt: skip
def test_no_object_raises_and_both_ways_agree(value, role):
    read = read_report(role, value)
    parsed = parse_report(role, json.dumps(value))
    assert isinstance(read, ReportError) == isinstance(parsed, ReportError)


@pytest.mark.parametrize("role", list(Role))
def test_the_instructions_show_a_shape_that_is_read_once_it_is_filled_in(role):
    told = render_report_instructions(role, "/runs/1/report.json")
    assert ("/runs/1/report.json" in told) is (role is not Role.ROUTER)
    example = told.split("```json\n")[1].split("```")[0]
    if role is not Role.ROUTER:
        assert "unfilled example" in get_error(role, example)
    filled = example.replace('"<', '"').replace('>"', '"')
    assert not isinstance(parse_report(role, filled), ReportError)
    assert set(json.loads(example)) == set(report_schema(role)["required"])


@pytest.mark.parametrize("role", list(Role))
def test_the_schema_is_strict_all_the_way_down(role):
    def check(part: object) -> None:
        if isinstance(part, dict):
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
            for inner in part.values():
                check(inner)

    check(report_schema(role))


def test_clean_text_keeps_what_fits():
    assert clean_text("a\r\nb\tc", limit=10) == "a\nb\tc"
    assert clean_text("x" * 20, limit=12) == "xxxx … [cut]"


def test_sub_tasks_are_read():
    whole = {"title": "A\nlock ", "body": "Mend it.", "complexity": "Simple", "agent": "ann", "labels": ["docs"]}
    report = get_author(author(delegations=[whole, {"title": "A door", "body": "Hang it.", "depends_on": [0, 0]}]))
    assert report.delegations == (
        Delegation("A lock", "Mend it.", "simple", "ann", ("docs",)),
        Delegation("A door", "Hang it.", needs=(0,)),
    )
    assert get_author(author(delegations=None)).delegations == get_author(author(delegations=[])).delegations == ()


@pytest.mark.parametrize(
    ("delegations", "why"),
    [
        ("all of it", "not a list"),
        (["a lock"], "no object"),
        ([{"title": "A lock"}], '"body" is missing'),
        ([{"title": "<title>", "body": "x"}], "unfilled"),
        ([{"title": "A", "body": "x", "depends_on": [0]}], "places before"),
        ([{"title": "A", "body": "x", "depends_on": [True]}], "places before"),
        ([{"title": "A", "body": "x", "depends_on": 1}], "places before"),
        ([{"title": "A", "body": "x", "labels": [1]}], "list of texts"),
        ([{"title": "A", "body": "x", "complexity": "huge"}], "simple, medium, complex"),
        ([{"title": str(place), "body": "x"} for place in range(51)], "more than 50"),
    ],
)
def test_sub_tasks_that_cannot_be_read_fail_the_report(delegations, why):
    assert why in get_error(Role.AUTHOR, author(delegations=delegations))


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=4), max_leaves=8))
def test_sub_tasks_are_bounded_whatever_is_written(value):
    long = [{"title": "t" * 900, "body": "b" * 20_000, "labels": [str(value)] * 40, "agent": "a" * 300}]
    (one,) = get_author(author(delegations=long)).delegations
    assert len(one.title) <= 200
    assert len(one.body) <= 8_000
    assert len(one.labels) <= 20
    assert len(one.agent) <= 80
    report = parse_report(Role.AUTHOR, author(delegations=value))
    assert isinstance(report, ReportError) or report.delegations == ()  # type: ignore[union-attr]  # an author's


def test_an_author_is_told_of_sub_tasks_only_where_it_may_propose_them():
    assert "delegations" not in render_report_instructions(Role.AUTHOR, "/report.json")
    told = render_report_instructions(Role.AUTHOR, "/report.json", sub_tasks=3)
    assert '"delegations", a list of at most 3' in told
