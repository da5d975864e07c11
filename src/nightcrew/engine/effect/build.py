"""Builds of the merge queue: made as commits, written down, pushed to their scratch branch, checked, and ended.

The row comes before the push, and the branch goes before the row is closed: a crash in between leaves an open build
that the next look finds as it is. The branch is written by the engine alone, and rewritten only where it is known to
hold a build of ours, or was left alone for long: another machine may have the queue of the base.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.actions import ActionOutcome, Done, EndBuild, MakeBuild, OfferBuild, Refused
from nightcrew.core.branch import queue_branch
from nightcrew.core.ids import Sha, TaskKey, render_sha
from nightcrew.core.known import Unknown
from nightcrew.core.model.build import Build, Head, Member
from nightcrew.engine.effect.gate import load_view, merge_texts
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.workspace import MergeConflict

PUSH_TIMEOUT_S = 300.0
_SEEN = "queue_seen"


async def make_build(means: Means, action: MakeBuild) -> ActionOutcome:
    """Merge the heads into the base as it is fetched now, if they are what was approved."""
    scm, workspace, slug = means.forge(action.task).scm, means.ports.workspace, action.project
    there = await scm.find_branch(slug, queue_branch(action.base_ref))
    foreign = await _why_foreign(means, action.project, action.base_ref, there)
    if foreign:
        return Refused(foreign)
    await workspace.fetch(slug, await scm.fetch_remote(slug))
    base = await workspace.find_branch(slug, action.base_ref)
    if base is None:
        return Refused(f"there is no branch {action.base_ref} any more")
    made = await _merge_all(means, action, base)
    if isinstance(made, str):
        return Refused(made)
    build = Build(
        slug,
        action.base_ref,
        base,
        action.method,
        made.members,
        means.ports.clock.now(),
        made.left_out,
    )
    names = ", ".join(f"#{member.pull}" for member in build.members)
    words = f"{names} merged into {action.base_ref} at {render_sha(base)} as {render_sha(build.sha)}"
    event = means.event("queue.built", words, task=build.tasks[0], base=base, sha=build.sha, pulls=names)
    await means.ports.store.record_build(build, event=event)
    await _push(means, build, there)
    return Done()


async def offer_build(means: Means, action: OfferBuild) -> ActionOutcome:
    """Have its scratch branch at the build, after a crash, or after somebody deleted or moved it."""
    build = action.build
    there = await means.forge(action.task).scm.find_branch(build.project, queue_branch(build.base_ref))
    foreign = await _why_foreign(means, build.project, build.base_ref, there)
    if foreign:
        return Refused(foreign)
    await _push(means, build, there)
    return Done()


async def end_build(means: Means, action: EndBuild) -> ActionOutcome:
    """Its branch goes, then its row is closed."""
    await drop_branch(means, action.build)
    names = ", ".join(f"#{member.pull}" for member in action.build.members)
    told = tuple(
        means.event(
            f"queue.{action.state.value}",
            f"the build {render_sha(action.build.sha)} of {names}: {action.why}",
            task=task,
            sha=action.build.sha,
            pulls=names,
        )
        for task in action.build.tasks
    )
    await means.ports.store.end_build(action.build.id, state=action.state, why=action.why, told=told)
    return Done()


async def drop_branch(means: Means, build: Build) -> None:
    """Take the scratch branch away, if it is still at the build."""
    key, branch = TaskKey(build.project, 0), queue_branch(build.base_ref)
    if await means.forge(key).scm.find_branch(build.project, branch) != build.sha:
        return
    remote = await means.forge(key).scm.fetch_remote(build.project)
    await means.journal.effect(
        "queue.drop",
        subject(build.tasks[0]),
        lambda: means.ports.workspace.move_branch(build.project, remote, branch=branch, sha=None, expected=build.sha),
        detail=branch,
        timeout_s=PUSH_TIMEOUT_S,
    )


@dataclass(frozen=True, slots=True)
class _Made:
    members: tuple[Member, ...]
    left_out: tuple[int, ...]


async def _merge_all(means: Means, action: MakeBuild, base: Sha) -> _Made | str:
    """Each head on top of the one before; those that conflict are left out. Why there is nothing to test, else."""
    members: list[Member] = []
    left_out: list[int] = []
    tip = base
    for head in action.heads:
        answer = await _merge_one(means, action, head, tip)
        if isinstance(answer, str):
            return answer
        if isinstance(answer, MergeConflict):
            left_out.append(head.pull)
            continue
        tip = answer.sha
        members.append(answer)
    if not members:
        names = ", ".join(f"#{number}" for number in left_out)
        return f"{names} conflicts with {action.base_ref} as it is now, which the forge has not seen yet"
    return _Made(tuple(members), tuple(left_out))


async def _merge_one(means: Means, action: MakeBuild, head: Head, tip: Sha) -> Member | MergeConflict | str:
    key = head.task
    forge, project = means.forge(key), means.project(key)
    pull = await forge.scm.fetch_pull(key.project, head.pull)
    if not pull.is_open or pull.is_fork or (pull.head_sha, pull.base_ref) != (head.sha, action.base_ref):
        return f"#{head.pull} is not what it was"
    view = await load_view(means, await means.task(key), Unknown("not asked"))
    issue = await forge.tracker.fetch_issue(key.project, key.number)
    title, message = merge_texts(means, view, issue, pull=head.pull, head_sha=head.sha)
    made = await means.ports.workspace.build_merge(
        key.project,
        base=tip,
        head=head.sha,
        method=action.method,
        message=f"{title}\n\n{message}",
        commit=project.commit,
    )
    return made if isinstance(made, MergeConflict) else Member(key.number, head.pull, head.sha, made)


async def _push(means: Means, build: Build, there: Sha | None) -> None:
    if there == build.sha:
        return
    branch = queue_branch(build.base_ref)
    remote = await means.forge(build.tasks[0]).scm.fetch_remote(build.project)
    await means.journal.effect(
        "queue.push",
        subject(build.tasks[0]),
        lambda: means.ports.workspace.move_branch(build.project, remote, branch=branch, sha=build.sha, expected=there),
        detail=f"{branch} {build.sha}",
        timeout_s=PUSH_TIMEOUT_S,
    )


async def _why_foreign(means: Means, project: str, base_ref: str, there: Sha | None) -> str:
    """Why what stands on the scratch branch is left alone: it is none of our builds, and did not stand there for long.
    How long is kept in the store, so that a restart does not begin anew."""
    if there is None or any(build.sha == there for build in await means.ports.store.load_builds()):
        return ""
    store, now, name = means.ports.store, means.ports.clock.now(), f"{_SEEN}.{project}.{base_ref}"
    seen, _, since = (await store.find_value(name) or "").partition(" ")
    if seen != there:
        await store.save_value(name, f"{there} {now.isoformat()}")
        since = now.isoformat()
    left_at = datetime.fromisoformat(since) + timedelta(
        seconds=2 * means.settings.projects[project].merge.queue_timeout_s
    )
    if now >= left_at:
        return ""
    branch = queue_branch(base_ref)
    return f"{branch} is at {render_sha(there)}, which another machine may test (until {left_at:%Y-%m-%d %H:%M} UTC)"
