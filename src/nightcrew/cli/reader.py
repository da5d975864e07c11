"""What reading commands may ask, whether or not the service runs: the same questions and the same JSON either way."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from nightcrew.cli.client import Client, Json, Query


class Reader(ABC):
    """Errors: CliError or NightcrewError, each with words for the person. `task` is a resolved `owner/repo#42`."""

    @abstractmethod
    def status(self) -> Json: ...

    @abstractmethod
    def list_projects(self) -> list[Json]: ...

    @abstractmethod
    def list_tasks(self, *, project: str | None, include_done: bool) -> list[Json]: ...

    @abstractmethod
    def resolve_task(self, text: str) -> str:
        """The one task that `owner/repo#42`, `repo#42` or `42` means."""

    @abstractmethod
    def get_task(self, task: str) -> Json: ...

    @abstractmethod
    def load_diff(self, task: str) -> Json: ...

    @abstractmethod
    def list_runs(self, *, task: str | None, limit: int) -> list[Json]: ...

    @abstractmethod
    def get_run(self, run: str) -> Json: ...

    @abstractmethod
    def read_log(self, run: str, *, offset: int, raw: bool) -> Json: ...

    @abstractmethod
    def attach_argv(self, task: str) -> Sequence[str]: ...

    @abstractmethod
    def list_cooldowns(self) -> list[Json]: ...

    @abstractmethod
    def clear_cooldowns(self, *, agent: str | None, model: str | None) -> Json:
        """The one command that needs no running service."""

    @abstractmethod
    def list_boards(self) -> list[Json]: ...

    @abstractmethod
    def list_unknown_failures(self) -> list[Json]: ...

    @abstractmethod
    def list_flakes(self, *, project: str | None) -> list[Json]: ...

    @abstractmethod
    def list_notices(self, *, limit: int) -> list[Json]: ...

    @abstractmethod
    def list_jobs(self, *, project: str | None) -> list[Json]: ...

    @abstractmethod
    def render_report(self, *, days: int, project: str | None) -> Json: ...

    @abstractmethod
    def get_job(self, project: str, name: str, *, limit: int) -> Json: ...

    @abstractmethod
    def list_skills(self, *, project: str | None) -> Json: ...

    @abstractmethod
    def get_skill(self, project: str, name: str) -> Json: ...

    @abstractmethod
    def search_memory(self, text: str, *, project: str | None, limit: int) -> list[Json]: ...


class LiveReader(Reader):
    """Asks the running service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def status(self) -> Json:
        return self._client.get("/status")

    def list_projects(self) -> list[Json]:
        return list(self._client.get("/projects")["projects"])

    def list_tasks(self, *, project: str | None, include_done: bool) -> list[Json]:
        return list(self._client.get("/tasks", {"project": project, "include_done": include_done})["tasks"])

    def resolve_task(self, text: str) -> str:
        return str(self._client.get("/tasks/resolve", {"text": text})["task"])

    def get_task(self, task: str) -> Json:
        return self._client.get(task_path(task))

    def load_diff(self, task: str) -> Json:
        return self._client.get(task_path(task, "diff"))

    def list_runs(self, *, task: str | None, limit: int) -> list[Json]:
        return list(self._client.get("/runs", {"task": task, "limit": limit})["runs"])

    def get_run(self, run: str) -> Json:
        return self._client.get(f"/runs/{run}")

    def read_log(self, run: str, *, offset: int, raw: bool) -> Json:
        return self._client.get(f"/runs/{run}/log", {"offset": offset, "raw": raw})

    def attach_argv(self, task: str) -> Sequence[str]:
        return [str(part) for part in self._client.get(task_path(task, "attach"))["argv"]]

    def list_cooldowns(self) -> list[Json]:
        return list(self._client.get("/cooldowns")["cooldowns"])

    def clear_cooldowns(self, *, agent: str | None, model: str | None) -> Json:
        return self._client.post("/cooldowns/clear", {"agent": agent, "model": model})

    def list_boards(self) -> list[Json]:
        return list(self._client.get("/boards")["boards"])

    def list_unknown_failures(self) -> list[Json]:
        return list(self._client.get("/failures/unknown")["failures"])

    def search_memory(self, text: str, *, project: str | None, limit: int) -> list[Json]:
        query: Query = {"text": text, "limit": limit, **({"project": project} if project else {})}
        return list(self._client.get("/memory", query)["memories"])

    def list_notices(self, *, limit: int) -> list[Json]:
        return list(self._client.get("/notices", {"limit": limit})["notices"])

    def list_flakes(self, *, project: str | None) -> list[Json]:
        return list(self._client.get("/flaky", {"project": project})["flakes"])

    def list_jobs(self, *, project: str | None) -> list[Json]:
        return list(self._client.get("/jobs", {"project": project})["jobs"])

    def render_report(self, *, days: int, project: str | None) -> Json:
        return self._client.get("/report", {"days": days, "project": project})

    def get_job(self, project: str, name: str, *, limit: int) -> Json:
        return self._client.get(f"/jobs/{project}/{name}", {"limit": limit})

    def list_skills(self, *, project: str | None) -> Json:
        return self._client.get("/skills", {"project": project})

    def get_skill(self, project: str, name: str) -> Json:
        return self._client.get(f"/skills/{project}/{name}")


def task_path(task: str, verb: str = "") -> str:
    """The route of a resolved task, whose name is safe in a path."""
    project, _, number = task.rpartition("#")
    return f"/tasks/{project}/{number}" + (f"/{verb}" if verb else "")
