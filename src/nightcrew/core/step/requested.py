"""What comments ask for about pull requests, whosever they are; and the review of one that was asked for by itself."""

from nightcrew.core.actions import AskPull, FinishTask, PostVerdict, StartRun
from nightcrew.core.command import SettledCommand, Settlement
from nightcrew.core.ids import TaskKey, render_sha
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import ProjectWorld, World
from nightcrew.core.policy.reviewing import choose_reviewer
from nightcrew.core.stage import Case, Stage, act_on, block, move, wait_for
from nightcrew.core.step.blocked import wait_for_person


def follow_requests(world: World, project: ProjectWorld) -> tuple[AskPull, ...]:
    """Each request of which it is known whether its author may make it, one a pull request at a time."""
    asked: dict[TaskKey, AskPull] = {}
    busy = {action.task for action in world.in_flight if isinstance(action, AskPull)}
    for given in project.requests if not world.draining else ():
        key = TaskKey(project.settings.slug, given.thread)
        if isinstance(given.by_writer, Unknown) or key in asked or key in busy:
            continue
        heard = given.by_writer.value
        settlement, words = (Settlement.DONE, "") if heard else (Settlement.IGNORED, "no write access")
        command = SettledCommand(
            key, given.command, given.comment, given.place, given.author, given.given_at, settlement, words, world.now
        )
        asked[key] = AskPull(key, command, f"{given.author}: {given.command}")
    return tuple(asked.values())


def step_review(case: Case) -> Stage:
    """One review of the head as it is when it is given; then it is over. Nothing is merged, and nothing is run."""
    task, observed = case.task, case.view.pull
    if isinstance(observed, Unknown):
        return wait_for("pull_unknown", f"its pull request could not be read ({observed.why})", "It is read again.")
    pull = observed.value
    if pull is None or not pull.pull.is_open:
        return _over(case, "its pull request is not open any more")
    posted = next((verdict for verdict in case.view.verdicts if verdict.posted), None)
    if posted is not None:
        return _over(case, f"{posted.agent} has reviewed {render_sha(posted.head_sha)}")
    verdict = case.view.verdict_for(pull.pull.head_sha)
    if verdict is not None:
        why = "the verdict is not on the pull request yet"
        return act_on(PostVerdict(task.key, verdict.run, pull.pull.number, verdict.head_sha, why))
    match task.status:
        case Status.NEEDS_REVIEW:
            return _begin(case, pull)
        case Status.BLOCKED:
            return Stage(wait=wait_for_person(task))
        case Status.IN_REVIEW:
            last = case.view.last(Role.REVIEWER)
            moved = last is None or last.head_sha != pull.pull.head_sha
            evidence = Evidence.HEAD_MOVED if moved else Evidence.REVIEW_FAILED
            return move(task, Status.NEEDS_REVIEW, evidence, "there is no verdict for the head")
        case _:
            return move(task, Status.NEEDS_REVIEW, Evidence.PERSON, "it is asked for again")


def _begin(case: Case, pull: PullView) -> Stage:
    if case.paused:
        return Stage(wait=case.paused)
    chosen = choose_reviewer(case.world, case.settings, case.view, pull, slots=case.allowance.slots)
    if isinstance(chosen, Block):
        return block(case.task, chosen)
    return act_on(chosen) if isinstance(chosen, StartRun) else Stage(wait=chosen)


def _over(case: Case, why: str) -> Stage:
    return act_on(FinishTask(case.task.key, case.task.status, merged=False, why=why))
