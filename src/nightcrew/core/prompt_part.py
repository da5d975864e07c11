"""What an author is told of sub-tasks that were proposed before it."""

from collections.abc import Callable

from nightcrew.core.cut import cut


def render_parts(
    ends: tuple[str, ...], *, is_refused: bool, room: int, section: Callable[[str, str], str]
) -> list[str]:
    """The sections; none where nothing was proposed. `ends` say what each came to; `section` fences what comes from
    outside."""
    sections = []
    if is_refused:
        sections.append("Sub-tasks were proposed for this issue, and its person refused them: do all of it yourself.")
    if ends:
        sections.append(
            "Parts of this issue were handed to sub-tasks, which have ended; what was merged of them is in the base "
            "that your branch has, or that is being merged into it here. Go on with what is left, and with what "
            "they left out. If nothing is left, change nothing, and report done."
        )
        sections.append(section("What became of the sub-tasks", cut("\n".join(ends), room)))
    return sections
