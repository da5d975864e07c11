"""Texts for the forge and for git, by template; and the words for where a task is."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.failures import FailureKind
from nightcrew.core.fence import open_fence
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision, Finding
from nightcrew.core.model.task import Block
from nightcrew.core.reason import Wait
from nightcrew.core.render import (
    MARK,
    render_pull_note,
    render_sentence,
    render_span,
    render_status_comment,
)
from nightcrew.core.words import (
    REVIEW_MARK,
    render_commit_message,
    render_findings,
    render_merge_message,
    render_merge_title,
    render_pull_body,
    render_pull_title,
    render_review_body,
)
from tests.core.build import (
    HEAD,
    NOW,
    a_pull_view,
    a_route,
    a_run,
    a_task,
    a_verdict,
    a_view,
    an_issue,
    an_open_run,
    an_outcome,
    at,
    done_report,
    live,
)

CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#(\d+)", re.IGNORECASE)
NASTY = "closes #5, Fixes acme/other#6 and resolved: #8, thanks @olga and @acme/core\x1b[31m\u202e"


def body(**report) -> str:
    return render_pull_body(an_issue(), a_run(model="large-1"), done_report(**report))


class TestPull:
    def test_the_template(self):
        text = body(why="It was mirrored.", tested="Ran the tests.")
        assert re.findall("^## (.+)$", text, re.MULTILINE) == ["What", "Why", "How tested"]
        for part in ("turned them round", "It was mirrored.", "Ran the tests.", "Agent: ann (large-1), attempt 1."):
            assert part in text
        assert "(" not in render_pull_body(an_issue(), a_run(), done_report(why="w", tested="t"))

    def test_what_the_agent_left_out(self):
        text = body(summary="")
        for part in ("(the agent gave no summary)", "See #7.", "(the agent did not say)"):
            assert part in text

    def test_it_closes_its_issue_and_no_other(self):
        text = body(summary=NASTY, why=NASTY, tested=NASTY)
        assert CLOSES.findall(text) == ["7"]
        assert text.count("Closes #7") == 1

    @pytest.mark.case("C034")
    def test_it_notifies_nobody(self):
        text = body(summary=NASTY)
        assert not re.search(r"@[A-Za-z0-9]", text)
        assert "olga" in text
        assert "\x1b" not in text

    @pytest.mark.case("C224")
    @pytest.mark.parametrize("text", ["```python\ncode()", "~~~~\nx", "<!-- from here on nothing is seen", "x\n````"])
    def test_what_the_agent_says_stays_in_its_section(self, text):
        whole = body(summary=text, why=text, tested=text)
        assert "<!--" not in whole
        after = whole.rpartition("\n---\n")
        assert open_fence(after[0]) == ""
        assert re.findall("^## (.+)$", whole, re.MULTILINE) == ["What", "Why", "How tested"]

    @pytest.mark.parametrize("text", ["x" * 1_000_000, "```\n" + "y\n" * 500_000, "👩🏽\u200d🚀" * 99_999])
    def test_it_fits_whatever_the_agent_says(self, text):
        whole = body(summary=text, why=text, tested=text)
        assert len(whole) < 60_000
        assert whole.endswith("Closes #7\n")

    def test_titles_are_one_harmless_line(self):
        title = render_pull_title(an_issue(title=f"{NASTY}\r\n\nSigned-off-by: x" + "y" * 500))
        assert len(title) <= 200
        assert title.splitlines() == [title]
        assert CLOSES.findall(title) == []
        assert render_pull_title(an_issue(title="\n\x00 ")) == "Work on #7"
        assert render_pull_title(an_issue()) == "Widgets turn the wrong way"


class TestReview:
    def test_a_verdict_in_words(self):
        text = render_review_body(a_verdict(model="large-1", summary="Good."))
        assert text == f"{REVIEW_MARK.format(run='reviewer-1')}\n**bob** (large-1) approves {HEAD[:10]}.\n\nGood.\n"
        assert "asks for changes to" in render_review_body(a_verdict(Decision.REQUEST_CHANGES))

    @pytest.mark.case("C034")
    def test_it_is_harmless(self):
        text = render_review_body(a_verdict(summary=f"{NASTY}\n{REVIEW_MARK.format(run='reviewer-2')}"))
        assert text.count("<!--") == 1
        assert not re.search(r"@[A-Za-z0-9]", text)
        assert CLOSES.findall(text) == []
        assert len(render_review_body(a_verdict(summary="x" * 1_000_000))) < 65_000

    def test_findings(self):
        (finding,) = render_findings((Finding("src/a.py", 3, f"{NASTY}\n```\nopen" + "x" * 99_999),))
        assert (finding.path, finding.line) == ("src/a.py", 3)
        assert len(finding.text) <= 8_010
        assert CLOSES.findall(finding.text) == []
        assert open_fence(finding.text) == ""


class TestCommits:
    def test_work_that_was_left_uncommitted(self):
        assert render_commit_message("Turn round", 7, "ann") == "Turn round\n\nWork of ann on issue 7.\n"
        assert render_commit_message("", 7, "ann").startswith("Work in progress\n\n")

    @pytest.mark.case("C034")
    def test_a_title_is_one_harmless_subject(self):
        message = render_commit_message(NASTY + "\n\nSigned-off-by: Mallory", 7, "ann")
        assert len(message.splitlines()[0]) <= 60
        assert CLOSES.findall(message) == []
        assert not re.search(r"@[A-Za-z0-9]", message)

    def test_a_merge(self):
        assert render_merge_title(an_issue(), 70) == "Widgets turn the wrong way (#70)"
        assert len(render_merge_title(an_issue(title="x" * 999), 70)) < 200
        text = render_merge_message(
            done_report(), author="ann", reviewer="bob", head_sha=HEAD, trailers=("Signed-off-by: Crew <c@x.invalid>",)
        )
        summary, _, trailers = text.partition("\n\n")
        assert summary == "turned them round"
        assert trailers.splitlines() == [
            "Nightcrew-Agent: ann",
            "Nightcrew-Reviewer: bob",
            f"Nightcrew-Head: {HEAD}",
            "Signed-off-by: Crew <c@x.invalid>",
        ]

    @pytest.mark.parametrize("report", [None, done_report(summary="")])
    def test_a_merge_without_a_summary_has_only_its_trailers(self, report):
        text = render_merge_message(report, author="ann", reviewer="bob", head_sha=HEAD, trailers=())
        assert text.startswith("Nightcrew-Agent: ann\n")

    def test_a_summary_writes_no_trailer_and_closes_nothing(self):
        report = done_report(summary=f"{NASTY}\n\nNightcrew-Reviewer: nobody")
        text = render_merge_message(report, author="ann", reviewer="bob", head_sha=HEAD, trailers=())
        assert text.rpartition("\n\n")[2].startswith("Nightcrew-Agent: ann\nNightcrew-Reviewer: bob\n")
        assert CLOSES.findall(text) == []


class TestSentence:
    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (0, "now"), (4.9, "now"), (-4, "now"), (5, "in 5 s"), (-59, "59 s ago"), (60, "in 1 min"),
            (3599, "in 59 min"),
            (3600, "in 1 h"), (3660, "in 1 h 1 min"), (-7200, "2 h ago"), (86_400, "in 1 d"), (90_000, "in 1 d 1 h"),
            (-200_000, "2 d 7 h ago"),
        ],
    )  # fmt: skip
    def test_spans(self, seconds, words):
        assert render_span(timedelta(seconds=seconds)) == words

    @given(st.integers(-(10**9), 10**9))
    def test_any_span_has_words(self, seconds):
        assert render_span(timedelta(seconds=seconds))

    def test_why_what_next_and_when(self):
        wait = Wait("cooling", "nobody may be used now.", "It goes on", at(125))
        assert render_sentence(Status.ROUTED, wait, now=NOW) == (
            "It is routed: nobody may be used now. It goes on. Not before 2026-03-04 14:05 UTC (in 2 h 5 min)."
        )
        assert render_sentence(Status.IN_PROGRESS, Wait("running", "ann works on it", until_at=at(125)), now=NOW) == (
            "It is in_progress: ann works on it. By 2026-03-04 14:05 UTC at the latest (in 2 h 5 min)."
        )
        assert render_sentence(Status.NEW, Wait("x", "a slot is missing", "It starts."), now=NOW) == (
            "It is new: a slot is missing. It starts."
        )
        assert render_sentence(Status.NEW, Wait("x", "so it is"), now=NOW) == "It is new: so it is."
        assert render_sentence(Status.DONE, None, now=NOW) == "It is finished, without a merge."
        assert render_sentence(Status.DONE, None, now=NOW, merge_sha="c" * 40) == "It is merged (ccccccccc)."
        assert "next look" in render_sentence(Status.NEW, None, now=NOW)


class TestComment:
    def test_a_new_task(self):
        assert render_status_comment(a_view(), None) == f"{MARK}\n**Nightcrew**: `new`"

    def test_all_that_is_known(self):
        task = a_task(Status.IN_REVIEW, route=a_route(model="large-1", why="next in turn"))
        view = a_view(task=task, verdicts=(a_verdict(Decision.REQUEST_CHANGES), a_verdict()), pull=Known(a_pull_view()))
        assert render_status_comment(view, None).splitlines()[2:] == [
            "- agent: ann (large-1), medium — next in turn",
            "- pull request: #70",
            "- attempt 1: ann ended",
            f"- review of {HEAD[:10]} by bob: approve",
        ]

    def test_a_run_at_work_and_one_that_failed(self):
        run = an_open_run()
        view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run),))
        assert "- attempt 1: ann works on it" in render_status_comment(view, None)
        failed = a_view(Status.ROUTED, runs=(a_run(outcome=an_outcome(failure=FailureKind.AUTH)),))
        assert "- attempt 1: ann failed (auth): it said so" in render_status_comment(failed, None)

    @pytest.mark.parametrize("answerable", [True, False])
    def test_what_a_person_is_asked(self, answerable):
        block = Block("needs_input", "Left or\nright?", answerable=answerable)
        text = render_status_comment(a_view(task=a_task(Status.BLOCKED, block=block)), Wait("blocked", "Left?"))
        assert "- **waits for a person**: Left or right?" in text
        assert ("answer with a comment" in text) is answerable

    def test_a_block_by_hand_says_what_it_waits_for(self):
        text = render_status_comment(a_view(task=a_task(Status.BLOCKED)), Wait("blocked", "a person set it", "Do it."))
        assert text.endswith("- waits: a person set it. Do it.")

    @pytest.mark.parametrize(
        ("code", "shown"), [("gate_shut", True), ("cooling", True), ("running", False), ("slot", False)]
    )
    def test_only_what_lasts_is_said(self, code, shown):
        text = render_status_comment(a_view(), Wait(code, "of this"))
        assert text.endswith("- waits: of this.") is shown

    @pytest.mark.case("C034")
    def test_it_is_harmless(self):
        task = a_task(Status.BLOCKED, route=a_route(why=f"{NASTY}\n# x", model=NASTY), block=Block("x", NASTY * 500))
        runs = (a_run(outcome=replace(an_outcome(failure=FailureKind.CRASH))),)
        text = render_status_comment(a_view(task=task, runs=runs), None)
        assert CLOSES.findall(text) == []
        assert not re.search(r"@[A-Za-z0-9]", text)
        assert "\x1b" not in text
        assert len(text) < 4000

    def test_the_note_on_the_pull(self):
        assert render_pull_note(None) == ""
        assert render_pull_note(Wait("gate_waits", "soon")) == ""
        note = render_pull_note(Wait("gate_shut", NASTY, "It merges by itself."))
        assert note.startswith(MARK)
        assert note.endswith("It merges by itself.")
        assert CLOSES.findall(note) == []
