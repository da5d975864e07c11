"""What every Scm does, the fake as well as the real client."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import CheckState, Comparison, Merged, MergeRefused, Required, ReviewState
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.ports.scm import NewPull, NewStatus
from tests.contract.forge_stage import BOT, PROJECT, Stage, minute, staged

NEW = NewPull("A change", "why", "work", "trunk")
NOWHERE = Sha("f" * 40)


@pytest.fixture(params=["fake", "github"])
async def stage(request, tmp_path):
    async with staged(request.param, tmp_path / "forge") as made:
        yield made


async def opened(stage: Stage) -> tuple[int, Sha]:
    """A pull request from `work`, and its head."""
    sha = await stage.push("work", {"work.py": "1\n"})
    return (await stage.forge.create_pull(PROJECT, NEW)).number, sha


async def merge(stage: Stage, number: int, sha: Sha, *, method: MergeMethod = MergeMethod.SQUASH):
    return await stage.forge.merge_pull(PROJECT, number, sha=sha, method=method, title="Merged", message="why")


async def test_the_repository(stage):
    repository = await stage.forge.fetch_repository(PROJECT)
    assert (repository.slug, repository.default_branch) == (PROJECT, "trunk")
    assert (repository.can_push, repository.is_private) == (True, False)
    assert repository.merge_methods == set(MergeMethod)
    assert (await stage.forge.fetch_remote(PROJECT)).url
    with pytest.raises(Missing):
        await stage.forge.fetch_repository("crew/nowhere")


async def test_a_pull_request_as_it_was_opened(stage):
    base = await stage.forge.find_branch(PROJECT, "trunk")
    number, sha = await opened(stage)
    pull = await stage.forge.fetch_pull(PROJECT, number)
    assert (pull.title, pull.body, pull.author) == ("A change", "why", BOT)
    assert (pull.head_ref, pull.head_sha, pull.base_ref, pull.base_sha) == ("work", sha, "trunk", base)
    assert (pull.is_open, pull.is_merged, pull.is_draft, pull.is_fork) == (True, False, False, False)
    assert pull.mergeable is True
    assert await stage.forge.fetch_pull(PROJECT, number) is pull


async def test_a_pull_request_is_opened_once(stage):
    number, _ = await opened(stage)
    assert (await stage.forge.create_pull(PROJECT, NEW)).number == number


async def test_no_commits_or_no_branch_make_no_pull_request(stage):
    with pytest.raises(Invalid):
        await stage.forge.create_pull(PROJECT, NEW)
    await stage.push("release", {"r.py": "1\n"})
    with pytest.raises(Invalid, match="No commits between"):
        await stage.forge.create_pull(PROJECT, NewPull("Back", "", "trunk", "release"))


async def test_a_push_moves_the_head(stage):
    number, first = await opened(stage)
    second = await stage.push("work", {"more.py": "2\n"})
    assert first != second
    assert (await stage.forge.fetch_pull(PROJECT, number)).head_sha == second
    assert await stage.forge.find_branch(PROJECT, "work") == second


async def test_the_open_pull_request_is_found_before_closed_ones(stage):
    assert await stage.forge.find_pull(PROJECT, head_ref="work") is None
    first, _ = await opened(stage)
    await stage.forge.set_pull_open(PROJECT, first, is_open=False)
    found = await stage.forge.find_pull(PROJECT, head_ref="work")
    assert found is not None
    assert (found.number, found.is_open) == (first, False)
    second = (await stage.forge.create_pull(PROJECT, NEW)).number
    found = await stage.forge.find_pull(PROJECT, head_ref="work", base_ref="trunk")
    assert found is not None
    assert found.number == second
    assert await stage.forge.find_pull(PROJECT, head_ref="work", base_ref="release") is None


async def test_texts_are_replaced_one_by_one(stage):
    number, _ = await opened(stage)
    await stage.forge.update_pull(PROJECT, number, title="New title")
    await stage.forge.update_pull(PROJECT, number, body="new body")
    pull = await stage.forge.fetch_pull(PROJECT, number)
    assert (pull.title, pull.body) == ("New title", "new body")


async def test_a_pull_request_is_sent_to_another_base(stage):
    number, head = await opened(stage)
    await stage.push("release", {"r.py": "1\n"})
    for _ in range(2):
        await stage.forge.set_pull_base(PROJECT, number, base_ref="release")
        pull = await stage.forge.fetch_pull(PROJECT, number)
        assert (pull.base_ref, pull.head_sha, pull.is_open) == ("release", head, True)
    with pytest.raises(Invalid):
        await stage.forge.set_pull_base(PROJECT, number, base_ref="nowhere")


async def test_closing_and_reopening(stage):
    number, _ = await opened(stage)
    for is_open in (False, False, True, True):
        await stage.forge.set_pull_open(PROJECT, number, is_open=is_open)
        pull = await stage.forge.fetch_pull(PROJECT, number)
        assert (pull.is_open, pull.is_merged) == (is_open, False)


async def test_paths_of_a_pull_request(stage):
    await stage.push("work", {"a b/ü.py": "1\n", "z.py": "2\n"})
    number = (await stage.forge.create_pull(PROJECT, NEW)).number
    assert set(await stage.forge.list_pull_paths(PROJECT, number)) == {"a b/ü.py", "z.py"}


async def test_reviews_of_people_and_ours(stage):
    number, sha = await opened(stage)
    assert await stage.forge.list_reviews(PROJECT, number) == ()
    theirs = await stage.review(number, author="ada", state=ReviewState.CHANGES_REQUESTED, sha=sha, body="no")
    ours = await stage.forge.post_review(
        PROJECT, number, sha=sha, body="Looks right.", findings=(Finding("work.py", 1, "why 1?"),)
    )
    reviews = await stage.forge.list_reviews(PROJECT, number)
    assert [(review.id, review.author, review.state, review.commit_sha) for review in reviews] == [
        (theirs, "ada", ReviewState.CHANGES_REQUESTED, sha),
        (ours, BOT, ReviewState.COMMENTED, sha),
    ]
    assert reviews[0].submitted_at == stage.clock.now()


async def test_remarks_on_lines(stage):
    number, sha = await opened(stage)
    assert await stage.forge.list_remarks(PROJECT, number) == ()
    said = await stage.remark(number, author="ada", sha=sha, path="work.py", line=1, body="why 1?")
    remarks = await stage.forge.list_remarks(PROJECT, number)
    assert [(remark.id, remark.author, remark.path, remark.line, remark.body) for remark in remarks] == [
        (said, "ada", "work.py", 1, "why 1?")
    ]
    assert remarks[0].created_at == stage.clock.now()


async def test_threads_are_answered_and_resolved(stage):
    number, sha = await opened(stage)
    assert await stage.forge.list_threads(PROJECT, number) == ()
    first = await stage.remark(number, author="ada", sha=sha, path="work.py", line=1, body="why 1?")
    other = await stage.remark(number, author="bob", sha=sha, path="work.py", line=1, body="and why not 2?")
    threads = await stage.forge.list_threads(PROJECT, number)
    assert [[said.id for said in thread.remarks] for thread in threads] == [[first], [other]]
    why, _ = threads
    assert (why.path, why.line, why.is_resolved, why.is_outdated) == ("work.py", 1, False, False)
    assert (why.remarks[0].author, why.remarks[0].body) == ("ada", "why 1?")
    assert why.remarks[0].created_at == stage.clock.now()
    assert await stage.forge.list_threads(PROJECT, number) is threads

    ours = await stage.forge.reply_to_thread(PROJECT, number, why, body="Because.")
    await stage.forge.resolve_thread(PROJECT, why)
    await stage.forge.resolve_thread(PROJECT, why)
    answered, untouched = await stage.forge.list_threads(PROJECT, number)
    assert [(said.id, said.author, said.body) for said in answered.remarks[1:]] == [(ours, BOT, "Because.")]
    assert (answered.id, answered.is_resolved) == (why.id, True)
    assert untouched == threads[1]
    assert ours in [remark.id for remark in await stage.forge.list_remarks(PROJECT, number)]

    with pytest.raises(Missing):
        await stage.forge.resolve_thread(PROJECT, replace(why, id="nothing"))
    with pytest.raises(Missing):
        await stage.forge.list_threads(PROJECT, 9999)


async def test_people_are_asked_for_a_review_as_often_as_one_likes(stage):
    number, _ = await opened(stage)
    for login in ("ada", "bob"):
        await stage.permit(login, Permission.WRITE)
    await stage.forge.request_reviews(PROJECT, number, ("ada",))
    await stage.forge.request_reviews(PROJECT, number, ("ada", "bob"))


async def test_prints_change_with_issues_heads_and_the_base_and_with_nothing_else(stage):
    bases = {PROJECT: "trunk", "crew/nowhere": "trunk"}
    seen: list[str] = []

    async def look() -> str:
        prints = await stage.forge.fetch_prints(bases)
        assert set(prints) == {PROJECT}
        seen.append(prints[PROJECT])
        return seen[-1]

    assert await look() == await look()
    minute(stage)
    number, sha = await opened(stage)
    await look()
    minute(stage)
    await stage.open_issue()
    await look()
    minute(stage)
    await stage.push("work", {"work.py": "2\n"})
    await look()
    minute(stage)
    await stage.comment(number, author="ada", body="Hm.")
    await look()
    await stage.push("trunk", {"other.py": "1\n"})
    await look()
    assert len(set(seen)) == len(seen) - 1
    await stage.check(sha, "ci", CheckState.SUCCESS)
    assert await look() == seen[-2]


async def test_how_two_commits_stand_to_each_other(stage):
    base = await stage.forge.find_branch(PROJECT, "trunk")
    await stage.push("work", {"work.py": "1\n"})
    head = await stage.push("work", {"work.py": "2\n"})
    assert await stage.forge.compare(PROJECT, base="trunk", head="work") == Comparison(2, 0, base)
    await stage.push("trunk", {"other.py": "1\n"})
    assert await stage.forge.compare(PROJECT, base="trunk", head=head) == Comparison(2, 1, base)
    with pytest.raises(Missing):
        await stage.forge.compare(PROJECT, base="trunk", head=NOWHERE)


async def test_findings_outside_the_diff_do_not_lose_the_review(stage):
    number, sha = await opened(stage)
    findings = (Finding("work.py", 99, "far"), Finding("nowhere.py", 1, "gone"), Finding("work.py", None, "all"))
    ours = await stage.forge.post_review(PROJECT, number, sha=sha, body="Look.", findings=findings)
    assert [review.id for review in await stage.forge.list_reviews(PROJECT, number)] == [ours]


async def test_a_review_of_an_old_head_is_a_conflict(stage):
    number, old = await opened(stage)
    await stage.push("work", {"more.py": "2\n"})
    with pytest.raises(Conflict):
        await stage.forge.post_review(PROJECT, number, sha=old, body="Looks right.")


async def test_checks_of_both_systems_and_the_newest_of_each(stage):
    _, sha = await opened(stage)
    assert await stage.forge.list_checks(PROJECT, sha) == ()
    await stage.check(sha, "build", CheckState.FAILURE)
    await stage.check(sha, "build", CheckState.SUCCESS)
    await stage.check(sha, "slow", CheckState.PENDING)
    for state in ("pending", "failure"):
        await stage.forge.post_status(PROJECT, sha, NewStatus("build", state, f"it is {state}"))
    checks = await stage.forge.list_checks(PROJECT, sha)
    assert {(check.name, check.source, check.state) for check in checks} == {
        ("build", "check_run", CheckState.SUCCESS),
        ("slow", "check_run", CheckState.PENDING),
        ("build", "status", CheckState.FAILURE),
    }
    assert next(check.summary for check in checks if check.source == "status") == "it is failure"
    assert await stage.forge.list_checks(PROJECT, sha) is checks


async def test_a_failed_check_run_runs_again_once_it_is_asked_to(stage):
    _, sha = await opened(stage)
    await stage.check(sha, "build", CheckState.FAILURE)
    await stage.forge.post_status(PROJECT, sha, NewStatus("jenkins", "failure", "red"))
    by_name = {check.name: check for check in await stage.forge.list_checks(PROJECT, sha)}
    with pytest.raises(Invalid, match="status"):
        await stage.forge.rerun_check(PROJECT, by_name["jenkins"])
    assert await stage.forge.rerun_check(PROJECT, by_name["build"]) is RerunAnswer.ASKED
    again = {check.name: check for check in await stage.forge.list_checks(PROJECT, sha)}
    assert again["build"].state is CheckState.PENDING
    assert again["build"].mark != by_name["build"].mark
    assert again["jenkins"].mark == by_name["jenkins"].mark
    assert await stage.forge.rerun_check(PROJECT, by_name["build"]) is RerunAnswer.RUNNING


async def test_a_status_on_an_unknown_commit_is_invalid(stage):
    with pytest.raises(Invalid):
        await stage.forge.post_status(PROJECT, NOWHERE, NewStatus("x", "success", "y"))


async def test_what_a_branch_demands(stage):
    assert await stage.forge.fetch_required(PROJECT, "trunk") == Required()
    await stage.protect("trunk", contexts=("ci", "lint"), approvals=1)
    assert await stage.forge.fetch_required(PROJECT, "trunk") == Required(("ci", "lint"), approvals=1)


@pytest.mark.parametrize("method", list(MergeMethod))
async def test_a_merge_moves_the_base_and_closes(stage, method):
    number, sha = await opened(stage)
    answer = await merge(stage, number, sha, method=method)
    assert isinstance(answer, Merged)
    assert await stage.forge.find_branch(PROJECT, "trunk") == answer.sha
    pull = await stage.forge.fetch_pull(PROJECT, number)
    assert (pull.is_merged, pull.is_open, pull.merge_commit_sha, pull.head_sha) == (True, False, answer.sha, sha)
    assert await merge(stage, number, sha) == answer


async def test_a_merge_is_refused_once_the_head_moved(stage):
    number, old = await opened(stage)
    new = await stage.push("work", {"more.py": "2\n"})
    answer = await merge(stage, number, old)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.HEAD_MOVED
    assert isinstance(await merge(stage, number, new), Merged)


async def test_a_closed_pull_request_is_not_merged(stage):
    number, sha = await opened(stage)
    await stage.forge.set_pull_open(PROJECT, number, is_open=False)
    answer = await merge(stage, number, sha)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.CLOSED


async def test_a_draft_is_not_merged(stage):
    sha = await stage.push("work", {"work.py": "1\n"})
    draft = await stage.forge.create_pull(PROJECT, NewPull("A change", "", "work", "trunk", draft=True))
    assert draft.is_draft
    answer = await merge(stage, draft.number, sha)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.DRAFT


@pytest.mark.case("C181")
async def test_what_is_demanded_is_demanded(stage):
    await stage.protect("trunk", contexts=("ci",), approvals=1)
    await stage.permit("ada", Permission.WRITE)
    number, sha = await opened(stage)
    answer = await merge(stage, number, sha)
    assert isinstance(answer, MergeRefused)
    assert answer.kind in (RefusalKind.CHECKS, RefusalKind.REVIEW)
    await stage.check(sha, "ci", CheckState.SUCCESS)
    answer = await merge(stage, number, sha)
    assert isinstance(answer, MergeRefused)
    assert "approving review" in answer.why
    assert answer.kind is RefusalKind.REVIEW
    await stage.review(number, author="ada", state=ReviewState.APPROVED, sha=sha, body="")
    assert isinstance(await merge(stage, number, sha), Merged)


@pytest.mark.parametrize("method", MergeMethod)
async def test_ways_of_merging_that_a_rule_leaves(stage, method):
    (other,) = {MergeMethod.MERGE: (MergeMethod.SQUASH,)}.get(method, (MergeMethod.MERGE,))
    await stage.rule(methods=(method,))
    required = await stage.forge.fetch_required(PROJECT, "trunk")
    assert required == Required(methods=frozenset({method}))
    number, sha = await opened(stage)
    answer = await merge(stage, number, sha, method=other)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.METHOD
    assert isinstance(await merge(stage, number, sha, method=method), Merged)


async def test_signatures_that_a_rule_demands(stage):
    await stage.rule(signatures=True)
    assert await stage.forge.fetch_required(PROJECT, "trunk") == Required(signatures=True)
    number, sha = await opened(stage)
    answer = await merge(stage, number, sha)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.SIGNATURE


@pytest.mark.case("C183")
async def test_branches_are_deleted_once_or_twice(stage):
    await stage.push("a/b", {"x": "1\n"})
    assert await stage.forge.find_branch(PROJECT, "a") is None
    for _ in range(2):
        await stage.forge.delete_branch(PROJECT, "a/b")
        assert await stage.forge.find_branch(PROJECT, "a/b") is None


async def test_deleting_the_head_closes_the_pull_request(stage):
    number, sha = await opened(stage)
    await stage.forge.delete_branch(PROJECT, "work")
    pull = await stage.forge.fetch_pull(PROJECT, number)
    assert (pull.is_open, pull.is_merged, pull.head_sha) == (False, False, sha)


async def test_what_is_not_there_is_missing(stage):
    number = await stage.open_issue()
    for call in (
        stage.forge.fetch_pull(PROJECT, number),
        stage.forge.list_reviews(PROJECT, 4711),
        stage.forge.list_pull_paths(PROJECT, 4711),
        stage.forge.find_branch("crew/nowhere", "trunk"),
    ):
        with pytest.raises(Missing):
            await call


async def test_branches_are_listed_by_how_their_names_begin(stage):
    one = await stage.push("night/1-a", {"a.py": "1\n"})
    other = await stage.push("night/2-b", {"b.py": "1\n"})
    await stage.push("nightly", {"c.py": "1\n"})
    assert await stage.forge.list_branches(PROJECT, prefix="night/") == {"night/1-a": one, "night/2-b": other}
    assert await stage.forge.list_branches(PROJECT, prefix="day/") == {}
