"""Reading while no service runs: the same questions, answered from the store by a service that only reads.

`nightcrew.service.offline.open_offline_service(home)` gives an async context manager that yields a service port; its
answers pass through the API's own rendering, so that both ways give the same JSON.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from nightcrew.api import job_render, render, run_render
from nightcrew.api.board_render import render_boards
from nightcrew.api.skill_render import render_skill_detail, render_skills
from nightcrew.api.status_render import render_status
from nightcrew.cli.client import Json
from nightcrew.cli.reader import Reader
from nightcrew.core.ids import RunId, parse_task_key
from nightcrew.ports.service import Service

Opener = Callable[[Path], AbstractAsyncContextManager[Service]]


class OfflineReader(Reader):
    """Opens the store anew for each question; nothing is kept open between them."""

    def __init__(self, opener: Opener, home: Path) -> None:
        self._opener = opener
        self._home = home

    def status(self) -> Json:
        async def ask(service: Service) -> Json:
            return render_status(await service.status())

        return self._ask(ask)

    def list_jobs(self, *, project: str | None) -> list[Json]:
        async def ask(service: Service) -> Json:
            return job_render.render_jobs(await service.list_jobs(project=project))

        return list(self._ask(ask)["jobs"])

    def render_report(self, *, days: int, project: str | None) -> Json:
        async def ask(service: Service) -> Json:
            return {"report": await service.render_report(days=days, project=project)}

        return self._ask(ask)

    def get_job(self, project: str, name: str, *, limit: int) -> Json:
        async def ask(service: Service) -> Json:
            return job_render.render_job_detail(await service.get_job(project, name, limit=limit))

        return self._ask(ask)

    def list_skills(self, *, project: str | None) -> Json:
        async def ask(service: Service) -> Json:
            return render_skills(await service.list_skills(project=project))

        return self._ask(ask)

    def get_skill(self, project: str, name: str) -> Json:
        async def ask(service: Service) -> Json:
            return render_skill_detail(await service.list_skills(project=project), name)

        return self._ask(ask)

    def list_projects(self) -> list[Json]:
        return list(self.status()["projects"])

    def list_tasks(self, *, project: str | None, include_done: bool) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_tasks(await service.list_tasks(project=project, include_done=include_done))

        return list(self._ask(ask)["tasks"])

    def resolve_task(self, text: str) -> str:
        async def ask(service: Service) -> Json:
            return {"task": str(await service.resolve_task(text))}

        return str(self._ask(ask)["task"])

    def get_task(self, task: str) -> Json:
        async def ask(service: Service) -> Json:
            return render.render_task_detail(await service.get_task(parse_task_key(task)))

        return self._ask(ask)

    def load_diff(self, task: str) -> Json:
        async def ask(service: Service) -> Json:
            return {"task": task, "diff": await service.load_diff(parse_task_key(task))}

        return self._ask(ask)

    def list_runs(self, *, task: str | None, limit: int) -> list[Json]:
        async def ask(service: Service) -> Json:
            key = None if task is None else parse_task_key(task)
            return run_render.render_runs(await service.list_runs(task=key, limit=limit))

        return list(self._ask(ask)["runs"])

    def get_run(self, run: str) -> Json:
        async def ask(service: Service) -> Json:
            return run_render.render_run_detail(await service.get_run(RunId(run)))

        return self._ask(ask)

    def read_log(self, run: str, *, offset: int, raw: bool) -> Json:
        async def ask(service: Service) -> Json:
            return run_render.render_log(await service.read_log(RunId(run), offset=offset, raw=raw))

        return self._ask(ask)

    def attach_argv(self, task: str) -> Sequence[str]:
        async def ask(service: Service) -> Json:
            return {"argv": list(await service.attach_argv(parse_task_key(task)))}

        return [str(part) for part in self._ask(ask)["argv"]]

    def list_cooldowns(self) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_cooldowns(await service.list_cooldowns())

        return list(self._ask(ask)["cooldowns"])

    def clear_cooldowns(self, *, agent: str | None, model: str | None) -> Json:
        async def ask(service: Service) -> Json:
            return render.render_answer(await service.clear_cooldowns(agent=agent, model=model))

        return self._ask(ask)

    def list_boards(self) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render_boards(await service.list_boards())

        return list(self._ask(ask)["boards"])

    def list_unknown_failures(self) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_unknown_failures(await service.list_unknown_failures())

        return list(self._ask(ask)["failures"])

    def list_flakes(self, *, project: str | None) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_flakes(await service.list_flakes(project=project))

        return list(self._ask(ask)["flakes"])

    def search_memory(self, text: str, *, project: str | None, limit: int) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_memories(await service.search_memory(text, project=project, limit=limit))

        return list(self._ask(ask)["memories"])

    def list_notices(self, *, limit: int) -> list[Json]:
        async def ask(service: Service) -> Json:
            return render.render_notices(await service.list_notices(limit=limit))

        return list(self._ask(ask)["notices"])

    def _ask(self, question: Callable[[Service], Awaitable[Json]]) -> Json:
        async def answer() -> Json:
            async with self._opener(self._home) as service:
                return await question(service)

        return asyncio.run(answer())
