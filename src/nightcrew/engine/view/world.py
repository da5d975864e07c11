"""A project's part of the world, put together from its memory and the store."""

from collections.abc import Mapping
from datetime import datetime

from nightcrew.core.command import GivenCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.build import BuildView
from nightcrew.core.model.claim import NO_CLAIMS, ClaimView, Hold
from nightcrew.core.model.landing import LandingView
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.run import RunView
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import Completion, ProjectWorld, TaskView
from nightcrew.core.reason import Wait
from nightcrew.core.step.hand import may_land_late
from nightcrew.engine.view.board import board_problems, board_view
from nightcrew.engine.view.comment import KEPT
from nightcrew.engine.view.job import job_views
from nightcrew.engine.view.memory import ProjectMemory
from nightcrew.engine.view.part import internal_needs
from nightcrew.engine.view.record import ALARM, COMPLETE, PAUSED, Records, last_saying, left_sayings, open_sayings
from nightcrew.engine.view.sight import TaskSight


def project_world(
    memory: ProjectMemory,
    records: Records,
    live: Mapping[TaskKey, tuple[RunView, ...]],
    *,
    now: datetime,
    interval_s: float,
) -> ProjectWorld:
    """A project as it was last seen, with what the store says of its tasks, and what runs now."""
    slug, settings = memory.configured.slug, memory.settings
    views = []
    for key, task in records.tasks.items():
        seen = key in memory.sights or key in live or key.number in memory.claims.held
        if key.project != slug or (task.status is Status.DONE and not seen):
            continue
        if key.is_internal:
            views += _internal(memory, task, records, live)
            continue
        nothing = Unknown(memory.problem or memory.held or "it has not been read yet")
        claim = memory.claims.view(key.number, settings)
        sight = memory.sights.get(key, TaskSight(nothing, nothing, answered=False))
        views.append(
            TaskView(
                task=task,
                issue=sight.issue,
                pull=sight.pull,
                runs=records.runs.get(key, ()),
                live=live.get(key, ()),
                verdicts=records.verdicts.get(key, ()),
                answered=sight.answered,
                claim=claim,
                commands=_commands(memory, task, records, claim),
                last_command=records.last_commands.get(key),
                vouched=sight.vouched,
                reopened_by_writer=sight.reopened_by_writer,
                reactions=records.reactions.get(key, ()),
                delivered=records.delivered.get(key, frozenset()),
                needs=sight.needs,
                reruns=records.reruns.get(key, ()),
                parent=sight.parent,
                builds=records.builds.get(key, ()),
                sayings=open_sayings(records, key),
                last_saying=last_saying(records, key),
                labels_may_change=may_land_late(records.late_labels.get(key), now=now, interval_s=interval_s),
            )
        )
    memory.board_problems = board_problems(settings, records)
    base = (
        Unknown(memory.problem or memory.held or "not read yet")
        if memory.facts is None
        else Known(memory.facts.base_ref)
    )
    return ProjectWorld(
        settings=settings,
        base_ref=base,
        tasks=tuple(views),
        candidates=memory.candidates,
        paused=records.values.get(f"{PAUSED}.{slug}", "") == "yes",
        short=_short(memory),
        completed=_completed(slug, records) if memory.facts is not None and not memory.candidates else None,
        told_complete=records.values.get(f"{COMPLETE}.{slug}", ""),
        comments=memory.comments.span(records.values.get(f"{KEPT}.{slug}")),
        board=board_view(settings, records),
        requests=memory.comments.requests(records.commands),
        landings=_landings(memory, records),
        alarm=records.values.get(f"{ALARM}.{slug}", ""),
        builds=open_builds(memory, records),
        jobs=job_views(settings, records, now=now),
        left_sayings=left_sayings(records, slug),
        skills=memory.skills.stock,
    )


def open_builds(memory: ProjectMemory, records: Records) -> tuple[BuildView, ...]:
    """The builds that are open by the store, as they were last seen; nothing is known of one that was not seen yet."""
    seen = {view.build.id: view for view in memory.builds}
    nothing = Unknown(memory.problem or "it has not been looked at yet")
    return tuple(
        seen.get(build.id) or BuildView(build, nothing, nothing, nothing, nothing, nothing)
        for build in records.open_builds
        if build.project == memory.configured.slug
    )


def _internal(
    memory: ProjectMemory, task: Task, records: Records, live: Mapping[TaskKey, tuple[RunView, ...]]
) -> list[TaskView]:
    """A task that no issue stands for. Only of its pull request has the forge anything to say. One that is over is not
    in the records any more."""
    key, internal = task.key, records.internal.get(task.key)
    if internal is None:
        return []
    unread = Known(None) if task.pull is None else Unknown(memory.problem or "it has not been read yet")
    sight = memory.sights.get(key, TaskSight(unread, unread, answered=False))
    return [
        TaskView(
            task=task,
            issue=Known(internal.as_issue(task)),
            pull=sight.pull,
            runs=records.runs.get(key, ()),
            live=live.get(key, ()),
            verdicts=records.verdicts.get(key, ()),
            commands=() if internal.is_review else _commands(memory, task, records, Known(NO_CLAIMS)),
            last_command=records.last_commands.get(key),
            reactions=records.reactions.get(key, ()),
            delivered=records.delivered.get(key, frozenset()),
            reruns=records.reruns.get(key, ()),
            builds=records.builds.get(key, ()),
            sayings=open_sayings(records, key),
            last_saying=last_saying(records, key),
            internal=internal,
            needs=Known(internal_needs(task, records.tasks)),
        )
    ]


def _short(memory: ProjectMemory) -> Wait | None:
    now = memory.tempo.pace
    if now.pace not in (Pace.STOPPED, Pace.CLOSED):
        return None
    return Wait("forge_limit", f"the forge's limit for it runs out: {now.words}", "It goes on by itself.", now.until_at)


def _completed(slug: str, records: Records) -> Completion | None:
    tasks = [task for task in records.tasks.values() if task.key.project == slug]
    done = [task for task in tasks if task.status is Status.DONE and task.moving_to is None]
    blocked = [task for task in tasks if task.status is Status.BLOCKED]
    last = records.last_runs.get(slug)
    if last is None or not done or len(done) + len(blocked) < len(tasks):
        return None
    done_at = max(task.updated_at for task in done)
    return Completion(done_at, last, len(done), tuple(sorted(task.key for task in blocked)))


def _landings(memory: ProjectMemory, records: Records) -> tuple[LandingView, ...]:
    """As last seen, but for those that were settled since."""
    tasks = ((view, records.tasks.get(view.task)) for view in memory.landings)
    return tuple(view for view, task in tasks if task is not None and task.landing == view.landing)


def _commands(
    memory: ProjectMemory, task: Task, records: Records, claim: Observed[ClaimView]
) -> tuple[GivenCommand, ...]:
    """The commands that wait for this machine: those about a task that another has are the other's."""
    if isinstance(claim, Known) and claim.value.hold is Hold.ELSEWHERE:
        memory.comments.drop(task)
    return memory.comments.commands_of(task, records.commands)
