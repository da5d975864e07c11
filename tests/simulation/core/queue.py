"""What the actions about the merge queue do in the world without I/O. Each `yield` is a place where the service may
die."""

from dataclasses import replace

from nightcrew.core.actions import CheckBuild, CloseLanded, EndBuild, LandBuild, MakeBuild, OfferBuild
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.build import Build, BuildState, Member
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import CheckState
from nightcrew.core.policy.checking import base_mark
from nightcrew.core.policy.merging import GateView, evaluate
from tests.core.build import BASE
from tests.simulation.core.queue_truth import is_red
from tests.simulation.core.rule import check_land, check_open_builds
from tests.simulation.core.truth import Effect, Refuse, Simulated


def make_build(sim: Simulated, action: MakeBuild) -> Effect:
    queue, slug = sim.queue, action.project
    if any(build.place == action.place and build.ended_at is None for build in queue.builds.values()):
        raise Refuse("a build is open already")
    base = tip = sim.base_at(*action.place)
    members: list[Member] = []
    left_out: list[int] = []
    for head in action.heads:
        pull = sim.pulls[head.pull]
        if not pull.is_open or pull.head_sha != head.sha:
            raise Refuse("it is not what it was")
        if members and int(head.sha[:8], 16) % 5 == 0:
            left_out.append(head.pull)
            continue
        tip = sim.new_sha(tip)
        members.append(Member(head.task.number, head.pull, head.sha, tip))
    made = Build(
        slug, action.base_ref, base, action.method, tuple(members), sim.now, tuple(left_out), id=len(queue.builds) + 1
    )
    queue.builds[made.id] = made
    check_open_builds(sim)
    yield
    _offer(sim, made)


def offer_build(sim: Simulated, action: OfferBuild) -> Effect:
    yield
    _offer(sim, action.build)


def _offer(sim: Simulated, build: Build) -> None:
    if sim.queue.scratch.get(build.place) != build.sha:
        sim.queue.scratch[build.place] = build.sha
        sim.queue.offered.append(build)


def check_build(sim: Simulated, action: CheckBuild) -> Effect:
    build = action.build
    if sim.queue.builds[build.id].ended_at is not None:
        raise Refuse("the build has ended")
    answers = sim.checks.setdefault(build.sha, {})
    for name in action.names:
        answers[f"nightcrew/{name}"] = CheckState.PENDING
    yield
    for name in action.names:
        answers[f"nightcrew/{name}"] = CheckState.FAILURE if is_red(sim, build) else CheckState.SUCCESS
        sim.notes[build.sha, f"nightcrew/{name}"] = f"ran {base_mark(build.base_sha)}"


def end_build(sim: Simulated, action: EndBuild) -> Effect:
    build = action.build
    if sim.queue.scratch.get(build.place) == build.sha:
        del sim.queue.scratch[build.place]
    yield
    _end(sim, build, action.state, action.why)


def _end(sim: Simulated, build: Build, state: BuildState, why: str) -> None:
    stored = sim.queue.builds[build.id]
    if stored.ended_at is None:
        sim.queue.builds[build.id] = replace(stored, state=state, why=why, ended_at=sim.now)
    for member in build.members:
        sim.sights.pop(member.number, None)


def land_build(sim: Simulated, action: LandBuild) -> Effect:
    build, slug = action.build, action.build.project
    if not sim.is_ancestor(build.sha, sim.base_at(*build.place)):
        _refuse_landing(sim, build)
        check_land(sim, build)
        yield
        if sim.base_at(*build.place) != build.base_sha:
            raise Refuse("the base has moved: the remote says no")
        if build.base_ref == BASE:
            sim.set_base(slug, build.sha)
        else:
            sim.bases[f"{slug} {build.base_ref}"] = build.sha
        for member in build.members:
            sim.merges.append((member.number, member.head_sha))
            pull = sim.pulls[member.pull]
            if build.method is MergeMethod.MERGE and pull.is_open and pull.head_sha == member.head_sha:
                sim.change_pull(member.pull, is_open=False, is_merged=True, merge_commit_sha=member.sha)
        yield
    if sim.queue.scratch.get(build.place) == build.sha:
        del sim.queue.scratch[build.place]
    yield
    _end(sim, build, BuildState.LANDED, action.why)


def _refuse_landing(sim: Simulated, build: Build) -> None:
    """What the engine looks at again."""
    if sim.base_at(*build.place) != build.base_sha:
        raise Refuse("the base has moved")
    for member in build.members:
        number = member.number
        sim.look(number)
        view = sim.view(number)
        pull = view.pull.value if isinstance(view.pull, Known) else None
        issue = sim.issues.get(number)
        if pull is None or pull.pull.head_sha != member.head_sha or view.task.status is not Status.IN_REVIEW:
            raise Refuse("the head or the status has moved")
        if issue is None or not issue.is_open or [s for s in sim.statuses_on(number) if s is not view.task.status]:
            raise Refuse("the issue is closed, or its label was moved")
        gate = evaluate(GateView(view, pull, sim.project_of(number), issue.labels))
        if not gate.is_open:
            raise Refuse(gate.words)
    answers = sim.checks.get(build.sha, {}).values()
    if not answers or any(state is not CheckState.SUCCESS for state in answers):
        raise Refuse("the build is not green")


def close_landed(sim: Simulated, action: CloseLanded) -> Effect:
    if sim.pulls[action.pull].head_sha != action.head_sha:
        raise Refuse("the head has moved since it landed")
    yield
    sim.change_pull(action.pull, is_open=False)
