"""A base that is red by itself: one alarm a project, however many pull requests it holds up."""

from nightcrew.core.actions import SoundAlarm
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.holdup import HoldupKind, find_holdup
from nightcrew.core.model.pull import CheckState, PullView
from nightcrew.core.model.world import ProjectWorld, TaskView
from nightcrew.core.policy.checking import failed_on_base


def sound_alarm(project: ProjectWorld) -> tuple[SoundAlarm, ...]:
    """Raise it once when pull requests fail as their base does, and end it once none of them is held up by that."""
    slug = project.settings.slug
    base_ref = project.base_ref.value if isinstance(project.base_ref, Known) else ""
    seen = [(view, pull) for view in project.tasks if (pull := _open_pull(view)) is not None]
    red: set[str] = set()
    for _, pull in seen:
        names = failed_on_base(project.settings, pull)
        red.update(names.value if isinstance(names, Known) and pull.pull.base_ref == base_ref else ())
    if red and not project.alarm:
        checks = tuple(sorted(red))
        why = f"{base_ref} is red by itself: {', '.join(checks)} fails there, and holds up its pull requests"
        return (SoundAlarm(slug, base_ref, checks, why),)
    if project.alarm and not red and not any(_is_held(view, pull) for view, pull in seen) and _is_all_known(project):
        return (SoundAlarm(slug, base_ref, (), f"{base_ref} holds up no pull request any more", is_over=True),)
    return ()


def _open_pull(view: TaskView) -> PullView | None:
    pull = view.pull.value if isinstance(view.pull, Known) else None
    return pull if pull is not None and pull.pull.is_open else None


def _is_held(view: TaskView, pull: PullView) -> bool:
    """Whether its failed checks are those of a base that was red, which have not run again since."""
    if find_holdup(view.task.holdups, HoldupKind.BASE_RED, head_sha=pull.pull.head_sha) is None:
        return False
    return not isinstance(pull.checks, Known) or any(one.state is CheckState.FAILURE for one in pull.checks.value)


def _is_all_known(project: ProjectWorld) -> bool:
    """Unknown is not green."""
    return not isinstance(project.base_ref, Unknown) and not any(
        isinstance(view.pull, Unknown) for view in project.tasks if view.task.status is not Status.DONE
    )
