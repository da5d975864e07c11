"""Pages of repositories, for people."""

from collections.abc import Callable

from nightcrew.core.model.settings import Settings


def project_url(settings: Callable[[], Settings]) -> Callable[[str], str]:
    """The page of a project's repository, for people; empty where the forge has no pages."""

    def render(slug: str) -> str:
        now = settings()
        project = now.projects.get(slug)
        forge = now.forges.get(project.forge) if project else None
        if forge is None or forge.kind != "github":
            return ""
        web = forge.base_url.replace("https://api.github.com", "https://github.com").removesuffix("/api/v3")
        return f"{web}/{slug}"

    return render
