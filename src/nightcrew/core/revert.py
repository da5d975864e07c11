"""Texts about a base that turned red by a merge, and about taking that merge back."""

from nightcrew.core.ids import Sha, TaskKey, render_sha
from nightcrew.core.model.landing import Landing
from nightcrew.core.model.pull import Pull
from nightcrew.core.neutral import forge_text, one_line, page_line
from nightcrew.core.render import MARK

LANDING_MARK = "<!-- nightcrew:landing {sha} -->"


def render_landing(landing: Landing, task: TaskKey) -> str:
    """The comment on a pull request after whose merge the base turned red."""
    mark = LANDING_MARK.format(sha=landing.merge_sha)
    checks = page_line(", ".join(landing.checks), 500)
    return (
        f"{MARK}\n{mark}\n**Nightcrew**: {page_line(landing.base_ref, 100)} was green at "
        f"{render_sha(landing.before_sha)}, and is red since this was merged as {render_sha(landing.merge_sha)}: "
        f"{checks}. `nightcrew revert {task}` opens a pull request that takes it back.\n"
    )


def is_offer(body: str) -> bool:
    """Whether a comment is one that `render_landing` wrote."""
    return LANDING_MARK.partition("{")[0] in body[:300]


def describe_landing(landing: Landing, task: TaskKey) -> str:
    """The same in one sentence, for the page of a task."""
    said = f"{landing.base_ref} turned red with it: {', '.join(landing.checks)}"
    if landing.revert is not None:
        return f"{said}; {landing.revert} takes it back"
    return f"{said}. Take it back with: nightcrew revert {task}"


def render_revert_title(merged: Pull) -> str:
    return f"Revert #{merged.number}: {one_line(forge_text(merged.title), 150)}"


def render_revert_message(merged: Pull, merge: Sha) -> str:
    title = one_line(forge_text(merged.title), 60)
    return f"Revert #{merged.number}: {title}\n\nThis takes back what {merge} brought into {merged.base_ref}.\n"


def render_revert_body(merged: Pull, why: str) -> str:
    """What the pull request says, and the text of the task that carries it."""
    return (
        f"This takes pull request #{merged.number} back, which was merged as {merged.merge_commit_sha}.\n\n"
        f"{page_line(why, 500)}\n\n"
        "It holds the opposite of that change on the branch as it is now, and nothing else.\n"
    )
