"""Pages of issues, for people."""

from collections.abc import Callable

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.settings import Settings


def task_url(settings: Callable[[], Settings]) -> Callable[[TaskKey], str]:
    """The page of an issue, for people; empty where the forge has no pages, or no issue stands for a task."""

    def render(key: TaskKey) -> str:
        now = settings()
        project = now.projects.get(key.project)
        forge = now.forges.get(project.forge) if project else None
        if key.is_internal or forge is None or forge.kind != "github":
            return ""
        web = forge.base_url.replace("https://api.github.com", "https://github.com").removesuffix("/api/v3")
        return f"{web}/{key.project}/issues/{key.number}"

    return render
