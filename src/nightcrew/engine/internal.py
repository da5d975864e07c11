"""The tracker of an internal task: its issue is what the store says of it. What is about pull requests, accounts and
other issues goes to the forge."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from nightcrew.core.errors import Missing
from nightcrew.core.ids import INTERNAL_FROM, TaskKey
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.issue import Comment, Issue, Permission
from nightcrew.core.model.pin import is_pin
from nightcrew.ports.store import Store
from nightcrew.ports.tracker import LabelSpec, Tracker


class InternalTracker:
    """Implements `ports.tracker.Tracker`. Labels that choose an agent or a model are kept as the task's pins; others do
    not exist."""

    def __init__(self, forge: Tracker, store: Store) -> None:
        self._forge = forge
        self._store = store

    async def fetch_issue(self, project: str, number: int) -> Issue:
        if number <= INTERNAL_FROM:
            return await self._forge.fetch_issue(project, number)
        key = TaskKey(project, number)
        task, internal = await self._store.find_task(key), await self._store.find_internal(key)
        if task is None or internal is None:
            raise Missing(f"there is no internal task {key}", gone=True)
        return internal.as_issue(task)

    async def list_blockers(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return () if number > INTERNAL_FROM else await self._forge.list_blockers(project, number)

    async def list_children(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return () if number > INTERNAL_FROM else await self._forge.list_children(project, number)

    async def add_child(self, project: str, number: int, child: int) -> None:
        await self._forge.add_child(project, number, child)

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        return () if number > INTERNAL_FROM else await self._forge.list_comments(project, number)

    async def list_labels(self, project: str) -> tuple[str, ...]:
        return await self._forge.list_labels(project)

    async def ensure_labels(self, project: str, labels: Mapping[str, LabelSpec]) -> None:
        """Nothing: no label is kept on the forge for it."""

    async def add_label(self, project: str, number: int, name: str) -> None:
        if number <= INTERNAL_FROM:
            await self._forge.add_label(project, number, name)
        else:
            await self._pin(TaskKey(project, number), name, is_on=True)

    async def remove_label(self, project: str, number: int, name: str) -> None:
        if number <= INTERNAL_FROM:
            await self._forge.remove_label(project, number, name)
        else:
            await self._pin(TaskKey(project, number), name, is_on=False)

    async def _pin(self, key: TaskKey, label: str, *, is_on: bool) -> None:
        if not is_pin(label):
            return

        def change(stored: InternalTask) -> InternalTask:
            return replace(stored, pins=stored.pins.with_label(label) if is_on else stored.pins.without_label(label))

        await self._store.change_internal(key, change)

    async def set_issue_open(self, project: str, number: int, *, is_open: bool) -> None:
        if number <= INTERNAL_FROM:
            await self._forge.set_issue_open(project, number, is_open=is_open)
        else:
            key = TaskKey(project, number)
            await self._store.change_internal(key, lambda stored: replace(stored, is_closed=not is_open))

    async def fetch_login(self, project: str = "") -> str:
        return await self._forge.fetch_login(project)

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        return await self._forge.list_open_issues(project)

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        return await self._forge.list_updated_issues(project, known_at=known_at)

    async def list_updated_comments(self, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
        return await self._forge.list_updated_comments(project, known_at=known_at)

    async def create_issue(self, project: str, *, title: str, body: str, labels: tuple[str, ...] = ()) -> Issue:
        return await self._forge.create_issue(project, title=title, body=body, labels=labels)

    async def create_comment(self, project: str, number: int, *, body: str) -> Comment:
        return await self._forge.create_comment(project, number, body=body)

    async def update_comment(self, project: str, comment_id: int, *, body: str) -> None:
        await self._forge.update_comment(project, comment_id, body=body)

    async def find_label_actor(self, project: str, number: int, name: str) -> str | None:
        return await self._forge.find_label_actor(project, number, name)

    async def find_reopener(self, project: str, number: int) -> str | None:
        return await self._forge.find_reopener(project, number)

    async def fetch_permission(self, project: str, login: str) -> Permission:
        return await self._forge.fetch_permission(project, login)
