"""Landing a build of the merge queue: the base is moved forward to exactly what was tested, and nothing else.

Everything that the landing rests on is read anew before: each member's gate at the head that was built, the checks of
the build, the base. The remote itself compares the base once more (a lease). Where its rules refuse that push, the pull
requests are merged by the forge one after the other, each pinned to its head, on the very base that was tested.
"""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, CloseLanded, Done, LandBuild, OutcomeOpen, Refused
from nightcrew.core.errors import Denied, Invalid, Missing, OutcomeUnknown
from nightcrew.core.ids import Sha, TaskKey, render_sha
from nightcrew.core.known import Known
from nightcrew.core.model.build import Build, BuildState, BuildView, Member
from nightcrew.core.model.event import Event
from nightcrew.core.model.pull import MergeRefused
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.queueing import has_ci, judge_build
from nightcrew.core.policy.term import Truth
from nightcrew.core.words import LANDED_MARK, render_landed
from nightcrew.engine.effect.build import drop_branch
from nightcrew.engine.effect.claim import FRESH_S, have_claim
from nightcrew.engine.effect.gate import Sighting, look_again, merge_texts, why_not_merged
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.merge import NotMerged
from nightcrew.engine.journal import look_for
from nightcrew.engine.view.observed import observed

PUSH_TIMEOUT_S = 300.0


async def land_build(means: Means, action: LandBuild) -> ActionOutcome:
    """Land it, or write down that it has landed: a crash may have come between."""
    build = action.build
    if not await _is_on_base(means, build):
        seen: list[Sighting] = []
        refusal = await _why_not(means, build, seen)
        if refusal:
            return Refused(refusal)
        try:
            await _move_base(means, build)
        except (Denied, Invalid) as error:
            return await _merge_one_by_one(means, build, seen, why=one_line(str(error), 300))
    await drop_branch(means, build)
    await means.ports.store.end_build(build.id, state=BuildState.LANDED, why=action.why, told=_told(means, build))
    for task in build.tasks:
        means.observer.touch(task)
    return Done()


async def close_landed(means: Means, action: CloseLanded) -> ActionOutcome:
    """Say on the pull request which commit it landed as, once, and close it."""
    forge, key = means.forge(action.task), action.task
    pull = await forge.scm.fetch_pull(key.project, action.pull)
    if pull.head_sha != action.head_sha:
        return Refused("the head has moved since it landed")
    if not pull.is_open:
        return Done("it is closed already")
    if await _find_said(means, action) is None:
        body = render_landed(action.sha, action.base_ref, head_sha=action.head_sha)
        try:
            await means.journal.effect(
                "comment.create",
                subject(key),
                lambda: forge.tracker.create_comment(key.project, action.pull, body=body),
            )
        except OutcomeUnknown as error:
            await look_for(error, lambda: _find_said(means, action))
    await means.journal.effect(
        "pull.close", subject(key), lambda: forge.scm.set_pull_open(key.project, action.pull, is_open=False)
    )
    return Done()


async def _is_on_base(means: Means, build: Build) -> bool:
    """Whether the base as fetched now contains the build."""
    workspace, slug = means.ports.workspace, build.project
    await workspace.fetch(slug, await means.forge(build.tasks[0]).scm.fetch_remote(slug))
    base = await workspace.find_branch(slug, build.base_ref)
    if base is None:
        raise Missing(f"there is no branch {build.base_ref} any more")
    return base == build.sha or await workspace.is_ancestor(slug, ancestor=build.sha, descendant=base)


async def _why_not(means: Means, build: Build, seen: list[Sighting]) -> str:
    """Why it must not land now; empty if it may. `seen` is filled with what was seen of each member."""
    for member, key in zip(build.members, build.tasks, strict=True):
        taken = await have_claim(means, key, within_s=FRESH_S)
        if taken:
            return f"#{member.pull}: {taken}"
        sighting = await look_again(means, key)
        refusal = why_not_merged(means, sighting, member.head_sha)
        if sighting.view.task.pull != member.pull:
            refusal = "it has another pull request by now"
        if refusal:
            return f"#{member.pull}: {refusal}"
        seen.append(sighting)
    return await _why_not_green(means, build, seen)


async def _why_not_green(means: Means, build: Build, seen: list[Sighting]) -> str:
    scm, slug = means.forge(build.tasks[0]).scm, build.project
    base = await scm.find_branch(slug, build.base_ref)
    if base != build.base_sha:
        return f"{build.base_ref} has moved since the build was made"
    project = means.project(build.tasks[0])
    view = BuildView(
        build,
        checks=await observed(scm.list_checks(slug, build.sha)),
        required=await observed(scm.fetch_required(slug, build.base_ref)),
        base_sha=Known(build.base_sha),
        scratch=Known(build.sha),
        has_landed=Known(False),
    )
    expects_ci = any(one.pull is not None and has_ci(project, one.pull) for one in seen)
    term = judge_build(project, view, expects_ci=expects_ci)
    return "" if term.truth is Truth.YES else f"the build is not green: {term.words}"


async def _move_base(means: Means, build: Build) -> None:
    workspace, slug = means.ports.workspace, build.project
    remote = await means.forge(build.tasks[0]).scm.fetch_remote(slug)
    await means.journal.effect(
        "queue.land",
        subject(build.tasks[0]),
        lambda: workspace.move_branch(slug, remote, branch=build.base_ref, sha=build.sha, expected=build.base_sha),
        detail=f"{build.base_ref} {build.base_sha} {build.sha}",
        timeout_s=PUSH_TIMEOUT_S,
    )


async def _merge_one_by_one(means: Means, build: Build, seen: list[Sighting], *, why: str) -> ActionOutcome:
    """The base takes no push: the forge merges each member itself, as long as the base is where the last one left it.
    The commits differ from those that were tested, what they hold does not."""
    scm, slug = means.forge(build.tasks[0]).scm, build.project
    words = f"{build.base_ref} takes no direct push ({why}), so the forge merges what was tested itself"
    await means.ports.store.record_event(means.event("queue.fell_back", words, task=build.tasks[0], sha=build.sha))
    tip = build.base_sha
    for member, sighting in zip(build.members, seen, strict=True):
        if await scm.find_branch(slug, build.base_ref) != tip:
            return Refused(f"{build.base_ref} moved while the members of the build were merged")
        try:
            tip = await _merge(means, build, member, sighting)
        except OutcomeUnknown as error:
            return OutcomeOpen(str(error))
        except NotMerged as error:
            return Refused(str(error))
    await drop_branch(means, build)
    told = means.event("queue.dropped", words, task=build.tasks[0], sha=build.sha)
    await means.ports.store.end_build(build.id, state=BuildState.DROPPED, why=words, told=(told,))
    for task in build.tasks:
        means.observer.touch(task)
    return Done()


async def _merge(means: Means, build: Build, member: Member, sighting: Sighting) -> Sha:
    key = TaskKey(build.project, member.number)
    title, message = merge_texts(means, sighting.view, sighting.issue, pull=member.pull, head_sha=member.head_sha)

    async def merge() -> Sha:
        answer = await means.forge(key).scm.merge_pull(
            key.project, member.pull, sha=member.head_sha, method=build.method, title=title, message=message
        )
        if isinstance(answer, MergeRefused):
            raise NotMerged(answer)
        return answer.sha

    sha = await means.journal.effect("pull.merge", subject(key), merge, detail=str(member.head_sha))
    words = f"merged by the forge, as tested in {render_sha(build.sha)}"
    event = means.event("pull.merged", words, task=key, pull=member.pull, head=member.head_sha, merge=sha)
    await means.ports.store.update_task(key, lambda stored: replace(stored, merge_sha=sha), event=event)
    return sha


def _told(means: Means, build: Build) -> tuple[Event, ...]:
    """That each member is merged, as of any other merge."""
    return tuple(
        means.event(
            "pull.merged",
            f"the queue landed {render_sha(build.sha)} on {build.base_ref}, exactly as it was tested",
            task=TaskKey(build.project, member.number),
            pull=member.pull,
            head=member.head_sha,
            merge=member.sha,
        )
        for member in build.members
    )


async def _find_said(means: Means, action: CloseLanded) -> int | None:
    """The comment that says so, by its mark and this account."""
    tracker, key = means.forge(action.task).tracker, action.task
    mark, login = LANDED_MARK.format(sha=action.sha), await tracker.fetch_login()
    comments = await tracker.list_comments(key.project, action.pull)
    return next((one.id for one in comments if one.author == login and mark in one.body[:300]), None)
