"""Texts of others on pages that are rendered: reports, comments, pull requests, reviews. Nothing of them runs, is
fetched, mentions anybody, or says where a click leads."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.day import Day, render_day
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.report import Finding
from nightcrew.core.model.run import RunOutcome
from nightcrew.core.model.task import Block
from nightcrew.core.neutral import neutralise_markup, page_line, page_text
from nightcrew.core.reason import Wait
from nightcrew.core.render import render_pull_note, render_status_comment
from nightcrew.core.words import render_findings, render_landed, render_pull_body, render_review_body
from tests.core.build import (
    HEAD,
    NOW,
    PROJECT,
    a_route,
    a_run,
    a_task,
    a_verdict,
    a_view,
    an_issue,
    an_outcome,
    done_report,
)

J = "\u2060"
HOSTILE = (
    "<img src=x onerror=alert(1)> <script>alert(2)</script> </div><!-- \" ' &lt; <svg/onload=x> <?php @olga "
    "![p](http://evil.example/p.png) [click](javascript:alert(3)) [r][e] [e]: javascript:x \x1b[31m\u202e"
)
RUNS = re.compile(r"<[A-Za-z/!?]")
FETCHES = re.compile(r"!\[")
MENTIONS = re.compile(r"@[A-Za-z0-9]")
LEADS = re.compile(r"\](?=[(\[:])")


def harmless(page: str, *, own: int = 0) -> bool:
    """`own` HTML comments are the page's own."""
    return (
        len(RUNS.findall(page)) == own
        and not FETCHES.search(page)
        and not MENTIONS.search(page)
        and "\x1b" not in page
        and "\u202e" not in page
    )


def a_failure() -> RunOutcome:
    outcome = an_outcome(failure=FailureKind.CRASH)
    assert outcome.failure is not None
    return replace(outcome, failure=replace(outcome.failure, detail=HOSTILE))


@pytest.mark.case("C206")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<img src=x>", f"<{J}img src=x>"),
        ("a</b><!-- c --><?d ?>", f"a<{J}/b><{J}!-- c --><{J}?d ?>"),
        ("![x](y)", f"!{J}[x](y)"),
        ("see <https://forge.example/a/b>", "see <https://forge.example/a/b>"),
        ("<https://a b onx=y>", f"<{J}https://a b onx=y>"),
        ("a < b, 1<2, <3, List< T>", "a < b, 1<2, <3, List< T>"),
        ("[text](https://forge.example)", "[text](https://forge.example)"),
    ],
)
def test_markup_is_text_and_reads_the_same(text, expected):
    assert neutralise_markup(text) == expected
    assert expected.replace(J, "") == text


@given(st.text(st.sampled_from("<>!-/?aZ[]()@# \\`\n"), max_size=80))
def test_whatever_it_is_it_stays_harmless(text):
    assert harmless(page_text(text).replace("<https", ""))
    line = page_line(text)
    assert harmless(line)
    assert not LEADS.search(line)


@pytest.mark.case("C206", "C207")
def test_the_report_of_a_day_shows_hostile_names_as_text():
    failed = replace(
        a_run(agent=HOSTILE, model=HOSTILE, ended_at=NOW),
        outcome=a_failure(),
    )
    day = Day(
        NOW.replace(hour=0),
        NOW.replace(hour=23),
        PROJECT,
        tasks=(
            replace(a_task(Status.DONE, 1, pull=71, title=HOSTILE)),
            replace(a_task(Status.BLOCKED, 3), block=Block("needs_input", HOSTILE)),
        ),
        runs=(failed, failed, failed),
        events=(
            Event(
                "status.changed",
                "because",
                NOW,
                a_task(number=1).key,
                data={"source": "in_review", "target": "done", "evidence": "merged"},
            ),
            Event("cooldown.set", HOSTILE, NOW),
        ),
    )
    page = render_day(day)
    assert page.count("onerror=alert(1)") >= 5
    assert harmless(page)
    assert not LEADS.search(page)


@pytest.mark.case("C206", "C207")
def test_comments_and_pull_requests_show_them_as_text():
    blocked = replace(
        a_task(Status.BLOCKED), block=Block("needs_input", HOSTILE), route=replace(a_route(), why=HOSTILE)
    )
    waits = Wait("gate_shut", HOSTILE, HOSTILE)
    for page, own in (
        (render_status_comment(a_view(task=blocked), None), 1),
        (render_status_comment(a_view(task=a_task()), replace(waits, code="no_agent")), 1),
        (render_pull_note(waits), 1),
        (render_landed(HEAD, HOSTILE, head_sha=HEAD), 2),
        (render_pull_body(an_issue(), a_run(model=HOSTILE), done_report(summary=HOSTILE, why=HOSTILE)), 0),
        (render_review_body(a_verdict(summary=HOSTILE)), 1),
        (render_findings((Finding("src/a.py", 3, HOSTILE),))[0].text, 0),
    ):
        assert "onerror=alert(1)" in page
        assert harmless(page, own=own), page
